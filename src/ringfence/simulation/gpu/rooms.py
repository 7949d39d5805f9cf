"""Room for one replication in a GPU thread's own memory, and how it is filled with normals.

On the CPU a kernel is handed its arrays; a GPU has a hundred thousand threads, and each makes its
own copies, from an example. An array that the example has in two places is one array in the copy
too: what is written in one place is read in the other. What threads only read, the threads of a
block share. Shapes are known only when an experiment is, so the function that makes the copies is
written then. May touch core and simulation's draws.
"""

from collections.abc import Callable
from functools import cache
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from ringfence.core.arrays import Floats
from ringfence.core.errors import InputError
from ringfence.simulation.gpu.compilation import device, inlined, is_simulated
from ringfence.simulation.gpu.draws import next_pair

_MOST_SHARED = 2**13  # bytes; a block's shared memory is taken from the cache of its arrays
_KINDS = {"float64": "float64", "int64": "int64", "bool": "boolean", "uint32": "uint32"}


def fill_normals(rng: Any, noise: Floats) -> None:
    """Fill the only lane of `noise` with standard normals, two at a time."""
    for d in range(0, noise.shape[0], 2):
        first, second = next_pair(rng.words)
        noise[d, 0] = first
        if d + 1 < noise.shape[0]:
            noise[d + 1, 0] = second


class Leaf(NamedTuple):
    """What must be known of an array to make another like it."""

    shape: tuple[int, ...]
    kind: str


class Same(NamedTuple):
    """An array that stands elsewhere in the tree too, first at this path."""

    path: str


class Branch(NamedTuple):
    """A named tuple, and what is in its fields."""

    made: Any
    parts: tuple[Any, ...]


Layout = Leaf | Same | Branch | None


def layout_of(example: Any) -> Layout:
    """Return the layout of a tree of named tuples of arrays; of what is not there, None."""
    return _layout(example, "", [])


def _layout(example: Any, path: str, met: list[tuple[str, Any]]) -> Layout:
    """Return the layout of what is at a path; arrays are added to those that were met before."""
    if example is None:
        return None
    if not isinstance(example, np.ndarray):
        fields = zip(type(example)._fields, example, strict=True)
        parts = tuple(_layout(part, f"{path}.{field}".lstrip("."), met) for field, part in fields)
        return Branch(type(example), parts)
    for other, array in met:
        if not np.shares_memory(array, example):
            continue
        if array.__array_interface__ == example.__array_interface__:
            return Same(other)
        raise InputError(
            f"engine = 'cuda' copies every array, and {other} and {path} are parts of one: what is "
            "written in one would not be seen in the other. Let neither contain a part of the "
            "other, or use engine = 'cpu'."
        )
    met.append((path, example))
    return Leaf(example.shape, example.dtype.name)


def size_of(layout: Layout) -> int:
    """Return the bytes of all arrays in a layout."""
    if layout is None or isinstance(layout, Same):
        return 0
    if isinstance(layout, Leaf):
        return int(np.prod(layout.shape)) * np.dtype(layout.kind).itemsize
    return sum(size_of(part) for part in layout.parts)


@cache
def room_maker(layout: Layout, shared: frozenset[str]) -> Callable[[Any], Any]:
    """Return the function that gives a thread its own copy of an example of that layout.

    Arrays whose path is in `shared` are only read: a block has one copy of them while they are
    small. All threads read the same numbers there, and in the example they would ask one place of
    the GPU's memory for them.
    """
    writer = _Writer(shared)
    tree = writer.write(layout, "given")
    lines = ["def make(given):", *(f"    {line}" for line in writer.lines), f"    return {tree}"]
    names = {**writer.classes, **_names()}
    exec("\n".join(lines), names)  # noqa: S102 (the source has nothing but our own field names)
    made: Callable[[Any], Any] = inlined(names["make"])
    return made


class _Writer:
    """Writes the source that copies a tree, and gathers the classes in it."""

    def __init__(self, shared: frozenset[str]) -> None:
        self.shared = shared
        self.left = _MOST_SHARED
        self.lines: list[str] = []
        self.classes: dict[str, Any] = {}
        self.written: dict[str, str] = {}

    def write(self, layout: Layout, path: str) -> str:
        """Return the expression for a part of the tree."""
        if layout is None:  # nobody reads it
            return "0"
        if isinstance(layout, Same):
            return self.written[layout.path]
        if isinstance(layout, Branch):
            name = f"{layout.made.__name__}_{len(self.classes)}"
            self.classes[name] = layout.made
            fields = zip(layout.made._fields, layout.parts, strict=True)
            return f"{name}({', '.join(self.write(part, f'{path}.{f}') for f, part in fields)})"
        place = path.removeprefix("given.")
        self.written[place] = self._array(layout, path, is_shared=place in self.shared)
        return self.written[place]

    def _array(self, layout: Leaf, path: str, *, is_shared: bool) -> str:
        if not is_shared:
            return self._copy(layout, path, "local")
        if 0 in layout.shape or size_of(layout) > self.left:
            return path
        self.left -= size_of(layout)
        return self._copy(layout, path, "shared")

    def _copy(self, layout: Leaf, path: str, memory: str) -> str:
        name = path.replace(".", "_")
        shape = tuple(max(1, size) for size in layout.shape)
        made = f"{name} = cuda.{memory}.array({shape}, {_KINDS[layout.kind]})"
        if 0 in layout.shape:
            self.lines.append(f"{made}[:0]")
            return name
        self.lines.append(made)
        self.lines.append(f"{_FILLS[len(shape)].__name__}({name}, {path})")
        return name


def fill_row(made: Any, given: Any) -> None:
    """Copy a row; every thread of a block does so, and writes the same where they share it."""
    for i in range(made.shape[0]):
        made[i] = given[i]


def fill_table(made: Any, given: Any) -> None:
    """Copy rows."""
    for i in range(made.shape[0]):
        fill_row(made[i], given[i])


def fill_tables(made: Any, given: Any) -> None:
    """Copy tables."""
    for i in range(made.shape[0]):
        fill_table(made[i], given[i])


def fill_rows_of_tables(made: Any, given: Any) -> None:
    """Copy rows of tables."""
    for i in range(made.shape[0]):
        fill_tables(made[i], given[i])


_FILLS = {1: fill_row, 2: fill_table, 3: fill_tables, 4: fill_rows_of_tables}


def _names() -> dict[str, Any]:
    """Return what the written source refers to."""
    fills = {fill.__name__: device(fill) for fill in _FILLS.values()}
    if is_simulated():
        kinds = {kind: np.dtype(name) for name, kind in _KINDS.items()}
        arrays = SimpleNamespace(array=np.empty)
        return {"cuda": SimpleNamespace(local=arrays, shared=arrays), **kinds, **fills}
    import numba
    from numba import cuda

    return {"cuda": cuda, **{kind: getattr(numba, kind) for kind in _KINDS.values()}, **fills}
