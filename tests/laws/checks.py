"""The comparisons with the transcription, as functions that a planted fault can be run through.

Every check takes the function (or the policy, or the engine) under test and raises AssertionError
with the first case on which it differs from `tests.oracle.transcription`. What a check returns is
how often the delicate situations occurred, so that the tests can ask that they did.

All numbers are small integers, or integers times the least common multiple of the pull counts, so
that floats and fractions agree to the last digit and ties are real ties.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import permutations, product
from typing import NamedTuple

import numpy as np

from ringfence.core.all_feasible import ALL_FEASIBLE
from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.gaps import apparent_best, margin
from ringfence.core.hardness import Hardness
from ringfence.core.schedule import Phase
from ringfence.policies.policy import PhasePolicy, Reject
from tests.oracle import transcription as paper

CONSTRAINT_COUNTS = (1, 2, 3)
RANDOM_CASES = 1200

Margin = Callable[[Floats, int, Floats, Floats], float]
Best = Callable[[Floats, Mask, Floats, Floats, Integers], int]
Pair = Callable[[Floats, int, int, Floats, Floats], tuple[float, float, float]]
PairGap = Callable[[float, float, float], float]
Outcome = tuple[int, bool, list[int], list[int]]


class Arrays(NamedTuple):
    """The arguments of a rejection rule, in its order."""

    estimates: Floats
    counts: Integers
    alive: Mask
    scales: Floats
    thresholds: Floats
    priority: Integers


@dataclass(frozen=True)
class Case:
    """What a rule is given at the end of a phase, in integers."""

    estimates: tuple[tuple[int, ...], ...]
    alive: frozenset[int]
    scales: tuple[int, ...]
    thresholds: tuple[int, ...]
    priority: tuple[int, ...]

    def arrays(self) -> Arrays:
        """Return the case as the package wants it."""
        arm_count = len(self.estimates)
        return Arrays(
            np.array(self.estimates, dtype=np.float64),
            np.ones(arm_count, np.int64),
            np.array([i in self.alive for i in range(arm_count)]),
            np.array(self.scales, dtype=np.float64),
            np.array(self.thresholds, dtype=np.float64),
            np.array(self.priority, dtype=np.int64),
        )

    def ask(self, rule: paper.RejectRule) -> int:
        """Return what the transcription's rule answers."""
        return rule(
            self.estimates, set(self.alive), self.scales, self.thresholds, list(self.priority)
        )

    def margin(self, arm: int) -> Fraction:
        """Return the transcription's margin."""
        return paper.margin(self.estimates[arm], self.scales, self.thresholds)

    def backwards(self) -> "Case":
        """Return the same case with the order of arms reversed."""
        last = len(self.priority) - 1
        reverse = tuple(last - rank for rank in self.priority)
        return Case(self.estimates, self.alive, self.scales, self.thresholds, reverse)


# --------------------------------------------------------------------------------- the cases


def exhaustive_cases() -> Iterator[Case]:
    """Yield every case of two arms on a 3 x 3 grid, and of three on 2 x 3, in every order."""
    for rows in product(product((-1, 0, 1), repeat=2), repeat=2):
        for scales, order in product(((1, 1), (2, 1), (1, 3)), permutations(range(2))):
            yield Case(rows, frozenset({0, 1}), scales, (0,), order)
    for rows in product(product((0, 1), (-1, 0, 1)), repeat=3):
        for order in permutations(range(3)):
            yield Case(rows, frozenset({0, 1, 2}), (1, 1), (0,), order)


def random_cases(constraint_count: int) -> Iterator[Case]:
    """Yield cases of 2 to 6 arms on grids of 2 to 5 values, with dead arms and unequal scales.

    A third of them lie wholly above their thresholds: nothing looks feasible there.
    """
    rng = np.random.default_rng(20230 + constraint_count)
    for number in range(RANDOM_CASES):
        arm_count = int(rng.integers(2, 7))
        reach = int(rng.integers(1, 3))
        rows = rng.integers(-reach, reach + 1, (arm_count, 1 + constraint_count))
        thresholds = rng.integers(-1, 2, constraint_count)
        if number % 3 == 0:
            rows[:, 1] = thresholds[0] + rng.integers(1, 3, arm_count)
        alive = rng.random(arm_count) < 0.8
        alive[rng.permutation(arm_count)[:2]] = True
        yield Case(
            tuple(tuple(int(value) for value in row) for row in rows),
            frozenset(np.flatnonzero(alive).tolist()),
            tuple(rng.integers(1, 4, 1 + constraint_count).tolist()),
            tuple(thresholds.tolist()),
            tuple(rng.permutation(arm_count).tolist()),
        )


@cache
def cases(constraint_count: int) -> tuple[Case, ...]:
    """Return all cases with so many constraints, the same in every process."""
    complete = tuple(exhaustive_cases()) if constraint_count == 1 else ()
    return complete + tuple(random_cases(constraint_count))


# --------------------------------------------------------------------------------- the rules


RULES: dict[str, paper.RejectRule] = {
    **paper.SUCCESSIVE_REJECTS_RULES,
    **paper.HALVING_RULES,
    "apparent-best": paper.apparent_best,
}


@cache
def expected(name: str, constraint_count: int) -> tuple[int, ...]:
    """Return the transcription's answer to every case; `name` is a policy or 'apparent-best'."""
    return tuple(case.ask(RULES[name]) for case in cases(constraint_count))


@cache
def situations(name: str, constraint_count: int) -> Counter[str]:
    """Count the delicate situations among the cases, by the transcription alone."""
    seen: Counter[str] = Counter()
    answers = expected(name, constraint_count)
    for case, answer in zip(cases(constraint_count), answers, strict=True):
        margins = [case.margin(i) for i in case.alive]
        seen["on the threshold"] += any(m == 0 for m in margins)
        seen["nothing looks feasible"] += all(m > 0 for m in margins)
        seen["everything looks feasible"] += all(m <= 0 for m in margins)
        seen["some arm is dead"] += len(case.alive) < len(case.estimates)
        seen["unequal scales"] += len(set(case.scales)) > 1
        seen["decided by priority"] += case.backwards().ask(RULES[name]) != answer
        seen["tied at the largest gap"] += _tied_at_the_largest_gap(case) > 1
    return seen


def _tied_at_the_largest_gap(case: Case) -> int:
    best = case.ask(paper.apparent_best)
    gaps = [
        paper.Delta(case.estimates, best, i, case.scales, case.thresholds)
        for i in case.alive
        if i != best
    ]
    return gaps.count(max(gaps))


def check_rejections(reject: Reject, name: str) -> Counter[str]:
    """Compare a rejection rule with the transcription's rule of that policy."""
    seen: Counter[str] = Counter()
    for m in CONSTRAINT_COUNTS:
        for case, answer in zip(cases(m), expected(name, m), strict=True):
            found = int(reject(*case.arrays()))
            assert found == answer, f"{name} drops {found}, not {answer}: {case}"
        seen += situations(name, m)
    return seen


def check_apparent_best(rule: Best) -> Counter[str]:
    """Compare `apparent_best` with the transcription."""
    seen: Counter[str] = Counter()
    for m in CONSTRAINT_COUNTS:
        for case, answer in zip(cases(m), expected("apparent-best", m), strict=True):
            estimates, _, alive, scales, thresholds, priority = case.arrays()
            found = int(rule(estimates, alive, scales, thresholds, priority))
            assert found == answer, f"{found} looks best, not {answer}: {case}"
        seen += situations("apparent-best", m)
    return seen


def check_margin(rule: Margin) -> Counter[str]:
    """Compare `margin` with the transcription; the sign of zero does not count, zero does."""
    seen: Counter[str] = Counter()
    for m in CONSTRAINT_COUNTS:
        for case in cases(m):
            given = case.arrays()
            for arm in range(len(case.estimates)):
                answer = case.margin(arm)
                found = rule(given.estimates, arm, given.scales, given.thresholds)
                assert Fraction(float(found)) == answer, f"margin {found}, not {answer}: {case}"
                seen["exactly zero"] += answer == 0
                violations = [
                    scale * (value - threshold)
                    for scale, value, threshold in zip(
                        case.scales[1:], case.estimates[arm][1:], case.thresholds, strict=True
                    )
                ]
                seen["not the last constraint"] += violations[-1] < max(violations)
                seen["not the first constraint"] += violations[0] < max(violations)
    return seen


@cache
def pair_gaps(constraint_count: int) -> tuple[tuple[int, int, int, Fraction, Fraction], ...]:
    """Return (case, better arm, other arm, delta, Delta) for all pairs, by the transcription."""
    found = []
    for number, case in enumerate(cases(constraint_count)):
        for i, j in permutations(range(min(3, len(case.estimates))), 2):
            pair = [case.estimates[i], case.estimates[j]]
            if 0 in paper.optimal_arms(pair, case.scales, case.thresholds):
                where = (case.estimates, i, j, case.scales, case.thresholds)
                found.append((number, i, j, paper.delta(*where), paper.Delta(*where)))
    return tuple(found)


def check_separation(pair: Pair, rule: PairGap) -> Counter[str]:
    """Compare `separation` with the paper's delta, for every pair with the better arm first."""
    return _check_pairs(pair, rule, capped=False)


def check_gap(pair: Pair, rule: PairGap) -> Counter[str]:
    """Compare `gap` with the paper's Delta, for every pair with the better arm first."""
    return _check_pairs(pair, rule, capped=True)


def _check_pairs(pair: Pair, rule: PairGap, *, capped: bool) -> Counter[str]:
    seen: Counter[str] = Counter()
    for m in CONSTRAINT_COUNTS:
        given = [case.arrays() for case in cases(m)]
        for number, i, j, delta, Delta in pair_gaps(m):
            estimates, _, _, scales, thresholds, _ = given[number]
            answer = Delta if capped else delta
            found = Fraction(float(rule(*pair(estimates, i, j, scales, thresholds))))
            assert found == answer, f"({i}, {j}) gives {found}, not {answer}: {cases(m)[number]}"
            case = cases(m)[number]
            seen["the cap decides"] += Delta < delta
            seen["zero"] += answer == 0
            if case.margin(i) <= 0 < case.margin(j):
                deceives = case.estimates[j][0] <= case.estimates[i][0]
                seen["deceiver" if deceives else "infeasible and worse"] += 1
            elif case.margin(i) > 0:
                seen["both infeasible"] += 1
            else:
                seen["both feasible"] += 1
    return seen


# ------------------------------------------------------------------------------ the schedules


ARM_COUNTS = (*range(1, 9), 16, 17)


def budgets(arm_count: int) -> list[int]:
    """Return every small budget for so many arms, some large ones, and the delicate ones.

    Delicate are those around which (T - K)/(logbar (K + 1 - k)) is a whole number, so that its
    ceiling turns on the last digit.
    """
    small = range(arm_count + 1, 3 * arm_count + 20)
    whole = {(paper.log_bar(arm_count) * k).numerator for k in range(2, arm_count + 1)}
    delicate = {
        arm_count + times * step + off
        for step in whole
        for times in range(1, 13)
        for off in (-1, 0, 1)
        if times * step + off > 0
    }
    return sorted({*small, *delicate, 100 * arm_count + 7, 9973, 10**6 + 3})


def check_totals(totals: Callable[[int, int], list[int]]) -> None:
    """Compare n_1, ..., n_{K-1} with the transcription, for 1 to 17 arms."""
    for arm_count in ARM_COUNTS:
        for budget in budgets(arm_count):
            answer = paper_totals(arm_count, budget)
            found = list(totals(arm_count, budget))
            assert found == answer, f"K={arm_count}, T={budget}: {found}, not {answer}"


def check_phases(policy: PhasePolicy) -> None:
    """Compare a policy's phases with the transcription's schedule, for 1 to 17 arms."""
    for arm_count in ARM_COUNTS:
        for budget in budgets(arm_count):
            if budget < policy.minimum_budget(arm_count):
                continue
            answer = paper_phases(policy.name, arm_count, budget)
            found = [tuple(phase) for phase in policy.phases(arm_count, budget)]
            assert found == answer, f"K={arm_count}, T={budget}: {found}, not {answer}"


@cache
def paper_totals(arm_count: int, budget: int) -> list[int]:
    """Return the transcription's n_1, ..., n_{K-1}, remembered."""
    return paper.successive_rejects_schedule(arm_count, budget)


def paper_phases(name: str, arm_count: int, budget: int) -> list[tuple[int, int, int]]:
    """Return (pulls of each survivor, extra pulls, survivors after) by the transcription."""
    if name == "uniform":
        pulls = paper.uniform_pulls(arm_count, budget, list(range(arm_count)))
        return [(min(pulls), sum(pulls) - arm_count * min(pulls), arm_count)]
    if name in paper.HALVING_RULES:
        rounds = paper.sequential_halving_rounds(arm_count, budget)
        return [(each, extra, after) for _, each, extra, after in rounds]
    totals = paper_totals(arm_count, budget)
    return [
        (total - before, 0, max(1, arm_count - k))
        for k, (total, before) in enumerate(zip(totals, [0, *totals], strict=False), start=1)
    ]


def check_pulls_used(
    count: Callable[[int, Sequence[Phase]], int], policy: PhasePolicy
) -> Counter[str]:
    """Compare what a schedule is said to spend with what the transcription spends."""
    seen: Counter[str] = Counter()
    for arm_count in range(1, 8):
        order = list(range(arm_count))
        for budget in range(policy.minimum_budget(arm_count), 5 * arm_count + 12):
            *_, pulls = paper.run(
                policy.name, arm_count, budget, lambda i, _: [i, 0], [1, 1], [0], order
            )
            found = count(arm_count, policy.phases(arm_count, budget))
            assert found == sum(pulls), f"{policy.name}, K={arm_count}, T={budget}: {found}"
            seen["all of the budget" if found == budget else "less than the budget"] += 1
    return seen


# -------------------------------------------------------------------------------- whole runs


@dataclass(frozen=True)
class Recording:
    """Samples [arm, ordinal, attribute] of a whole run, integers whose means are integers too."""

    samples: Integers
    budget: int
    scales: tuple[int, ...]
    thresholds: tuple[int, ...]

    def play(self, name: str, priority: Sequence[int]) -> Outcome:
        """Return the transcription's (answer, flag, rejected arms, pulls by arm)."""
        rows = self.samples.tolist()
        return paper.run(
            name,
            len(rows),
            self.budget,
            lambda arm, ordinal: rows[arm][ordinal],
            self.scales,
            self.thresholds,
            list(priority),
        )


def possible_counts(phases: Sequence[Phase]) -> set[int]:
    """Return every number of pulls that an arm may have when something is decided."""
    before, counts = 0, set()
    for phase in phases:
        before += phase.pulls
        counts |= {before, before + 1} if phase.extra else {before}
    return counts


def record(
    rng: np.random.Generator, phases: Sequence[Phase], arm_count: int, budget: int, m: int
) -> Recording:
    """Return random samples on a grid so coarse that means often tie and meet the threshold."""
    unit = math.lcm(*possible_counts(phases))
    length = sum(phase.pulls + 1 for phase in phases)
    reach = int(rng.integers(1, 3))
    samples = unit * rng.integers(-reach, reach + 1, (arm_count, length, 1 + m))
    assert unit * reach * length < 2**50, "sums of samples must be exact in floats"
    return Recording(
        samples,
        budget,
        tuple(rng.integers(1, 4, 1 + m).tolist()),
        tuple((unit * rng.integers(-1, 2, m)).tolist()),
    )


def small_runs(policy: PhasePolicy, *, seed: int, count: int) -> Iterator[Recording]:
    """Yield recordings for 1 to 6 arms, 1 to 3 constraints and small budgets."""
    rng = np.random.default_rng(seed)
    for number in range(count):
        arm_count = int(rng.integers(1, 7))
        least = policy.minimum_budget(arm_count)
        budget = least + int(rng.integers(0, 6 if number % 2 else 25))
        phases = policy.phases(arm_count, budget)
        yield record(rng, phases, arm_count, budget, 1 + number % 3)


def play(
    policy: PhasePolicy,
    samples: Floats,
    budget: int,
    scales: Floats,
    thresholds: Floats,
    priority: Integers,
) -> Outcome:
    """Play a policy on recorded samples: its phases, its rule, and core's apparent best."""
    arm_count = len(samples)
    sums = np.zeros((arm_count, samples.shape[2]))
    counts = np.zeros(arm_count, np.int64)
    estimates = np.full_like(sums, np.nan)
    alive = np.ones(arm_count, np.bool_)
    rejected: list[int] = []
    for phase in policy.phases(arm_count, budget):
        survivors = sorted(np.flatnonzero(alive).tolist(), key=lambda i: int(priority[i]))
        for place, i in enumerate(survivors):
            for _ in range(phase.pulls + (place < phase.extra)):
                sums[i] += samples[i, counts[i]]
                counts[i] += 1
            estimates[i] = sums[i] / counts[i]
        while policy.reject is not None and alive.sum() > phase.keep:
            out = int(policy.reject(estimates, counts, alive, scales, thresholds, priority))
            assert alive[out], f"{policy.name} drops arm {out}, which is dead"
            alive[out] = False
            rejected.append(out)
    answer = int(apparent_best(estimates, alive, scales, thresholds, priority))
    flag = bool(margin(estimates, answer, scales, thresholds) <= 0.0)
    return answer, flag, rejected, counts.tolist()


def check_whole_runs(policy: PhasePolicy, *, count: int = 250) -> Counter[str]:
    """Compare whole runs on recorded samples with the transcription's."""
    rng = np.random.default_rng(7)
    seen: Counter[str] = Counter()
    for recording in small_runs(policy, seed=11, count=count):
        arm_count = len(recording.samples)
        priority = rng.permutation(arm_count)
        answer = recording.play(policy.name, priority.tolist())
        found = play(
            policy,
            recording.samples.astype(np.float64),
            recording.budget,
            np.array(recording.scales, dtype=np.float64),
            np.array(recording.thresholds, dtype=np.float64),
            priority,
        )
        assert found == answer, f"{policy.name}: {found}, not {answer}: {recording}, {priority}"
        backwards = recording.play(policy.name, (arm_count - 1 - priority).tolist())
        seen["decided by priority"] += backwards[:3] != answer[:3]
        seen["looks infeasible"] += not answer[1]
        seen["looks feasible"] += answer[1]
        seen["single arm"] += arm_count == 1
        seen["some arms pulled once more"] += any(
            phase.extra for phase in policy.phases(arm_count, recording.budget)
        )
    return seen


# -------------------------------------------------------------------------------- the theory


@dataclass(frozen=True)
class Means:
    """The true attributes of an instance, in integers."""

    rows: tuple[tuple[int, ...], ...]
    scales: tuple[int, ...]
    thresholds: tuple[int, ...]

    @property
    def optimal_arms(self) -> set[int]:
        """The transcription's optimal arms."""
        return paper.optimal_arms(self.rows, self.scales, self.thresholds)

    def theory(self, rule: Callable[[Floats, Floats, Floats], Hardness]) -> Hardness:
        """Return the package's theory of the instance."""
        return rule(
            np.array(self.rows, dtype=np.float64),
            np.array(self.scales, dtype=np.float64),
            np.array(self.thresholds, dtype=np.float64),
        )


@cache
def instances() -> tuple[Means, ...]:
    """Return instances of 1 to 6 arms on coarse grids, with 1 to 3 constraints."""
    rng = np.random.default_rng(41)
    found = []
    for number in range(1200):
        arm_count, m = int(rng.integers(1, 7)), 1 + number % 3
        reach = int(rng.integers(1, 5))
        rows = rng.integers(-reach, reach + 1, (arm_count, 1 + m))
        thresholds = rng.integers(-1, 2, m)
        if number % 4 == 0:
            rows[:, 1] = thresholds[0] + rng.integers(1, 4, arm_count)
        if number % 4 == 1:
            rows[:, 1:] = np.minimum(rows[:, 1:], thresholds + 1)
        found.append(
            Means(
                tuple(tuple(int(value) for value in row) for row in rows),
                tuple(rng.integers(1, 4, 1 + m).tolist()),
                tuple(thresholds.tolist()),
            )
        )
    return tuple(found)


def check_hardness(rule: Callable[[Floats, Floats, Floats], Hardness]) -> Counter[str]:
    """Compare the theory with the transcription, and with it from the arm of least slack.

    The transcription takes the gaps from the arm that the tie rules prefer; with several optimal
    arms the package takes them from the one with the least slack, so H1, H2 and the gaps are
    compared with the transcription's whole answer only where one arm is optimal.
    """
    seen: Counter[str] = Counter()
    for means in instances():
        rows, scales, thresholds = means.rows, means.scales, means.thresholds
        theory = means.theory(rule)
        arms, optimal = range(len(rows)), means.optimal_arms
        margins = [paper.margin(row, scales, thresholds) for row in rows]
        slack = min(abs(margins[i]) for i in optimal)
        J = min(i for i in optimal if abs(margins[i]) == slack)
        assert set(theory.optimal_arms) == optimal, means
        assert theory.optimal == J, means
        assert theory.feasible == paper.instance_is_feasible(rows, scales, thresholds), means
        for i in arms:
            arm = theory.arms[i]
            assert arm.kind == paper.kind(rows, i, scales, thresholds), (i, means)
            assert Fraction(arm.margin) == margins[i], (i, means)
            if i in optimal:
                assert (arm.delta, arm.Delta, arm.rank) == (None, None, 1), (i, means)
            else:
                assert arm.delta == paper.delta(rows, J, i, scales, thresholds), (i, means)
                assert arm.Delta == paper.Delta(rows, J, i, scales, thresholds), (i, means)
            seen[arm.kind] += 1
        others = sorted((i for i in arms if i not in optimal), key=lambda i: theory.arms[i].rank)
        assert [theory.arms[i].rank for i in others] == list(range(2, 2 + len(others))), means
        gaps = [paper.Delta(rows, J, i, scales, thresholds) for i in others]
        assert gaps == sorted(gaps), means
        h1, h2 = _hardness_of(gaps)
        if len(optimal) == 1:
            identity = list(arms)
            assert [J, *others] == paper.ordered_arms(rows, scales, thresholds, identity), means
            assert (h1, h2) == paper.hardness(rows, scales, thresholds, identity), means
        _agree(theory.h1, h1, means)
        _agree(theory.h2, h2, means)
        seen["infinite"] += h1 is None
        seen["several optimal arms"] += len(optimal) > 1
        seen["several, of different slack"] += len({margins[i] for i in optimal}) > 1
        seen["equal gaps"] += len(set(gaps)) < len(gaps)
    return seen


def check_hardness_of_sets(rule: Callable[..., Hardness]) -> Counter[str]:
    """Compare the theory of "which arms are feasible" with sums over margins."""
    seen: Counter[str] = Counter()
    for means in instances():
        rows, scales, thresholds = means.rows, means.scales, means.thresholds
        theory = means.theory(lambda *given: rule(*given, ALL_FEASIBLE))
        margins = [paper.margin(row, scales, thresholds) for row in rows]
        feasible = {i for i, own in enumerate(margins) if own <= 0}
        assert set(theory.optimal_arms) == feasible, means
        assert theory.feasible == (feasible != set()), means
        identity = list(range(len(rows)))
        best = paper.apparent_best(rows, set(identity), scales, thresholds, identity)
        assert theory.optimal == (best if feasible else -1), means
        for arm, own in zip(theory.arms, margins, strict=True):
            assert arm.kind == ("optimal" if own <= 0 else "infeasible"), means
            assert arm.delta == arm.Delta == abs(own), means
        order = sorted(range(len(rows)), key=lambda i: theory.arms[i].rank)
        assert [theory.arms[i].rank for i in order] == list(range(1, len(rows) + 1)), means
        gaps = [abs(margins[i]) for i in order]
        assert gaps == sorted(gaps), means
        hopeless = 0 in gaps
        inverse = [0 if hopeless else 1 / gap**2 for gap in gaps]
        h1 = sum(map(Fraction, inverse), Fraction(0))
        _agree(theory.h1, None if hopeless else h1, means)
        h2 = max(i * Fraction(one) for i, one in enumerate(inverse, start=1))
        _agree(theory.h2, None if hopeless else h2, means)
        seen["infinite"] += hopeless
        seen["nothing is feasible"] += not feasible
        seen["several arms"] += len(feasible) > 1
        seen["equal gaps"] += len(set(gaps)) < len(gaps)
    return seen


def _hardness_of(gaps: Sequence[Fraction]) -> tuple[Fraction | None, Fraction | None]:
    if any(gap == 0 for gap in gaps):
        return None, None
    h1 = sum((1 / gap**2 for gap in gaps), Fraction(0))
    return h1, max((i / gap**2 for i, gap in enumerate(gaps, start=2)), default=Fraction(0))


def _agree(found: float, answer: Fraction | None, means: Means) -> None:
    right = math.inf if answer is None else float(answer)
    assert found == right or math.isclose(found, right, rel_tol=1e-12), (found, right, means)
