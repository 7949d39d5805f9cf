"""The adaptive policies' rules, slowly: what `choose` and `answer` must equal.

Written from the mathematics, with sets and loops, to be checked by eye: every value is computed
afresh for every pull, costs by the independent solver of `least_moves`, margins in exact
rationals, OCBA's proportions in sixty decimal digits. Only Thompson's draws come from the package:
a rule and its transcription must be handed the same numbers.

A step function returns the arm of one pull from `pulls`, the pulls that every arm has had or been
promised so far; estimates and covariances stay as they are while a batch is decided.
"""

import math
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr

from ringfence.core.arrays import Floats
from ringfence.core.chance import next_uniform, spin
from ringfence.core.cost import NEVER
from ringfence.core.posterior import NODES, REACH, fill_draw
from ringfence.policies.evidence import Evidence
from tests.oracle import least_moves
from tests.oracle import transcription as paper
from tests.oracle.least_moves import Change, Study

ALONE = 1.4  # how much dearer the leader's own doubt counts
SOLE = 1 / 3  # what a threat by one arm alone counts
HASTE = 0.7  # what the end of the budget counts
SPARED = 0.25  # what the leader is spared of h (1 - h), h being its share
BELIEF = Fraction(1, 2)  # how far arms are shrunk, of what their spread asks for
SAFETY = 3  # how often the chance to fail counts against a safer answer
REDRAWS = 10
DIGITS = 60
TINY = 1e-12  # what two demands that are one leave free
LEAST, LARGEST = Decimal("1e-12"), Decimal("1e100")  # what OCBA keeps squared gaps within


# ------------------------------------------------------------------------------ what looks best


def living(seen: Evidence) -> list[int]:
    return [i for i in range(len(seen.alive)) if seen.alive[i]]


def exact(values: Floats) -> list[Fraction]:
    return [Fraction(float(value)) for value in values]


def margin(seen: Evidence, arm: int, row: Floats | None = None) -> Fraction:
    """Return an arm's margin by its estimates, or by a row drawn for it."""
    values = seen.estimates[arm] if row is None else row
    return paper.margin(exact(values), exact(seen.scales), exact(seen.thresholds))


def looks_best(seen: Evidence, estimates: Floats | None = None) -> int:
    """Return the arm that looks best by the estimates, or by a draw of them."""
    rows = seen.estimates if estimates is None else estimates
    table = [exact(row) if alive else [] for row, alive in zip(rows, seen.alive, strict=True)]
    return paper.apparent_best(
        table,
        set(living(seen)),
        exact(seen.scales),
        exact(seen.thresholds),
        [int(rank) for rank in seen.priority],
    )


def pulls_so_far(seen: Evidence) -> list[int]:
    return [int(a + b) for a, b in zip(seen.counts, seen.in_flight, strict=True)]


# -------------------------------------------------------------------------------------- top-two


class Threat(NamedTuple):
    """One way for the answer to be another one, met by a pull of `arm` or of the leader."""

    value: float
    arm: int
    cost: float
    share: float
    to_leader: float  # of the pulls that meet it


def energy(changes: list[Change], *, exactly: bool) -> tuple[float, float]:
    """Return the least energy of some changes and the leader's share of it."""
    found = least_moves.cheapest_exactly(changes) if exactly else least_moves.cheapest(changes)
    return (NEVER, 0.0) if found is None else (found.energy, found.share)


def has_exact_attributes(seen: Evidence) -> bool:
    return any(0.0 in np.diagonal(seen.covariances[i]) for i in living(seen))


class Shrunk(NamedTuple):
    """A study as top-two sees it: where arms lie, and the pulls that this rests on."""

    seen: Evidence
    places: dict[int, list[Fraction]]
    backing: dict[int, float]


def shrunk(seen: Evidence) -> Shrunk:
    """Move every attribute of every arm towards the mean of the living arms.

    By as many pulls as the noise of one pull has of the variance between the estimates, times
    (K - 3)/(K - 1) and a half; that variance counts as half an estimate's noise at the least. The
    pulls that are shown for it are those of the noisy attribute that moved least.
    """
    arms = living(seen)
    trust = BELIEF * Fraction(max(len(arms) - 3, 0), max(len(arms) - 1, 1))
    places: dict[int, list[Fraction]] = {i: [] for i in arms}
    added: dict[int, list[Fraction]] = {i: [] for i in arms}
    for c in range(len(seen.scales)):
        values = {i: Fraction(float(seen.estimates[i, c])) for i in arms}
        mean = sum(values.values(), Fraction(0)) / len(arms)
        between = Fraction(0)
        if len(arms) > 1:
            between = sum(((x - mean) ** 2 for x in values.values()), Fraction(0)) / (len(arms) - 1)
        for i in arms:
            noise, n = Fraction(float(seen.covariances[i, c, c])), int(seen.counts[i])
            more = trust * noise / max(between, noise / (2 * n)) if noise else Fraction(0)
            added[i].append(more)
            places[i].append((n * values[i] + more * mean) / (n + more))
    rows = np.array(
        [[float(x) for x in places.get(i, [])] or row for i, row in enumerate(seen.estimates)]
    )
    backing = {
        i: float(
            int(seen.counts[i])
            + min((more for c, more in enumerate(added[i]) if seen.covariances[i, c, c]), default=0)
        )
        for i in arms
    }
    return Shrunk(seen._replace(estimates=rows), places, backing)


def lenient_leader(study: Shrunk) -> tuple[int, bool]:
    """Return the best arm of those over no limit by more than a deviation, and whether any is.

    Where none is, the arm that is least infeasible.
    """
    seen = study.seen
    limits = exact(seen.thresholds)
    rows = []
    for i in range(len(seen.alive)):
        row = list(study.places.get(i, []))
        excesses = [x - limit for x, limit in zip(row[1:], limits, strict=bool(row))]
        noises = [Fraction(float(seen.covariances[i, c, c])) for c in range(1, len(row))]
        if all(
            excess <= 0 or excess**2 * int(seen.counts[i]) <= noise
            for excess, noise in zip(excesses, noises, strict=True)
        ):
            row[1:] = [min(x, limit) for x, limit in zip(row[1:], limits, strict=bool(row))]
        rows.append(row)
    scales, ranks = exact(seen.scales), [int(rank) for rank in seen.priority]
    leader = paper.apparent_best(rows, set(study.places), scales, limits, ranks)
    return leader, paper.margin(rows[leader], scales, limits) <= 0


def over_a_limit(study: Shrunk, arm: int) -> bool:
    limits = exact(study.seen.thresholds)
    return any(x > limit for x, limit in zip(study.places[arm][1:], limits, strict=True))


class Batch(NamedTuple):
    """What stays while a batch is decided: who looks best, and what is known of every threat.

    All of it goes by the pulls told.
    """

    study: Shrunk
    leader: int
    feasible: bool
    pulls: list[int]
    costs: dict[int, float]
    shares: dict[int, float]
    hindrances: dict[int, float]


def batch_of(seen: Evidence) -> Batch:
    study, pulls = shrunk(seen), [int(count) for count in seen.counts]
    leader, feasible = lenient_leader(study)
    changes = {arm: cheapest_change(study, leader, feasible, arm) for arm in living(seen)}
    for arm, (cost, _) in changes.items():
        if cost == 0 and arm != leader:  # a tie is met more by the one that has fewer pulls
            changes[arm] = cost, pulls[arm] / (pulls[arm] + pulls[leader])
    return Batch(
        study,
        leader,
        feasible,
        pulls,
        {arm: cost for arm, (cost, _) in changes.items()},
        {arm: share for arm, (_, share) in changes.items()},
        {arm: hindrance(study, leader, arm) if feasible else 0.0 for arm in changes},
    )


def hindrance(study: Shrunk, leader: int, arm: int) -> float:
    """Return what beating a feasible leader lacks in probability beyond the exponent, as a log.

    Of the demands (to be better; to meet each constraint) the hardest, in its deviations, is taken
    for just met; each other one, z deviations away then, makes the threat 1 + y + sqrt(1 + y^2)
    times less likely, with y = z sqrt(pi/2).
    """
    seen, pulls = study.seen, study.backing
    if arm == leader:
        return 0.0
    gaps = seen.estimates[arm] - np.concatenate([[seen.estimates[leader, 0]], seen.thresholds])
    covariance = seen.covariances[arm] / pulls[arm]
    covariance[0, 0] += seen.covariances[leader, 0, 0] / pulls[leader]
    noisy = [c for c in range(len(gaps)) if covariance[c, c] > 0.0]
    if not noisy:
        return 0.0
    deviations = {c: math.sqrt(covariance[c, c]) for c in noisy}
    heights = {c: gaps[c] / deviations[c] for c in noisy}
    hardest = max(noisy, key=lambda c: (heights[c], -c))
    total = 0.0
    for c in set(noisy) - {hardest}:
        correlation = covariance[c, hardest] / (deviations[c] * deviations[hardest])
        if 1.0 - correlation**2 > TINY:
            z = (heights[c] - correlation * heights[hardest]) / math.sqrt(1.0 - correlation**2)
            y = z * math.sqrt(math.pi / 2.0)
            total += math.log(1.0 + y + math.hypot(1.0, y))
    return total


def threats(seen: Evidence, pulls: Sequence[int], batch: Batch) -> list[Threat]:
    """Return all threats to what looks best, each with its value.

    A leader that looks feasible may fail, or be beaten. Where none does, the leader may pass after
    all, and another arm come closer, by staying below one of the leader's violations. Pulls in
    flight or promised make a threat dearer: by the share of the cost that is the pulled arm's over
    its pulls, and, if it is the threat's own arm, by the slopes of the hurry and the log.
    The leader's own doubt counts less where it has had more pulls than the average arm, by the
    square of how many times as many.
    A pull that meets a threat is the leader's by its share p, a little spared, or the arm's; they
    have p over the leader's price and 1 - p over the arm's of these pulls, and one costs c on
    average, by which what a threat rests on is multiplied.
    """
    left, leader, found = max(int(seen.left[0]), 1), batch.leader, []
    average = sum(batch.pulls[arm] for arm in living(seen)) / len(living(seen))
    for arm in living(seen):
        cost, share = batch.costs[arm], batch.shares[arm]
        own, others = batch.pulls[arm], batch.pulls[leader]
        p = 0.0 if arm == leader else share - SPARED * share * (1.0 - share)
        rates = p / seen.prices[leader], (1.0 - p) / seen.prices[arm]
        rests_on = 1.0 / (share**2 / others + (1.0 - share) ** 2 / own) / sum(rates)
        weighed = cost * (ALONE if arm == leader else 1.0)
        hurried = weighed * (1.0 + HASTE * rests_on / left)
        value = hurried + 1.25 * batch.hindrances[arm] + math.log(rests_on)
        if arm == leader:
            value += 2.0 * math.log(max(own / average, 1.0))
        elif share < 1e-9:
            value += math.log(SOLE)
        if arm != leader:
            value += hurried * share * (pulls[leader] - others) / others
        logs = 3.0 if arm == leader and own > average else 1.0
        slope = hurried * (1.0 - share) + weighed * HASTE * rests_on / left + logs
        value += sum(slope / n for n in range(own, pulls[arm]))
        found.append(Threat(value, arm, cost, share, rates[0] / sum(rates)))
    return found


def cheapest_change(study: Shrunk, leader: int, feasible: bool, arm: int) -> tuple[float, float]:
    """Return the energy and the leader's share of an arm's cheapest way to change the answer.

    A leader that may be feasible and does not look so has failed already, for nothing.
    """
    seen = study.seen
    exactly = has_exact_attributes(seen)
    if arm == leader and feasible and over_a_limit(study, leader):
        return 0.0, 0.0
    about = Study(
        seen.estimates, seen.covariances, seen.thresholds, seen.scales,
        leader, study.backing[leader], arm, study.backing[arm],
    )  # fmt: skip
    if exactly:
        about = about.exact()
    if arm == leader:
        changes = least_moves.failing(about) if feasible else least_moves.passing(about)
    else:
        changes = least_moves.beating(about) if feasible else least_moves.nearing(about)
    return energy(changes, exactly=exactly) if changes else (NEVER, 0.0)


def met_by(threat: Threat, leader: int, uniform: float) -> int:
    """Return the arm whose pull meets a threat."""
    return leader if threat.arm != leader and uniform < threat.to_leader else threat.arm


def most_urgent(seen: Evidence, found: Sequence[Threat]) -> Threat:
    """Return the threat of the least value; ties: the first in priority, then an arm's own."""
    return min(found, key=lambda threat: (threat.value, int(seen.priority[threat.arm])))


def top_two_choose(seen: Evidence, uniforms: Sequence[float]) -> list[int]:
    batch, pulls, chosen = batch_of(seen), pulls_so_far(seen), []
    for uniform in uniforms:
        urgent = most_urgent(seen, threats(seen, pulls, batch))
        arm = met_by(urgent, batch.leader, uniform)
        chosen.append(arm)
        pulls[arm] += 1
    return chosen


# ---------------------------------------------------------------------------- the likeliest answer


def below(gaps: Any, variance: float) -> Any:
    """Return the probabilities that normals of these means and that variance are at most zero."""
    if variance == 0.0:
        return np.where(np.asarray(gaps) <= 0.0, 1.0, 0.0)
    return ndtr(-np.asarray(gaps) / math.sqrt(variance))


def worst_constraint(seen: Evidence, arm: int) -> int:
    """Return the attribute of the largest scaled violation, the first of several."""
    violations = {
        c: Fraction(float(seen.scales[c]))
        * (Fraction(float(seen.estimates[arm, c])) - Fraction(float(seen.thresholds[c - 1])))
        for c in range(1, len(seen.scales))
    }
    return min(c for c, violation in violations.items() if violation == max(violations.values()))


def answer_probabilities(seen: Evidence) -> dict[tuple[int, bool], float]:
    """Return the probability of every (arm, flag), given what the pulls say.

    (i, True): i meets its constraints, and no other arm both meets its own and is better; given
    i's objective these are independent. (i, False): i's margin is above zero, and every other
    arm's above it.
    """
    arms = living(seen)
    variance = {i: np.diagonal(seen.covariances[i]) / seen.counts[i] for i in arms}
    passing = {i: passing_by_cell(seen, i) for i in arms}
    worst = {i: worst_constraint(seen, i) for i in arms}
    margins = {i: float(margin(seen, i)) for i in arms}
    spread = {i: float(seen.scales[worst[i]] * math.sqrt(variance[i][worst[i]])) for i in arms}
    z, weights = normal_nodes(-REACH)
    probabilities = {}
    for i in arms:
        others = [k for k in arms if k != i]
        at = float(seen.estimates[i, 0]) + math.sqrt(variance[i][0]) * z
        chances = weights * passing[i]
        for k in others:
            deviation = math.sqrt(variance[k][0])
            leads = at - float(seen.estimates[k, 0])
            chances *= 1.0 - passes_below(passing[k], leads, deviation)
        probabilities[i, True] = math.fsum(chances)
        own = margins[i]
        if own <= -REACH * spread[i]:
            probabilities[i, False] = 0.0
            continue
        above, chances = normal_nodes(-REACH if own >= REACH * spread[i] else -own / spread[i])
        for k in others:
            chances *= below(own + spread[i] * above - margins[k], spread[k] ** 2)
        probabilities[i, False] = math.fsum(chances)
    return probabilities


def passing_by_cell(seen: Evidence, arm: int) -> Floats:
    """Return an arm's probability to meet its constraints where its objective is in each cell."""
    z, _ = normal_nodes(-REACH)
    covariance = seen.covariances[arm]
    deviation = math.sqrt(covariance[0, 0] / seen.counts[arm])
    chances = np.ones(NODES)
    for c in range(1, len(seen.scales)):
        slope = covariance[0, c] / covariance[0, 0] if deviation > 0 else 0.0
        rest = max(0.0, covariance[c, c] - slope * covariance[0, c])
        excess = seen.estimates[arm, c] + slope * deviation * z - seen.thresholds[c - 1]
        chances *= below(excess, rest / seen.counts[arm])
    return chances


def passes_below(passing: Floats, leads: Floats, deviation: float) -> Floats:
    """Return the chances to pass with an objective less than each of `leads` above its estimate."""
    _, weights = normal_nodes(-REACH)
    if deviation == 0.0:
        return np.where(leads > 0.0, weights @ passing, 0.0)
    edges = np.linspace(-REACH, REACH, NODES + 1)
    z = leads / deviation
    last = np.clip(np.searchsorted(edges, z, side="right") - 1, 0, NODES - 1)
    whole = np.concatenate([[0.0], np.cumsum(weights * passing)])
    within = whole[last] + passing[last] * (ndtr(z) - ndtr(edges[last]))
    found = np.where(z >= REACH, whole[-1], np.where(z <= -REACH, 0.0, within))
    return np.asarray(found, dtype=np.float64)


def normal_nodes(start: float) -> tuple[Floats, Floats]:
    """Return points between `start` and REACH deviations, and their weights under a normal."""
    step = (REACH - start) / NODES
    points = start + step * (np.arange(NODES, dtype=np.float64) + 0.5)
    return points, step * np.exp(-points * points / 2.0) / math.sqrt(2.0 * math.pi)


def likeliest_answers(
    seen: Evidence, probabilities: dict[tuple[int, bool], float], *, rounding: float = 0.0
) -> list[tuple[int, bool]]:
    """Return the right answers by the probabilities of all, several only where they tie.

    The apparent answer stands unless another is likelier; one that looks feasible as well counts
    the less the likelier it is to fail. Within `rounding` of a tie both sides are right.
    """
    probabilities = dict(probabilities)
    leader = looks_best(seen)
    apparent = leader, margin(seen, leader) <= 0
    _, weights = normal_nodes(-REACH)
    for arm in living(seen):
        if apparent[1] and arm != leader and margin(seen, arm) <= 0:
            fails = 1.0 - float(weights @ passing_by_cell(seen, arm))
            probabilities[arm, True] /= 1.0 + SAFETY * fails
    bar, most = probabilities[apparent], max(probabilities.values())
    right = set()
    if most <= bar * (1.0 + rounding):
        right.add(apparent)
    if most > bar * (1.0 - rounding):
        right |= {key for key, p in probabilities.items() if p >= most * (1.0 - rounding)}
    return sorted(right, key=lambda key: int(seen.priority[key[0]]))


# -------------------------------------------------------------------------------------- OCBA-CO


def standardised(gap: Decimal, variance: Decimal) -> Decimal:
    """Return gap^2 / variance, within bounds; what is known exactly is as clear as can be."""
    if variance == 0:
        return LARGEST
    return min(max(gap * gap / variance, LEAST), LARGEST)


def ocba_weights(seen: Evidence) -> dict[int, Decimal]:
    """Return the best proportions, up to a factor, if the estimates were true."""
    with localcontext() as context:
        context.prec = DIGITS
        leader = looks_best(seen)
        if margin(seen, leader) <= 0:
            return _weights_against_feasible(seen, leader)
        return _weights_against_infeasible(seen, leader)


def _variance(seen: Evidence, arm: int, c: int) -> Decimal:
    return Decimal(float(seen.covariances[arm, c, c]))


def _price(seen: Evidence, arm: int) -> Decimal:
    return Decimal(float(seen.prices[arm]))


def _estimate(seen: Evidence, arm: int, c: int) -> Decimal:
    return Decimal(float(seen.estimates[arm, c]))


def _weights_against_feasible(seen: Evidence, leader: int) -> dict[int, Decimal]:
    constraints = range(1, len(seen.scales))
    limit = {c: Decimal(float(seen.thresholds[c - 1])) for c in constraints}
    weights: dict[int, Decimal] = {}
    optimality_dominated = set()
    for i in set(living(seen)) - {leader}:
        violated = [c for c in constraints if _estimate(seen, i, c) > limit[c]]
        violation = max(
            (
                standardised(_estimate(seen, i, c) - limit[c], _variance(seen, i, c))
                for c in violated
            ),
            default=Decimal(0),
        )
        lead = _estimate(seen, i, 0) - _estimate(seen, leader, 0)
        both = _variance(seen, i, 0) + _variance(seen, leader, 0)
        if lead >= 0 and standardised(lead, both) >= violation:
            optimality_dominated.add(i)
            weights[i] = 1 / standardised(lead, _variance(seen, i, 0))
        else:
            weights[i] = 1 / max(violation, LEAST)
    squares = sum(
        _price(seen, i) / _price(seen, leader) * weights[i] ** 2 / _variance(seen, i, 0)
        for i in optimality_dominated
        if _variance(seen, i, 0) > 0
    )
    weights[leader] = max(
        (_variance(seen, leader, 0) * squares).sqrt(),
        *(
            1 / standardised(limit[c] - _estimate(seen, leader, c), _variance(seen, leader, c))
            for c in constraints
        ),
    )
    return weights


def _weights_against_infeasible(seen: Evidence, leader: int) -> dict[int, Decimal]:
    """Plain OCBA, with the margin in the objective's place."""

    def noise(arm: int) -> Decimal:
        c = worst_constraint(seen, arm)
        return Decimal(float(seen.scales[c])) ** 2 * _variance(seen, arm, c)

    def lead(arm: int) -> Decimal:
        apart = margin(seen, arm) - margin(seen, leader)
        return Decimal(apart.numerator) / Decimal(apart.denominator)

    others = set(living(seen)) - {leader}
    weights = {i: 1 / standardised(lead(i), noise(i)) for i in others}
    prices = {i: _price(seen, i) / _price(seen, leader) for i in others}
    squares = sum(
        (prices[i] * weights[i] ** 2 / noise(i) for i in others if noise(i) > 0), Decimal(0)
    )
    weights[leader] = max((noise(leader) * squares).sqrt(), 1 / LARGEST)
    return weights


def ocba_lags(seen: Evidence, pulls: Sequence[int]) -> dict[int, Decimal]:
    """Return how many pulls each arm is behind its proportion, the next pull counted in."""
    weights = ocba_weights(seen)
    with localcontext() as context:
        context.prec = DIGITS
        total = sum(pulls[i] for i in weights) + 1
        whole = sum(weights.values())
        return {i: weight / whole * total - pulls[i] for i, weight in weights.items()}


def ocba_step(seen: Evidence, pulls: Sequence[int]) -> int:
    """Return the arm that is farthest behind; ties, to fifty digits, by priority."""
    lags = ocba_lags(seen, pulls)
    tied = [i for i, lag in lags.items() if max(lags.values()) - lag < Decimal("1e-40")]
    return min(tied, key=lambda i: int(seen.priority[i]))


def ocba_choose(seen: Evidence, uniforms: Sequence[float]) -> list[int]:
    pulls, chosen = pulls_so_far(seen), []
    for _ in uniforms:
        arm = ocba_step(seen, pulls)
        chosen.append(arm)
        pulls[arm] += 1
    return chosen


# ------------------------------------------------------------------------------------- Thompson


class Search(NamedTuple):
    """The end of one search: the arm to pull, and how it was come by.

    `how` is "leader" (the first draw's answer), "second" (a later draw's) or "rival". `draws`
    counts all draws; `costs` are those of the rivals, where it came to that.
    """

    arm: int
    how: str
    draws: int
    costs: dict[int, float]


def roots(seen: Evidence) -> Floats:
    """Return a triangular root of every living arm's covariance / count, exact values left out."""
    factors = np.zeros_like(seen.covariances)
    for i in living(seen):
        noisy = np.flatnonzero(np.diagonal(seen.covariances[i]) > 0.0)
        if len(noisy):
            block = np.ix_(noisy, noisy)
            factors[i][block] = np.linalg.cholesky(seen.covariances[i][block] / seen.counts[i])
    return factors


def rival_costs(seen: Evidence, leader: int) -> dict[int, float]:
    """Return what it costs each other arm to be the answer in the leader's place."""
    feasible = margin(seen, leader) <= 0
    exactly = has_exact_attributes(seen)
    costs = {}
    for arm in set(living(seen)) - {leader}:
        study = Study(
            seen.estimates, seen.covariances, seen.thresholds, seen.scales,
            leader, float(seen.counts[leader]), arm, float(seen.counts[arm]),
        )  # fmt: skip
        if exactly:
            study = study.exact()
        pair = least_moves.beating if feasible else least_moves.nearing
        costs[arm] = energy(pair(study), exactly=exactly)[0]
    return costs


def va_lucb_choose(seen: Evidence, count: int) -> tuple[list[int], Counter[str]]:
    """Return whom VA-LUCB pulls, one after the other, and how it came to that."""
    arms = [int(arm) for arm in np.flatnonzero(seen.alive)]
    pulls = {arm: max(int(seen.counts[arm] + seen.in_flight[arm]), 1) for arm in arms}
    width = seen.estimates.shape[1]
    found, said = list[int](), Counter[str]()
    for _ in range(count):
        total = sum(pulls.values())
        log = math.log(2 * len(arms) * width / 0.05) + 4 * math.log(total)

        def bound(arm: int, c: int, log: float = log) -> float:
            variance = float(seen.covariances[arm, c, c])
            return float(seen.estimates[arm, c]) - math.sqrt(2 * variance * log / pulls[arm])

        over = {
            arm: max(
                float(seen.scales[c]) * (bound(arm, c) - float(seen.thresholds[c - 1]))
                for c in range(1, width)
            )
            for arm in arms
        }
        rank = seen.priority
        possible = [arm for arm in arms if over[arm] <= 0.0]
        said["some surely out"] += 0 < len(possible) < len(arms)
        said["all out"] += not possible
        said["alone"] += len(possible) == 1
        possible = possible or [min(arms, key=lambda arm: (over[arm], rank[arm]))]
        leader = min(possible, key=lambda arm: (float(seen.estimates[arm, 0]), rank[arm]))
        rivals = [arm for arm in possible if arm != leader]
        chosen, how = leader, "leader"
        if total % 2 and rivals:
            chosen, how = min(rivals, key=lambda arm: (bound(arm, 0), rank[arm])), "rival"
        said[how] += 1
        pulls[chosen] += 1
        found.append(chosen)
    return found, said


def thompson_step(seen: Evidence, uniform: float, factors: Floats) -> Search:
    """Return where the search that a uniform starts ends."""
    state, draw = np.zeros(2), np.zeros_like(seen.estimates)

    def drawn_answer() -> int:
        fill_draw(draw, seen.estimates, factors, seen.alive, state)
        return looks_best(seen, draw)

    spin(state, uniform)
    leader = drawn_answer()
    if next_uniform(state) < 0.5:
        return Search(leader, "leader", 1, {})
    for redraw in range(1, REDRAWS + 1):
        arm = drawn_answer()
        if arm != leader:
            return Search(arm, "second", 1 + redraw, {})
    costs = rival_costs(seen, leader)
    if not costs:
        return Search(leader, "rival", 1 + REDRAWS, costs)
    cheapest = min(costs, key=lambda arm: (costs[arm], int(seen.priority[arm])))
    return Search(cheapest, "rival", 1 + REDRAWS, costs)


def thompson_choose(seen: Evidence, uniforms: Sequence[float]) -> list[int]:
    factors = roots(seen)
    return [thompson_step(seen, uniform, factors).arm for uniform in uniforms]
