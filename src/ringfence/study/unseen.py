"""What was not seen, and could change the answer: values that never came, and pulls that failed.

Draws know the noise that pulls showed. They know nothing of a metric that never varied, nor of what
a failed pull would have told. Both are doubted: where the worst of them would give another arm or
another flag, the verdict is too close to call. May touch policies and core.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np

from ringfence.core.arrays import Floats, Mask
from ringfence.core.baseline import differences
from ringfence.core.shares import may_be_more
from ringfence.core.unseen import reach_of_unseen
from ringfence.study.book import Book
from ringfence.study.deciding import Answer, answer_of, apparent_answer
from ringfence.study.plan import Plan
from ringfence.study.snapshot import Snapshot

_FAR = 1e150  # stands for values without bound: sums of it are still numbers
_MOST_ENDS = 4  # metrics whose two ends are both tried, in all combinations


@dataclass(frozen=True)
class Doubt:
    """Why a verdict is too close to call although the draws may be sure: what was not seen.

    `unseen`: an attribute of the arm never varied in `pulls` pulls, and what they did not show
    could change the answer. `failures`: of the arm's pulls so many `failed`, and the answer would
    be another if each of them counted as the worst value.
    """

    kind: Literal["unseen", "failures"]
    arm: str
    attribute: str | None
    pulls: int
    failed: int = 0


def doubts_of(plan: Plan, snapshot: Snapshot, judged: Mask, answer: Answer) -> tuple[Doubt, ...]:
    """Return why the answer may be another though the draws do not show it, each once.

    The objective's attribute may have a limit too.
    """
    return (
        *dict.fromkeys(_unseen(plan, snapshot, judged, answer)),
        *_failures(plan, snapshot.book, judged, answer),
    )


def never_varied(plan: Plan, snapshot: Snapshot, judged: Mask, answer: Answer) -> Mask:
    """Tell which attributes of which arms never varied, and may yet: those not stated to be exact.

    A share whose limit asks for no event at all is as doubtful where none came, and so is one that
    may be more than a share. Where other arms varied, an arm that did not has some of their noise;
    but of those in the `answer` it is claimed that they keep their limits, and noise of others does
    not show how far their own values may lie.
    """
    book, beliefs = snapshot.book, snapshot.beliefs
    problem = book.problem
    constant = np.diagonal(book.scatters, axis1=1, axis2=2) == 0.0
    shares = beliefs.shares & ~may_be_more(problem, plan.noise.bounds)
    exact = beliefs.variances[judged].max(axis=0) == 0.0
    silent = np.where(beliefs.shares, constant[judged].all(axis=0), exact)
    doubtful = np.tile((silent & ~shares) | beliefs.none_asked, (len(judged), 1))
    own = np.array([one.own is not None or one.is_ratio for one in problem.attributes])
    named = list(answer.arms)
    known = plan.noise.about(problem, book.arms).is_known[named]
    doubtful[named, 1:] |= ~(shares | own | known)[:, 1:]
    doubtful &= ~beliefs.is_known & ~plan.noise.are_exact(problem)
    return np.asarray(doubtful & constant & judged[:, None])


def _unseen(plan: Plan, snapshot: Snapshot, judged: Mask, answer: Answer) -> Iterator[Doubt]:
    open_ = never_varied(plan, snapshot, judged, answer)
    if not open_.any():
        return
    book = snapshot.book
    estimates = snapshot.beliefs.estimates
    before = _apparent(plan, snapshot, estimates, judged)
    names = plan.problem.attributes
    for c, arm in np.argwhere(open_.T).tolist():
        for end in _reach(book, plan.noise.bounds, arm, c):
            moved = estimates.copy()
            moved[arm, c] = end
            if _apparent(plan, snapshot, moved, judged) != before:
                pulls = int(book.counts[arm])
                yield Doubt("unseen", book.arms[arm], str(names[c]), pulls)
                break


def _apparent(plan: Plan, snapshot: Snapshot, estimates: Floats, judged: Mask) -> Answer:
    """Return what looks right with other estimates."""
    seen, baseline = snapshot.evidence(judged, plan.priority), snapshot.book.baseline
    if baseline is not None:
        estimates = differences(estimates, baseline, plan.problem.factors)
    return apparent_answer(plan, seen._replace(estimates=estimates))


def _reach(
    book: Book, bounds: Mapping[str, tuple[float, float]], arm: int, c: int
) -> tuple[float, float]:
    """Return the oriented ends of what an attribute may be though its pulls never varied.

    The unseen values lie as far out as is possible: at the stated bounds, else at the most extreme
    values that any arm was told. Of values that are all the same, nobody knows how far.
    """
    attribute = book.problem.attributes[c]
    ends = bounds.get(attribute.metric, book.told_range(attribute.metric))
    if ends[0] == ends[1]:
        ends = -_FAR, _FAR
    at, pulls = float(book.estimates[arm, c]), int(book.counts[arm])
    low, high = reach_of_unseen(attribute, float(book.problem.signs[c]), at, pulls, ends)
    return max(low, -_FAR), min(high, _FAR)


def _failures(plan: Plan, book: Book, judged: Mask, answer: Answer) -> Iterator[Doubt]:
    failures = book.failures  # those in place of which nothing was told
    for arm in np.flatnonzero(judged & (failures > 0)).tolist():
        for row in _worst_rows(plan, book):
            worse = book.copied()
            worse.failures[arm] = 0  # they are told now
            count = int(failures[arm])
            worse.add(arm, np.tile(row, (count, 1)), book.unseen_blocks(arm, count))
            if answer_of(plan, judged, Snapshot(worse)) != answer:
                yield Doubt(
                    "failures",
                    book.arms[arm],
                    None,
                    int(book.counts[arm]),
                    failed=int(failures[arm]),
                )
                break


def _worst_rows(plan: Plan, book: Book) -> Iterator[Floats]:
    """Yield observations [metric] that are as bad as can be, one for every meaning of bad."""
    ends: list[Sequence[float]] = []
    for metric in plan.metrics:
        if metric not in book.problem.metrics:
            ends.append((0.0,))
            continue
        if metric in plan.untold:  # the built-in `failed`: those pulls did
            ends.append((1.0,))
            continue
        low, high = plan.noise.bounds.get(metric) or _least_range(book, metric)
        bad = set(_bad_ends(book, metric))
        ends.append([{-1: low, 1: high}[end] for end in sorted(bad)])
    several = [place for place, one in enumerate(ends) if len(one) > 1]
    for place in several[_MOST_ENDS:]:
        ends[place] = ends[place][-1:]
    for row in product(*ends):
        yield np.array(row)


def _least_range(book: Book, metric: str) -> tuple[float, float]:
    """Return how far the values of a metric without bounds lie at least, told or not.

    That calls were fast does not show that one which never ended would have been: of a share, and
    of a quantile as its limit is judged, it may be the event that is unwanted.
    """
    ends = [*book.told_range(metric)]
    if book.is_binary(metric):
        ends += [0.0, 1.0]
    for attribute in book.problem.attributes:
        if attribute.metric == metric and attribute.bound is not None:
            level = float(attribute.level or 0.0)
            ends += [float(np.nextafter(level, side)) for side in (-np.inf, np.inf)]
    return min(ends), max(ends)


def _bad_ends(book: Book, metric: str) -> Iterator[int]:
    """Yield at which ends of its range a metric is bad: 1 at the upper, -1 at the lower."""
    for attribute, sign in zip(book.problem.attributes, book.problem.signs.tolist(), strict=True):
        if metric not in attribute.metrics:
            continue
        of_several = attribute.own is not None or attribute.is_ratio
        if of_several or attribute.statistic in ("variance", "std"):
            yield from (-1, 1)
        elif attribute.bound is not None:
            yield int(sign) * (1 if attribute.bound in (">", ">=") else -1)
        else:
            yield int(sign)
