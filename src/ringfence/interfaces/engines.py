"""What runs chunks of replications: compiled on the CPU or on GPUs, or pull by pull in Python.

May touch simulation.
"""

from collections.abc import Callable
from typing import TypeAlias

from ringfence.core.errors import one_of
from ringfence.simulation.cells import Count
from ringfence.simulation.counts import Counts
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.kernels import Tally

RunChunk: TypeAlias = Callable[[Experiment, int, int, int], Tally | Counts]
RunTally: TypeAlias = Callable[[Experiment, int, int, int], Tally]

_SLOW_CHUNK = 16
_WORTH_A_GPU = 2**13  # chunks of the CPU's: from ten seconds to two minutes of one core


def find_engine(name: str, experiment: Experiment, *, here: bool = True) -> tuple[RunChunk, str]:
    """Return the engine and its name; `here` tells whether it will run in this process."""
    if name in ("cpu", "reference"):
        return tallied_engine(experiment, name)
    if name == "cuda":
        from ringfence.simulation.gpu.compilation import require_gpu

        require_gpu(here=here)
        from ringfence.simulation.gpu import engine as gpu_engine

        gpu_engine.require_supported(experiment)
        return gpu_engine.count_chunk, name
    raise one_of("engine", name, ("cpu", "cuda", "auto", "reference"))


def find_counter(name: str) -> Count | None:
    """Return what counts the chunks of a tournament on an engine; None is the CPU."""
    if name == "cpu":
        return None
    if name != "cuda":
        raise one_of("engine", name, ("cpu", "cuda"))
    from ringfence.simulation.gpu.compilation import require_gpu

    require_gpu()
    from ringfence.simulation.gpu import engine as gpu_engine

    return gpu_engine.count_chunk


def tallied_engine(experiment: Experiment, name: str = "cpu") -> tuple[RunTally, str]:
    """Return an engine that tells replications apart; your own functions are not compiled."""
    if name == "reference" or experiment.instance.has_own:
        from ringfence.simulation.reference import run_chunk

        return run_chunk, "reference"
    return Experiment.run_chunk, name


def is_worth_a_gpu(experiment: Experiment, replications: int) -> bool:
    """Tell whether there is a GPU, and work enough to make up for compiling for it."""
    if replications < _WORTH_A_GPU * experiment.chunk_size:
        return False
    from ringfence.simulation.gpu.compilation import gpu_count

    if gpu_count() == 0:
        return False
    from ringfence.simulation.gpu import engine as gpu_engine

    return gpu_engine.is_supported(experiment)


def chunk_size_of(engine: str, experiment: Experiment) -> int:
    """Return how many replications an engine runs at once."""
    if engine == "reference":
        return _SLOW_CHUNK
    if engine == "cuda":
        from ringfence.simulation.gpu import engine as gpu_engine

        return gpu_engine.chunk_size(experiment)
    return experiment.chunk_size


def workers_of(engine: str, threads: int | None) -> int | None:
    """Return how many threads hand out chunks: for GPUs, one each."""
    if engine == "reference":
        return 1
    if engine == "cuda":
        from ringfence.simulation.gpu.compilation import gpu_count

        return max(1, gpu_count())
    return threads
