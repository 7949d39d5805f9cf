"""Which answers the truth may have, given estimates and their noise: draws, and their answers.

The verdict of a study and the truth of a logged table are judged by the same draws. Touches its
arguments only.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.beliefs import Beliefs, InCommon
from ringfence.core.streams import Generator

DRAWS = 10_000


class Answers(NamedTuple):
    """The right arm of every draw, and whether any arm is feasible in it.

    `passing` is, arm by arm, the share of draws in which it keeps all limits; 0 for others. `some`
    is the share in which any arm does, `kept` that in which all the arms that were marked do, and
    `whole` that in which they alone do.
    """

    arms: Integers
    feasible: Mask
    passing: Floats
    some: float
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

    Arms that share blocks share their luck: that all of them look cheap is one piece of evidence,
    of which a common distribution of their values would make as many as there are arms. So no limit
    is surer to be kept, or broken, than each arm's own pulls make it.
    """
    candidates = [int(arm) for arm in arms]
    others = [arm for arm in candidates if arm != baseline]
    order = candidates if baseline is None else [baseline, *others]
    chosen = np.zeros(len(beliefs.estimates), np.bool_) if marked is None else marked

    def drawn(common: InCommon) -> Answers:
        return _answers_of(
            partial(beliefs.draws, rng, common=common, draws=DRAWS), order, candidates, scales,
            thresholds, baseline, factors, favoured, chosen,
        )  # fmt: skip

    found = drawn(beliefs.common(rng, order, DRAWS))
    if beliefs.roots is None:
        return found
    alone = drawn(beliefs.nothing_in_common(rng, DRAWS))
    return found._replace(
        passing=less_sure(found.passing, alone.passing),
        some=float(less_sure(found.some, alone.some)),
        whole=min(found.whole, alone.whole),
        kept=min(found.kept, alone.kept),
    )


def less_sure(first: Floats | float, second: Floats | float) -> Floats:
    """Return of each two chances the one nearer to one half; one half, where it is between them."""
    both = np.minimum(first, second), np.maximum(first, second)
    return np.asarray(np.clip(0.5, *both))


def _answers_of(
    draws_of: Callable[[int], Floats],
    order: Sequence[int],
    candidates: Sequence[int],
    scales: Floats,
    thresholds: Floats,
    baseline: int | None,
    factors: Floats | None,
    favoured: int | None,
    chosen: Mask,
) -> Answers:
    """Return the answers of draws that are made arm by arm, in an order that a baseline begins."""
    limits = thresholds
    lowest, nearest = np.full(DRAWS, np.inf), np.full(DRAWS, np.inf)  # so far, arm after arm
    best_passing, best_failing = np.full(DRAWS, -1), np.full(DRAWS, candidates[0])
    passing = np.zeros(len(chosen))
    agrees, kept = np.ones(DRAWS, np.bool_), np.ones(DRAWS, np.bool_)
    for arm in order:
        draw = draws_of(arm)
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
    some = float(any_passes.mean())
    return Answers(named, any_passes, passing, some, float(agrees.mean()), all_kept)
