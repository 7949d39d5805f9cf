"""How urgent threats to an answer are: what money that meets one is worth, and how that fades.

The rules of `top-two` go by these values, whether arms share what they are tried on or not. `work`
is any room that has the arrays that are named here: the pulls behind every arm's threat, its cost,
the best arm's share of that, what hinders it, and its value with its rise and slope. Prices are
relative to the reference price; where they are equal they change no bit of a value. Touches its
arguments only, and writes in `work`.
"""

import math
from typing import Any

from ringfence.core.allowance import price_of
from ringfence.core.arrays import Floats, Integers, Mask

ALONE = 1.4  # how much dearer the best arm's own doubt counts: its rivals have it pulled as well
SOLE = 1.0 / 3.0  # how much less hindered a threat is that one arm makes alone
HASTE = 0.7  # how much the end of the budget counts
SPARED = 0.25  # what the best arm is spared, of h (1 - h), where its share of a threat is h
UNSHARED = 1e-9  # a best arm's share below this is rounding
NOBODY = 1e200  # the value of an arm that is not alive


def promise(arm: int, work: Any) -> None:
    """Count one more pull of an arm in the value of its threat."""
    work.values[arm] += work.slopes[arm] / work.pulls[arm]
    work.pulls[arm] += 1.0


def most_urgent(values: Floats, rises: Floats, met: float, priority: Integers) -> int:
    """Return the arm of the least value, after so many pulls of the best arm; ties by priority."""
    least, arm = values[0] + met * rises[0], 0
    for i in range(1, values.shape[0]):
        value = values[i] + met * rises[i]
        if value < least or (value == least and priority[i] < priority[arm]):
            least, arm = value, i
    return arm


def fill_values(alive: Mask, best: int, prices: Floats, hurry: float, work: Any) -> None:
    """Put every threat's value in place, and how it grows; `hurry` is HASTE over what is left."""
    arm_count, pull_count = 0.0, 0.0
    for i in range(work.pulls.shape[0]):
        arm_count += 1.0 if alive[i] else 0.0
        pull_count += work.pulls[i] if alive[i] else 0.0
    per_best = 1.0 / work.pulls[best]
    crowd = max(work.pulls[best] * arm_count / pull_count, 1.0)
    for i in range(work.values.shape[0]):
        work.weights[i], work.shares[i], work.values[i], work.rises[i], work.slopes[i] = weigh(
            work.costs[i], work.shares[i], work.hindrances[i],
            work.pulls[i], per_best, hurry, crowd if i == best else 0.0,
            price_of(prices, i), price_of(prices, best),
        )  # fmt: skip
    for i in range(work.values.shape[0]):
        if alive[i]:
            work.values[i] += math.log(work.weights[i])
        else:
            work.values[i] = NOBODY


def weigh(
    cost: float,
    share: float,
    hindrance: float,
    n: float,
    per_best: float,
    hurry: float,
    crowd: float,
    price: float = 1.0,
    best_price: float = 1.0,
) -> tuple[float, float, float, float, float]:
    """Return a threat's weight (its log counts), share of pulls, hasty cost, rise and slope.

    Towards the end of the budget a cost counts the more the more it rests on: what is left cannot
    overturn it, and is better spent where it can: on arms of few pulls, whose noise may be taken
    for less than it is. What it rests on is pulls, times the mean price of a pull that meets it.
    `per_best` is one over the best arm's pulls; `crowd` how many times an even share of all pulls
    that is, for the best arm's threat to itself, and 0 for another's.
    """
    rival = crowd <= 0.0
    if (cost <= 0.0) & rival:  # a tie has no shares: the lesser known gets more
        share = n * per_best / (n * per_best + 1.0)
    # One more pull, of the best arm by its share, lowers the threat's variance by one part in
    # the pulls that it rests on.
    rests_on = n / (share * share * n * per_best + (1.0 - share) * (1.0 - share))
    pulled = share * (1.0 - SPARED * (1.0 - share)) if rival else 0.0
    pulled, mean_price = by_price(pulled, price, best_price)
    rests_on *= mean_price
    hasty = cost * (1.0 + rests_on * hurry)
    # The arm's own share of the cost grows with its pulls, and so do the hurry and the log.
    slope = hasty * (2.0 - share) - cost + (3.0 if crowd > 1.0 else 1.0)
    # The best arm's doubt is settled by the way where rivals have it pulled. Another arm must beat
    # more than the best one, which counts as a greater hindrance, but not where the arm alone must
    # move: if that passes, it is the answer whatever the others are.
    sole = SOLE if (share < UNSHARED) & rival else 1.0
    hindered = hindrance * math.sqrt(math.sqrt(hindrance)) if rival else crowd * crowd
    rise = hasty * share * per_best
    return rests_on * sole * hindered, pulled, hasty, rise, slope


def by_price(share: float, price: float, best_price: float) -> tuple[float, float]:
    """Return the best arm's share of the pulls that meet a threat, and their mean price.

    `share` is its share at equal prices. Of two arms the cheaper one has more pulls, as many times
    as its price is lower: what a pull tells fades with its arm's pulls, so that they end in the
    proportion of the roots.
    """
    if price == best_price:
        return share, price
    best, own = share / best_price, (1.0 - share) / price
    mean_price = 1.0 / (best + own)
    return best * mean_price, mean_price
