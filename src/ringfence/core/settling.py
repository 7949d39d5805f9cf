"""What is proven by now, and what is open: a certificate for loops over replications.

The same questions at the same levels as `certificate.py` asks, about arms whose every pull counts
in its order; a question that is settled stays so. Plain functions; they write in a `Proof`.
"""

import math
from typing import NamedTuple

import numpy as np

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.bets import NOW, PEAK, Bets, Terms, blocks_needed, follow, forget_bets, no_bets

OPEN, CERTIFIED, NONE_FEASIBLE = 0, 1, 2
SETTLED, ALONE, PAIRED = 0, 1, 2  # how an arm's question is settled soonest
STRICT = True
_MOST_TRIED = 3


class Asked(NamedTuple):
    """Which questions are open: `arms` are those that they are about.

    `ways` says how an arm's own question is settled soonest, SETTLED if it has none, and `needs` by
    how many more blocks, if it goes on as so far. `leader`, of one place, is the arm that others
    are compared with, or -1. `pulls` is room for rules.
    """

    arms: Mask
    needs: Floats
    ways: Integers
    leader: Integers
    pulls: Floats


class Proof(NamedTuple):
    """What is proven of arms, all of it in arrays.

    Limits are on `own` times an arm's attribute less `base` times the `baseline`'s, [attribute];
    limits[0] is how much better a rival may be, less. Tests are settled when E has reached
    `wanted`, breaks when it has reached `wanted_break`. `of_set` asks for all arms that keep their
    limits. The n-th value of an arm is table[arm, order[n], attribute].

    `status` says what is proven by the `looked` pulls, and `answer` of which arms. `sums` are those
    of the objective after `added` pulls.
    """

    terms: Terms
    own: Floats
    base: Floats
    baseline: int
    limits: Floats
    wanted: float
    wanted_break: float
    of_set: bool
    bets: Bets
    table: Floats
    order: Integers
    sums: Floats
    added: Integers
    broken: Mask
    kept: Mask
    status: Integers
    answer: Mask
    asked: Asked
    looked: Integers


def new_proof(
    terms: Terms, own: Floats, base: Floats, baseline: int, limits: Floats, confidence: float,
    table: Floats, order: Integers, *, of_set: bool,
) -> Proof:  # fmt: skip
    """Return what nothing is proven of yet, at the levels of `certificate.Levels`."""
    arm_count, m = table.shape[0], len(limits) - 1
    each = (1.0 - confidence) / arm_count
    return Proof(
        terms=terms,
        own=own,
        base=base,
        baseline=baseline,
        limits=limits,
        wanted=1.0 / each,
        wanted_break=max(m, 1) / each,
        of_set=of_set,
        bets=no_bets(2 * arm_count * m + arm_count * arm_count),
        table=table,
        order=order,
        sums=np.zeros(arm_count),
        added=np.zeros(arm_count, np.int64),
        broken=np.zeros(arm_count, np.bool_),
        kept=np.zeros(arm_count, np.bool_),
        status=np.zeros(1, np.int64),
        answer=np.zeros(arm_count, np.bool_),
        asked=nothing_asked(arm_count),
        looked=np.zeros(1, np.int64),
    )


def nothing_asked(arm_count: int) -> Asked:
    """Return room for the open questions."""
    return Asked(
        arms=np.ones(arm_count, np.bool_),
        needs=np.full(arm_count, math.inf),
        ways=np.full(arm_count, ALONE),
        leader=np.full(1, -1),
        pulls=np.zeros(arm_count),
    )


def forget_proof(proof: Proof) -> None:
    """Begin anew."""
    forget_bets(proof.bets)
    proof.sums[:] = 0.0
    proof.added[:] = 0
    proof.broken[:] = False
    proof.kept[:] = False
    proof.status[0] = OPEN
    proof.answer[:] = False
    proof.asked.arms[:] = True
    proof.asked.needs[:] = math.inf
    proof.asked.ways[:] = ALONE
    proof.asked.leader[0] = -1
    proof.looked[0] = 0


def conclude(proof: Proof, counts: Integers) -> None:
    """Look what is proven by so many pulls of each arm, and what is open."""
    all_broken, all_settled = True, True
    for i in range(counts.shape[0]):
        look_at_limits(proof, i, counts)
        all_broken &= proof.broken[i]
        all_settled &= proof.broken[i] or proof.kept[i]
    proof.answer[:] = False
    if all_broken:
        proof.status[0] = NONE_FEASIBLE
    elif proof.of_set and all_settled:
        proof.status[0] = CERTIFIED
        for i in range(counts.shape[0]):
            proof.answer[i] = proof.kept[i]
    elif not proof.of_set:
        compare(proof, counts)
    if proof.status[0] == OPEN:
        ask(proof)


def look_at_limits(proof: Proof, i: int, counts: Integers) -> None:
    """Follow the tests of an arm's limits, and add up its objective."""
    for n in range(proof.added[i], counts[i]):
        proof.sums[i] += proof.table[i, proof.order[n], 0]
    proof.added[i] = counts[i]
    if proof.broken[i]:
        return
    facts, kept = proof.bets.facts, True
    for c in range(1, proof.limits.shape[0]):
        times, base, end = proof.own[c], proof.base[c], counts[i]
        if base != 0.0:
            end = min(end, counts[proof.baseline])
            if i == proof.baseline:
                times, base = times - base, 0.0
        test = limit_test(proof, i, c)
        for side in range(2):  # that the limit is kept is against a mean beyond it
            sign = 2.0 * side - 1.0
            wanted = proof.wanted_break if side else proof.wanted
            follow(
                proof.bets, test + side, proof.terms, c, i, sign * times, proof.baseline,
                -sign * base, sign * proof.limits[c], side == 0, end, wanted, proof.table,
                proof.order,
            )  # fmt: skip
        kept &= facts[test, PEAK] >= proof.wanted
        if facts[test + 1, PEAK] >= proof.wanted_break:
            proof.broken[i] = True
    proof.kept[i] = kept and not proof.broken[i]


def compare(proof: Proof, counts: Integers) -> None:
    """Compare the best of the arms that are proven to keep their limits, and the one that leads.

    One that no other betters is the answer.
    """
    asked = proof.asked
    asked.leader[0] = leading(proof)
    tried = -1
    for turn in range(_MOST_TRIED + 1):
        arm = asked.leader[0]
        if turn < _MOST_TRIED:
            arm = tried = next_best(proof, tried)
        if arm < 0:
            tried = counts.shape[0]  # there are no more
            continue
        is_best = turn < _MOST_TRIED
        for rival in range(counts.shape[0]):
            if rival == arm or proof.broken[rival]:
                continue
            test = pair_test(proof, rival, arm)
            follow(
                proof.bets, test, proof.terms, 0, rival, proof.own[0], arm, -proof.own[0],
                proof.limits[0], STRICT, min(counts[rival], counts[arm]), proof.wanted,
                proof.table, proof.order,
            )  # fmt: skip
            is_best &= proof.bets.facts[test, PEAK] >= proof.wanted
        if is_best:
            proof.status[0] = CERTIFIED
            proof.answer[arm] = True
            return


def next_best(proof: Proof, last: int) -> int:
    """Return the best arm after the `last` one of those proven to keep their limits, or -1."""
    if last >= proof.kept.shape[0]:
        return -1
    best = -1
    for i in range(proof.kept.shape[0]):
        if not proof.kept[i]:
            continue
        is_later = last < 0 or mean_of(proof, i) > mean_of(proof, last)
        is_later |= last >= 0 and mean_of(proof, i) == mean_of(proof, last) and i > last
        if is_later and (best < 0 or mean_of(proof, i) < mean_of(proof, best)):
            best = i
    return best


def leading(proof: Proof) -> int:
    """Return the arm that looks best of those that look feasible, or -1."""
    best = -1
    for i in range(proof.kept.shape[0]):
        if proof.broken[i] or not looks_feasible(proof, i):
            continue
        if best < 0 or mean_of(proof, i) < mean_of(proof, best):
            best = i
    return best


def limit_test(proof: Proof, i: int, c: int) -> int:
    """Return the number of the test that an arm keeps a limit; the next is that it breaks it."""
    test: int = 2 * (i * (proof.limits.shape[0] - 1) + c - 1)
    return test


def pair_test(proof: Proof, rival: int, arm: int) -> int:
    """Return the number of the test that a rival is no better than an arm."""
    arm_count = proof.table.shape[0]
    test: int = 2 * arm_count * (proof.limits.shape[0] - 1) + rival * arm_count + arm
    return test


def mean_of(proof: Proof, i: int) -> float:
    """Return an arm's mean objective; one without pulls has the worst."""
    return proof.sums[i] / proof.added[i] if proof.added[i] > 0 else math.inf


def ask(proof: Proof) -> None:
    """Put the open questions in place: who is asked about, and how soon each is settled."""
    asked, leader = proof.asked, proof.asked.leader[0]
    for i in range(proof.kept.shape[0]):
        asked.arms[i], asked.needs[i], asked.ways[i] = False, 0.0, SETTLED
    for i in range(proof.kept.shape[0]):
        if proof.broken[i] or (proof.of_set and proof.kept[i]):
            continue
        needs, way = math.inf, ALONE
        if i == leader or proof.of_set:
            needs = keeping(proof, i)
        elif leader >= 0:
            needs, way = pairing(proof, i, leader), PAIRED
        if needs == 0.0:
            continue
        if i != leader:
            broken = breaking(proof, i)
            if broken < needs or way == ALONE:
                needs, way = min(needs, broken), ALONE
        asked.needs[i], asked.ways[i], asked.arms[i] = needs, way, True
        if way == PAIRED:
            asked.arms[leader] = True
        elif proof.baseline >= 0:
            asked.arms[proof.baseline] = True


def pairing(proof: Proof, i: int, leader: int) -> float:
    """Return how many more blocks it may take to prove that an arm is no better than another."""
    return blocks_needed(proof.bets, pair_test(proof, i, leader), proof.terms, 0, proof.wanted)


def looks_feasible(proof: Proof, i: int) -> bool:
    """Tell whether there is more evidence that an arm keeps each limit than that it breaks it."""
    facts = proof.bets.facts
    for c in range(1, proof.limits.shape[0]):
        test = limit_test(proof, i, c)
        if max(facts[test, NOW], 1.0) < max(facts[test + 1, NOW], 1.0):
            return False
    return True


def keeping(proof: Proof, i: int) -> float:
    """Return how many more blocks it may take to prove that an arm keeps its limits."""
    most = 0.0
    for c in range(1, proof.limits.shape[0]):
        test = limit_test(proof, i, c)
        most = max(most, blocks_needed(proof.bets, test, proof.terms, c, proof.wanted))
    return most


def breaking(proof: Proof, i: int) -> float:
    """Return how many more blocks it may take to prove that an arm breaks one of its limits."""
    least = math.inf
    for c in range(1, proof.limits.shape[0]):
        test = limit_test(proof, i, c) + 1
        least = min(least, blocks_needed(proof.bets, test, proof.terms, c, proof.wanted_break))
    return least
