"""Noise that a user states: what is known of metrics takes the place of what would be estimated.

A sigma is the deviation of one pull of a metric, common to all arms or an arm's own; a covariance
is that of all metrics whose means are judged. Bounds hold every value of a metric: they prove
constants and cap variances, and say no more. Touches its arguments only.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np

from ringfence.core.arrays import Floats, Mask
from ringfence.core.attributes import Attribute
from ringfence.core.errors import InputError, nearest
from ringfence.core.known import LEAST_EIGENVALUE, KnownNoise
from ringfence.core.measurement import proven_constant
from ringfence.core.problem import Problem

COVARIANCE, EXACT, ARMS = "covariance", "exact", "arms"
_KEYS = ("sigma", "bounds")
_LEAST, LARGEST = 1e-60, 1e60  # of metrics, deviations, widths: fourth powers are still numbers
_LONGEST_SHOWN = 200


@dataclass(frozen=True)
class StatedNoise:
    """What a user knows of the metrics, by name; `covariance` is of the metrics `means`, in order.

    `means` are the metrics whose means are judged, in the order in which expressions name them.
    Metrics that are `exact`, such as a price, are constants of each arm: that they never varied is
    then no reason for doubt. `own` are sigmas of single arms, which go before those of all arms.
    """

    means: tuple[str, ...] = ()
    sigmas: Mapping[str, float] = field(default_factory=dict)
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    covariance: tuple[tuple[float, ...], ...] | None = None
    exact: tuple[str, ...] = ()
    own: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @classmethod
    def read(
        cls,
        stated: Mapping[str, Any],
        problem: Problem,
        *,
        arms: Sequence[str] = (),
        recorded: Sequence[str] = (),
    ) -> "StatedNoise":
        """Read what was stated of a problem's metrics, or refuse it.

        `arms` are those of which something may be stated, and `recorded` are metrics that are kept
        beside those of the expressions.
        """
        if not isinstance(stated, Mapping):
            raise InputError(
                f"noise = {_shown(stated)} must be a table of metrics. "
                f"Write {{{problem.metrics[0]!r}: {{'sigma': 1.0}}}}."
            )
        means = tuple(dict.fromkeys(one.metric for one in problem.attributes if is_mean(one)))
        sigmas: dict[str, float] = {}
        bounds: dict[str, tuple[float, float]] = {}
        covariance = None
        exact: tuple[str, ...] = ()
        own: dict[str, dict[str, float]] = {}
        for name, said in stated.items():
            if name == EXACT and not (isinstance(said, Mapping) and EXACT in problem.metrics):
                exact = _exact(said, problem)
                continue
            if name == COVARIANCE and not isinstance(said, Mapping):
                covariance = _covariance(said, means)
                continue
            if name == ARMS and ARMS not in problem.metrics:
                own = _own(said, arms, means, problem, recorded)
                continue
            _require_metric(name, problem, recorded)
            for key, value in _table(name, said).items():
                if key == "sigma":
                    sigmas[name] = _sigma(name, name, value, means, problem)
                else:
                    bounds[name] = _bounds(name, value)
        found = cls(means, sigmas, bounds, covariance, exact, own)
        found._require_sense()
        return found

    def _require_sense(self) -> None:
        """Refuse two variances for one metric, and one that its bounds do not allow."""
        sigmas = [(name, name, sigma) for name, sigma in self.sigmas.items()]
        sigmas += [
            (f"{ARMS}.{arm}.{name}", name, sigma)
            for arm, said in self.own.items()
            for name, sigma in said.items()
        ]
        deviations = [(name, sigma) for _, name, sigma in sigmas]
        if self.covariance is not None:
            for key, name, sigma in sigmas:
                raise InputError(
                    f"noise.{key}.sigma = {sigma:g} and noise.covariance both say how {name!r} "
                    "varies. Remove one of them."
                )
            deviations += [
                (name, math.sqrt(self.covariance[c][c])) for c, name in enumerate(self.means)
            ]
        for name, sigma in deviations:
            if name in self.exact:
                raise InputError(
                    f"noise.exact names {name!r}, and noise states its deviation too. A constant "
                    "has none: remove one of them."
                )
            low, high = self.bounds.get(name, (-math.inf, math.inf))
            if sigma > (high - low) / 2.0:
                raise InputError(
                    f"noise: a deviation of {sigma:g} of {name!r} is more than half of its bounds "
                    f"[{low:g}, {high:g}] allow, {(high - low) / 2.0:g}. Change one of them."
                )

    def plain(self) -> dict[str, Any]:
        """Return what was stated as plain values, in one form whatever was written."""
        found: dict[str, Any] = {}
        for metric in dict.fromkeys([*self.sigmas, *self.bounds]):
            found[metric] = {}
            if metric in self.sigmas:
                found[metric]["sigma"] = self.sigmas[metric]
            if metric in self.bounds:
                found[metric]["bounds"] = list(self.bounds[metric])
        if self.covariance is not None:
            found[COVARIANCE] = [list(row) for row in self.covariance]
        if self.exact:
            found[EXACT] = list(self.exact)
        if self.own:
            found[ARMS] = {
                arm: {metric: {"sigma": sigma} for metric, sigma in said.items()}
                for arm, said in self.own.items()
            }
        return found

    def variance(self, metric: str) -> float | None:
        """Return the variance of a pull that was stated of a metric, if it was."""
        if self.covariance is not None and metric in self.means:
            place = self.means.index(metric)
            return self.covariance[place][place]
        return self.sigmas[metric] ** 2 if metric in self.sigmas else None

    def are_exact(self, problem: Problem) -> Mask:
        """Tell which of a problem's attributes are of nothing but constants."""
        exact = set(self.exact)
        return np.array([exact.issuperset(one.metrics) for one in problem.attributes])

    def is_whole(self, problem: Problem) -> bool:
        """Tell whether nothing of a problem's noise is left to be estimated."""
        return self.covariance is not None and all(map(is_mean, problem.attributes))

    def outside(self, metrics: Sequence[str], values: Sequence[float]) -> InputError | None:
        """Return the error of an observation that is not within the bounds of its metrics."""
        for metric, value in zip(metrics, values, strict=True):
            if abs(value) > LARGEST:
                return InputError(
                    f"metric {metric!r} = {value:g} must be at most {LARGEST:g} in size: "
                    "powers of larger ones overflow. Tell it as failed, or in other units."
                )
            if metric in self.bounds:
                low, high = self.bounds[metric]
                if not low <= value <= high:
                    return InputError(
                        f"metric {metric!r} = {value:g} lies outside its stated bounds "
                        f"[{low:g}, {high:g}], on which all decisions rest. Correct it or tell it "
                        "as failed; wider bounds need a study of another name."
                    )
        return None

    def about(self, problem: Problem, arms: Sequence[str] = ()) -> KnownNoise:
        """Return what it says of a problem's attributes, as the rules see them, and of its arms.

        Margins have one unit for all arms, so that an arm's own sigma says nothing of scales.
        """
        attributes, signs = problem.attributes, problem.signs
        width = len(attributes)
        scales, variances = np.full(width, np.nan), np.full(width, np.nan)
        ceilings = np.full(width, np.inf)
        for c, attribute in enumerate(attributes):
            variance = self.variance(attribute.metric) if is_mean(attribute) else None
            constant, bounds = None, self.bounds.get(attribute.metric)
            if variance is not None:
                constant, variances[c] = 0.5 / variance, variance
            elif bounds is not None:
                constant = proven_constant(attribute, bounds=bounds)
                if is_mean(attribute):
                    ceilings[c] = (bounds[1] - bounds[0]) ** 2 / 4.0
            if constant is not None:
                scales[c] = constant**0.5
        covariance = None
        if self.covariance is not None:
            places = [self.means.index(one.metric) for one in attributes if is_mean(one)]
            turns = signs[[is_mean(one) for one in attributes]]
            stated = np.array(self.covariance)[np.ix_(places, places)]
            covariance = stated * np.outer(turns, turns)
        by_arm = np.tile(variances, (max(len(arms), 1), 1))
        for i, arm in enumerate(arms):
            for c, attribute in enumerate(attributes):
                if is_mean(attribute) and attribute.metric in self.own.get(arm, {}):
                    by_arm[i, c] = self.own[arm][attribute.metric] ** 2
        return KnownNoise(scales, by_arm, ceilings, covariance)


NOTHING_STATED = StatedNoise()


def is_mean(attribute: Attribute) -> bool:
    """Tell whether an attribute is the mean of a metric itself, of which a sigma speaks."""
    return attribute.statistic == "mean" and attribute.own is None


def _require_metric(name: Any, problem: Problem, recorded: Sequence[str], place: str = "") -> None:
    if name in problem.metrics:
        return
    if name in recorded:
        raise InputError(
            f"noise.{place}{name} is of a metric that no expression uses: nothing is decided by "
            "it. Remove it."
        )
    known = (*problem.metrics, *(() if place else (COVARIANCE, EXACT, ARMS)))
    raise InputError(
        f"noise.{place}{_shown(name).strip(chr(39))} is of no metric. Known here: "
        f"{', '.join(known)}.{nearest(name, known)}"
    )


def _exact(said: Any, problem: Problem) -> tuple[str, ...]:
    if isinstance(said, str) or not isinstance(said, Sequence):
        raise InputError(
            f"noise.exact = {_shown(said)} must be a list of metrics that are constants of each "
            f"arm, such as ['{problem.metrics[0]}']. Fix it, or leave it out."
        )
    for name in said:
        if name not in problem.metrics:
            raise InputError(
                f"noise.exact names {_shown(name)}, which is no metric of an expression: "
                f"{', '.join(problem.metrics)}.{nearest(name, problem.metrics)} Name one of these, "
                "or leave it out."
            )
    return tuple(dict.fromkeys(said))


def _own(
    said: Any,
    arms: Sequence[str],
    means: Sequence[str],
    problem: Problem,
    recorded: Sequence[str],
) -> dict[str, dict[str, float]]:
    """Return the sigmas of single arms, by arm and metric."""
    if not isinstance(said, Mapping) or not said:
        raise InputError(
            f"noise.{ARMS} = {_shown(said)} must be a table of arms, such as "
            f"{{'slow': {{{problem.metrics[0]!r}: {{'sigma': 1.0}}}}}}. Fix it, or leave it out."
        )
    found: dict[str, dict[str, float]] = {}
    for arm, metrics in said.items():
        key = f"{ARMS}.{_shown(arm).strip(chr(39))}"
        if arm not in arms:
            raise InputError(
                f"noise.{key} is of no arm. Known here: {', '.join(arms)}.{nearest(arm, arms)} "
                "Name one of these, or leave it out."
            )
        if not isinstance(metrics, Mapping) or not metrics:
            raise InputError(
                f"noise.{key} = {_shown(metrics)} must be a table of metrics, such as "
                f"{{{problem.metrics[0]!r}: {{'sigma': 1.0}}}}. Fix it, or leave it out."
            )
        found[arm] = {}
        for name, value in metrics.items():
            _require_metric(name, problem, recorded, f"{key}.")
            stated = _table(f"{key}.{name}", value)
            if "bounds" in stated:
                raise InputError(
                    f"noise.{key}.{name}.bounds must be those of every arm: only a sigma may be an "
                    f"arm's own. Write them as noise.{name}.bounds."
                )
            sigma = _sigma(f"{key}.{name}", name, stated["sigma"], means, problem)
            found[arm][name] = sigma
    return found


def _table(name: str, said: Any) -> Mapping[str, Any]:
    if not isinstance(said, Mapping) or not said:
        raise InputError(
            f"noise.{name} = {_shown(said)} must say sigma or bounds. Write {{'sigma': 1.0}} or "
            "{'bounds': [0, 1]}."
        )
    for key in said:
        if key not in _KEYS:
            raise InputError(
                f"unknown key 'noise.{name}.{_shown(key).strip(chr(39))}'. Known here: "
                f"{', '.join(_KEYS)}.{nearest(key, _KEYS)}"
            )
    return said


def _sigma(place: str, name: str, value: Any, means: Sequence[str], problem: Problem) -> float:
    key = f"noise.{place}.sigma = {_shown(value)}"
    sigma = _number(value)
    if not _LEAST <= sigma <= LARGEST:
        raise InputError(
            f"{key} must be a positive number, from {_LEAST:g} to {LARGEST:g}: the deviation of "
            "one pull. Change it, or remove it to have it estimated."
        )
    if name not in means:
        used = next(str(one) for one in problem.attributes if name in one.metrics)
        raise InputError(
            f"{key} is of use for mean({name}) only, and the study has {used}. Remove it; bounds "
            "are of use for shares, spreads and tail means."
        )
    return sigma


def _bounds(name: str, value: Any) -> tuple[float, float]:
    is_pair = isinstance(value, Sequence | np.ndarray) and not isinstance(value, str)
    low, high = map(_number, value) if is_pair and len(value) == 2 else (math.nan, math.nan)
    if not _LEAST <= high - low <= LARGEST:
        raise InputError(
            f"noise.{name}.bounds = {_shown(value)} must be two finite numbers, the lower first: "
            f"between them lies every value of {name!r}. Write [0, 1], for example."
        )
    return low, high


def _covariance(value: Any, means: Sequence[str]) -> tuple[tuple[float, ...], ...]:
    key, size = f"noise.covariance = {_shown(value)}", len(means)
    if not means:
        raise InputError(f"{key} is of means, and no expression has one. Remove it.")
    try:
        rows = tuple(tuple(map(_number, row)) for row in value)
    except TypeError:
        rows = ()
    if len(rows) != size or any(len(row) != size for row in rows):
        raise InputError(
            f"{key} must be {size} x {size}: a row and a column for each metric whose mean is "
            f"judged. Write them in the order {', '.join(means)}."
        )
    require_covariance(key, np.array(rows))
    if not all(_LEAST <= math.sqrt(rows[c][c]) <= LARGEST for c in range(size)):
        raise InputError(
            f"{key} must have variances whose roots, the deviations of one pull, are from "
            f"{_LEAST:g} to {LARGEST:g}. Choose other units."
        )
    return rows


def require_covariance(key: str, matrix: Floats) -> None:
    """Refuse a square matrix that is no covariance of metrics that all vary."""
    if not np.isfinite(matrix).all():
        raise InputError(f"{key} must be finite. Give a number for every entry.")
    if not np.array_equal(matrix, matrix.T):
        raise InputError(f"{key} must be symmetric. Make row i, column j equal to j, i.")
    deviations = np.sqrt(np.maximum(np.diagonal(matrix), 0.0))
    spread = np.where(deviations > 0.0, deviations, 1.0)
    least = float(np.linalg.eigvalsh(matrix / np.outer(spread, spread))[0])
    if least <= LEAST_EIGENVALUE or not deviations.all():
        raise InputError(
            f"{key} must be positive definite, but its least eigenvalue is {least:.3g}. "
            "Raise the variances or weaken the correlations."
        )


def _number(value: Any) -> float:
    """Return a number as a float, or NaN for what is none."""
    if not isinstance(value, Real) or isinstance(value, bool | np.bool_):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _shown(value: Any) -> str:
    return repr(value)[:_LONGEST_SHOWN]
