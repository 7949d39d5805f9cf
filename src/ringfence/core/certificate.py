"""Certificates: which tests prove an answer, each at which level, and what is proven by now.

With K arms and m limits, at a chance delta of being wrong: that an arm keeps a limit and that an
arm is no better than the answer are tested at delta/K, that an arm breaks a limit at delta/(K m).
Fix an arm that is right. Another that is named breaks a limit, which one test must have said is
kept; or it is worse, and then the right arm was said to break one of its m limits, or to be no
better: K events of delta/K in all. Where no arm keeps all limits, K false "kept" are. Whoever asks
for all arms that keep their limits is wrong by one of them: delta/K each. Touches its arguments
only.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from ringfence.core.codes import Code
from ringfence.core.decimals import decimal
from ringfence.core.proving import Evidence, Prover

_MOST_TRIED = 3  # arms that are proven to keep their limits, the best by estimate first


class Status(Code):
    """What is proven."""

    CERTIFIED = "certified"
    EQUIVALENT = "equivalent"
    NONE_FEASIBLE = "none-feasible"
    OPEN = "open"


class Passage(Code):
    """What is proven of one arm and its limits: it KEEPS them all, or BREAKS one."""

    KEEPS = "keeps"
    BREAKS = "breaks"
    OPEN = "open"


class Kind(Code):
    """What a test is about: an arm KEEPS a limit, BREAKS it, or is NO_BETTER than another."""

    KEEPS = "keeps"
    BREAKS = "breaks"
    NO_BETTER = "no-better"


@dataclass(frozen=True)
class Step:
    """One question about an arm, and what was seen of it.

    `limit` is the place of a constraint, or `rival` the arm that `arm` may be no better than, by
    more than `within`. It is settled once its e-value has reached one over the `level`.
    """

    kind: Kind
    arm: int
    level: float
    evidence: Evidence
    limit: int | None = None
    rival: int | None = None
    within: Fraction = Fraction(0)

    @property
    def is_settled(self) -> bool:
        """Whether the e-value has reached one over the level, at any time."""
        return self.evidence.peak >= -math.log(self.level)

    @property
    def needs(self) -> int | None:
        """How many more blocks it may take, if it goes on as so far; None where nobody can tell."""
        seen = self.evidence
        if self.is_settled:
            return 0
        if seen.hindrance is not None:
            return None
        lacks = -math.log(self.level) - seen.log_e
        more = math.ceil(lacks / seen.growth) if seen.growth > 0.0 else None
        return more if seen.left is None else min(seen.left if more is None else more, seen.left)

    @property
    def order(self) -> tuple[float, float]:
        """What tests go by to be settled soonest."""
        return (math.inf if self.needs is None else self.needs, -self.evidence.log_e)


@dataclass(frozen=True)
class Conclusion:
    """What is proven: the `answer`'s arms, by which tests, and which questions are `open`.

    Where nothing is proven `answer` are the arms that questions are about.
    """

    status: Status
    answer: tuple[int, ...]
    settled: tuple[Step, ...]
    open: tuple[Step, ...]


@dataclass(frozen=True)
class Gated:
    """What is proven of one arm, by which tests, and which questions are `open`."""

    status: Passage
    settled: tuple[Step, ...]
    open: tuple[Step, ...]


class Levels:
    """The tests of arms at their levels."""

    def __init__(self, prover: Prover, confidence: float, *, of_one: bool = False) -> None:
        """Split the chance of being wrong between the tests, of all arms or `of_one`."""
        self.prover = prover
        self.arm_count = 1 if of_one else len(prover.paths)
        self.limit_count = len(prover.problem.constraints)
        doubt = 1 - decimal(confidence)
        self.each = float(doubt / self.arm_count)
        self.per_break = float(doubt / (self.arm_count * max(self.limit_count, 1)))

    def keeps(self, arm: int) -> list[Step]:
        """Return the tests that an arm keeps its limits."""
        return [
            Step(Kind.KEEPS, arm, self.each, self.prover.keeps(arm, c), limit=c)
            for c in range(self.limit_count)
        ]

    def breaks(self, arm: int) -> list[Step]:
        """Return the tests that an arm breaks each of its limits."""
        return [
            Step(Kind.BREAKS, arm, self.per_break, self.prover.breaks(arm, c), limit=c)
            for c in range(self.limit_count)
        ]

    def no_better(self, arm: int, rival: int, within: Fraction = Fraction(0)) -> Step:
        """Return the test that an arm is no better than a rival."""
        seen = self.prover.no_better(arm, rival, within)
        return Step(Kind.NO_BETTER, arm, self.each, seen, rival=rival, within=within)


def concluded(
    prover: Prover, confidence: float, *, of_set: bool = False, within: Fraction = Fraction(0)
) -> Conclusion:
    """Return what is proven at a confidence: of the best arm, or `of_set`, of all that keep limits.

    With `within` an arm may be proven that no other betters by more than that.
    """
    levels = Levels(prover, confidence)
    arms = range(levels.arm_count)
    kept = {arm: levels.keeps(arm) for arm in arms}
    broken = {arm: [one for one in levels.breaks(arm) if one.is_settled] for arm in arms}
    feasible = [arm for arm in arms if not broken[arm] and all(x.is_settled for x in kept[arm])]
    out = [broken[arm][0] for arm in arms if broken[arm]]
    if len(out) == levels.arm_count:
        return Conclusion(Status.NONE_FEASIBLE, (), tuple(out), ())
    proven = [*out, *(test for arm in feasible for test in kept[arm])]
    rest = [arm for arm in arms if not broken[arm]]
    if of_set:
        asked = [
            _soonest([kept[arm], *([one] for one in levels.breaks(arm))])
            for arm in rest
            if arm not in feasible
        ]
        open_ = tuple(test for tests in asked for test in tests)
        status = Status.OPEN if open_ else Status.CERTIFIED
        return Conclusion(status, tuple(feasible), tuple(proven), open_)
    return _best(levels, kept, feasible, rest, out, within)


def gated(prover: Prover, arm: int, confidence: float) -> Gated:
    """Return whether one arm is proven to keep all its limits, or to break one.

    It either keeps them, and of m limits one was falsely said to be broken; or it breaks one, and
    that was falsely said to be kept. So "kept" is tested at delta, a break at delta/m.
    """
    levels = Levels(prover, confidence, of_one=True)
    kept, broken = levels.keeps(arm), levels.breaks(arm)
    if out := [one for one in broken if one.is_settled]:
        return Gated(Passage.BREAKS, tuple(out), ())
    settled = tuple(one for one in kept if one.is_settled)
    ways = _soonest([kept, *([one] for one in broken)])
    return Gated(Passage.OPEN if ways else Passage.KEEPS, settled, tuple(ways))


def _best(
    levels: Levels,
    kept: dict[int, list[Step]],
    feasible: list[int],
    rest: list[int],
    out: list[Step],
    within: Fraction,
) -> Conclusion:
    """Return what is proven of the best arm, among those that are not proven to break a limit."""
    ranked = sorted(feasible, key=_rank(levels.prover))[:_MOST_TRIED]
    for arm in ranked:
        rivals = [rival for rival in rest if rival != arm]
        pairs = [levels.no_better(rival, arm, within) for rival in rivals]
        if not all(test.is_settled for test in pairs):
            continue
        status, proven = Status.CERTIFIED, [*out, *kept[arm], *pairs]
        if within:  # whoever is better by more was let pass by one test alone, that of `pairs`
            strictly = [levels.no_better(rival, arm) for rival in rivals]
            if all(test.is_settled for test in strictly):
                proven += strictly
            else:
                status = Status.EQUIVALENT
        return Conclusion(status, (arm,), tuple(proven), ())
    leader = _leader(levels, rest)
    if leader is None:
        open_ = [test for arm in rest for test in _soonest([[x] for x in levels.breaks(arm)])]
        return Conclusion(Status.OPEN, (), tuple(out), tuple(open_))
    open_ = [test for test in kept[leader] if not test.is_settled]
    settled = [*out, *(test for test in kept[leader] if test.is_settled)]
    for rival in rest:
        if rival != leader:
            pair = levels.no_better(rival, leader, within)
            found = _soonest([[pair], *([one] for one in levels.breaks(rival))])
            open_ += found
            settled += [pair] if not found else []
    return Conclusion(Status.OPEN, (leader,), tuple(settled), tuple(open_))


def _soonest(ways: list[list[Step]]) -> list[Step]:
    """Return the open tests of the way to settle an arm that takes least; none if it is settled."""
    open_ = [[test for test in way if not test.is_settled] for way in ways]
    return min(open_, key=lambda way: max((test.order for test in way), default=(-1.0, -math.inf)))


def _rank(prover: Prover) -> Callable[[int], tuple[float, int]]:
    """Return what arms are ranked by: the objective so far, lower first."""
    sign = float(prover.problem.signs[0])

    def of(arm: int) -> tuple[float, int]:
        mean = sign * prover.mean(arm, 0)
        return (math.inf if math.isnan(mean) else mean), arm

    return of


def _leader(levels: Levels, rest: list[int]) -> int | None:
    """Return the arm that looks best of those that look feasible, if any does."""
    prover = levels.prover
    looks = [
        arm
        for arm in rest
        if all(
            max(keeps.evidence.log_e, 0.0) >= max(breaks.evidence.log_e, 0.0)
            for keeps, breaks in zip(levels.keeps(arm), levels.breaks(arm), strict=True)
        )
    ]
    return min(looks, key=_rank(prover), default=None)
