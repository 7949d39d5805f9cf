"""Plants a fault: the real source with one snippet exchanged, loaded beside the real modules.

The rooms that hold rules, laws and engines are all loaded afresh, in the order of their imports,
so that a fault in core reaches the policies and the engines that use it. Nothing that was already
imported changes. The copies are called `planted.*`: compiled code made from them is never kept on
disk under the name of the real sources.
"""

import importlib
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

ROOMS = (
    "core.gaps",
    "core.schedule",
    "core.hardness",
    "core.streams",
    "core.noise",
    "core.statistics",
    "core.running",
    "core.cost",
    "core.chance",
    "core.posterior",
    "policies.policy",
    "policies.constrained_sr",
    "policies.infeasible_first",
    "policies.successive_rejects",
    "policies.sequential_halving",
    "policies.ocba_co",
    "policies.scalarised",
    "policies.thompson",
    "policies.top_two",
    "policies.uniform",
    "policies.registry",
    "simulation.draws",
    "simulation.truths",
    "simulation.records",
    "simulation.laws",
    "simulation.tables",
    "simulation.kernels",
    "simulation.recorded_kernels",
    "simulation.adaptive_kernels",
    "simulation.experiment",
    "simulation.reference",
)


@dataclass(frozen=True)
class Edit:
    """One snippet of a room's source, which must occur exactly once, and what takes its place."""

    room: str
    old: str
    new: str

    def applied_to(self, source: str) -> str:
        """Return the source with the fault in it."""
        count = source.count(self.old)
        assert count == 1, f"{self.room} has {count} times, not once: {self.old!r}"
        assert self.old != self.new
        return source.replace(self.old, self.new)


def planted(*edits: Edit) -> Mapping[str, ModuleType]:
    """Return fresh copies of all rooms, by name, with the edits made; none is a control."""
    unknown = {edit.room for edit in edits} - set(ROOMS)
    assert not unknown, f"not a room that can be loaded afresh: {unknown}"
    fresh: dict[str, ModuleType] = {}
    with _restored():
        for room in ROOMS:
            real = importlib.import_module(f"ringfence.{room}")
            assert real.__file__ is not None
            source = Path(real.__file__).read_text(encoding="utf-8")
            for edit in edits:
                if edit.room == room:
                    source = edit.applied_to(source)
            fresh[room] = _load(room, source)
    return fresh


def _load(room: str, source: str) -> ModuleType:
    module = ModuleType(f"planted.{room}")
    parent, _, name = room.rpartition(".")
    exec(compile(source, f"<planted {room}>", "exec"), module.__dict__)
    sys.modules[f"ringfence.{room}"] = module
    setattr(sys.modules[f"ringfence.{parent}"], name, module)
    return module


@contextmanager
def _restored() -> Iterator[None]:
    """Put the real modules back, in the table of modules and in their packages."""
    real = {room: importlib.import_module(f"ringfence.{room}") for room in ROOMS}
    try:
        yield
    finally:
        for room, module in real.items():
            parent, _, name = room.rpartition(".")
            sys.modules[f"ringfence.{room}"] = module
            setattr(sys.modules[f"ringfence.{parent}"], name, module)
