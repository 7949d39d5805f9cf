"""Which answers the truth may have, given estimates and their noise: draws, and their answers.

The verdict of a study and the truth of a logged table are judged by the same draws. Touches its
arguments only.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.beliefs import Beliefs
from ringfence.core.streams import Generator

DRAWS = 10_000


class Answers(NamedTuple):
    """The right arm of every draw, and whether any arm is feasible in it.

    `passing` is, arm by arm, the share of draws in which it keeps all limits; 0 for others. `kept`
    is the share of draws in which all the arms that were marked do, `whole` that in which they
    alone do.
    """

    arms: Integers
    feasible: Mask
    passing: Floats
    whole: float = 0.0
    kept: float = 0.0

    @property
    def chances(self) -> Floats:
        """The share of draws in which each arm is right."""
        return np.bincount(self.arms, minlength=len(self.passing)) / len(self.arms)

    def share(self, right: Iterable[int], *, feasible: bool) -> float:
        """Return the share of draws in which one of these arms is right, with this flag."""
        return float((np.isin(self.arms, list(right)) & (self.feasible == feasible)).mean())


def drawn_answers(
    rng: Generator,
    beliefs: Beliefs,
    scales: Floats,
    thresholds: Floats,
    *,
    arms: Iterable[int],
    baseline: int | None = None,
    factors: Floats | None = None,
    favoured: int | None = None,
    marked: Mask | None = None,
) -> Answers:
    """Return the answers of draws of what the truth of some arms may be.

    Arms are taken one after the other, so that a thousand of them need no more room than one. A
    baseline is drawn first: all arms are compared with `factors` times that draw of it, itself too
    if it is one of them. Of arms that tie in a draw any is right: the `favoured` one is named if
    it is among them. `marked` are the arms of the answer that is judged; none, if not given.
    """
    limits, candidates = thresholds, [int(arm) for arm in arms]
    others = [arm for arm in candidates if arm != baseline]
    order = candidates if baseline is None else [baseline, *others]
    common = beliefs.common(rng, order, DRAWS)
    lowest, nearest = np.full(DRAWS, np.inf), np.full(DRAWS, np.inf)  # so far, arm after arm
    best_passing, best_failing = np.full(DRAWS, -1), np.full(DRAWS, candidates[0])
    passing = np.zeros(len(beliefs.estimates))
    chosen = np.zeros(len(passing), np.bool_) if marked is None else marked
    agrees, kept = np.ones(DRAWS, np.bool_), np.ones(DRAWS, np.bool_)
    for arm in order:
        draw = beliefs.draws(rng, arm, common, DRAWS)
        if arm == baseline and factors is not None:
            limits = thresholds + factors * draw[:, 1:]
        if arm not in candidates:
            continue
        worst = (scales[1:] * (draw[:, 1:] - limits)).max(axis=1, initial=-np.inf)
        passes = worst <= 0.0
        passing[arm] = passes.mean()
        agrees &= passes == chosen[arm]
        if chosen[arm]:
            kept &= passes
        is_ahead = np.less_equal if arm == favoured else np.less
        leads = passes & is_ahead(draw[:, 0], lowest)
        np.copyto(lowest, draw[:, 0], where=leads)
        np.copyto(best_passing, arm, where=leads)
        leads = is_ahead(worst, nearest)
        np.copyto(nearest, worst, where=leads)
        np.copyto(best_failing, arm, where=leads)
    any_passes = best_passing >= 0
    named = np.where(any_passes, best_passing, best_failing)
    all_kept = float(kept.mean()) if chosen.any() else 0.0
    return Answers(named, any_passes, passing, float(agrees.mean()), all_kept)
