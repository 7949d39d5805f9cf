"""Makes plain rules callable from a GPU: what `compilation` does for the CPU, by numba-cuda.

A rule is compiled as it is: it gets a twin with the same code, in which the names of plain
functions stand for their compiled twins. Under numba-cuda's simulator (NUMBA_ENABLE_CUDASIM=1)
everything runs as plain Python. Nothing is kept on disk.

May touch core, policies, simulation's draws, and numba-cuda.
"""

from collections.abc import Callable
from dis import get_instructions
from functools import cache
from importlib.util import find_spec
from types import CellType, FunctionType, ModuleType
from typing import Any

from ringfence.core.errors import InputError, MissingExtraError
from ringfence.simulation.compilation import is_plain
from ringfence.simulation.gpu.draws import Philox, wide_product

_METHODS = {
    "random": 0,
    "standard_normal": 0,
    "standard_exponential": 0,
    "standard_gamma": 1,
    "poisson": 1,
    "integers": 2,
    "binomial": 2,
}


def gpu_count() -> int:
    """Return how many GPUs can be used; none without numba-cuda."""
    if find_spec("numba_cuda") is None:
        return 0
    from numba import cuda

    return len(cuda.gpus) if cuda.is_available() else 0


def require_gpu(*, here: bool = True) -> None:
    """Refuse to go on without numba-cuda or, if it is to run `here`, without a GPU."""
    if find_spec("numba_cuda") is None:
        raise MissingExtraError("engine = 'cuda'", "cuda")
    if here and gpu_count() == 0:
        raise InputError(
            "engine = 'cuda' needs an NVIDIA GPU with its driver, and none was found. "
            "Use engine = 'cpu', or run where the command nvidia-smi lists a GPU."
        )


def is_simulated() -> bool:
    """Tell whether numba-cuda only plays at being a GPU."""
    from numba import config

    return bool(config.ENABLE_CUDASIM)


def compilation_errors() -> tuple[type[Exception], ...]:
    """Return what numba-cuda raises when a rule cannot be compiled."""
    from numba.core.errors import NumbaError

    try:
        from numba.cuda.core.errors import NumbaError as CudaError
    except ImportError:  # older, or the simulator
        return (NumbaError,)
    return NumbaError, CudaError


@cache
def device(function: Callable[..., Any]) -> Any:
    """Return a plain function, and all that it calls, for use in kernels."""
    if is_simulated():
        return function
    from numba import cuda

    if function is wide_product:
        return _wide_product()
    return cuda.jit(device=True, forceinline=True)(twin(function))


@cache
def inlined(function: Callable[..., Any]) -> Any:
    """Return a function whose local arrays are to be its caller's."""
    if is_simulated():
        return function
    from numba import cuda

    return cuda.jit(device=True, inline="always")(function)


def kernel(function: Callable[..., None], *, registers: int | None = None) -> Any:
    """Return a kernel, to be launched as kernel[blocks, threads](...)."""
    from numba import cuda

    if is_simulated():
        return cuda.jit(function)
    _teach_methods()
    options = {} if registers is None else {"max_registers": registers}
    return cuda.jit(**options)(twin(function))


def twin(function: Any) -> FunctionType:
    """Return the same code, in which plain functions are replaced by what kernels can call."""
    code, names = function.__code__, function.__globals__
    # An attribute may share its name with a global function: `rng.poisson` in our own `poisson`.
    used = {step.argval for step in get_instructions(code) if step.opname == "LOAD_GLOBAL"}
    known = {name: names[name] for name in used if name in names}
    swapped = {name: _swapped(value, code.co_names) for name, value in known.items()}
    cells = tuple(
        CellType(_swapped(cell.cell_contents, code.co_names)) for cell in function.__closure__ or ()
    )
    return FunctionType(
        code, {**names, **swapped}, function.__name__, function.__defaults__, cells or None
    )


def _swapped(value: Any, names: tuple[str, ...]) -> Any:
    """Return a plain function for kernels, a module with such functions in it, or the value."""
    if is_plain(value):
        return device(value)
    if isinstance(value, ModuleType):
        plain = {name: vars(value)[name] for name in names if is_plain(vars(value).get(name))}
        if plain:
            copy = ModuleType(value.__name__)
            vars(copy).update(vars(value) | {name: device(one) for name, one in plain.items()})
            return copy
    return value


@cache
def _teach_methods() -> None:
    """Let compiled code call the methods of a Philox."""
    for name, inputs in _METHODS.items():
        _teach_method(name, twin(getattr(Philox, name)), inputs)


def _teach_method(name: str, method: FunctionType, inputs: int) -> None:
    from numba.core.types import NamedUniTuple  # type: ignore[attr-defined]
    from numba.cuda.extending import overload_method

    def offered(stream: Any) -> FunctionType | None:
        return method if stream.instance_class is Philox else None

    def without(self: Any) -> Any:
        return offered(self)

    def with_one(self: Any, value: Any) -> Any:
        return offered(self)

    def with_two(self: Any, value: Any, other: Any) -> Any:
        return offered(self)

    typing = (without, with_one, with_two)[inputs]
    overload_method(NamedUniTuple, name, strict=False)(typing)


@cache
def _wide_product() -> Any:
    """Return the product by one instruction: from plain code the compiler makes two."""
    from llvmlite import ir
    from numba.core import types
    from numba.cuda.extending import intrinsic

    word, double = ir.IntType(32), ir.IntType(64)
    instruction = ir.InlineAsm(
        ir.FunctionType(double, [word, word]), "mul.wide.u32 $0, $1, $2;", "=l,r,r"
    )

    def product(context: Any, a: Any, b: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            return builder.call(instruction, values)

        return types.uint64(types.uint32, types.uint32), generate

    return intrinsic(product)
