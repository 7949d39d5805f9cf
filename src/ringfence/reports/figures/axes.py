"""How far axes reach, so that one far option does not squeeze all others into a line. Pure.

What lies beyond is drawn at the border, and named there with where it is.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

_REACH = 0.4  # how far beyond the points intervals may widen a picture, as a share
_AIR = 0.07
_SQUEEZED = 0.25  # without far points the others would have this share of the room, or less
_LEAST_NEAR = 3  # so many points must be left to see
_LARGE, _HUGE = 1e3, 1e9  # between them numbers are written out
_MOST_FAR = 1 / 3  # of all points


@dataclass(frozen=True)
class Reach:
    """The ends of an axis, and which points lie beyond: -1 below it, 1 above, 0 within."""

    low: float
    high: float
    beyond: tuple[int, ...]


def reach_of(
    points: Sequence[float],
    lows: Sequence[float],
    highs: Sequence[float],
    anchors: Sequence[float] = (),
) -> Reach:
    """Return how far an axis reaches: to all points and `anchors`, but those that are far off.

    The intervals from `lows` to `highs` are of the first points, as many as there are.
    """
    lengths = [b - a for a, b in zip(lows, highs, strict=True) if math.isfinite(b - a)]
    far = beyond(points, anchors, median(lengths) if lengths else 0.0)
    near = [one for one, side in zip(points, far, strict=True) if side == 0]
    low, high = bounds(
        [*near, *anchors],
        [one for one, side in zip(lows, far, strict=False) if side == 0],
        [one for one, side in zip(highs, far, strict=False) if side == 0],
    )
    return Reach(low, high, far)


def how_far(value: float, arrow: str, *, signed: bool = False) -> str:
    """Return where a point lies that is beyond a border, with the way there."""
    sign = "+" if signed else ""
    digits = f"{sign},.0f" if _LARGE <= abs(value) < _HUGE else f"{sign}.3g"
    return f"{value:{digits}} {arrow}"


def beyond(
    points: Sequence[float], anchors: Sequence[float] = (), usual: float = 0.0
) -> tuple[int, ...]:
    """Return on which side of the others a point is far off: -1 below, 1 above, 0 nowhere.

    A group is far off if all others would have a quarter of the room beside it or less, counting
    the `usual` length of their intervals. It may be a third of the points at most, and what is an
    anchor is never far off.
    """
    kept = sorted(range(len(points)), key=lambda i: points[i])
    far = [0] * len(points)
    most = int(_MOST_FAR * len(points))
    while most > 0 and (cut := _far_group(points, kept, anchors, most, usual)):
        below, above = cut
        for i in kept[:below]:
            far[i] = -1
        for i in kept[len(kept) - above :]:
            far[i] = 1
        kept = kept[below : len(kept) - above]
        most -= below + above
    return tuple(far)


def _far_group(
    points: Sequence[float], kept: Sequence[int], anchors: Sequence[float], most: int, usual: float
) -> tuple[int, int] | None:
    """Return how many lowest and highest points squeeze the rest: as few as do."""
    whole = usual + _width([points[i] for i in kept], anchors)
    for size in range(1, min(most, len(kept) - _LEAST_NEAR) + 1):
        widths = {
            below: _width([points[i] for i in kept[below : len(kept) - size + below]], anchors)
            for below in range(size + 1)
        }
        below = min(widths, key=lambda one: widths[one])
        if 0.0 < usual + widths[below] <= _SQUEEZED * whole:
            return below, size - below
    return None


def _width(points: Sequence[float], anchors: Sequence[float]) -> float:
    every = [*points, *anchors]
    return max(every) - min(every)


def bounds(
    points: Sequence[float], lows: Sequence[float], highs: Sequence[float]
) -> tuple[float, float]:
    """Return the range to show: all points with some air, and of intervals what is in reach.

    An arm that was hardly pulled has an interval that would squeeze all others into a line.
    """
    lows = [one for one in lows if math.isfinite(one)]  # open ends reach to the edge
    highs = [one for one in highs if math.isfinite(one)]
    low, high = min(points), max(points)
    if high <= low:
        low, high = min([low, *lows]), max([high, *highs])
        if high <= low:
            room = 0.1 * abs(low) or 1.0
            return low - room, high + room
    reach = _REACH * (high - low)
    low, high = max(min([low, *lows]), low - reach), min(max([high, *highs]), high + reach)
    air = _AIR * (high - low)
    return low - air, high + air
