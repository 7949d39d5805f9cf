"""What runs chunks of replications: compiled on the CPU or on GPUs, or pull by pull in Python.

An engine is an object that counts chunks; how fast paths share its work is its own matter. May
touch core and simulation.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from ringfence.core.errors import one_of
from ringfence.simulation import cpu, reference
from ringfence.simulation.counts import Counts
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.tally import Tally

_SLOW_CHUNK = 16
_WORTH_A_GPU = 2**13  # chunks of the CPU's: from ten seconds to two minutes of one core


class Engine(Protocol):
    """What counts the errors of an experiment, chunk by chunk."""

    @property
    def name(self) -> str:
        """What results call the engine."""

    @property
    def is_compiled_here(self) -> bool:
        """Whether a chunk without replications makes later ones faster in this process alone."""

    def require(self, experiment: Experiment, *, here: bool = True) -> None:
        """Refuse what the engine cannot run; `here` tells whether it will run in this process."""

    def chunk_size(self, experiment: Experiment) -> int:
        """Return how many replications make a chunk, whatever the machine."""

    def workers(self, threads: int | None) -> int | None:
        """Return how many threads are to hand out chunks."""

    def count(self, experiment: Experiment, seed: int, chunk: int, replications: int) -> Counts:
        """Run the first `replications` of a chunk and count them."""


class TallyingEngine(Engine, Protocol):
    """An engine that tells replications apart, so that those of several policies can be paired."""

    def tally(self, experiment: Experiment, seed: int, chunk: int, replications: int) -> Tally:
        """Run the first `replications` of a chunk."""

    def count_together(
        self, experiments: Sequence[Experiment], seed: int, chunk: int, replications: int
    ) -> list[Counts]:
        """Run a chunk of every experiment, and count each beside the first."""


class _Tallying:
    """What engines that tell replications apart have in common."""

    def tally(self, experiment: Experiment, seed: int, chunk: int, replications: int) -> Tally:
        """Run the first `replications` of a chunk."""
        raise NotImplementedError

    def count(self, experiment: Experiment, seed: int, chunk: int, replications: int) -> Counts:
        """Run the first `replications` of a chunk and count them."""
        proves = experiment.stop is not None
        return Counts.of(self.tally(experiment, seed, chunk, replications), proves=proves)

    def count_together(
        self, experiments: Sequence[Experiment], seed: int, chunk: int, replications: int
    ) -> list[Counts]:
        """Run a chunk of every experiment, and count each beside the first."""
        tallies = [self.tally(one, seed, chunk, replications) for one in experiments]
        return [
            Counts.of(tally, first=tallies[0], proves=one.stop is not None)
            for one, tally in zip(experiments, tallies, strict=True)
        ]


@dataclass(frozen=True)
class Cpu(_Tallying):
    """Compiled for the CPU, on threads."""

    name: ClassVar[str] = "cpu"
    is_compiled_here: ClassVar[bool] = False

    def require(self, experiment: Experiment, *, here: bool = True) -> None:
        """Refuse nothing: `find_engine` gives functions of one's own another engine."""

    def chunk_size(self, experiment: Experiment) -> int:
        """Return how many replications make a chunk."""
        return cpu.chunk_size(experiment)

    def workers(self, threads: int | None) -> int | None:
        """Return as many as were asked for: compiled code leaves Python's lock."""
        return threads

    def tally(self, experiment: Experiment, seed: int, chunk: int, replications: int) -> Tally:
        """Run the first `replications` of a chunk."""
        return cpu.run_chunk(experiment, seed, chunk, replications)


@dataclass(frozen=True)
class Reference(_Tallying):
    """Plain Python, pull by pull."""

    name: ClassVar[str] = "reference"
    is_compiled_here: ClassVar[bool] = False

    def require(self, experiment: Experiment, *, here: bool = True) -> None:
        """Refuse nothing."""

    def chunk_size(self, experiment: Experiment) -> int:
        """Return a few, so that there is something to report."""
        return _SLOW_CHUNK

    def workers(self, threads: int | None) -> int | None:
        """Return one: plain Python keeps its lock."""
        return 1

    def tally(self, experiment: Experiment, seed: int, chunk: int, replications: int) -> Tally:
        """Run the first `replications` of a chunk."""
        return reference.run_chunk(experiment, seed, chunk, replications)


@dataclass(frozen=True)
class Cuda:
    """Compiled for NVIDIA GPUs; their libraries are imported when they are needed."""

    name: ClassVar[str] = "cuda"
    is_compiled_here: ClassVar[bool] = True

    def require(self, experiment: Experiment, *, here: bool = True) -> None:
        """Refuse what a GPU cannot run, or not well."""
        require_gpu(here=here)
        from ringfence.simulation.gpu import engine

        engine.require_supported(experiment)

    def chunk_size(self, experiment: Experiment) -> int:
        """Return enough to fill a GPU."""
        from ringfence.simulation.gpu import engine

        return engine.chunk_size(experiment)

    def workers(self, threads: int | None) -> int | None:
        """Return one for each GPU."""
        from ringfence.simulation.gpu.compilation import gpu_count

        return max(1, gpu_count())

    def count(self, experiment: Experiment, seed: int, chunk: int, replications: int) -> Counts:
        """Run the first `replications` of a chunk and count them."""
        from ringfence.simulation.gpu import engine

        return engine.count_chunk(experiment, seed, chunk, replications)


CPU, REFERENCE, CUDA = Cpu(), Reference(), Cuda()
_ENGINES: dict[str, Engine] = {one.name: one for one in (CPU, CUDA, REFERENCE)}


def find_engine(name: str, experiment: Experiment, *, here: bool = True) -> Engine:
    """Return the engine of that name that can run an experiment.

    Functions of one's own are not compiled: in place of "cpu" the reference engine runs them.
    """
    if name not in _ENGINES:
        raise one_of("engine", name, ("cpu", "cuda", "auto", "reference"))
    engine = tallying_engine(experiment) if name == CPU.name else _ENGINES[name]
    engine.require(experiment, here=here)
    return engine


def tallying_engine(experiment: Experiment) -> TallyingEngine:
    """Return the fastest engine that tells the replications of an experiment apart."""
    return REFERENCE if experiment.instance.has_own else CPU


def tournament_engine(name: str) -> Engine:
    """Return the engine of that name, for experiments that are not known yet."""
    if name not in (CPU.name, CUDA.name):
        raise one_of("engine", name, (CPU.name, CUDA.name))
    if name == CUDA.name:
        require_gpu()
    return _ENGINES[name]


def require_gpu(*, here: bool = True) -> None:
    """Refuse to go on without what GPUs need."""
    from ringfence.simulation.gpu import compilation

    compilation.require_gpu(here=here)


def is_worth_a_gpu(experiment: Experiment, replications: int) -> bool:
    """Tell whether there is a GPU, and work enough to make up for compiling for it."""
    if replications < _WORTH_A_GPU * CPU.chunk_size(experiment):
        return False
    from ringfence.simulation.gpu.compilation import gpu_count

    if gpu_count() == 0:
        return False
    from ringfence.simulation.gpu import engine

    return engine.is_supported(experiment)
