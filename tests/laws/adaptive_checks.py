"""Comparisons of adaptive policies with their transcription, as functions to run a fault through.

Every check takes the rule under test and raises AssertionError with the first study on which it
differs from `tests.oracle.adaptive`. It returns how often the delicate situations occurred.

A rule works in floats and the transcription mostly does not: where two values agree to 1e-12 either
decision is right. Two arms that are copies of each other are the exception: all that is computed
for them is equal to the last bit, so that priority must decide. A check follows the rule's own
choices, so that one excused step does not spoil the rest of its batch.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import cache
from typing import Any

import numpy as np

from ringfence.core.arrays import Floats
from ringfence.policies.evidence import Answer, Choose, Evidence
from tests.oracle import adaptive as slow

ROUNDING = 1e-12
MOST_BATCH = 8
STUDIES = {
    "top-two": 700,
    "ocba-co": 700,
    "thompson": 500,
    "va-lucb": 400,
    "answer": 1000,
}  # a constraint count

MakeWork = Callable[[int, int], Any]


# ---------------------------------------------------------------------------------- the studies


@cache
def studies(constraint_count: int, size: int) -> tuple[Evidence, ...]:
    """Return studies with so many constraints, the same in every process."""
    rng = np.random.default_rng(4100 + constraint_count)
    return tuple(random_study(rng, constraint_count, number) for number in range(size))


def random_study(rng: np.random.Generator, m: int, number: int) -> Evidence:
    """Return a study of 1 to 6 arms; half of them lie on a coarse grid.

    A third lie wholly above a threshold. Some arms are copies of others, some are dead, some
    attributes are known exactly, some pulls are in flight, and prices differ in half.
    """
    on_grid = number % 2 == 0
    arm_count = int(rng.integers(1, 7))
    estimates = rng.normal(scale=0.7, size=(arm_count, 1 + m))
    thresholds, scales = rng.normal(scale=0.5, size=m), rng.uniform(0.5, 1.5, 1 + m)
    if on_grid:
        estimates = rng.integers(-2, 3, estimates.shape).astype(np.float64)
        thresholds = rng.integers(-1, 2, m).astype(np.float64)
        scales = rng.choice([0.5, 1.0, 2.0], 1 + m)
    if number % 3 == 0:
        c = int(rng.integers(1, 1 + m))
        above = rng.integers(1, 3, arm_count) if on_grid else rng.uniform(0.1, 1.5, arm_count)
        estimates[:, c] = thresholds[c - 1] + above
    counts = rng.integers(1, 41, arm_count)
    in_flight = rng.integers(0, 6, arm_count) * (rng.random() < 0.5)
    prices = some_prices(number, arm_count)
    covariances = random_covariances(rng, arm_count, 1 + m, on_grid=on_grid)
    if number % 11 == 0:
        c = int(rng.integers(0, 1 + m))
        known = rng.random(arm_count) < 0.7
        covariances[known, c, :] = covariances[known, :, c] = 0.0
    if number % 5 < 2 and arm_count > 1:
        one, other = rng.permutation(arm_count)[:2]
        for array in (estimates, counts, in_flight, covariances):
            array[other] = array[one]
        prices[other] = prices[one]
    alive = rng.random(arm_count) < 0.85
    alive[rng.integers(arm_count)] = True
    estimates[~alive] = covariances[~alive] = np.nan
    return Evidence(
        estimates, counts, in_flight, alive, covariances, scales, thresholds,
        rng.permutation(arm_count), np.array([int(2.0 ** rng.uniform(0.0, 12.0))]),
        prices=prices * arm_count / prices.sum(),
    )  # fmt: skip


def some_prices(number: int, arm_count: int) -> Floats:
    """Return prices of one pull, which differ by up to a factor of 40 in every second study."""
    if number % 4 < 2:
        return np.ones(arm_count)
    return np.random.default_rng(number).choice([1.0, 2.0, 5.0, 40.0], arm_count)


def random_covariances(
    rng: np.random.Generator, arm_count: int, size: int, *, on_grid: bool
) -> Floats:
    """Return a covariance for each arm: unit, of whole numbers, or of any size and correlation."""
    if not on_grid:
        mixtures = rng.normal(size=(arm_count, size, size + 2))
        mixtures *= 2.0 ** rng.uniform(-1.0, 1.0, (arm_count, size, 1))
        return np.asarray(mixtures @ mixtures.transpose(0, 2, 1) / (size + 2))
    units = np.tile(np.eye(size), (arm_count, 1, 1))
    if rng.random() < 0.4:
        return units
    whole = rng.integers(-1, 2, (arm_count, size, size)).astype(np.float64)
    return np.asarray(whole @ whole.transpose(0, 2, 1) + units)


def batches(name: str) -> Iterator[tuple[Evidence, Floats]]:
    """Yield every study of a policy with the uniforms of a batch; a tenth of these are zero."""
    rng = np.random.default_rng(51)
    for m in (1, 2, 3):
        for seen in studies(m, STUDIES[name]):
            uniforms = rng.random(int(rng.integers(1, MOST_BATCH + 1)))
            uniforms[rng.random(len(uniforms)) < 0.1] = 0.0
            yield seen, uniforms


def chosen_by(choose: Choose, make_work: MakeWork, seen: Evidence, uniforms: Floats) -> list[int]:
    """Return a batch, checked for naming living arms only."""
    chosen = np.full(len(uniforms), -1)
    choose(seen, uniforms, chosen, make_work(*seen.estimates.shape))
    batch = [int(arm) for arm in chosen]
    assert all(0 <= arm < len(seen.alive) and seen.alive[arm] for arm in batch), (batch, seen)
    return batch


def are_copies(seen: Evidence, pulls: list[int], one: int, other: int) -> bool:
    """Tell whether nothing but their priority tells two arms apart."""
    return (
        pulls[one] == pulls[other]
        and seen.counts[one] == seen.counts[other]
        and seen.prices[one] == seen.prices[other]
        and np.array_equal(seen.estimates[one], seen.estimates[other])
        and np.array_equal(seen.covariances[one], seen.covariances[other])
    )


def first_of_copies(seen: Evidence, pulls: list[int], arms: set[int]) -> set[int]:
    """Leave out every arm of which a copy comes earlier in priority."""
    return {
        i
        for i in arms
        if not any(
            seen.priority[k] < seen.priority[i] and are_copies(seen, pulls, i, k)
            for k in arms - {i}
        )
    }


def situation(seen: Evidence, leader: int) -> Counter[str]:
    margins = {i: slow.margin(seen, i) for i in slow.living(seen)}
    return Counter(
        {
            "leader feasible": int(margins[leader] <= 0),
            "leader infeasible": int(margins[leader] > 0),
            "on the threshold": int(0 in margins.values()),
            "some arm is dead": int(not seen.alive.all()),
            "single arm": int(len(margins) == 1),
            "known exactly": int(slow.has_exact_attributes(seen)),
            "in flight": int(seen.in_flight.any()),
            "unequal prices": int(len(set(seen.prices.tolist())) > 1),
        }
    )


# ------------------------------------------------------------------------------------- the rules


def check_top_two(choose: Choose, make_work: MakeWork) -> Counter[str]:
    """Compare top-two's batches with the transcription, pull by pull.

    A share of a cost of zero is no number. Wherever it matters the challenger must be pulled,
    except under one constraint where margins tie: there the limit of the shares will do as well.
    """
    seen: Counter[str] = Counter()
    for study, uniforms in batches("top-two"):
        batch, pulls = slow.batch_of(study), slow.pulls_so_far(study)
        leader = batch.leader
        margins_tie = len(study.scales) == 2 and not batch.feasible
        seen += situation(study, leader)
        seen["leader by leniency"] += batch.feasible and slow.over_a_limit(batch.study, leader)
        seen["several arms shrunk"] += len(slow.living(study)) > 3
        for k, found in enumerate(chosen_by(choose, make_work, study, uniforms)):
            threats = slow.threats(study, pulls, batch)
            least = min(threat.value for threat in threats)
            near = [t for t in threats if t.value - least <= ROUNDING * abs(least)]
            arms = {threat.arm for threat in near}
            firsts = first_of_copies(study, pulls, arms - {leader}) | (arms & {leader})
            right = set()
            for threat in near:
                if threat.arm in firsts:
                    right.add(slow.met_by(threat, leader, uniforms[k]))
                    if threat.cost == 0.0 and margins_tie:
                        right |= {leader, threat.arm}
            assert found in right, f"pull {k}: {found}, not {right}: {threats}, {study}, {uniforms}"
            seen["decided by priority"] += len(firsts) < len(arms)
            seen["leader by its share"] += leader not in arms and right == {leader}
            seen["challenger in spite of a share"] += leader not in right and near[0].share > 0.0
            strict = slow.met_by(slow.most_urgent(study, threats), leader, uniforms[k])
            tie = margins_tie and any(threat.cost == 0.0 for threat in near)
            seen["excused"] += found != strict and not tie
            seen["pulls"] += 1
            pulls[found] += 1
    return seen


def check_ocba(choose: Choose, make_work: MakeWork) -> Counter[str]:
    """Compare OCBA-CO's batches with the transcription, pull by pull; dead arms had no pulls."""
    seen: Counter[str] = Counter()
    for case, uniforms in batches("ocba-co"):
        study = case._replace(
            counts=case.counts * case.alive, in_flight=case.in_flight * case.alive
        )
        leader, pulls = slow.looks_best(study), slow.pulls_so_far(study)
        seen += situation(study, leader)
        for k, found in enumerate(chosen_by(choose, make_work, study, uniforms)):
            lags = slow.ocba_lags(study, pulls)
            most, scale = max(lags.values()), Decimal(sum(pulls) + 1)
            tied = {i for i, lag in lags.items() if most - lag <= Decimal(ROUNDING) * scale}
            firsts = first_of_copies(study, pulls, tied - {leader}) | (tied & {leader})
            strict = slow.ocba_step(study, pulls)
            assert found == strict or found in firsts, (
                f"pull {k}: {found}, not {strict}: {lags}, {study}"
            )
            seen["decided by priority"] += len(firsts) < len(tied)
            seen["excused"] += found != strict
            seen["leader pulled"] += found == leader
            seen["pulls"] += 1
            pulls[found] += 1
    return seen


def check_va_lucb(choose: Choose, make_work: MakeWork) -> Counter[str]:
    """Compare VA-LUCB's batches with the transcription, where pulls count hundreds of times too."""
    seen: Counter[str] = Counter()
    for study, uniforms in batches("va-lucb"):
        for times in (1, 1000):
            known = study._replace(counts=study.counts * times)
            seen += situation(known, slow.looks_best(known))
            batch = chosen_by(choose, make_work, known, uniforms)
            wanted, said = slow.va_lucb_choose(known, len(uniforms))
            assert batch == wanted, f"{batch}, not {wanted}: {known}"
            seen += said
    return seen


def check_thompson(choose: Choose, make_work: MakeWork) -> Counter[str]:
    """Compare Thompson's batches with the transcription on the same numbers."""
    seen: Counter[str] = Counter()
    for study, uniforms in batches("thompson"):
        counts = [int(n) for n in study.counts]
        factors = slow.roots(study)
        seen += situation(study, slow.looks_best(study))
        batch = chosen_by(choose, make_work, study, uniforms)
        for k, (uniform, found) in enumerate(zip(uniforms, batch, strict=True)):
            search = slow.thompson_step(study, float(uniform), factors)
            right = {search.arm}
            if search.costs:
                least = min(search.costs.values())
                tied = {i for i, x in search.costs.items() if x - least <= ROUNDING * least}
                right = first_of_copies(study, counts, tied)
                right = right if least > 0.0 else {search.arm}
                seen["decided by priority"] += len(tied) > 1 and len(right) == 1
            assert found in right, f"pull {k}: {found}, not {right}: {search}, {study}, {uniform!r}"
            seen[search.how] += 1
            seen["several redraws"] += search.how == "second" and search.draws > 2
            seen["the last redraw"] += search.how == "second" and search.draws == 11
            seen["excused"] += found != search.arm
            seen["pulls"] += 1
    return seen


def check_likeliest(answer: Answer, make_work: MakeWork) -> Counter[str]:
    """Compare top-two's recommendation with the transcription; of copies either is right."""
    seen: Counter[str] = Counter()
    for m in (1, 2, 3):
        for study in studies(m, STUDIES["answer"]):
            leader = slow.looks_best(study)
            seen += situation(study, leader)
            arm, flag = answer(study, make_work(*study.estimates.shape))
            probabilities = slow.answer_probabilities(study)
            right = slow.likeliest_answers(study, probabilities, rounding=ROUNDING)
            originals = first_of_copies(study, study.counts.tolist(), {i for i, _ in right})
            assert (int(arm), bool(flag)) in right, f"{arm, flag}, not {right}: {study}"
            apparent = leader, slow.margin(study, leader) <= 0
            likeliest = max(probabilities.values())
            seen["another arm"] += arm != leader
            seen["the other flag"] += flag != apparent[1]
            seen["same arm, other flag"] += arm == leader and flag != apparent[1]
            stayed = (arm, flag) == apparent
            seen["likelier, but less safe"] += stayed and likeliest > probabilities[apparent]
            seen["excused"] += len(originals) > 1
    return seen
