"""What arms have in common: a prior of each attribute, learned from all arms together.

Whoever names the best of thirty arms names a lucky one. Draws of what the truth may be say so only
if they know how far arms differ at all: where estimates lie no further apart than their noise, the
arms are alike, and what stands out is luck. So arms' values count as drawn from a common
distribution, normal or for shares Beta, of which centre and width are drawn too, with a weight for
every width that the estimates leave possible. Arms that lie far apart are left where they are.

Touches its arguments only.
"""

from typing import NamedTuple

import numpy as np

from ringfence.core.arrays import Floats, Integers
from ringfence.core.streams import Generator

_MOST_UNITS = 1e100  # how far apart arms, or their noise, may be to have something in common
_WIDTHS = 48  # on the grid of how far arms differ
_CENTRES = 41  # on the grid of a common share
_FARTHEST = 20.0  # log odds, where a share is as good as nought
_REACH = 6.0  # of that grid, in deviations of the common share
_MOST_SHARED = 0.999  # of an arm's variance with the others


class NormalPrior(NamedTuple):
    """Draws of the arms' common centre and of the variance between arms."""

    centres: Floats
    variances: Floats

    def pulled(self, estimate: float, variance: float) -> tuple[Floats, Floats]:
        """Return, draw by draw, how many deviations an arm is pulled, and what noise is left.

        The noise is that part of an arm's own deviation which the prior leaves.
        """
        trust = variance / (variance + self.variances)
        shift = trust * (self.centres - estimate) / variance**0.5
        return shift, np.sqrt(1.0 - trust)


def normal_prior(
    rng: Generator, estimates: Floats, variances: Floats, draws: int
) -> NormalPrior | None:
    """Return draws of what is common to arms with these estimates; None where there is nothing.

    The width's prior is DuMouchel's: as likely as not below the deviation of an estimate, and
    proper however few arms there are. Arms without noise say nothing here.
    """
    noisy = variances > 0.0
    if np.count_nonzero(noisy) < 2:
        return None
    y, v = estimates[noisy], variances[noisy]
    unit = float(np.mean(1.0 / v)) ** -0.5  # the harmonic mean: precise arms set the unit
    origin = float(y[np.argmin(v)])
    y, v = (y - origin) / unit, v / unit / unit
    if max(float(np.ptp(y)), float(v.max())) > _MOST_UNITS:
        return None  # nothing in common, and squares of such numbers overflow
    widths, weights = _grid_of_widths(float(np.ptp(y)))
    total = v[None, :] + widths[:, None] ** 2
    precision = (1.0 / total).sum(axis=1)
    centres = (y / total).sum(axis=1) / precision
    squares = ((y - centres[:, None]) ** 2 / total).sum(axis=1)
    logs = np.log(weights) - 0.5 * (np.log(total).sum(axis=1) + np.log(precision) + squares)
    chosen = _drawn(rng, logs, draws)
    drawn = centres[chosen] + rng.standard_normal(draws) / np.sqrt(precision[chosen])
    return NormalPrior(origin + unit * drawn, (unit * widths[chosen]) ** 2)


class JointScores(NamedTuple):
    """Draws of how far the truth of arms lies from their estimates [draw, arm], in deviations."""

    scores: Floats


def joint_scores(rng: Generator, estimates: Floats, roots: Floats, shocks: Floats) -> JointScores:
    """Return draws of the truth of arms that share blocks, drawn from a common distribution.

    `roots` times its transpose is the covariance of the estimates, and `shocks` draws of what moves
    them. Each arm is pulled to a weighted mean of all, by the part of its variance that is its own;
    what is drawn is what so pulled estimates miss. Of arms that share nothing, or are alike, that
    is Bayes's rule. Where quiet and loud arms share luck his weights leave 0 to 1: from what a
    quiet arm and a loud one show they tell the luck of both. But arms mostly look quiet because
    they look low, and so all of them would count as lower than any looks.
    """
    noise, draws = shocks @ roots.T, len(shocks)
    deviations = np.sqrt(np.einsum("ie,ie->i", roots, roots))
    noisy = deviations > 0.0
    found = np.zeros((draws, len(estimates)))
    if np.count_nonzero(noisy) < 2:
        found[:, noisy] = noise[:, noisy] / deviations[noisy]
        return JointScores(found)
    own, noise = _own_parts(roots[noisy]), noise[:, noisy]
    unit = float(np.mean(1.0 / own)) ** -0.5  # the harmonic mean: precise arms set the unit
    y = (estimates[noisy] - float(estimates[noisy][np.argmin(deviations[noisy])])) / unit
    v, noise = own / unit / unit, noise / unit
    if max(float(np.ptp(y)), float(v.max())) > _MOST_UNITS:
        found[:, noisy] = noise * unit / deviations[noisy]
        return JointScores(found)
    widths, weights = _grid_of_widths(float(np.ptp(y)))
    total = v[None, :] + widths[:, None] ** 2
    precision = (1.0 / total).sum(axis=1)
    parts = 1.0 / total / precision[:, None]
    centres = parts @ y
    squares = ((y - centres[:, None]) ** 2 / total).sum(axis=1)
    logs = np.log(weights) - 0.5 * (np.log(total).sum(axis=1) + np.log(precision) + squares)
    chosen = _drawn(rng, logs, draws)
    trust, parts = (v / total)[chosen], parts[chosen]
    apart = widths[chosen, None] * rng.standard_normal((draws, len(y)))
    centre = centres[chosen] - ((noise + apart) * parts).sum(axis=1)
    moved = trust * (centre[:, None] + apart - y) - (1.0 - trust) * noise
    found[:, noisy] = moved * unit / deviations[noisy]
    return JointScores(found)


def _own_parts(roots: Floats) -> Floats:
    """Return the part of each arm's variance that it does not share with the others."""
    covariance = roots @ roots.T
    deviations = np.sqrt(np.diagonal(covariance))
    others = (covariance / deviations).sum(axis=1) / deviations - 1.0
    shared = np.clip(others / (len(roots) - 1), 0.0, _MOST_SHARED)
    return np.asarray(deviations**2 * (1.0 - shared))


def _grid_of_widths(span: float) -> tuple[Floats, Floats]:
    """Return widths between arms, in deviations of an estimate, with their prior weights.

    As many as the prior's quantiles, and beyond them geometrically up to what the arms span.
    """
    parts = (np.arange(_WIDTHS) + 0.5) / _WIDTHS
    widths, weights = parts / (1.0 - parts), np.full(_WIDTHS, 1.0 / _WIDTHS)
    beyond = widths[-1]
    if span <= beyond:
        return widths, weights
    edges = np.geomspace(beyond, 4.0 * span, _WIDTHS + 1)
    further = np.sqrt(edges[1:] * edges[:-1])
    masses = 1.0 / (1.0 + edges[:-1]) - 1.0 / (1.0 + edges[1:])
    return np.append(widths, further), np.append(weights, masses)


class BetaPrior(NamedTuple):
    """Draws of the arms' common share, and of the pulls that it counts for in an arm's own."""

    shares: Floats
    pulls: Floats

    def posterior(self, events: float, count: float) -> tuple[Floats, Floats]:
        """Return the parameters of an arm's Beta, draw by draw."""
        return (
            events + 0.5 + self.pulls * self.shares,
            count - events + 0.5 + self.pulls * (1.0 - self.shares),
        )


def beta_prior(rng: Generator, events: Floats, counts: Floats, draws: int) -> BetaPrior:
    """Return draws of what is common to shares with these events.

    An arm's own share is Beta around the common one, worth some pulls more than Jeffreys' half an
    event either way: what was never seen is never certain, however alike arms are.
    """
    if len(counts) < 2:
        return BetaPrior(np.full(draws, 0.5), np.zeros(draws))
    from scipy.special import betaln, expit, logit

    n, k = counts.sum(), events.sum()
    own = logit((events + 0.5) / (counts + 1.0))
    width = (1.0 / (k + 0.5) + 1.0 / (n - k + 0.5) + own.var() / len(own)) ** 0.5
    places, weights = _grid_of_centres(float(logit((k + 0.5) / (n + 1.0))), float(width))
    shares, others = expit(places), expit(-places)
    parts = np.arange(_WIDTHS) / _WIDTHS
    pulls = parts / (1.0 - parts) * len(counts) / (1.0 / counts).sum()
    pairs, times = np.unique(np.column_stack([events, counts]), axis=0, return_counts=True)
    before = pulls[:, None] * shares + 0.5, pulls[:, None] * others + 0.5
    logs = np.log(weights) + 0.5 * np.log(shares * others) - len(counts) * betaln(*before)
    for (some, of), often in zip(pairs.tolist(), times.tolist(), strict=True):
        logs = logs + often * betaln(before[0] + some, before[1] + of - some)
    chosen = _drawn(rng, logs.ravel(), draws)
    return BetaPrior(shares[chosen % len(shares)], pulls[chosen // len(shares)])


def _grid_of_centres(middle: float, width: float) -> tuple[Floats, Floats]:
    """Return log odds of a common share, dense where it may well be, and what each stands for."""
    near = middle + width * np.linspace(-_REACH, _REACH, _CENTRES)
    far = np.linspace(-_FARTHEST, _FARTHEST, _CENTRES)
    places = np.unique(np.append(near, far[(far < near[0]) | (far > near[-1])]))
    return places, np.gradient(places)


def _drawn(rng: Generator, logs: Floats, draws: int) -> Integers:
    """Return places drawn by the exponentials of some weights."""
    weights = np.cumsum(np.exp(logs - logs.max()))
    found: Integers = np.searchsorted(weights, rng.random(draws) * weights[-1], side="right")
    return np.minimum(found, len(weights) - 1)
