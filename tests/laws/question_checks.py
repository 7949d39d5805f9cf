"""Comparisons of questions with their transcription, as functions that faults can be run through.

Every check takes the question under test and raises AssertionError with the first case on which it
differs from `tests.oracle.questions`. It returns how often the delicate situations occurred.
Cases are small integers, so that floats and fractions agree to the last digit and ties are ties.
"""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.baseline import Versus
from ringfence.core.cost import NEVER, cost_work
from ringfence.core.question import Question
from ringfence.core.threats import Threats, make_threats, threat_cost
from tests.laws.checks import CONSTRAINT_COUNTS, Arrays, Case, cases
from tests.oracle import questions as slow
from tests.oracle.questions import Asked, Demand, Noise, Threat

PRICED = 250  # cases of each number of constraints whose threats are priced, in fractions


def asked_of(case: Case, seen: frozenset[int] | None = None) -> Asked:
    alive = case.alive if seen is None else seen
    return Asked(case.estimates, alive, case.scales, case.thresholds, case.priority)


def answered(question: Question, given: Arrays, seen: Mask) -> tuple[set[int], int, bool]:
    marked = np.ones(len(seen), np.bool_)  # what was there before does not matter
    named, feasible = question.answer(
        given.estimates, seen, given.scales, given.thresholds, given.priority, marked
    )
    return set(np.flatnonzero(marked).tolist()), int(named), bool(feasible)


def check_answers(question: Question) -> Counter[str]:
    """Compare answers, right arms and the judging of answers with the transcription."""
    found: Counter[str] = Counter()
    rng = np.random.default_rng(9)
    for m in CONSTRAINT_COUNTS:
        for case in cases(m)[::2]:
            given, asked = case.arrays(), asked_of(case)
            expected = slow.answer(question.name, asked)
            assert answered(question, given, given.alive) == expected, case
            everyone = asked_of(case, frozenset(range(len(case.estimates))))
            optimal = np.ones(len(case.estimates), np.bool_)
            flag = question.optimal(given.estimates, given.scales, given.thresholds, optimal)
            right = slow.right_answers(question.name, everyone)
            assert set(np.flatnonzero(optimal).tolist()) == set().union(*right), case
            assert bool(flag) == (slow.feasible_arms(everyone) != set()), case
            drawn = set(np.flatnonzero(rng.random(len(optimal)) < 0.4).tolist())
            for marks in (expected[0], drawn, *right):
                mask = mask_of(marks, len(optimal))
                for said in (False, True):
                    judged = bool(question.right(optimal, bool(flag), mask, said))
                    assert judged == (marks in right and said == flag), (case, marks, said)
                    found["right"] += judged
                    found["wrong arms, right flag"] += said == flag and not judged
            _check_lost(question, case, given, optimal, everyone, found)
            _count_ties(question.name, case, asked, found)
            found["several right answers"] += len(right) > 1
            found["nothing looks feasible"] += not expected[2]
            found["an answer of several arms"] += len(expected[0]) > 1
    return found


def _check_lost(
    question: Question,
    case: Case,
    given: Arrays,
    optimal: Mask,
    everyone: Asked,
    found: Counter[str],
) -> None:
    """An answer is lost when nothing that the arms in play may yet look like makes it right.

    The truth is what estimates say; those of arms that were dropped are off it by one, at random.
    """
    rng = np.random.default_rng(sum(map(sum, case.estimates)) % 97 + 10)
    looks = given.estimates + np.where(given.alive[:, None], 0.0, rng.integers(-1, 2))
    seen = np.ones(len(optimal), np.bool_)
    marked, _, _ = answered(question, given._replace(estimates=looks), seen)
    lost = bool(question.is_lost(optimal, given.alive, mask_of(marked, len(optimal))))
    dropped = set(range(len(optimal))) - case.alive
    right = slow.right_answers(question.name, everyone)
    if question.name == "all feasible":
        assert lost == any((i in marked) != (i in right[0]) for i in dropped), case
    else:
        assert lost == all(one <= dropped for one in right), case
    found["lost"] += lost


def _count_ties(name: str, case: Case, asked: Asked, found: Counter[str]) -> None:
    margins = [case.margin(i) for i in sorted(asked.seen)]
    found["on the threshold"] += any(m == 0 for m in margins)
    gaps = list(slow.gaps(name, asked).values())
    found["tied at the largest gap"] += gaps.count(max(gaps)) > 1
    backwards = asked_of(case.backwards())
    found["decided by priority"] += slow.answer(name, asked)[1] != slow.answer(name, backwards)[1]


def check_gaps(question: Question) -> Counter[str]:
    """Compare the gaps by which phase policies drop arms with the transcription."""
    found: Counter[str] = Counter()
    for m in CONSTRAINT_COUNTS:
        for case in cases(m)[::2]:
            given = case.arrays()
            named, objective, at = question.reference(
                given.estimates, given.alive, given.scales, given.thresholds, given.priority
            )
            gaps = {}
            for i in sorted(case.alive - {int(named)}):
                lead = given.scales[0] * (given.estimates[i, 0] - objective)
                gaps[i] = Fraction(float(question.gap(lead, float(case.margin(i)), at)))
            assert gaps == slow.gaps(question.name, asked_of(case)), case
            found["zero"] += min(gaps.values()) == 0
            found["tied at the largest gap"] += list(gaps.values()).count(max(gaps.values())) > 1
    return found


# ------------------------------------------------------------------------------- threats


def mask_of(arms: set[int], count: int) -> Mask:
    return np.array([i in arms for i in range(count)])


def written(threats: Threats, t: int, limits: Floats) -> Threat:
    """Return a threat as the transcription writes it."""
    demands = set()
    for d in range(int(threats.sizes[t])):
        sums: dict[tuple[int, int], Fraction] = {}
        bound = Fraction(float(threats.bounds[t, d]))
        for place, arm in enumerate(threats.arms[t].tolist()):
            for c, row in enumerate(threats.rows[t, d, place].tolist()):
                assert arm >= 0 or row == 0.0
                sums[arm, c] = sums.get((arm, c), Fraction(0)) + Fraction(row)
                bound += Fraction(row) * (Fraction(float(limits[c - 1])) if c > 0 else 0)
        kept = frozenset((place, value) for place, value in sums.items() if value != 0)
        demands.add(slow.in_any_unit(Demand(kept, bound)))
    return Threat(frozenset(demands), bool(threats.strict[t]))


def noise_of(covariances: Integers, pulls: Integers) -> Noise:
    return {
        ((i, c), (i, k)): Fraction(int(covariances[i, c, k]), int(pulls[i]))
        for i in range(len(pulls))
        for c in range(covariances.shape[1])
        for k in range(covariances.shape[1])
    }


def check_threats(question: Question) -> Counter[str]:
    """Compare threats and their costs with the transcription, with and without a baseline."""
    found: Counter[str] = Counter()
    for m in CONSTRAINT_COUNTS:
        for number, case in enumerate(cases(m)[-PRICED:]):
            rng = np.random.default_rng((m, number))
            arm_count = len(case.estimates)
            relative = number % 3 == 0
            baseline = int(rng.integers(arm_count)) if relative else -1
            factors = rng.integers(-1, 3, m)
            asked = asked_of(case)._replace(baseline=baseline, factors=factors.tolist())
            roots = rng.integers(-1, 2, (arm_count, 1 + m, 1 + m - number % 2))  # some singular
            covariances = roots @ roots.transpose(0, 2, 1)
            pulls = rng.integers(1, 4, arm_count)
            noise = noise_of(covariances, pulls)
            _check_case(question, case, asked, covariances, pulls, noise, found)
            found["relative"] += relative
    return found


def _check_case(
    question: Question,
    case: Case,
    asked: Asked,
    covariances: Integers,
    pulls: Integers,
    noise: Noise,
    found: Counter[str],
) -> None:
    given, arm_count = case.arrays(), len(case.estimates)
    marked, named, feasible = slow.answer(question.name, asked)
    threats = make_threats(arm_count, len(case.scales))
    for part in threats:  # rubbish of another question
        part.fill(1)
    versus = Versus(np.array([asked.baseline]), np.array(asked.factors, dtype=np.float64))
    count = question.fill_threats(
        given.alive, mask_of(marked, arm_count), named, feasible,
        given.scales, given.thresholds, versus, threats,
    )  # fmt: skip
    expected = slow.threats(question.name, asked, marked, named, feasible=feasible)
    mine = [written(threats, t, given.thresholds) for t in range(count)]
    assert Counter(mine) == Counter(expected), case
    work = cost_work(len(case.scales))
    for t, one in enumerate(mine):
        cost = float(
            threat_cost(
                threats, t, given.estimates, covariances.astype(float), pulls.astype(float),
                given.thresholds, work,
            )
        )  # fmt: skip
        exact = slow.cost(one, case.estimates, noise)
        assert np.isclose(cost, NEVER if exact is None else float(exact), rtol=1e-9, atol=0), case
        found["never"] += exact is None
        found["already so"] += exact == 0
        found["of three arms"] += len({i for d in one.demands for (i, _), _ in d.sums}) == 3


Joint = Callable[[Floats, Floats, int, int, int, int], float]


def _read_from(whole: Integers) -> Joint:
    """Return what reads a joint covariance [arm, attribute, arm, attribute]."""
    return lambda _, __, *places: float(whole[places])


def check_shared_noise(question: Question, use: Callable[[Joint], None]) -> int:
    """Compare costs where estimates of different arms move together; return how many differ.

    `use` puts another joint covariance in the place of the one that knows no shared noise.
    """
    changed = 0
    for number, case in enumerate(cases(2)[-60:]):
        rng = np.random.default_rng((5, number))
        arm_count, width = len(case.estimates), 3
        root = rng.integers(-1, 2, (arm_count * width, arm_count * width + 2))
        whole = root @ root.T
        at = {(i, c): i * width + c for i in range(arm_count) for c in range(width)}
        noise = {(p, q): Fraction(int(whole[at[p], at[q]])) for p in at for q in at}
        marked, named, feasible = slow.answer(question.name, asked_of(case))
        given, threats = case.arrays(), make_threats(arm_count, width)
        count = question.fill_threats(
            given.alive, mask_of(marked, arm_count), named, feasible, given.scales,
            given.thresholds, Versus(np.array([-1]), np.zeros(2)), threats,
        )  # fmt: skip
        unread = np.ones((arm_count, width, width))
        ones, work = np.ones(arm_count), cost_work(width)
        use(_read_from(whole.reshape(arm_count, width, arm_count, width)))
        for t in range(count):
            priced = (threats, t, given.estimates, unread, ones, given.thresholds)
            cost = threat_cost(*priced, work)
            exact = slow.cost(written(threats, t, given.thresholds), case.estimates, noise)
            assert np.isclose(cost, NEVER if exact is None else float(exact), rtol=1e-9, atol=0)
            alone = {p: v for p, v in noise.items() if p[0][0] == p[1][0]}
            changed += exact != slow.cost(
                written(threats, t, given.thresholds), case.estimates, alone
            )
    return changed
