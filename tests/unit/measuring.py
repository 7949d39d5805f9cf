"""Short ways to measure an attribute, by the package and by the transcription."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import pytest

from ringfence.core.attributes import Attribute
from ringfence.core.errors import EstimateError, InputError
from ringfence.core.expressions import parse_attribute
from ringfence.core.measurement import Measurement, measure_sample
from tests.oracle import attributes as oracle

X_ONLY = (
    "mean(x)",
    "robust_mean(x)",
    "variance(x)",
    "std(x)",
    "share(x > 0)",
    "p50(x)",
    "p90(x)",
    "p95(x)",
    "cvar(x, 0.9)",
    "cvar(x, 0.95)",
    "lower_cvar(x, 0.05)",
)


def measured(texts: str | Sequence[str], x: object, **others: Any) -> Measurement:
    """Return attributes of a sample of x, all in one call."""
    listed = [texts] if isinstance(texts, str) else texts
    signs = others.pop("signs", None)
    sample: dict[str, Any] = {"x": x, **others}
    return measure_sample([parse_attribute(text) for text in listed], sample, signs=signs)


def estimate_of(text: str, x: object, *, sign: float = 1.0) -> float:
    return float(measured(text, x, signs=[sign]).estimates[0])


BOUNDS: dict[str, Callable[[Fraction, Fraction], bool]] = {
    ">": lambda value, level: value > level,
    ">=": lambda value, level: value >= level,
    "<": lambda value, level: value < level,
    "<=": lambda value, level: value <= level,
}


def transcribed(text: str, sample: dict[str, list[float]]) -> tuple[float, list[float]]:
    """Return the oracle's estimate and influences of an attribute, as floats at the very end."""
    attribute = parse_attribute(text)
    values, level = oracle.exact(sample[attribute.metric]), attribute.level
    found: tuple[Fraction | float, Sequence[Fraction | float]]
    if attribute.statistic == "mean":
        found = oracle.mean(values)
    elif attribute.statistic == "variance":
        found = oracle.variance(values)
    elif attribute.statistic == "std":
        found = oracle.std(values)
    elif attribute.statistic == "share":
        assert attribute.bound is not None
        assert level is not None
        edge, holds = Fraction(level), BOUNDS[attribute.bound]
        found = oracle.share(values, lambda value: holds(value, edge))
    else:
        assert level is not None
        tail = {"cvar": oracle.cvar, "lower_cvar": oracle.lower_cvar}[attribute.statistic]
        found = tail(values, level)
    return float(found[0]), [float(influence) for influence in found[1]]


def check_refused(
    attribute: Attribute | list[Attribute], sample: Any, *words: str, named: str | None = None
) -> None:
    with pytest.raises(EstimateError) as caught:
        measure_sample(attribute, sample, arm="arm seven")
    named = named or str(attribute)
    assert isinstance(caught.value, InputError)
    assert caught.value.arm == "arm seven"
    assert str(caught.value.attribute) == named
    message = str(caught.value)
    for word in ("arm seven", named, *words):
        assert word in message
    assert "\n" not in message
