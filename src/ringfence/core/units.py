"""Units of metrics: how a number with a unit is read, and how it is written.

A metric's values are kept in the unit that its study states, such as ms. A limit may be written in
another one of the same kind, such as s. A unit that is not listed here is a label: it converts to
nothing else. Touches its arguments only.
"""

import math
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from ringfence.core.errors import InputError, nearest

PERCENT = "%"
_SIZES: tuple[dict[str, Fraction], ...] = (
    {"": Fraction(1), PERCENT: Fraction(1, 100)},
    {
        "ns": Fraction(1, 10**9),
        "us": Fraction(1, 10**6),
        "µs": Fraction(1, 10**6),
        "ms": Fraction(1, 1000),
        "s": Fraction(1),
        "min": Fraction(60),
        "h": Fraction(3600),
        "d": Fraction(86400),
    },
    {
        "B": Fraction(1),
        "kB": Fraction(10**3),
        "MB": Fraction(10**6),
        "GB": Fraction(10**9),
        "TB": Fraction(10**12),
        "KiB": Fraction(2**10),
        "MiB": Fraction(2**20),
        "GiB": Fraction(2**30),
        "TiB": Fraction(2**40),
    },
)
_LARGEST = 10**300
KNOWN = tuple(name for sizes in _SIZES for name in sizes if name)


class Unit(NamedTuple):
    """A unit that a number is written in; `size` is one of it, in the unit of the values."""

    name: str
    size: Fraction = Fraction(1)

    def read(self, text: str) -> float:
        """Return a number, as it was written in this unit, in the unit of the values."""
        plain = float(text)
        if self.size == 1 or plain == 0.0 or not math.isfinite(plain):
            return plain
        try:
            return float(Fraction(Decimal(text)) * self.size)
        except OverflowError:
            return math.copysign(math.inf, plain)

    def write(self, value: float) -> str:
        """Return the text that reads back as the same value, in this unit where it can be."""
        if self.size == 1 or not math.isfinite(value):
            return self.beside(shortest(value))
        number = Fraction(repr(value)) / self.size
        text = shortest(float(number)) if abs(number) < _LARGEST else ""
        return self.beside(text) if text and self.read(text) == value else shortest(value)

    def show(self, value: float, digits: int = 4, *, sign: str = "") -> str:
        """Return a value for people, rounded, in this unit; with `sign` "+" always with one."""
        return self.beside(self.number(value, digits, sign=sign))

    def number(self, value: float, digits: int = 4, *, sign: str = "") -> str:
        """Return a rounded value as a number of this unit, which is to be said elsewhere."""
        return f"{value / float(self.size):{sign}.{digits}g}"

    def beside(self, number: str) -> str:
        """Return a number with the unit after it."""
        space = "" if self.name in ("", PERCENT) else " "
        return f"{number}{space}{self.name}"


PLAIN = Unit("")


def unit_between(written: str, kept: str) -> Unit | None:
    """Return the unit in which a number was written, where values are kept in another.

    None if the one cannot be turned into the other.
    """
    if written == kept:
        return Unit(written)
    for sizes in _SIZES:
        if written in sizes and kept in sizes:
            return Unit(written, sizes[written] / sizes[kept])
    return None


def units_like(kept: str) -> tuple[str, ...]:
    """Return the units in which a limit may be written, where values are kept in `kept`."""
    for sizes in _SIZES:
        if kept in sizes:
            return tuple(name for name in sizes if name)
    return (kept,)


def units_of(key: str, units: object) -> dict[str, str]:
    """Return units by metric, as they are stated; what is no such table is refused."""
    if not isinstance(units, Mapping):
        raise InputError(
            f"{key} = {units!r} must be a table of units by metric. "
            'Write it, such as units = { latency = "ms" }.'
        )
    for metric, unit in units.items():
        if not (isinstance(metric, str) and isinstance(unit, str) and _is_unit(unit)):
            raise InputError(
                f"{key}.{metric} = {unit!r} must be a unit: text without spaces around it, such as "
                '"ms", "s", "USD" or "%".'
            )
    return dict(units)


def require_known_metrics(units: Mapping[str, str], metrics: tuple[str, ...]) -> None:
    """Refuse a unit of what is no metric."""
    for metric in units:
        if metric not in metrics:
            raise InputError(
                f"units.{metric}: there is no metric {metric!r}. The metrics are "
                f"{', '.join(metrics)}.{nearest(metric, metrics)}"
            )


def shortest(value: float) -> str:
    """Return the shortest text that reads back as the same number."""
    brief = f"{value:g}"
    return brief if float(brief) == value else repr(value)


def _is_unit(text: str) -> bool:
    return 0 < len(text) <= 20 and text.isprintable() and text == text.strip()
