"""What the truth of one arm may be: intervals, and the values that scores stand for.

A score is a place in the distribution of an estimate: standard normal where the noise is known,
Student's where it was estimated. The estimate of a skewed mean is skewed itself, and its noise is
least where it is lowest: Hall's cubic (1992) takes that out. Shares have Betas of their own, and
spreads are means of squares. One text serves intervals and draws, so that a verdict is as sure as
its intervals are wide. Touches its arguments only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

import numpy as np

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.priors import (
    BetaPrior,
    JointScores,
    NormalPrior,
    beta_prior,
    joint_scores,
    normal_prior,
)
from ringfence.core.problem import Problem
from ringfence.core.shares import (
    are_spreads,
    ask_for_none,
    possible_range,
    rarer_share,
    spread_interval,
    spread_of,
    which_are_shares,
)
from ringfence.core.sharing import Sharing
from ringfence.core.streams import Generator
from ringfence.core.variances import freedoms

LEVEL = 0.95
_FLAT = 1e-4  # of a skewness over the root of the pulls: below it a cubic is a line
_ENDLESS = 1e9  # degrees of freedom
_FISHER = 8.0  # degrees of freedom
_UNRELATED = 0.05  # a correlation that no draw needs to show
_BORROWED_SKEW = 30.0  # pulls' worth of all arms' skewness in that of one
_MOST_SKEW = 1e100  # of degenerate evidence: the square of a larger one overflows
_SKEWED = 8.0  # the squared skewness at which a variance is known half as well
_LEAST_FREEDOM = 4.0
_OF_TAILS = ("cvar", "lower_cvar", "quantile")
_FEW_SHARED = 10.0  # events from which on a share is as good as normal where arms share blocks
_FEW = 30.0  # events from which on draws of a share are as good as normal


Prior: TypeAlias = NormalPrior | BetaPrior | JointScores | None


class InCommon(NamedTuple):
    """Draws of what arms have in common, by attribute, and of what moves them all, if anything."""

    priors: Sequence[Prior]
    shocks: Floats | None


@dataclass(frozen=True, eq=False)
class Beliefs:
    """Of every arm and oriented attribute: the estimate, its variance, skewness and freedom.

    `variances` are those of the estimates, `covariances` those of all attributes of an arm.
    `freedom` of each variance is as large as numbers go where noise is known. `skews` are those of
    one pull. `shares` tells which attributes are shares of yes-or-no outcomes, or their spreads,
    `statistics` which are spreads. `lows` and `highs` bound what is possible.
    `spared` is by how much less than the pulls a sum of squares is divided. Where arms share
    blocks, `roots` [arm, attribute, noise] times their transposes are the estimates' covariance,
    and `complete` arms saw all the blocks that there are.
    """

    estimates: Floats
    covariances: Floats
    counts: Integers
    freedom: Floats
    skews: Floats
    shares: Mask
    statistics: tuple[str, ...]
    lows: Floats
    highs: Floats
    signs: Floats
    none_asked: Mask
    spared: float
    roots: Floats | None = None
    complete: Mask | None = None

    @classmethod
    def of(
        cls,
        problem: Problem,
        estimates: Floats,
        scatters: Floats,
        thirds: Floats,
        counts: Integers,
        covariances: Floats,
        *,
        known: Mask | None = None,
        bounds: Mapping[str, tuple[float, float]] = MappingProxyType({}),
        trials: Integers | None = None,
        constant: Mask | None = None,
        binary: Mask | None = None,
        are_all: bool = False,
    ) -> "Beliefs":
        """Return what is believed of estimates whose pulls have these `covariances`.

        `thirds` [arm, attribute] are the sums of the cubed influences; `known` [arm, attribute]
        tells where the noise was stated, in one row if of all arms alike. `trials` are the pulls
        that attributes rest on, where some rest on others than the `counts`; these are shares.
        What is `constant` is none: an event that has not come will not come. `binary` tells which
        attributes are of metrics that told nothing but zeros and ones. Where the pulls `are_all`
        that there are, as the rows of a table, spreads are theirs, and not those of what they are
        a sample of.
        """
        n = np.maximum(counts, 1)
        known = np.zeros((1, estimates.shape[1]), np.bool_) if known is None else known
        trials = np.repeat(counts[:, None], known.shape[1], axis=1) if trials is None else trials
        shares = which_are_shares(problem, estimates, scatters, counts)
        shares |= (trials != counts[:, None]).any(axis=0)
        if binary is not None:
            shares |= binary & are_spreads(problem)
        shares &= ~known.all(axis=0)
        shares &= True if constant is None else ~constant
        lows, highs = possible_range(problem, shares, bounds)
        freedom, parts = freedoms(scatters, counts)
        roots = np.sqrt(np.where(known | shares, 1.0, parts))
        covariances = covariances * roots[:, :, None] * roots[:, None, :]
        skews = _skews(thirds, counts, covariances)
        return cls(
            estimates=estimates,
            covariances=covariances / n[:, None, None],
            counts=trials,
            freedom=np.where(known, _ENDLESS, _freedom(problem, freedom, skews)),
            skews=np.where(known, 0.0, skews),
            shares=shares,
            statistics=tuple(one.statistic for one in problem.attributes),
            lows=lows,
            highs=highs,
            signs=problem.signs,
            none_asked=shares & ask_for_none(problem),
            spared=0.0 if are_all else 1.0,
        )

    def sharing(self, sharing: Sharing, estimates: Floats, trials: Integers) -> "Beliefs":
        """Return beliefs about arms that share blocks; these are of each arm by itself.

        `estimates` are those that all arms' results on the same blocks give, and `trials` the pulls
        that shares count for.

        Shares of which some arm saw few events, either way, stay what they are by themselves, but
        move with what they share. Others are normal, as means are.
        """
        arm_count, width, size = sharing.roots.shape
        alone = np.repeat(np.sqrt(sharing.parts), width)
        roots = sharing.roots * alone
        own = np.sqrt(np.einsum("ice,ice->ic", roots, roots))
        units = np.where(own > 0.0, np.sqrt(self.variances) / np.where(own > 0.0, own, 1.0), 0.0)
        roots = roots * units[:, :, None]  # as wide as each arm's own noise is believed to be
        few = np.array(
            [
                any(self._rarer(arm, c) < _FEW_SHARED for arm in range(arm_count))
                for c in range(width)
            ]
        )
        return replace(
            self,
            estimates=np.where(self.shares & few, self.estimates, estimates),
            counts=trials,
            shares=self.shares & few,
            roots=roots.reshape(arm_count, width, size),
            complete=sharing.parts[sharing.ranks] == 0.0,
        )

    def _rarer(self, arm: int, attribute: int) -> float:
        """Return how many events of a share, or of their absence, an arm saw: the fewer."""
        if not self.shares[attribute]:
            return np.inf
        events = self.events(arm, attribute)
        return min(events, self.trials(arm, attribute) - events)

    @property
    def variances(self) -> Floats:
        """The variance of every estimate."""
        return np.diagonal(self.covariances, axis1=1, axis2=2)

    def value(self, arm: int, attribute: int, scores: Floats) -> Floats:
        """Return the oriented values that scores stand for."""
        at = float(self.estimates[arm, attribute])
        deviation = float(self.variances[arm, attribute]) ** 0.5
        if deviation == 0.0:
            return np.full_like(scores, at)
        count = self.trials(arm, attribute)
        turn = float(np.copysign(1.0, at))
        if self.statistics[attribute] == "std":  # its square is a mean of squares
            squares = _mean_of_squares(at * at, 2.0 * abs(at) * deviation, turn * scores, count)
            return np.asarray(turn * np.sqrt(squares))
        if self.statistics[attribute] == "variance":
            return turn * _mean_of_squares(abs(at), deviation, turn * scores, count)
        skew = float(self.skews[arm, attribute])
        return np.asarray(at - deviation * unskewed(-scores, skew, count))

    def events(self, arm: int, attribute: int) -> float:
        """Return how many events a share has seen; a spread, of the rarer outcome."""
        value = float(self.signs[attribute] * self.estimates[arm, attribute])
        count = self.trials(arm, attribute)
        part = max(count - self.spared, 0.0) / count
        return float(round(count * rarer_share(self.statistics[attribute], value, part)))

    def trials(self, arm: int, attribute: int) -> float:
        """Return the pulls that an attribute of an arm rests on."""
        return float(max(self.counts[arm, attribute], 1))

    def difference(self, arm: int, rival: int, attribute: int) -> tuple[float, float, float]:
        """Return by how much an arm exceeds another, as written, and the 95% interval of that."""
        sign = float(self.signs[attribute])
        at = sign * float(self.estimates[arm, attribute] - self.estimates[rival, attribute])
        variance = float(self.variances[arm, attribute] + self.variances[rival, attribute])
        if self.roots is not None:
            apart = self.roots[arm, attribute] - self.roots[rival, attribute]
            variance = float(apart @ apart)
        from scipy.special import stdtrit

        freedom = float(min(self.freedom[arm, attribute], self.freedom[rival, attribute]))
        reach = float(stdtrit(freedom, 0.5 + LEVEL / 2.0)) * variance**0.5
        return at + 0.0, at - reach, at + reach

    def interval(self, arm: int, attribute: int) -> tuple[float, float]:
        """Return the 95% interval as written; the ends never lie beyond what is possible."""
        if self._is_known(arm, attribute):
            value = float(self.signs[attribute] * self.estimates[arm, attribute]) + 0.0
            return value, value
        if self.shares[attribute]:
            ends = share_interval(self.events(arm, attribute), self.trials(arm, attribute))
            ends = spread_interval(self.statistics[attribute], *ends)
        else:
            from scipy.special import stdtrit

            reach = float(stdtrit(self.freedom[arm, attribute], 0.5 + LEVEL / 2.0))
            found = self.signs[attribute] * self.value(arm, attribute, np.array([-reach, reach]))
            ends = float(found.min()), float(found.max())
        low, high = (
            min(max(end, float(self.lows[attribute])), float(self.highs[attribute])) for end in ends
        )
        return low, high

    def draws(
        self,
        rng: Generator,
        arm: int,
        common: InCommon,
        draws: int,
    ) -> Floats:
        """Return draws [draw, attribute] of an arm, given draws of what all arms have in common."""
        width = self.estimates.shape[1]
        if common.shocks is None or self.roots is None:
            scores = rng.standard_normal((draws, width)) @ _root(self.covariances[arm]).T
        else:  # of means they are in the prior
            scores = np.zeros((draws, width))
            shares = np.flatnonzero(self.shares)
            scores[:, shares] = common.shocks @ self._rows(self.roots[arm])[shares].T
        found = np.empty((draws, width))
        for c in range(width):
            prior, freedom = common.priors[c], float(self.freedom[arm, c])
            if self._is_known(arm, c):
                found[:, c] = self.estimates[arm, c]
                continue
            if isinstance(prior, BetaPrior):
                found[:, c] = self._drawn_shares(rng, arm, c, scores[:, c], prior)
                continue
            if isinstance(prior, JointScores):
                found[:, c] = self.value(arm, c, students(rng, prior.scores[:, arm], freedom))
                continue
            own = students(rng, scores[:, c], freedom)
            if prior is not None and self.variances[arm, c] > 0.0:
                at, variance = float(self.estimates[arm, c]), float(self.variances[arm, c])
                shift, left = prior.pulled(at, variance)
                own = shift + left * own
            found[:, c] = self.value(arm, c, own)
        return found

    @property
    def is_known(self) -> Mask:
        """Which attributes of which arms are known, since all the blocks that there are were seen.

        Attributes that are no means, and do not go by blocks, never are.
        """
        if self.complete is None:
            return np.zeros(self.estimates.shape, np.bool_)
        return self.complete[:, None] & ~self.variances.astype(np.bool_)

    def _is_known(self, arm: int, attribute: int) -> bool:
        complete = self.complete is not None and bool(self.complete[arm])
        return complete and float(self.variances[arm, attribute]) == 0.0

    def _drawn_shares(
        self, rng: Generator, arm: int, attribute: int, scores: Floats, prior: BetaPrior
    ) -> Floats:
        """Return draws of a share or its spread. Those that go with others keep their order."""
        events, count = self.events(arm, attribute), self.trials(arm, attribute)
        unwanted = events if self.signs[attribute] > 0.0 else count - events
        if self.none_asked[attribute] and unwanted < 0.5:
            return np.full(len(scores), float(self.estimates[arm, attribute]))
        scores = self.signs[attribute] * scores  # as written, like the share itself
        a, b = prior.posterior(events, count)
        if min(events, count - events) >= _FEW:
            mean = a / (a + b)
            fresh = mean + scores * np.sqrt(mean * (1.0 - mean) / (a + b + 1.0))
            fresh = spread_of(self.statistics[attribute], fresh)
        else:
            fresh = spread_of(self.statistics[attribute], rng.beta(a, b))
            if self._is_correlated(arm, attribute):
                fresh = np.sort(fresh)[np.argsort(np.argsort(scores))]
        return np.asarray(self.signs[attribute] * fresh)

    def _is_correlated(self, arm: int, attribute: int) -> bool:
        if self.roots is not None:
            return True
        row = self.covariances[arm, attribute].copy()
        row[attribute] = 0.0
        bound = np.sqrt(self.variances[arm] * self.variances[arm, attribute])
        return bool(np.any(np.abs(row) > _UNRELATED * bound))

    def _rows(self, roots: Floats) -> Floats:
        """Return the rows of a root, each in units of its own deviation."""
        own = np.sqrt(np.einsum("ce,ce->c", roots, roots))
        return np.asarray(roots / np.where(own > 0.0, own, 1.0)[:, None])

    def nothing_in_common(self, rng: Generator, draws: int) -> InCommon:
        """Return draws of what moves arms that share blocks, whatever their values are like."""
        shocks, found = self._shocks(rng, draws), list[Prior]()
        for c, is_share in enumerate(self.shares.tolist()):
            if is_share:
                found.append(BetaPrior(np.full(draws, 0.5), np.zeros(draws)))
            elif self.roots is None or shocks is None:
                found.append(None)
            else:
                found.append(JointScores(shocks @ self._rows(self.roots[:, c]).T))
        return InCommon(found, shocks)

    def _shocks(self, rng: Generator, draws: int) -> Floats | None:
        """Return draws of what moves all arms; None where they share nothing."""
        return None if self.roots is None else rng.standard_normal((draws, self.roots.shape[2]))

    def common(self, rng: Generator, arms: Sequence[int], draws: int) -> InCommon:
        """Return draws of what some arms have in common, attribute by attribute."""
        mine, shocks = list(arms), self._shocks(rng, draws)
        found: list[Prior] = []
        for c in range(self.estimates.shape[1]):
            if self.shares[c]:
                some = [arm for arm in mine if not self._is_known(arm, c)] or mine
                events = np.array([self.events(arm, c) for arm in some])
                found.append(beta_prior(rng, events, self.counts[some, c].astype(float), draws))
            elif self.roots is not None and shocks is not None:
                joint = joint_scores(rng, self.estimates[mine, c], self.roots[mine, c], shocks)
                scores = np.zeros((draws, len(self.estimates)))
                scores[:, mine] = joint.scores
                found.append(JointScores(scores))
            else:
                estimates, variances = self.estimates[mine, c], self.variances[mine, c]
                found.append(normal_prior(rng, estimates, variances, draws))
        return InCommon(found, shocks)


def _freedom(problem: Problem, freedom: Floats, skews: Floats) -> Floats:
    """Return the freedom of each arm's noise, from that of variances of normal pulls.

    A skewed metric's variance is made by few large values: fewer pulls tell of it. Of a tail mean
    only those in the tail do, twice as many as there are, and of a quantile those beyond it.
    """
    telling = freedom / (1.0 + skews**2 / _SKEWED)
    telling = np.maximum(telling, np.minimum(freedom, _LEAST_FREEDOM))
    for c, attribute in enumerate(problem.attributes):
        if attribute.statistic in _OF_TAILS and attribute.level is not None:
            tail = min(attribute.level, 1.0 - attribute.level)
            telling[:, c] = np.minimum(telling[:, c], 2.0 * tail * freedom[:, c])
    return np.asarray(np.maximum(telling, 1.0))


def _skews(thirds: Floats, counts: Integers, covariances: Floats) -> Floats:
    """Return each arm's skewness of a pull, with some of all arms' in it, as its noise has.

    Cubes are told in units of the arm's own deviations: else the loudest arm's skewness is all.
    """
    variances = np.diagonal(covariances, axis1=1, axis2=2)
    units = np.where(variances > 0.0, variances, 1.0)
    with np.errstate(over="ignore"):  # a deviation was stated that is far too small: see the clip
        own = np.where(variances > 0.0, thirds / units / np.sqrt(units), 0.0)
    own = np.clip(np.nan_to_num(own, nan=0.0), -_MOST_SKEW, _MOST_SKEW)
    total, within = float(counts.sum()), float(np.maximum(counts - 1, 0).sum())
    common = own.sum(axis=0) / max(total, 1.0)
    # Samples look less skewed than they are: deviations from their own means are too small.
    common *= (total / max(within, 1.0)) ** 1.5 * total / max(total - 2.0, 1.0)
    n = counts[:, None]
    found = (variances > 0.0) * (own + _BORROWED_SKEW * common) / (n + _BORROWED_SKEW)
    return np.asarray(np.clip(found, -_MOST_SKEW, _MOST_SKEW))


def students(rng: Generator, scores: Floats, freedom: float) -> Floats:
    """Return scores of Student's distribution in the place of normal ones."""
    if freedom >= _ENDLESS:
        return scores
    if freedom < _FISHER:
        return np.asarray(scores * np.sqrt(freedom / rng.chisquare(freedom, len(scores))))
    squares = scores * scores  # Fisher's expansion: no further draws, and as good from here on
    first = (squares + 1.0) / (4.0 * freedom)
    second = ((5.0 * squares + 16.0) * squares + 3.0) / (96.0 * freedom * freedom)
    return np.asarray(scores * (1.0 + first + second))


def unskewed(scores: Floats, skew: float, count: float) -> Floats:
    """Return (estimate - truth) / deviation at scores of a normal: Hall's cubic, solved.

    The estimate's skewness is that of a pull over the root of the pulls.
    """
    unit = skew / count**0.5
    if abs(unit) < _FLAT:
        return scores
    return np.asarray(3.0 / unit * (np.cbrt(1.0 + unit * (scores - unit / 6.0)) - 1.0))


def _mean_of_squares(at: float, deviation: float, scores: Floats, count: float) -> Floats:
    """Return the variances that scores stand for: squares are skewed, most where large are rare.

    Their skewness is about twice the deviation of a square over the variance: so it is of normal
    and of exponential metrics.
    """
    if at == 0.0:
        return np.zeros_like(scores)
    skew = min(2.0 * deviation * count**0.5 / at, _MOST_SKEW)
    return np.asarray(np.maximum(at - deviation * unskewed(-scores, skew, count), 0.0))


def share_interval(events: float, count: float) -> tuple[float, float]:
    """Return the 95% interval of a share: Jeffreys', open to an end beyond which nothing came."""
    from scipy.special import betaincinv

    tail = 0.5 - LEVEL / 2.0
    low = 0.0 if events <= 0.5 else float(betaincinv(events + 0.5, count - events + 0.5, tail))
    left = count - events
    high = 1.0 if left <= 0.5 else float(betaincinv(events + 0.5, left + 0.5, 1.0 - tail))
    return low, high


def quantile_interval(values: Floats, level: float) -> tuple[float, float]:
    """Return the 95% interval of a quantile between pulls: an end that no pull can give is open.

    As many pulls lie below the truth as a coin that shows `level` would give.
    """
    count, tail = len(values), 0.5 - LEVEL / 2.0
    ordered = np.sort(values)
    below = _binomial_place(count, level, tail)
    above = count - _binomial_place(count, 1.0 - level, tail)
    low = float(ordered[below - 1]) if below > 0 else -np.inf
    high = float(ordered[above]) if above < count else np.inf
    return low, high


def _binomial_place(count: int, level: float, tail: float) -> int:
    """Return the most k with P(fewer than k of the pulls lie below the quantile) <= tail."""
    from scipy.stats import binom

    place = int(binom.ppf(tail, count, level))
    while place > 0 and binom.cdf(place - 1, count, level) > tail:
        place -= 1
    return place


def _root(covariance: Floats) -> Floats:
    """Return a root of the correlations in a covariance; what does not vary has none."""
    deviations = np.sqrt(np.diagonal(covariance))
    units = np.where(deviations > 0.0, deviations, 1.0)
    values, vectors = np.linalg.eigh(covariance / units[:, None] / units[None, :])
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
