"""Wagers and t-mixtures value by value, for loops over replications: plain functions on arrays.

They bet as `wagers.py` and `t_mixture.py` do, which take many values at once, exactly; `tests/unit`
holds both to the same e-values. Sums of whole numbers are exact here too, so that a tie is a tie.
Touches its arguments only; `follow` writes in `bets`.
"""

import math
from typing import NamedTuple

import numpy as np

from ringfence.core import t_mixture, wagers
from ringfence.core.arrays import Floats, Integers, Mask

COUNT, TOTAL, FIRST, SECOND, NOW, PEAK = 0, 1, 2, 3, 4, 5
_FACTS = 6
_LEARNED_AT_MOST = wagers.MOST_LEARNED
_TINY = 1e-300


class Bets(NamedTuple):
    """Where every test stands: the `capitals` [test, stake], and `facts` [test, fact].

    These are how many values were bet on, their sum above the low end, two sums to learn from, and
    E as it is now and as it was at its largest.
    """

    capitals: Floats
    facts: Floats


class Terms(NamedTuple):
    """What is known of the values [attribute] that tests are about.

    Those that are not `exact` are normal; the others lie from `lows` to `highs`. There are `size`
    in all, or 0 without an end of them. `stakes` are the fixed ones, and `shares` the parts of the
    capital on each, the learned one's last. `scales` are those of the t-mixture.
    """

    exact: Mask
    lows: Floats
    highs: Floats
    size: int
    stakes: Floats
    shares: Floats
    scales: Floats


def terms_of(exact: Mask, lows: Floats, highs: Floats, size: int) -> Terms:
    """Return what is known of values, with the stakes of `wagers.py`."""
    stakes = np.array(wagers.FRACTIONS)
    each = (1.0 - wagers.LEARNED) / len(stakes)
    shares = np.append(np.full(len(stakes), each), wagers.LEARNED)
    return Terms(exact, lows, highs, size, stakes, shares, np.array(t_mixture.SCALES))


def no_bets(tests: int) -> Bets:
    """Return room for so many tests."""
    return Bets(np.ones((tests, len(wagers.FRACTIONS) + 1)), np.zeros((tests, _FACTS)))


def forget_bets(bets: Bets) -> None:
    """Begin anew."""
    bets.capitals[:] = 1.0
    bets.facts[:] = 0.0
    bets.facts[:, NOW] = 1.0
    bets.facts[:, PEAK] = 1.0


def follow(
    bets: Bets,
    test: int,
    terms: Terms,
    c: int,
    first: int,
    times: float,
    second: int,
    others: float,
    limit: float,
    strict: bool,  # noqa: FBT001
    end: int,
    wanted: float,
    table: Floats,
    order: Integers,
) -> None:
    """Go on to block `end` with the bet against "the mean is at most the limit".

    It is that of `times` the first arm's attribute c and `others` times the second's. The n-th
    value of an arm is table[arm, order[n], c]. A test that has reached what is `wanted` is over.
    """
    facts, capitals = bets.facts, bets.capitals
    low = min(times * terms.lows[c], times * terms.highs[c])
    low += min(others * terms.lows[c], others * terms.highs[c])
    high = max(times * terms.lows[c], times * terms.highs[c])
    high += max(others * terms.lows[c], others * terms.highs[c])
    width, size = high - low, terms.size
    stakes = terms.stakes.shape[0]
    if terms.exact[c] and (limit < low or (strict and limit <= low)):
        facts[test, NOW] = facts[test, PEAK] = math.inf
    while facts[test, COUNT] < end and facts[test, PEAK] < wanted:
        n = int(facts[test, COUNT])
        value = times * table[first, order[n], c]
        if others != 0.0:
            value += others * table[second, order[n], c]
        facts[test, COUNT] += 1.0
        if not terms.exact[c]:
            facts[test, FIRST] += value - limit
            facts[test, SECOND] += (value - limit) * (value - limit)
            if n > 0:
                e = mixed_e(n + 1, facts[test, FIRST], facts[test, SECOND], terms.scales)
                facts[test, NOW] = e
                facts[test, PEAK] = max(facts[test, PEAK], e)
            continue
        above = value - low
        level = (limit - low) / width if width > 0.0 else 1.0
        if size > 0:
            rest = size * (limit - low) - facts[test, TOTAL]
            if rest < above or (strict and rest <= above):
                facts[test, NOW] = facts[test, PEAK] = math.inf
                break
            level = rest / ((size - n) * width) if width > 0.0 else 1.0
        scaled = above / width if width > 0.0 else 0.0
        if 0.0 < level < 1.0:
            ahead = scaled / level - 1.0
            mean = (0.5 + facts[test, FIRST]) / (n + 1.0)
            variance = max((0.5 + facts[test, SECOND]) / (n + 1.0) - mean * mean, 0.0)
            lead = mean - level
            stake = lead / max(variance + lead * lead, 1e-12)
            learned = min(max(stake * level, 0.0), _LEARNED_AT_MOST)
            capitals[test, stakes] *= 1.0 + learned * ahead
            e = terms.shares[stakes] * capitals[test, stakes]
            for k in range(stakes):
                capitals[test, k] *= 1.0 + terms.stakes[k] * ahead
                e += terms.shares[k] * capitals[test, k]
            facts[test, NOW] = e
            facts[test, PEAK] = max(facts[test, PEAK], e)
        facts[test, TOTAL] += above
        facts[test, FIRST] += scaled
        facts[test, SECOND] += scaled * scaled


def blocks_needed(bets: Bets, test: int, terms: Terms, c: int, wanted: float) -> float:
    """Return how many more blocks a test may take, if it goes on as so far; inf: nobody can tell.

    At most as many as there are; 0 if it is over.
    """
    facts = bets.facts
    if facts[test, PEAK] >= wanted:
        return 0.0
    count, e = max(facts[test, COUNT], 1.0), max(facts[test, NOW], _TINY)
    best = e
    if terms.exact[c]:
        best = _TINY
        for k in range(bets.capitals.shape[1]):
            best = max(best, bets.capitals[test, k])
    growth = math.log(best) / count
    more: float = math.inf
    if growth > 0.0:
        more = math.ceil(math.log(wanted / e) / growth)
    if terms.size > 0:
        more = min(more, float(terms.size - facts[test, COUNT]))
    return float(more)


def mixed_e(count: int, total: float, squares: float, scales: Floats) -> float:
    """Return the t-mixture's e-value after so many values, of their sum and that of squares."""
    if squares <= 0.0:
        return 1.0
    ratio = total / math.sqrt(squares)
    e: float = 0.0
    for k in range(scales.shape[0]):
        spread = 1.0 + count * scales[k] * scales[k]
        b = ratio * scales[k] / math.sqrt(spread)
        rest = max(1.0 - b * b, _TINY)
        log_e = math.log(2.0) - 0.5 * math.log(spread) - 0.5 * count * math.log(rest)
        tail = 0.5 * beta_part(0.5 * count, 0.5, rest)  # Student's t beyond |b| sqrt(count/rest)
        if b > 0.0:
            e += math.exp(min(log_e, 700.0)) * (1.0 - tail)
        else:  # at most this: so small a chance times so large a number is all rounding
            e += min(math.exp(min(log_e, 700.0)) * tail, 1.0 / math.sqrt(spread))
    return e / float(scales.shape[0])


def beta_part(a: float, b: float, x: float) -> float:
    """Return the regularised incomplete beta function, by its continued fraction (Lentz)."""
    if x <= 0.0:
        return 0.0
    if x >= 1.0:
        return 1.0
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    log_front += a * math.log(x) + b * math.log1p(-x)
    if x < (a + 1.0) / (a + b + 2.0):
        return math.exp(log_front) * fraction(a, b, x) / a
    return 1.0 - math.exp(log_front) * fraction(b, a, 1.0 - x) / b


def fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of the incomplete beta function."""
    c, d = 1.0, 1.0 - (a + b) * x / (a + 1.0)
    d = 1.0 / (d if abs(d) > _TINY else _TINY)
    found = d
    for m in range(1, 500):
        for odd in range(2):
            if odd == 0:
                part = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m))
            else:
                part = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0))
            d = 1.0 + part * d
            d = 1.0 / (d if abs(d) > _TINY else _TINY)
            c = 1.0 + part / c
            c = c if abs(c) > _TINY else _TINY
            found *= d * c
        if abs(d * c - 1.0) < 1e-14:
            break
    return found
