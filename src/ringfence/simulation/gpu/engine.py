"""The engine for GPUs: chunks of an experiment, counted on whichever GPU is free.

A chunk's counts depend on the seed, its number and its size alone: not on the GPU, on how many
there are, on the number of threads, nor on the machine. May touch core, policies, simulation and
numba-cuda.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from queue import SimpleQueue
from typing import Any

import numpy as np
from numba import cuda

from ringfence.core.best_feasible import BEST_FEASIBLE
from ringfence.core.errors import InputError
from ringfence.core.running import Recipe
from ringfence.policies.course import Course
from ringfence.simulation.counts import Counts
from ringfence.simulation.course import make_body, make_room
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.gpu import kernels as gpu_kernels
from ringfence.simulation.gpu.compilation import (
    compilation_errors,
    gpu_count,
    is_simulated,
    require_gpu,
)
from ringfence.simulation.gpu.draws import SERIES, STATE
from ringfence.simulation.gpu.kernels import HEADER, LeanDesign, Place, Shape
from ringfence.simulation.gpu.rooms import fill_normals, layout_of, room_maker, size_of
from ringfence.simulation.gpu.shared import numbered_recording
from ringfence.simulation.laws import GaussianLaw
from ringfence.simulation.records import Recording, SampleRecord, sums_recording
from ringfence.simulation.shared_laws import BlockLaw
from ringfence.simulation.tally import Tally

MOST_LEAN_ARMS = 6
_LEAN_CHUNK = 2**30
_LEAST_CHUNK, _MOST_CHUNK = 2**18, 2**24
_CHUNK_WORK = 2**32
_MOST_BYTES = 2**17  # of one replication; a GPU has a hundred thousand in hand
_THREADS, _BLOCKS = 128, 32  # threads in a block, blocks a multiprocessor

# What threads only read, and share: always, where the noise is known, where no arm is dropped.
_READ = (
    "room.seen.in_flight",
    "room.seen.thresholds",
    "room.seen.baseline",
    "room.seen.prices",
    "room.record.everyone",
    "state.ahead.once",
    "room.factors",
    "room.everyone",
    *(f"state.{field}" for field in ("phases", "prices", "first")),
    *(f"room.record.recipe.{field}" for field in Recipe._fields),
)
_READ_KNOWN = ("room.seen.scales", "room.seen.covariances")
_READ_SHARED = ("room.seen.scales", "room.covariances")  # rules see the joint covariance's
_READ_KEPT = ("room.seen.alive",)


def chunk_size(experiment: Experiment) -> int:
    """Return how many replications make a chunk: enough to fill a GPU, whatever the machine."""
    if suits_lean(experiment):
        return _LEAN_CHUNK
    arm_count = len(experiment.instance.arms)
    work = arm_count**2 * max(1, len(experiment.phases))
    if experiment.is_adaptive or experiment.is_recorded or experiment.instance.law.draws_samples:
        work = experiment.allowance.pulls * arm_count
    size: int = 2 ** (_CHUNK_WORK // work).bit_length()
    return max(_LEAST_CHUNK, min(_MOST_CHUNK, size))


def count_chunk(
    experiment: Experiment,
    seed: int,
    chunk: int,
    replications: int,
    *,
    shape: tuple[int, int] | None = None,
) -> Counts:
    """Run the first `replications` of a chunk on a GPU, and count them.

    `shape` is how many blocks of how many threads are launched: a matter of speed alone.
    """
    require_gpu()
    require_supported(experiment)
    arm_count, phase_count = len(experiment.instance.arms), max(1, len(experiment.phases))
    key, other_key = (np.uint32(word) for word in experiment.key(seed, chunk))
    with _some_gpu():
        try:
            kernel, arguments = _lean(experiment) if suits_lean(experiment) else _course(experiment)
            out = _on_device(np.zeros(HEADER + 3 * arm_count + phase_count, np.int64))
            blocks = shape or _shape()
            kernel[blocks](key, other_key, replications, *arguments, out)
        except compilation_errors() as error:
            raise InputError(
                f"policy {experiment.policy.name!r}: its rule cannot be compiled for a GPU. Write "
                "it with plain loops and numbers, as in docs/skeleton_policy.py, or use "
                f"engine = 'cpu'. The compiler says: {error}"
            ) from None
        found = out.copy_to_host()
    tally = experiment.empty_tally(0)
    tally.misjudged[0] = found[0]
    experiment.require_sound(tally)
    _, errors, flag_errors = found[:HEADER]
    pulls, lost, chosen = np.split(found[HEADER:], (arm_count, arm_count + phase_count))
    return Counts(
        replications=replications,
        errors=int(errors),
        wrong_flag=int(flag_errors),
        lost_in_phase=lost,
        pulls=pulls.astype(np.float64),
        chosen=chosen.reshape(arm_count, 2),
        only_here_wrong=0,
        only_first_wrong=0,
    )


def suits_lean(experiment: Experiment) -> bool:
    """Tell whether the fastest kernel will do.

    It is for the best feasible arm of few Gaussian ones under known noise, and phases that pull all
    survivors alike. Its rules see survivors only: ours do not mind; of others we cannot know.
    """
    return (
        experiment.question.is_like(BEST_FEASIBLE)
        and experiment.policy.has_phases
        and isinstance(experiment.instance.law, GaussianLaw)
        and not experiment.is_recorded
        and len(experiment.instance.arms) <= MOST_LEAN_ARMS
        and not any(phase.extra for phase in experiment.phases)
        and experiment.course.rule.__module__.startswith("ringfence.")
    )


def require_supported(experiment: Experiment) -> None:
    """Refuse what a GPU cannot run, or not well."""
    name = experiment.instance.name
    if experiment.instance.has_own:
        raise InputError("functions of your own cannot be compiled. Use engine = 'reference'.")
    if experiment.learns:
        raise InputError(
            "engine = 'cuda' does not learn prices. State prices by arm, or use engine = 'cpu'."
        )
    if experiment.stop is not None:
        raise InputError(
            "engine = 'cuda' keeps no pulls, from which answers are proven. Leave stop out, or use "
            "engine = 'cpu'."
        )
    if experiment.is_relative:
        raise InputError(
            f"engine = 'cuda' cannot run instance {name!r}: its limits are relative to baseline = "
            f"{experiment.instance.baseline!r}, and must be numbers there. Use engine = 'cpu'."
        )
    if experiment.shares and not isinstance(experiment.instance.law, BlockLaw):
        raise InputError(
            f"engine = 'cuda' cannot run instance {name!r}: its arms share the items of a table, "
            "and it runs shared effects alone. Use engine = 'cpu'."
        )
    place = _place(experiment)
    if isinstance(place.room.record, SampleRecord):
        raise InputError(
            f"engine = 'cuda' cannot run instance {name!r}: its quantiles or tails need every "
            "pull, more than a GPU can remember of its many replications. Use engine = 'cpu'."
        )
    needed = size_of(layout_of(place))
    if needed > _MOST_BYTES:
        raise InputError(
            f"engine = 'cuda' cannot run instance {name!r}: with {len(experiment.instance.arms)} "
            f"arms one replication takes {needed} bytes, and a GPU has room for {_MOST_BYTES}. "
            "Use engine = 'cpu', or drop arms."
        )


def is_supported(experiment: Experiment) -> bool:
    """Tell whether a GPU can run an experiment."""
    try:
        require_supported(experiment)
    except InputError:
        return False
    return True


def _lean(experiment: Experiment) -> tuple[Any, tuple[Any, ...]]:
    """Return the fastest kernel and what it reads."""
    design, law = experiment.design, experiment.instance.law
    pulls = np.array([phase.pulls for phase in experiment.phases], np.float64)
    totals = np.cumsum(pulls)
    optimal = [int(arm) for arm in np.flatnonzero(design.optimal)]
    factors = law.arrays.factors
    shape = Shape(
        arm_count=law.means.shape[0],
        width=law.means.shape[1],
        normals=law.normals,
        keeps=tuple(phase.keep for phase in experiment.phases),
        alike=bool((factors == factors[0]).all()),
    )
    kernel = gpu_kernels.lean_kernel(experiment.course.rule, shape)
    weights = [(totals - pulls) / totals, pulls / totals, np.sqrt(pulls) / totals]
    read = LeanDesign(
        weights=np.stack(weights, axis=1),
        totals=totals.astype(np.int64),
        means=law.arrays.means,
        factors=factors,
        scales=design.scales,
        thresholds=design.thresholds,
        optimal=sum(1 << arm for arm in optimal),
        optimal_count=len(optimal),
        feasible=design.feasible,
        series=SERIES,
    )
    return kernel, (_on_device(read),)


def _course(experiment: Experiment) -> tuple[Any, tuple[Any, ...]]:
    """Return the kernel for any policy and law, and what it reads."""
    place, recording, course = _place(experiment), _recording(experiment), experiment.course
    kernel = _course_kernel(
        course,
        (recording.forget, recording.add, recording.look),
        layout_of(place),
        _read_in(experiment),
        estimated=experiment.estimated,
        shares=experiment.shares,
    )
    given = experiment.instance.law.arrays, experiment.design, place
    return kernel, tuple(map(_on_device, given))


def _read_in(experiment: Experiment) -> frozenset[str]:
    """Return the paths of what threads only read in their place."""
    known = () if experiment.estimated else _READ_KNOWN
    if experiment.shares and not experiment.estimated:
        known = _READ_SHARED
    kept = _READ_KEPT if experiment.course.chooses else ()
    return frozenset(_READ + known + kept)


@cache
def _course_kernel(
    course: Course,
    record: tuple[Callable[..., None], Callable[..., None], Callable[..., None]],
    layout: Any,
    shared: frozenset[str],
    *,
    estimated: bool,
    shares: bool,
) -> Any:
    """Return a kernel, which is compiled for the layout of its rooms."""
    body = make_body(course, *record, estimated=estimated, relative=False, shares=shares)
    tally = layout.parts[Place._fields.index("tally")]
    counted = HEADER + sum(
        math.prod(part.shape)
        for name, part in zip(Tally._fields, tally.parts, strict=True)
        if name in ("lost_in_phase", "pulls", "chosen")
    )
    return gpu_kernels.course_kernel(body, room_maker(layout, shared), counted)


def _place(experiment: Experiment) -> Place:
    """Return an example of what a thread writes in."""
    design = experiment.design
    if design.slots > 0:
        # A kernel is compiled for the size of its rooms: batches of 17 to 64 pulls share one.
        design = design._replace(slots=4 ** -(-(design.slots - 1).bit_length() // 2))
    course, recording = experiment.course, _recording(experiment)
    if not course.chooses:
        design = design._replace(covariances=np.zeros((1, 1, 1)))
    arm_count, width = len(design.optimal), len(design.scales)
    return Place(
        room=make_room(design, recording, 1, shares=experiment.shares),
        state=course.make_state(experiment.opening, arm_count, width, design.slots),
        tally=experiment.empty_tally(1),
        words=np.zeros(STATE, np.uint32),
        order_words=np.zeros(STATE, np.uint32),
    )


def _recording(experiment: Experiment) -> Recording:
    """Return how a replication remembers its pulls: by sums where these suffice."""
    law = experiment.instance.law
    if experiment.shares:
        return numbered_recording(len(experiment.design.scales))
    if experiment.is_recorded:
        return law.recording
    width = len(experiment.design.scales)
    return sums_recording(law.draw_block, width, law.normals, fill_normals)


def _on_device(tree: Any) -> Any:
    """Return a tree of named tuples with its arrays on the GPU; none may be empty there.

    A kernel takes no None: in place of what is not there it is given a zero, which nobody reads.
    """
    if tree is None:
        return 0
    if isinstance(tree, np.ndarray):
        if tree.size == 0:
            tree = np.zeros([max(1, size) for size in tree.shape], tree.dtype)
        return cuda.to_device(np.ascontiguousarray(tree))
    if hasattr(tree, "_fields"):
        return type(tree)(*map(_on_device, tree))
    return tree


def _shape() -> tuple[int, int]:
    """Return how many blocks of how many threads keep this GPU busy."""
    if is_simulated():
        return 2, 4
    return _BLOCKS * cuda.get_current_device().MULTIPROCESSOR_COUNT, _THREADS


@cache
def _free_gpus() -> "SimpleQueue[int]":
    free: SimpleQueue[int] = SimpleQueue()
    for number in range(gpu_count()):
        free.put(number)
    return free


@contextmanager
def _some_gpu() -> Iterator[None]:
    """Work on a GPU that nobody else in this process works on."""
    number = _free_gpus().get()
    try:
        with cuda.gpus[number]:
            yield
    finally:
        _free_gpus().put(number)
