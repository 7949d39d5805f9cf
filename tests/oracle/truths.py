"""True attributes and their noise, from textbooks: closed forms, and Price's theorem for pairs.

Values are in the user's direction; a variance is that of one pull's influence, which is n times the
estimate's own for large n. It shares no code with the package.

For standard normals of correlation r, Price: d/dr E[f(X) g(Y)] = E[f'(X) g'(Y)]. So the covariance
of any two influences is an integral over r of expectations that have closed forms: the derivative
of a shape is a sum of a constant, a straight line, a step and a spike.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri, owens_t

from ringfence.core.arrays import Floats

# -------------------------------------------------------------------------- one metric, alone


class Form(NamedTuple):
    """An attribute's true value, and the variance of its influence."""

    value: float
    variance: float


def density(z: float) -> float:
    return math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)


def share_form(share: float) -> Form:
    return Form(share, share * (1.0 - share))


def normal_forms(mean: float, deviation: float) -> dict[str, Form]:
    """Return a normal's attributes; levels are those of the expressions."""
    above, upper, lower = (float(ndtri(level)) for level in (0.3, 0.95, 0.2))
    cut = mean + deviation * above
    return {
        "mean(x)": Form(mean, deviation**2),
        "robust_mean(x)": Form(mean, deviation**2),
        "variance(x)": Form(deviation**2, 2.0 * deviation**4),
        "std(x)": Form(deviation, deviation**2 / 2.0),
        f"share(x > {cut!r})": share_form(0.7),
        f"share(x >= {cut!r})": share_form(0.7),
        f"share(x < {cut!r})": share_form(0.3),
        f"share(x <= {cut!r})": share_form(0.3),
        "p95(x)": Form(mean + deviation * upper, 0.95 * 0.05 * deviation**2 / density(upper) ** 2),
        "quantile(x, 0.2)": Form(
            mean + deviation * lower, 0.2 * 0.8 * deviation**2 / density(lower) ** 2
        ),
        "cvar(x, 0.95)": _normal_tail(mean, deviation, 0.05, 1.0),
        "lower_cvar(x, 0.2)": _normal_tail(mean, deviation, 0.2, -1.0),
    }


def _normal_tail(mean: float, deviation: float, mass: float, side: float) -> Form:
    """Return the mean of a tail; E y = phi - z mass and E y^2 = (1 + z^2) mass - z phi."""
    z = float(-ndtri(mass))
    first = density(z) - z * mass
    second = (1.0 + z * z) * mass - z * density(z)
    return Form(
        mean + side * deviation * density(z) / mass,
        deviation**2 * (second - first**2) / mass**2,
    )


def normal_pairs(mean: float, deviation: float) -> dict[tuple[str, str], float]:
    """Return covariances of two attributes of one normal metric, by Stein's lemma."""
    lower, upper, low = (float(ndtri(level)) for level in (0.3, 0.95, 0.2))
    share = f"share(x > {mean + deviation * lower!r})"
    steep = deviation / density(upper), deviation / density(low)
    return {
        ("mean(x)", "robust_mean(x)"): deviation**2,
        ("mean(x)", "variance(x)"): 0.0,
        ("mean(x)", "std(x)"): 0.0,
        ("mean(x)", share): deviation * density(lower),
        ("mean(x)", "p95(x)"): deviation**2,
        ("mean(x)", "quantile(x, 0.2)"): deviation**2,
        ("mean(x)", "cvar(x, 0.95)"): deviation**2,
        ("mean(x)", "lower_cvar(x, 0.2)"): deviation**2,
        ("variance(x)", "std(x)"): deviation**3,
        ("variance(x)", share): deviation**2 * lower * density(lower),
        ("variance(x)", "p95(x)"): deviation**3 * upper,
        ("variance(x)", "quantile(x, 0.2)"): deviation**3 * low,
        ("variance(x)", "cvar(x, 0.95)"): deviation**3 * density(upper) / 0.05,
        ("variance(x)", "lower_cvar(x, 0.2)"): -(deviation**3) * density(low) / 0.2,
        ("p95(x)", "quantile(x, 0.2)"): 0.2 * 0.05 * steep[0] * steep[1],
        ("p95(x)", share): 0.3 * 0.05 * steep[0],
        ("quantile(x, 0.2)", share): 0.2 * 0.7 * steep[1],
    }


def exponential_forms(mean: float) -> dict[str, Form]:
    """Return an exponential's attributes; its share above v is exp(-v / mean)."""
    cut, edge = -mean * math.log(0.7), -mean * math.log(0.8)
    first, second = edge - 0.2 * mean, edge**2 - 2.0 * mean * edge + 0.4 * mean**2
    return {
        "mean(x)": Form(mean, mean**2),
        "robust_mean(x)": Form(mean, mean**2),
        "variance(x)": Form(mean**2, 8.0 * mean**4),
        "std(x)": Form(mean, 2.0 * mean**2),
        f"share(x > {cut!r})": share_form(0.7),
        f"share(x <= {cut!r})": share_form(0.3),
        "share(x > -1)": Form(1.0, 0.0),
        "share(x < 0)": Form(0.0, 0.0),
        "p95(x)": Form(mean * math.log(20.0), 19.0 * mean**2),
        "quantile(x, 0.2)": Form(edge, 0.25 * mean**2),
        "cvar(x, 0.95)": Form(mean * math.log(20.0) + mean, 39.0 * mean**2),
        "lower_cvar(x, 0.2)": Form(edge - first / 0.2, (second - first**2) / 0.04),
    }


def exponential_pairs(mean: float) -> dict[tuple[str, str], float]:
    """Return covariances of two attributes of one exponential metric."""
    cut, edge = -mean * math.log(0.7), mean * math.log(20.0)
    share = f"share(x > {cut!r})"
    return {
        ("mean(x)", "variance(x)"): 2.0 * mean**3,
        ("mean(x)", "std(x)"): mean**2,
        ("mean(x)", share): 0.7 * cut,
        ("mean(x)", "p95(x)"): mean * edge,
        ("mean(x)", "cvar(x, 0.95)"): mean * edge + mean**2,
        ("p95(x)", "cvar(x, 0.95)"): 19.0 * mean**2,
        ("p95(x)", share): 0.3 * mean,
        ("cvar(x, 0.95)", share): 0.3 * mean,
    }


def poisson_forms(mean: float) -> dict[str, Form]:
    """Return a Poisson metric's attributes; its falling moments over a tail are shares."""
    cut, edge = math.ceil(mean), count_at(mean, 0.95)
    low = count_at(mean, 0.2)
    excess = mean * share_from(mean, edge) - edge * share_from(mean, edge + 1)
    squares = (
        mean**2 * share_from(mean, edge - 1)
        + (1.0 - 2.0 * edge) * mean * share_from(mean, edge)
        + edge**2 * share_from(mean, edge + 1)
    )
    short = [(low - k, count_share(mean, k)) for k in range(low)]
    shortfall = math.fsum(gap * share for gap, share in short)
    short_squares = math.fsum(gap**2 * share for gap, share in short)
    return {
        "mean(x)": Form(mean, mean),
        "variance(x)": Form(mean, mean + 2.0 * mean**2),
        "std(x)": Form(math.sqrt(mean), 0.25 + 0.5 * mean),
        f"share(x > {cut})": share_form(share_from(mean, cut + 1)),
        f"share(x >= {cut})": share_form(share_from(mean, cut)),
        f"share(x < {cut})": share_form(1.0 - share_from(mean, cut)),
        f"share(x <= {cut})": share_form(1.0 - share_from(mean, cut + 1)),
        "p95(x)": Form(edge, 0.95 * 0.05 / count_share(mean, edge) ** 2),
        "cvar(x, 0.95)": Form(edge + excess / 0.05, (squares - excess**2) / 0.0025),
        "lower_cvar(x, 0.2)": Form(low - shortfall / 0.2, (short_squares - shortfall**2) / 0.04),
    }


def poisson_pairs(mean: float) -> dict[tuple[str, str], float]:
    cut = math.ceil(mean)
    share = f"share(x > {cut})"
    return {
        ("mean(x)", "variance(x)"): mean,
        ("mean(x)", "std(x)"): math.sqrt(mean) / 2.0,
        ("mean(x)", share): mean * count_share(mean, cut),
    }


def count_share(mean: float, count: int) -> float:
    """Return a Poisson probability."""
    if mean == 0.0:
        return float(count == 0)
    return math.exp(count * math.log(mean) - mean - math.lgamma(count + 1)) if count >= 0 else 0.0


def share_from(mean: float, count: int) -> float:
    """Return the probability of at least so many."""
    return 1.0 - math.fsum(count_share(mean, k) for k in range(count))


def count_at(mean: float, level: float) -> int:
    """Return the least count that has `level` of all up to it."""
    count = 0
    while 1.0 - share_from(mean, count + 1) < level:
        count += 1
    return count


def bernoulli_forms(mean: float) -> dict[str, Form]:
    """Return a zero or one's attributes; `mean` must not lie on a tail's level."""
    other = 1.0 - mean
    variance = mean * other
    upper = Form(1.0, 0.0) if mean > 0.05 else Form(mean / 0.05, variance / 0.0025)
    lower = Form(0.0, 0.0) if other > 0.2 else Form(1.0 - other / 0.2, variance / 0.04)
    turn = (mean - other) ** 2
    return {
        "mean(x)": Form(mean, variance),
        "variance(x)": Form(variance, variance * turn),
        "std(x)": Form(math.sqrt(variance), turn / 4.0 if variance > 0.0 else 0.0),
        "share(x > 0)": share_form(mean),
        "share(x >= 1)": share_form(mean),
        "share(x >= 0)": Form(1.0, 0.0),
        "share(x > 1)": Form(0.0, 0.0),
        "share(x < 1)": share_form(other),
        "share(x <= 0)": share_form(other),
        "cvar(x, 0.95)": upper,
        "lower_cvar(x, 0.2)": lower,
    }


def bernoulli_pairs(mean: float) -> dict[tuple[str, str], float]:
    variance = mean * (1.0 - mean)
    return {
        ("mean(x)", "variance(x)"): variance * (1.0 - 2.0 * mean),
        ("mean(x)", "share(x > 0)"): variance,
        ("mean(x)", "share(x < 1)"): -variance,
    }


# --------------------------------------------------------- two metrics that are jointly normal


@dataclass(frozen=True)
class Slope:
    """The derivative of a shape of a standard normal: constant + line x + steps + spikes."""

    constant: float = 0.0
    line: float = 0.0
    steps: dict[float, float] = field(default_factory=dict)  # weight of 1 for x > cut, by cut
    spikes: dict[float, float] = field(default_factory=dict)  # weight of a point mass, by place


def slope_of(text: str, mean: float, deviation: float) -> Slope:
    """Return the derivative of an attribute's influence, as a function of the standard normal."""
    name, _, inside = text.partition("(")
    argument = inside.rstrip(")").partition(",")[2].strip()
    if name in ("mean", "robust_mean"):
        return Slope(constant=deviation)
    if name == "variance":
        return Slope(line=2.0 * deviation**2)
    if name == "std":
        return Slope(line=deviation)
    if name == "share":
        _, sign, number = inside.rstrip(")").split()
        cut = (float(number) - mean) / deviation
        return Slope(spikes={cut: 1.0 if ">" in sign else -1.0})
    if name == "lower_cvar":
        cut = float(ndtri(float(argument)))  # -(cut - x)^+ over the level: 1 below, 0 above
        weight = deviation / float(argument)
        return Slope(constant=weight, steps={cut: -weight})
    level = float(name[1:]) / 100.0 if name.startswith("p") else float(argument)
    cut = float(ndtri(level))
    if name == "cvar":
        return Slope(steps={cut: deviation / (1.0 - level)})
    return Slope(spikes={cut: deviation / density(cut)})


def covariance_of(one: Slope, other: Slope, correlation: float) -> float:
    """Return the covariance of two influences, by integrating Price's derivative from 0.

    In r = sin(t) the integrand is smooth up to the ends.
    """
    nodes, weights = _nodes()
    end = math.asin(correlation)
    angles = end * (nodes + 1.0) / 2.0
    values = _derivative(one, other, np.sin(angles)) * np.cos(angles)
    return float(np.sum(weights * values)) * end / 2.0


@cache
def _nodes() -> tuple[Floats, Floats]:
    return np.polynomial.legendre.leggauss(200)


def _derivative(one: Slope, other: Slope, r: Floats) -> Floats:
    total = one.constant * other.constant + one.line * other.line * r
    for a, b in ((one, other), (other, one)):
        for cut, weight in b.steps.items():
            total = total + weight * (a.constant * float(ndtr(-cut)) + a.line * r * density(cut))
        for place, weight in b.spikes.items():
            total = total + weight * (a.constant + a.line * r * place) * density(place)
            for cut, step in a.steps.items():
                total = total + weight * step * _beyond(cut, place, r) * density(place)
    for cut, weight in one.steps.items():
        for far, step in other.steps.items():
            total = total + weight * step * _both_above(cut, far, r)
    for place, weight in one.spikes.items():
        for far, spike in other.spikes.items():
            total = total + weight * spike * _joint_density(place, far, r)
    return np.asarray(total, dtype=np.float64)


def _beyond(cut: float, place: float, r: Floats) -> Floats:
    """Return the probability of x > cut, given that the other is at `place`."""
    return np.asarray(ndtr((r * place - cut) / np.sqrt(1.0 - r * r)))


def _joint_density(x: float, y: float, r: Floats) -> Floats:
    rest = 1.0 - r * r
    away = (x * x - 2.0 * r * x * y + y * y) / (2.0 * rest)
    return np.asarray(np.exp(-away) / (2.0 * math.pi * np.sqrt(rest)))


def _both_above(h: float, k: float, r: Floats) -> Floats:
    """Return the probability that both exceed their cuts, by Owen's T (h and k not zero)."""
    h, k = -h, -k
    root = np.sqrt(1.0 - r * r)
    half = 0.5 if h * k < 0.0 else 0.0
    parts = owens_t(h, (k / h - r) / root) + owens_t(k, (h / k - r) / root)
    return np.asarray(0.5 * float(ndtr(h) + ndtr(k)) - parts - half)


Forms = Callable[..., dict[str, Form]]
Pairs = Callable[..., dict[tuple[str, str], float]]
FORMS: dict[str, tuple[Forms, Pairs]] = {
    "gaussian": (normal_forms, normal_pairs),
    "exponential": (exponential_forms, exponential_pairs),
    "poisson": (poisson_forms, poisson_pairs),
    "bernoulli": (bernoulli_forms, bernoulli_pairs),
}
