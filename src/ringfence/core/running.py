"""Means, shares, variances and standard deviations kept up to date pull by pull, exactly.

Each of them is a smooth function of means of features of a pull: the metric itself, a zero or one,
the metric and its square, or two metrics of which the means are divided. Sums and scatters of
features can be added up in any order and merged, and give every estimate and influence covariance
without keeping the pulls. Squares are taken about an origin near the arm's values: about zero their
scatter would drown in rounding errors.

Touches its arguments only; `add_...`, `merge_...` and `fill_...` write in place.
"""

import math
from typing import NamedTuple

import numpy as np

from ringfence.core.arrays import Floats, Integers
from ringfence.core.noise import (
    LEAST_VARIANCE,
    ROUNDING,
    Moments,
    add_pull,
    is_rounding,
    no_moments,
)
from ringfence.core.statistics import (
    RATIO,
    STD,
    VARIANCE,
    contribution,
    contributions,
    lower_mean,
    unseen_scatter,
)


class Recipe(NamedTuple):
    """How attributes come from metrics, as arrays with an entry an attribute.

    A ratio divides `metric_of` by `other_of`; of others both are the same. `signs` are -1 where an
    attribute is negated to make lower better.
    """

    kinds: Integers
    levels: Floats
    metric_of: Integers
    other_of: Integers
    signs: Floats


class Running(NamedTuple):
    """What pulls add up to, arm by arm: moments of features, and each arm's origin by metric."""

    moments: Moments
    origins: Floats
    features: Floats


def can_run(kind: int) -> bool:
    """Tell whether an attribute can be kept up to date without the pulls."""
    return 0 <= kind <= STD or kind == RATIO


def no_running(recipe: Recipe, arm_count: int, metric_count: int) -> Running:
    """Return what there is before any pull."""
    features = int(np.sum(np.where(recipe.kinds >= VARIANCE, 2, 1)))
    return Running(
        no_moments(arm_count, features), np.zeros((arm_count, metric_count)), np.zeros(features)
    )


def add_running_pull(
    running: Running, recipe: Recipe, arm: int, count: int, metrics: Floats
) -> None:
    """Add one pull, given by its metrics, to an arm that had `count` before."""
    if count == 0:
        for q in range(metrics.shape[0]):
            running.origins[arm, q] = metrics[q]
    place = 0
    for c in range(recipe.kinds.shape[0]):
        q = recipe.metric_of[c]
        running.features[place] = contribution(recipe.kinds[c], recipe.levels[c], metrics[q])
        place += 1
        if recipe.kinds[c] == RATIO:
            running.features[place] = metrics[recipe.other_of[c]]
            place += 1
        elif recipe.kinds[c] >= VARIANCE:
            running.features[place] = (metrics[q] - running.origins[arm, q]) ** 2
            place += 1
    add_pull(running.moments, count, arm, running.features)


def merge_running(
    running: Running, recipe: Recipe, arm: int, count: int, other: Running, other_count: int
) -> None:
    """Add another's pulls of the same arm to an arm that had `count` before."""
    if other_count == 0:
        return
    mine, theirs = running.moments, other.moments
    width = running.features.shape[0]
    if count == 0:
        running.origins[arm] = other.origins[arm]
    # (x - mine)^2 = (x - theirs)^2 + 2 d (x - theirs) + d^2, with d = theirs - mine
    shift, turn = np.zeros(width), np.eye(width)
    place = 0
    for c in range(recipe.kinds.shape[0]):
        place += 1
        if recipe.kinds[c] == RATIO:
            place += 1
        elif recipe.kinds[c] >= VARIANCE:
            q = recipe.metric_of[c]
            away = other.origins[arm, q] - running.origins[arm, q]
            turn[place, place - 1] = 2.0 * away
            shift[place] = away * away - 2.0 * away * other.origins[arm, q]
            place += 1
    _join(
        mine,
        arm,
        count,
        other_count,
        turn @ theirs.sums[arm] + other_count * shift,
        turn @ theirs.centres[arm] + shift,
        turn @ theirs.scatters[arm] @ turn.T,
    )


def fill_running(
    estimates: Floats, scatters: Floats, running: Running, recipe: Recipe, arm: int, count: int
) -> None:
    """Put an arm's attributes and the scatter of their influences into `estimates`, `scatters`.

    An influence is a weighted sum of at most two features: of the squared metric, and of the
    metric itself. What varies by rounding alone does not vary: neither if the metric does so, nor
    if the parts of the sum cancel each other, where rounding has grown with the root of the pulls.
    """
    least = ROUNDING * math.sqrt(count)
    sums, centres, scatter = running.moments.sums, running.moments.centres, running.moments.scatters
    row = 0
    for c in range(recipe.kinds.shape[0]):
        still = is_rounding(scatter[arm, row, row], count, centres[arm, row])
        is_ratio = recipe.kinds[c] == RATIO
        if is_ratio:
            still &= is_rounding(scatter[arm, row + 1, row + 1], count, centres[arm, row + 1])
            over, under = sums[arm, row], sums[arm, row + 1]
            if still and under != 0.0:  # exact, and free of rounding
                over, under = count * centres[arm, row], count * centres[arm, row + 1]
            estimates[arm, c] = recipe.signs[c] * over / count / lower_mean(under, count)
        else:
            estimates[arm, c] = recipe.signs[c] * spread_or_mean(
                recipe.kinds[c], sums[arm, row], centres[arm, row], scatter[arm, row, row], count
            )
        if still and recipe.kinds[c] >= VARIANCE and not is_ratio:
            estimates[arm, c] = 0.0
        column = 0
        for d in range(c + 1):
            total, size = 0.0, 0.0
            for i in range(2 if recipe.kinds[c] >= VARIANCE else 1):
                for j in range(2 if recipe.kinds[d] >= VARIANCE else 1):
                    part = (
                        weight(running, recipe, arm, count, c, row, i)
                        * weight(running, recipe, arm, count, d, column, j)
                        * scatter[arm, row + i, column + j]
                    )
                    total += part
                    size += abs(part)
            scatters[arm, c, d] = recipe.signs[c] * recipe.signs[d] * total
            scatters[arm, d, c] = scatters[arm, c, d]
            column += 2 if recipe.kinds[d] >= VARIANCE else 1
            if c == d:
                still |= total <= max(least * size, count * LEAST_VARIANCE)
        for d in range(c + 1):
            if still or (d < c and scatters[arm, d, d] == 0.0):
                scatters[arm, c, d] = scatters[arm, d, c] = 0.0
        if is_ratio and sums[arm, row + 1] == 0.0:
            scatters[arm, c, c] = unseen_scatter(estimates[arm, c], count)
        row += 2 if recipe.kinds[c] >= VARIANCE else 1


def spread_or_mean(kind: int, total: float, centre: float, scatter: float, count: int) -> float:
    """Return a mean from a sum, or an unbiased variance or its root from a scatter.

    The mean of what never varied is the value itself, free of rounding.
    """
    if kind == VARIANCE:
        return scatter / (count - 1)
    if kind == STD:
        return math.sqrt(scatter / (count - 1))
    return centre if scatter == 0.0 else total / count


def weight(
    running: Running, recipe: Recipe, arm: int, count: int, attribute: int, place: int, feature: int
) -> float:
    """Return how much a feature counts in an attribute's influence."""
    kind = recipe.kinds[attribute]
    if kind < VARIANCE:
        return 1.0
    scatter = running.moments.scatters[arm, place, place]
    if kind == RATIO:
        over, under = running.moments.sums[arm, place], running.moments.sums[arm, place + 1]
        if under == 0.0:
            return 0.0
        return float(count / under if feature == 0 else -over / under * (count / under))
    unit = 1.0
    if kind == STD:
        unit = 0.5 / math.sqrt(scatter / (count - 1)) if scatter > 0.0 else 0.0
    if feature == 1:
        return unit
    origin = running.origins[arm, recipe.metric_of[attribute]]
    return float(-2.0 * unit * (running.moments.centres[arm, place] - origin))


def add_running_block(
    running: Running, recipe: Recipe, arm: int, count: int, metrics: Floats
) -> None:
    """Add pulls, given by their metrics [pull, metric], to an arm that had `count` before.

    As adding them one by one, but for rounding, and as fast as arrays allow.
    """
    if len(metrics) == 0:
        return
    if count == 0:
        running.origins[arm] = metrics[0]
    columns = []
    for c in range(recipe.kinds.shape[0]):
        values = metrics[:, recipe.metric_of[c]]
        columns.append(contributions(recipe.kinds[c], recipe.levels[c], values))
        if recipe.kinds[c] == RATIO:
            columns.append(metrics[:, recipe.other_of[c]])
        elif recipe.kinds[c] >= VARIANCE:
            columns.append((values - running.origins[arm, recipe.metric_of[c]]) ** 2)
    features = np.column_stack(columns)
    # About the first pull: the scatter of what never varies is then exactly zero.
    deviations = features - features[0]
    away = deviations.mean(axis=0)
    deviations -= away
    _join(
        running.moments,
        arm,
        count,
        len(features),
        features.sum(axis=0),
        features[0] + away,
        deviations.T @ deviations,
    )


def _join(
    moments: Moments,
    arm: int,
    count: int,
    pulls: int,
    sums: Floats,
    means: Floats,
    scatter: Floats,
) -> None:
    """Add a block to an arm's moments; its means are given, for a sum divided may be off them."""
    shift = means - moments.centres[arm]
    moments.sums[arm] += sums
    moments.scatters[arm] += scatter + count * pulls / (count + pulls) * np.outer(shift, shift)
    if count == 0:
        moments.centres[arm] = means
    else:
        moments.centres[arm] += shift * (pulls / (count + pulls))
