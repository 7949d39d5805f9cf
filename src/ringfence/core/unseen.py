"""Values that pulls did not show: how far they may move an attribute that never varied.

What n pulls do not show may still come in 3/n of them (95%). Touches its arguments only.
"""

import math

from ringfence.core.attributes import Attribute

UNSEEN = 3.0


def reach_of_unseen(
    attribute: Attribute, sign: float, at: float, pulls: int, ends: tuple[float, float]
) -> tuple[float, float]:
    """Return the oriented values that an attribute may have though its pulls never varied.

    It was `at`; the unseen values of its metric lie between `ends`, as written.
    """
    if attribute.own is not None or attribute.is_ratio:
        return -math.inf, math.inf
    unseen = min(1.0, UNSEEN / pulls)
    low, high = (0.0, 1.0) if attribute.statistic == "share" else ends
    if attribute.statistic in ("variance", "std"):
        spread = unseen * (high - low) ** 2
        moved = [at, at + sign * (spread if attribute.statistic == "variance" else spread**0.5)]
    else:
        weight = weight_of_unseen(attribute, unseen)
        moved = [at + weight * (sign * end - at) for end in (low, high)]
    return min(at, *moved), max(at, *moved)


def weight_of_unseen(attribute: Attribute, unseen: float) -> float:
    """Return how far a share of unseen values can move an attribute towards where they lie."""
    level = attribute.level if attribute.level is not None else 0.0
    tail = min(level, 1.0 - level)
    if attribute.statistic == "quantile":
        return float(unseen >= tail)
    if attribute.statistic in ("cvar", "lower_cvar"):
        return min(1.0, unseen / tail)
    return unseen
