"""Wagers: tests that may be looked at after every value, and still be wrong as seldom as they say.

Whoever doubts that the mean of values between `low` and `high` is at most a limit m bets against
it: of a capital of 1, on value i, at stakes l_i that the values before it decide,

    E_t = product over i up to t of (1 + l_i (x_i - m)),     0 <= l_i < 1/m  (values scaled to 0..1)

If the mean is at most m the capital grows in expectation by no value, whatever came before, so that
the chance that it ever reaches 1/alpha is at most alpha (Ville 1939; Waudby-Smith and Ramdas 2024).
Of a finite set of N values that are drawn without repeats, what is left has a mean of at most
m_i = (N m - S) / (N - i + 1), where S is the sum of those drawn: the bets are against that. A sum
that exceeds N m disproves the claim. These sums are exact, and so are limits: a tie is a tie.

The capital is shared between eight fractions of the largest stake, of which each goes on with its
own, and one stake that is learned from the values before (after Kelly). Touches its arguments only.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from ringfence.core.arrays import Floats
from ringfence.core.decimals import Decimals

FRACTIONS = (0.02, 0.08, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95)  # of the largest stake
LEARNED = 0.4  # the part of the capital whose stake is learned
MOST_LEARNED = 0.95  # of the largest stake
_AT_ONCE = 2**14  # values
_ROUNDING = 1e-9
_STAKES = np.array(FRACTIONS)
_SHARES = np.log([*[(1.0 - LEARNED) / len(FRACTIONS)] * len(FRACTIONS), LEARNED])


@dataclass(frozen=True)
class Claim:
    """What is bet against: the mean of values from `low` to `high` is at most `limit`.

    A `strict` claim says less than that, and falls at equality. `size` is how many values there are
    in all; without one they are without end.
    """

    limit: Fraction
    low: Fraction
    high: Fraction
    strict: bool = False
    size: int | None = None

    @property
    def is_impossible(self) -> bool:
        """Whether the bounds alone disprove it."""
        return self.limit <= self.low if self.strict else self.limit < self.low


@dataclass(frozen=True)
class Wager:
    """Where a bet stands after `count` values: all that the next value needs.

    `total` is the sum of the values above their low end. `logs` are the logarithms of the capital
    of each stake. `peak` is the largest logarithm that E reached: by it a claim is rejected, but it
    is no e-value. `sums` are of the scaled values and their squares, to learn from.
    """

    count: int = 0
    total: Fraction = Fraction(0)
    logs: tuple[float, ...] = (0.0,) * (len(FRACTIONS) + 1)
    peak: float = 0.0
    sums: tuple[float, float] = (0.0, 0.0)
    is_disproved: bool = False

    @property
    def log_e(self) -> float:
        """The logarithm of the e-value as it is now; infinite where the claim is disproved."""
        if self.is_disproved:
            return math.inf
        return float(_log_mixture(np.array([self.logs]))[0])


def begun(claim: Claim) -> Wager:
    """Return the bet before the first value."""
    if claim.is_impossible:
        return Wager(peak=math.inf, is_disproved=True)
    return Wager()


def played(claim: Claim, wager: Wager, values: Decimals | Floats) -> Wager:
    """Return the bet after further values; a value costs the same however many came before.

    Those of a finite set are exact; floats do for sets without end, where nothing is ever equal.

    >>> from fractions import Fraction
    >>> from ringfence.core.decimals import decimals
    >>> from ringfence.core.wagers import Claim, begun, played
    >>> claim = Claim(Fraction("0.29"), Fraction(0), Fraction(1), strict=True, size=100)
    >>> ones = decimals([1.0] * 29)
    >>> played(claim, begun(claim), ones).is_disproved
    True
    """
    exact = isinstance(values, Decimals)
    count = len(values.numerators) if isinstance(values, Decimals) else len(values)
    for start in range(0, count, _AT_ONCE):
        if wager.is_disproved:
            break
        part = slice(start, start + _AT_ONCE)
        if isinstance(values, Decimals):
            some = Decimals(values.numerators[part], values.denominator)
            wager = _drawn(claim, wager, some) if claim.size else _met(claim, wager, some.floats())
        else:
            wager = _met(claim, wager, values[part])
    if claim.size is not None and not exact and count:
        raise ValueError("values of a finite set must be exact")
    return wager


def _met(claim: Claim, wager: Wager, values: Floats) -> Wager:
    """Return the bet after values of a set without end."""
    low, width = float(claim.low), float(claim.high - claim.low)
    scaled = (values - low) / (width or 1.0)
    _require_inside(within=bool((np.abs(scaled - 0.5) <= 0.5 + _ROUNDING).all()))
    level = float((claim.limit - claim.low) / (claim.high - claim.low)) if width else 1.0
    return _after(wager, np.clip(scaled, 0.0, 1.0), np.full(len(values), level))


def _drawn(claim: Claim, wager: Wager, values: Decimals) -> Wager:
    """Return the bet after values of a finite set, up to one that disproves the claim."""
    size = claim.size or 0
    exact = (claim.low, claim.high, claim.limit, wager.total)
    common = math.lcm(values.denominator, *(one.denominator for one in exact))
    width = _whole(claim.high - claim.low, common)
    above = values.over(common) - _whole(claim.low, common)
    _require_inside(within=bool(above.min() >= 0 and above.max() <= width))
    if wager.count + len(above) > size:
        raise ValueError(f"more values than the {size} that there are")
    most = size * _whole(claim.limit - claim.low, common)
    before = _whole(wager.total, common)
    sums = before + np.cumsum(above)
    falls = (sums >= most if claim.strict else sums > most).astype(np.bool_)
    count = int(falls.argmax()) if falls.any() else len(above)
    rest = most - np.concatenate([[before], sums])[:count]
    left = (size - wager.count - np.arange(count)).astype(object)
    levels = (rest / (left * width)).astype(np.float64) if width else np.ones(count)
    wager = _after(wager, (above[:count] / max(width, 1)).astype(np.float64), levels)
    if not falls.any():
        return replace(wager, total=Fraction(int(sums[-1]), common))
    total = Fraction(int(sums[count]), common)
    return replace(wager, count=wager.count + 1, total=total, peak=math.inf, is_disproved=True)


def _after(wager: Wager, scaled: Floats, levels: Floats) -> Wager:
    """Return the bet after scaled values, each with the level that it is bet against."""
    if not len(scaled):
        return wager
    logs = np.array(wager.logs) + np.cumsum(_gains(wager, scaled, levels), axis=0)
    return replace(
        wager,
        count=wager.count + len(scaled),
        logs=tuple(logs[-1].tolist()),
        peak=max(wager.peak, float(_log_mixture(logs).max())),
        sums=(wager.sums[0] + float(scaled.sum()), wager.sums[1] + float((scaled**2).sum())),
    )


def _require_inside(*, within: bool) -> None:
    if not within:  # nobody may clip it
        raise ValueError("a value lies beyond its bounds")


def _gains(wager: Wager, scaled: Floats, levels: Floats) -> Floats:
    """Return what each value adds to the logarithm of each capital [value, stake].

    A claim of 1 or more cannot be wrong of what is left, and one of 0 only be disproved: nothing is
    bet against them.
    """
    open_ = (levels > 0.0) & (levels < 1.0)
    level = np.where(open_, levels, 0.5)
    ahead = scaled / level - 1.0
    learned = _learned(wager, scaled, level)
    stakes = np.column_stack([np.broadcast_to(_STAKES, (len(scaled), len(_STAKES))), learned])
    return np.where(open_[:, None], np.log1p(stakes * ahead[:, None]), 0.0)


def _learned(wager: Wager, scaled: Floats, level: Floats) -> Floats:
    """Return the fraction of the largest stake that the values before each one suggest.

    The best stake is about (mean - m) / (variance + (mean - m)^2). Mean and variance are those of
    the values before, with one in the middle of the range beside them.
    """
    first = wager.sums[0] + np.concatenate([[0.0], np.cumsum(scaled)[:-1]])[: len(scaled)]
    second = wager.sums[1] + np.concatenate([[0.0], np.cumsum(scaled**2)[:-1]])[: len(scaled)]
    weight = wager.count + np.arange(len(scaled)) + 1.0
    mean = (0.5 + first) / weight
    variance = np.maximum((0.5 + second) / weight - mean**2, 0.0)
    lead = mean - level
    stake = lead / np.maximum(variance + lead**2, 1e-12)
    return np.asarray(np.clip(stake * level, 0.0, MOST_LEARNED))


def _log_mixture(logs: Floats) -> Floats:
    """Return the logarithm of the whole capital [value], of the logarithms of its parts."""
    parts = logs + _SHARES
    top = parts.max(axis=1)
    return np.asarray(top + np.log(np.exp(parts - top[:, None]).sum(axis=1)))


def _whole(value: Fraction, denominator: int) -> int:
    return value.numerator * (denominator // value.denominator)


def growth(wager: Wager) -> float:
    """Return by how much the best stake's logarithm grew a value: what extrapolation goes by."""
    return max(wager.logs) / max(wager.count, 1)
