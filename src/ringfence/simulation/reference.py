"""The slow engine: the body of all simulations as it is, one pull at a time.

Nothing is summed ahead and nothing is compiled: every pull is drawn by the law's own `pull` and
kept, and every estimate is measured anew from all of them. It is what compiled engines are checked
against, and it calls functions of one's own. May touch core, policies and simulation.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ringfence.core.arrays import Floats
from ringfence.policies.registry import rules_in_words
from ringfence.simulation.course import make_body
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.laws import Law
from ringfence.simulation.records import Recording
from ringfence.simulation.tally import Tally


class PullRecord(NamedTuple):
    """Every pull of every arm, in their order, and the scatter of their influences."""

    pulls: list[list[Any]]
    scatters: Floats


def pulls_recording(law: Law, arms: Sequence[str]) -> Recording:
    """Return a recording that pulls one at a time, and measures all pulls at every look."""

    def make(arm_count: int, _: int) -> PullRecord:
        scatters = np.zeros_like(law.true_covariances)
        return PullRecord([[] for _ in range(arm_count)], scatters)

    def forget(record: PullRecord) -> None:
        for pulls in record.pulls:
            pulls.clear()

    def add(
        rng: Any, arrays: Any, arm: int, count: int, pulls: int, record: PullRecord, scratch: Floats
    ) -> None:
        record.pulls[arm] += [law.pull(rng, arm) for _ in range(pulls)]

    def look(record: PullRecord, arm: int, count: int, estimates: Floats) -> None:
        estimates[arm], record.scatters[arm] = law.measure(np.array(record.pulls[arm]), arms[arm])

    return Recording(make, forget, add, look)


def run_chunk(experiment: Experiment, seed: int, chunk: int, replications: int) -> Tally:
    """Run the first `replications` of a chunk, pull by pull."""
    law, tally = experiment.instance.law, experiment.empty_tally(replications)
    recording = pulls_recording(law, experiment.instance.arms)
    if experiment.shares or experiment.learns or experiment.stop is not None:
        recording = experiment.recording
    body = make_body(
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
    with rules_in_words(experiment.policy):
        streams, arrays = experiment.streams(seed, chunk), experiment.arrays
        body(*streams, arrays, experiment.design, room, state, tally)
    experiment.require_sound(tally)
    return tally
