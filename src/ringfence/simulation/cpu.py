"""The engine for CPUs: chunks of an experiment, compiled.

What runs a chunk is the body of `course`, or a path that is faster and counts the same: each says
which experiments it suits. May touch core, policies and simulation.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from ringfence.core.errors import InputError
from ringfence.core.streams import Generator
from ringfence.policies.course import Course
from ringfence.policies.registry import rules_in_words
from ringfence.simulation.compilation import CompilationError, compile_kernel
from ringfence.simulation.course import make_body
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.lanes import choices, phases
from ringfence.simulation.records import Recording
from ringfence.simulation.tally import Tally

FAST_PATHS = (phases, choices)
_CHUNK_WORK = 2**18
_CHOICE_WORK = 2**22
_MOST_CHUNK = 2**14


def chunk_size(experiment: Experiment) -> int:
    """Return how many replications make a chunk: fewer where one costs more, whatever the machine.

    It is the same for every policy, so that a result does not depend on what it is compared with.
    """
    law, arm_count = experiment.instance.law, len(experiment.instance.arms)
    if experiment.is_adaptive:
        work = experiment.choices * (4 + arm_count) * (arm_count if experiment.shares else 1)
        if not choices.fills_lanes(experiment):
            return max(1, int(_CHOICE_WORK / work))
        return choices.LANES * math.ceil(_CHOICE_WORK / work / choices.LANES)
    by_pull = law.draws_samples or experiment.is_recorded
    work = arm_count**2 * (2 + law.normals) + experiment.allowance.pulls * by_pull
    size: int = 2 ** (_CHUNK_WORK // work).bit_length()
    return max(phases.lanes_of(experiment), min(_MOST_CHUNK, size))


def run_chunk(experiment: Experiment, seed: int, chunk: int, replications: int) -> Tally:
    """Run the first `replications` of a chunk."""
    if experiment.instance.has_own:
        raise InputError("functions of your own cannot be compiled. Use engine = 'reference'.")
    tally, streams = experiment.empty_tally(replications), experiment.streams(seed, chunk)
    for path in FAST_PATHS if experiment.stop is None else ():
        if path.suits(experiment):
            with _compiler_in_words(experiment):
                path.run(experiment, streams, tally)
            experiment.require_sound(tally)
            return tally
    run_course(experiment, streams, tally, experiment.recording, experiment.arrays)
    return tally


def run_course(
    experiment: Experiment,
    streams: tuple[Generator, Generator],
    tally: Tally,
    recording: Recording,
    arrays: Any,
) -> None:
    """Run the replications of a tally through the body, with a record of their pulls."""
    with _compiler_in_words(experiment):
        kernel = compiled_body(
            experiment.course,
            recording.forget,
            recording.add,
            recording.look,
            estimated=experiment.estimated,
            relative=experiment.is_relative,
            shares=experiment.shares,
            proves=experiment.stop is not None,
            learns=experiment.learns,
        )
        room, state = experiment.new_room(recording), experiment.new_state()
        kernel(*streams, arrays, experiment.design, room, state, tally)
    experiment.require_sound(tally)


@cache
def compiled_body(
    course: Course,
    forget: Callable[..., None],
    add: Callable[..., None],
    look: Callable[..., None],
    *,
    estimated: bool,
    relative: bool,
    shares: bool = False,
    proves: bool = False,
    learns: bool = False,
) -> Callable[..., None]:
    """Return the body of `course.make_body`, compiled."""
    body = make_body(
        course, forget, add, look,
        estimated=estimated, relative=relative, shares=shares, proves=proves, learns=learns,
    )  # fmt: skip
    return compile_kernel(body, allocates=False)


@contextmanager
def _compiler_in_words(experiment: Experiment) -> Iterator[None]:
    """Say in words that a rule cannot be compiled, or that one from outside raised an error."""
    with rules_in_words(experiment.policy):
        try:
            yield
        except CompilationError as error:
            raise InputError(
                f"policy {experiment.policy.name!r}: its rule cannot be compiled. Write it with "
                "plain loops and numbers, as in docs/skeleton_policy.py. The compiler says: "
                f"{error}"
            ) from None
