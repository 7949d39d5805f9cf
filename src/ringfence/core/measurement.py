"""Attributes measured on a sample: estimates, their covariance, intervals, proven constants.

Errors name the arm and the attribute. Touches its arguments only.
"""

import math
import reprlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ringfence.core.arrays import Floats, Integers
from ringfence.core.attributes import Attribute, Own
from ringfence.core.errors import EstimateError, InputError
from ringfence.core.noise import is_rounding
from ringfence.core.statistics import differ, fill_ratio, measure_whole
from ringfence.core.streams import shuffled_places

_FARTHEST = 1e100
MOST_GROUPS = 256  # how many times a user's own function is called again to find its noise
LARGEST = 1e120  # of what a user's own function returns, as of a metric's square: powers must exist


@dataclass(frozen=True, eq=False)
class Measurement:
    """Attributes of one arm's sample, in the user's units and direction.

    `covariance` is the asymptotic one of a single pull: that of the estimates is a count-th of it.
    `thirds` are the sums of the cubed influences.
    """

    attributes: tuple[Attribute, ...]
    count: int
    estimates: Floats
    covariance: Floats
    thirds: Floats

    @property
    def variances(self) -> Floats:
        """The asymptotic variance of each estimate, times the number of pulls."""
        return np.diagonal(self.covariance)

    def intervals(self, *, level: float = 0.95) -> Floats:
        """Return the lower and upper end [attribute, end] by the normal approximation."""
        from scipy.special import ndtri

        if not 0.0 < level < 1.0:
            raise InputError(f"level = {level!r} must lie between 0 and 1. Use 0.95.")
        reach = ndtri(0.5 + level / 2.0) * np.sqrt(self.variances / self.count)
        return np.column_stack([self.estimates - reach, self.estimates + reach])


def measure_sample(
    attributes: Attribute | Sequence[Attribute],
    sample: Mapping[str, Sequence[float] | Floats],
    *,
    arm: str | None = None,
    signs: Sequence[float] | None = None,
) -> Measurement:
    """Measure attributes on one arm's pulls, given by metric.

    `arm` is named in errors. `signs` are -1 where an attribute is to be negated later, which
    decides which of two pulls a quantile between them is.

    >>> import ringfence as rf
    >>> attributes = [rf.parse_attribute(text) for text in ("mean(ms)", "share(ms > 15)")]
    >>> found = rf.measure_sample(attributes, {"ms": [10, 12, 14, 20]})
    >>> found.estimates.tolist()
    [14.0, 0.25]
    """
    listed = _listed(attributes)
    if not isinstance(sample, Mapping):
        raise InputError(f"sample = {sample!r} must be lists of values by metric. Give a mapping.")
    if signs is not None and len(signs) != len(listed):
        raise InputError(f"signs = {signs!r} must have one sign an attribute: {len(listed)}.")
    columns = _columns(listed, sample, arm)
    count = len(next(iter(columns.values())))
    turns = [1.0] * len(listed) if signs is None else list(signs)
    estimates, influences = np.zeros(len(listed)), np.zeros((count, len(listed)))
    for place, (attribute, sign) in enumerate(zip(listed, turns, strict=True)):
        _require_pulls(attribute, count, arm)
        arrays = [columns[metric] for metric in attribute.metrics]
        if attribute.own is not None:
            estimates[place], influences[:, place] = _measure_own(
                attribute, attribute.own, arrays, arm
            )
        elif attribute.is_ratio:
            estimates[place] = fill_ratio(arrays[0], arrays[1], influences[:, place])
        else:
            values, level = arrays[0], attribute.level or 0.0
            estimates[place] = measure_whole(
                attribute.kind, level, sign, values, np.sort(values), influences[:, place]
            )
    grouped = any(attribute.own is not None for attribute in listed)
    scatter = influences.T @ influences
    variances = np.diagonal(scatter) / max(count - 1, 1)
    if grouped:
        scatter = _grouped(influences)
    covariance = scatter / max(count - 1, 1)
    for place, attribute in enumerate(listed):
        if grouped and attribute.own is None:
            _set_variance(covariance, place, variances[place])
        elif attribute.own is not None and attribute.own.variance is not None:
            arrays = [columns[metric] for metric in attribute.metrics]
            variance = _call(
                attribute.own.variance, "its variance", attribute, arrays, arm, most=LARGEST**2
            )
            if variance < 0.0:
                raise EstimateError(
                    attribute, arm, f"its variance returned {variance:g}", "It must be 0 or more."
                )
            if is_rounding(variance, 1, estimates[place]) or not any(map(differ, arrays)):
                variance = 0.0
            _set_variance(covariance, place, variance)
    cubes = np.clip(influences, -_FARTHEST, _FARTHEST) ** 3  # within which cubes are numbers
    return Measurement(listed, count, estimates, covariance, cubes.sum(axis=0))


def proven_constant(
    attribute: Attribute,
    *,
    bounds: tuple[float, float] | None = None,
    sigma: float | None = None,
) -> float | None:
    """Return a with P(|estimate - truth| >= D) <= 2 exp(-a n D^2), or None where none is proven.

    `bounds` hold every value of the metric; `sigma` is a sub-Gaussian constant of it. For std the
    n in it is the number of pulls less one.

    >>> import ringfence as rf
    >>> rf.proven_constant(rf.parse_attribute("mean(score)"), bounds=(0.0, 1.0))
    2.0
    """
    if bounds is not None and not (np.isfinite(bounds).all() and bounds[0] < bounds[1]):
        raise InputError(
            f"bounds = {tuple(bounds)} must be finite, the lower first. Write two, such as 0, 1."
        )
    if sigma is not None and not 0.0 < sigma < math.inf:
        raise InputError(f"sigma = {sigma} must be above 0, and finite. Change it.")
    if attribute.statistic == "share" and attribute.own is None:
        return 2.0  # Hoeffding: it lies between 0 and 1 whatever the metric does
    if attribute.own is not None or (bounds is None and sigma is None):
        return None
    if sigma is not None:
        return 0.5 / sigma**2 if attribute.statistic == "mean" else None
    width = bounds[1] - bounds[0] if bounds is not None else 0.0
    level = attribute.level or 0.0
    tail = 1.0 - level if attribute.statistic == "cvar" else level
    constants = {
        "mean": 2.0 / width**2,  # Hoeffding
        "variance": 2.0 / width**4,  # McDiarmid: one pull moves it by at most width^2 / n
        "std": 0.5 / width**2,  # Maurer and Pontil 2009, theorem 10
        "cvar": 2.0 * tail**2 / width**2,  # Dvoretzky, Kiefer, Wolfowitz, Massart
        "lower_cvar": 2.0 * tail**2 / width**2,
    }
    return constants.get(attribute.statistic)


def _listed(attributes: Attribute | Sequence[Attribute]) -> tuple[Attribute, ...]:
    if isinstance(attributes, Attribute):
        return (attributes,)
    listed = tuple(attributes) if isinstance(attributes, Iterable) else ()
    if not listed:
        raise InputError(f"attributes = {attributes!r} must hold at least one attribute. Add one.")
    if not all(isinstance(attribute, Attribute) for attribute in listed):
        raise InputError(
            f"attributes = {attributes!r} must be attributes. Read each text with parse_attribute."
        )
    return listed


def _columns(
    attributes: Sequence[Attribute],
    sample: Mapping[str, Sequence[float] | Floats],
    arm: str | None,
) -> dict[str, Floats]:
    columns = {}
    for attribute in attributes:
        for metric in attribute.metrics:
            if metric not in sample:
                raise EstimateError(
                    attribute, arm, f"the sample has no metric {metric!r}", "Add its values."
                )
            columns[metric] = _numbers(sample[metric])
            if columns[metric].ndim != 1 or not np.isfinite(columns[metric]).all():
                raise EstimateError(
                    attribute, arm, f"{metric!r} must be a list of finite numbers", "Change it."
                )
    lengths = {metric: len(values) for metric, values in columns.items()}
    if len(set(lengths.values())) > 1:
        raise EstimateError(
            attributes[0],
            arm,
            f"the metrics have different numbers of pulls: {lengths}",
            "Give one value of each a pull.",
        )
    return columns


def _numbers(values: object) -> Floats:
    """Return values as an array, or NaN for what is no array of numbers."""
    try:
        found = np.asarray(values)
    except ValueError:  # rows of different lengths
        return np.array(np.nan)
    return found.astype(np.float64) if found.dtype.kind in "biuf" else np.array(np.nan)


def _require_pulls(attribute: Attribute, count: int, arm: str | None) -> None:
    if count < attribute.least_pulls:
        raise EstimateError(
            attribute,
            arm,
            f"it is undefined for {count} pull{'s' * (count != 1)}",
            f"Pull it at least {attribute.least_pulls} times.",
        )


def _measure_own(
    attribute: Attribute, own: Own, arrays: Sequence[Floats], arm: str | None
) -> tuple[float, Floats]:
    """Return a user's estimate, and influences by leaving out one group of pulls at a time.

    They are zero where it changes by rounding alone, whichever is left out, or the metrics do.
    """
    count = len(arrays[0])
    estimate = _call(own.estimate, "the function", attribute, arrays, arm)
    influences, varies = np.zeros(count), False
    for group in _groups(count):
        rest = [np.delete(values, group) for values in arrays]
        without = _call(own.estimate, "the function, with pulls left out,", attribute, rest, arm)
        influences[group] = (count - len(group)) * (estimate - without) / len(group)
        varies |= not is_rounding((estimate - without) ** 2, 1, estimate)
    if not varies or not any(map(differ, arrays)):
        return estimate, np.zeros(count)
    return estimate, influences - influences.mean()


def _set_variance(covariance: Floats, place: int, variance: float) -> None:
    """Give an attribute another variance and leave its correlations as they are."""
    found = covariance[place, place]
    factor = math.sqrt(variance) / math.sqrt(found) if found > 0.0 else 0.0
    covariance[place, :] *= factor
    covariance[:, place] *= factor
    covariance[place, place] = variance


def _call(
    function: Callable[..., float],
    what: str,
    attribute: Attribute,
    arrays: Sequence[Floats],
    arm: str | None,
    *,
    most: float = LARGEST,
) -> float:
    """Call a user's function on copies: whatever it does, nothing of ours changes."""
    try:
        value = function(*(values.copy() for values in arrays))
    except (Exception, SystemExit) as error:
        pulls = len(arrays[0])
        raise EstimateError(
            attribute,
            arm,
            f"{what} raised {type(error).__name__}: {error} ({pulls} pulls)",
            "Correct it, or state Own(..., least_pulls=n) if it needs more; nothing was lost.",
        ) from error
    number = _numbers(value)
    if number.ndim != 0 or not np.isfinite(number):
        raise EstimateError(
            attribute,
            arm,
            f"{what} returned {reprlib.repr(value)} ({len(arrays[0])} pulls)",
            "It must return a finite number; nothing was lost.",
        )
    if abs(number) > most:
        raise EstimateError(
            attribute,
            arm,
            f"{what} returned {float(number):g} ({len(arrays[0])} pulls)",
            f"It must be at most {most:g} in size, since powers of larger numbers overflow. Let it "
            "return other units; nothing was lost.",
        )
    return float(number)


def _groups(count: int) -> list[Integers]:
    """Return the pulls' places in groups: single ones, until there would be too many.

    Larger groups are drawn at random, so that a trend or an order of the pulls does not matter.
    """
    places = np.arange(count) if count <= MOST_GROUPS else shuffled_places(count)
    return np.array_split(places, min(count, MOST_GROUPS))


def _grouped(influences: Floats) -> Floats:
    """Return the scatter of influences summed over the groups in which they were found."""
    groups = _groups(len(influences))
    sums = np.array([influences[group].sum(axis=0) for group in groups])
    return np.asarray(sums.T @ sums)
