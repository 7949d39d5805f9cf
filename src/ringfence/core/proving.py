"""What arms did, as evidence against claims: that an arm breaks a limit, keeps it, or is better.

A claim is about the mean of a sum of arms' attributes, block by block: an arm's own, the difference
from a multiple of the baseline's, the difference of two arms. Every test goes through the blocks in
their order, as far as all its arms have seen them without a gap, so that whoever chooses what is
pulled next chooses how far a test is, and never what it sees. What a claim rests on is said of it.
Touches its arguments only.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np

from ringfence.core import t_mixture, wagers
from ringfence.core.arrays import Floats, Integers
from ringfence.core.codes import Code
from ringfence.core.decimals import Decimals, averages, decimal, decimals, less
from ringfence.core.grounds import Basis, Ground
from ringfence.core.problem import Problem
from ringfence.core.statistics import contributions

Term = tuple[int, Fraction]
"""An arm, and how often its attribute counts in a sum."""


class Hindrance(Code):
    """Why a test says nothing, whatever was seen."""

    STATISTIC = "statistic"  # it is no mean or share
    FAILURES = "failures"  # nothing bounds what failed pulls would have told
    CHANGES = "changes"  # it was another at some times than at others
    VARIES = "varies"  # what was stated to be a constant is none


@dataclass(frozen=True, eq=False)
class Path:
    """What an arm did on the first blocks, without a gap.

    `values` [pull, metric] are NaN where a pull failed and nothing was told in its place. `sizes`
    are the pulls of each block, which count as one by their average.
    """

    values: Floats
    sizes: Integers

    @classmethod
    def of(cls, values: Floats) -> "Path":
        """Return the path of an arm with one pull a block."""
        return cls(values, np.ones(len(values), np.int64))


@dataclass(frozen=True)
class Evidence:
    """How much was seen against a claim, in `count` blocks.

    `log_e` is the logarithm of the e-value as it is now; `peak` is the largest it ever was, by
    which a claim is rejected. `growth` is what the next block may add. A test that is hindered has
    an e-value of 1. `left` is how many blocks there are still to come, where that is known.
    """

    basis: Basis
    count: int = 0
    log_e: float = 0.0
    peak: float = 0.0
    growth: float = 0.0
    left: int | None = None
    hindrance: Hindrance | None = None


class Prover:
    """Tests of claims about arms; the same test is made once.

    `size` is how many blocks there are in all, where the truth is their mean.
    """

    def __init__(
        self,
        problem: Problem,
        paths: Sequence[Path],
        grounds: Sequence[Ground],
        *,
        baseline: int | None = None,
        size: int | None = None,
    ) -> None:
        """Begin without a test; the problem is as it is judged."""
        self.problem, self.paths, self.grounds = problem, paths, grounds
        self.baseline, self.size = baseline, size
        self.columns = [problem.metrics.index(one.metric) for one in problem.attributes]
        self.keeps = cache(self._keeps)
        self.breaks = cache(self._breaks)
        self.no_better = cache(self._no_better)
        self.observed = cache(self._observed)
        self.width = cache(self._width)

    def _keeps(self, arm: int, limit: int) -> Evidence:
        """Return the evidence that an arm keeps a limit: against a mean beyond it."""
        sign = Fraction(int(self.problem.signs[limit + 1]))
        threshold = decimal(self.problem.constraints[limit].threshold)
        terms = _turned(self._limited(arm, limit), -sign)
        return self._against(limit + 1, terms, -sign * threshold, strict=True)

    def _breaks(self, arm: int, limit: int) -> Evidence:
        """Return the evidence that an arm breaks a limit: against a mean within it."""
        sign = Fraction(int(self.problem.signs[limit + 1]))
        threshold = decimal(self.problem.constraints[limit].threshold)
        terms = _turned(self._limited(arm, limit), sign)
        return self._against(limit + 1, terms, sign * threshold, strict=False)

    def _no_better(self, rival: int, arm: int, within: Fraction = Fraction(0)) -> Evidence:
        """Return the evidence that a rival is better than an arm by no more than `within`."""
        sign = Fraction(int(self.problem.signs[0]))
        return self._against(0, ((rival, sign), (arm, -sign)), -within, strict=True)

    def _limited(self, arm: int, limit: int) -> tuple[Term, ...]:
        """Return what a limit is about: an attribute, less a multiple of the baseline's."""
        factor = decimal(self.problem.constraints[limit].factor)
        if not factor or self.baseline is None:
            return ((arm, Fraction(1)),)
        if arm == self.baseline:
            return ((arm, 1 - factor),)
        return ((arm, Fraction(1)), (self.baseline, -factor))

    def mean(self, arm: int, c: int) -> float:
        """Return the mean of an attribute over an arm's blocks; NaN where it has none."""
        path, attribute = self.paths[arm], self.problem.attributes[c]
        told = path.values[:, self.columns[c]]
        told = contributions(attribute.kind, attribute.level or 0.0, told[~np.isnan(told)])
        return float(told.mean()) if len(told) else math.nan

    def _against(
        self, c: int, terms: tuple[Term, ...], limit: Fraction, *, strict: bool
    ) -> Evidence:
        """Return the evidence against the claim that the mean of a sum is at most a limit."""
        ground = self.grounds[c]
        count = min(len(self.paths[arm].sizes) for arm, _ in terms)
        left = None if self.size is None else self.size - count
        if hindrance := self._hindrance(c, terms):
            return Evidence(ground.basis, count, left=left, hindrance=hindrance)
        if ground.constant:
            certain = count > 0 and _falls(self._sum(c, terms, 1), limit, strict=strict)
            sure = math.inf if certain else 0.0
            return Evidence(ground.basis, count, sure, sure, left=left)
        if ground.basis == Basis.EXACT:
            ends = [sorted((ground.low * times, ground.high * times)) for _, times in terms]
            low, high = (sum((one[k] for one in ends), Fraction(0)) for k in (0, 1))
            claim = wagers.Claim(limit, low, high, strict, self.size)
            values = self._sum(c, terms, count) if self.size else self._floats(c, terms, count)
            wager = wagers.played(claim, wagers.begun(claim), values)
            growth = wagers.growth(wager)
            return Evidence(ground.basis, count, wager.log_e, wager.peak, growth, left)
        if (
            self.size is not None
            and not left
            and _falls(self._sum(c, terms, count), limit, strict=strict)
        ):
            return Evidence(ground.basis, count, math.inf, math.inf, left=0)
        values = self._floats(c, terms, count)
        trend = t_mixture.Trend(any_law=ground.basis != Basis.GAUSSIAN)
        width = sum(float(abs(times)) for _, times in terms) * self.width(c)
        trend = t_mixture.followed(trend, values, float(limit), width=width)
        growth = trend.log_e / max(count, 1)
        return Evidence(ground.basis, count, trend.log_e, trend.peak, growth, left)

    def _width(self, c: int) -> float:
        """Return how far apart all values of an attribute lie, of any arm.

        What one arm was seen to do, others may do: costs that are dear for one seldom are so too.
        """
        attribute, column = self.problem.attributes[c], self.columns[c]
        told = np.concatenate([path.values[:, column] for path in self.paths])
        told = contributions(attribute.kind, attribute.level or 0.0, told[~np.isnan(told)])
        return float(np.ptp(told)) if len(told) else 0.0

    def _hindrance(self, c: int, terms: tuple[Term, ...]) -> Hindrance | None:
        ground = self.grounds[c]
        if ground.basis == Basis.OTHER:
            return Hindrance.STATISTIC
        if ground.changes:
            return Hindrance.CHANGES
        columns = [self.paths[arm].values[:, self.columns[c]] for arm, times in terms if times]
        has_failed = any(np.isnan(one).any() for one in columns)
        if has_failed and (ground.constant or ground.basis != Basis.EXACT):
            return Hindrance.FAILURES
        if ground.constant and any((one != one[:1]).any() for one in columns):
            return Hindrance.VARIES
        return None

    def _sum(self, c: int, terms: tuple[Term, ...], count: int) -> Decimals:
        """Return the sum block by block, exactly."""
        found = Decimals(np.zeros(count, np.int64).astype(object), 1)
        for arm, times in terms:
            own = self.observed(arm, c, times > 0)
            found = less(found, Decimals(own.numerators[:count], own.denominator), -times)
        return found

    def _floats(self, c: int, terms: tuple[Term, ...], count: int) -> Floats:
        """Return the sum block by block, as floats: sets without end have no ties."""
        found = np.zeros(count)
        for arm, times in terms:
            path = self.paths[arm]
            own = self._contributed(arm, c, at_worst_low=times > 0)
            if len(own) > len(path.sizes):
                starts = np.concatenate([[0], np.cumsum(path.sizes)[:-1]])
                own = np.add.reduceat(own, starts) / path.sizes
            found += float(times) * own[:count]
        return found

    def _contributed(self, arm: int, c: int, *, at_worst_low: bool) -> Floats:
        """Return what an arm's pulls contribute; a failed one does what is worst for the test."""
        attribute, ground = self.problem.attributes[c], self.grounds[c]
        told = self.paths[arm].values[:, self.columns[c]]
        own = contributions(attribute.kind, attribute.level or 0.0, told)
        worst = float(ground.low if at_worst_low else ground.high)
        return np.where(np.isnan(told), worst, own)

    def _observed(self, arm: int, c: int, at_worst_low: bool) -> Decimals:  # noqa: FBT001
        """Return an attribute of an arm block by block, exactly."""
        own = decimals(self._contributed(arm, c, at_worst_low=at_worst_low))
        sizes = self.paths[arm].sizes
        return own if len(own.numerators) == len(sizes) else averages(own, sizes)


def _turned(terms: tuple[Term, ...], times: Fraction) -> tuple[Term, ...]:
    return tuple((arm, times * one) for arm, one in terms)


def _falls(values: Decimals, limit: Fraction, *, strict: bool) -> bool:
    """Tell whether the mean of all the values there are disproves that it is at most a limit."""
    total = Fraction(int(values.numerators.sum()), values.denominator)
    most = len(values.numerators) * limit
    return total >= most if strict else total > most
