"""Laws with other means than their own, and how likely their pulls are under the law itself.

All our families are exponential in the sum of a block: the likelihood of a block of n pulls with
sum S under the tilted law, over that under the law itself, is exp(slope' S - n level). May touch
core and simulation's laws.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ringfence.core.arrays import Floats
from ringfence.core.best_feasible import BEST_FEASIBLE
from ringfence.core.errors import InputError
from ringfence.core.oracle import inverses
from ringfence.simulation.draws import BERNOULLI, EXPONENTIAL, GAUSSIAN, POISSON
from ringfence.simulation.instance import Instance
from ringfence.simulation.laws import GaussianLaw, Law, MixedLaw

_INSIDE = 1e-3  # the share of the way to the edge of its range that a mean keeps


@dataclass(frozen=True, eq=False)
class Tilted:
    """Laws side by side, one a cell, with slopes [cell, attribute] and levels [cell].

    `arrays` are what the law's `draw_block` reads, with a cell in place of an arm. `drifts` are
    those that were asked for, as far as the law can follow.
    """

    arrays: Any
    slopes: Floats
    levels: Floats
    drifts: Floats


def require_tilts(instance: Instance) -> None:
    """Refuse laws that cannot be tilted, and limits whose ways to err are not known."""
    require_modes(instance, "importance")
    if not isinstance(instance.law, GaussianLaw | MixedLaw):
        raise InputError(
            f"method = 'importance': the noise of {instance.name!r} cannot be tilted. It takes "
            "means of gaussian, bernoulli, poisson or exponential metrics. Use method = "
            "'monte-carlo'."
        )


def require_modes(instance: Instance, method: str) -> None:
    """Refuse what no mode describes: other questions, relative limits, and arms that share blocks.

    With the latter two arms err together.
    """
    question = instance.problem.question
    if not question.is_like(BEST_FEASIBLE):
        raise InputError(
            f"method = {method!r} is for answer = {BEST_FEASIBLE.name!r}, and {instance.name!r} is "
            f"asked for {question.name!r}. Use method = 'monte-carlo'."
        )
    if instance.baseline is not None:
        raise InputError(
            f"method = {method!r}: limits of {instance.name!r} are relative to baseline = "
            f"{instance.baseline!r}, and must be numbers. Use method = 'monte-carlo', or write "
            "them as numbers."
        )
    if instance.shares:
        raise InputError(
            f"method = {method!r}: arms of {instance.name!r} share blocks, and must be independent "
            "for it. Use method = 'monte-carlo'."
        )


def tilt(law: Law, drifts: Floats) -> Tilted:
    """Return the law with each drift [cell, arm, attribute] added to its attributes."""
    cells = len(drifts)
    moves = drifts.reshape(-1, drifts.shape[2])
    arms = np.tile(np.arange(drifts.shape[1]), cells)
    if isinstance(law, GaussianLaw):
        return _tilt_gaussian(law, moves, arms)
    if isinstance(law, MixedLaw):
        return _tilt_mixed(law, moves, arms)
    raise TypeError(f"{type(law).__name__} cannot be tilted")


def _tilt_gaussian(law: GaussianLaw, moves: Floats, arms: Any) -> Tilted:
    slopes = np.einsum("ncd,nd->nc", inverses(law.covariance)[arms], moves)
    levels = np.einsum("nc,nc->n", slopes, law.means[arms] + 0.5 * moves)
    arrays = law.arrays._replace(means=law.means[arms] + moves, factors=law.factors[arms])
    return Tilted(arrays, slopes, levels, moves)


def _tilt_mixed(law: MixedLaw, moves: Floats, arms: Any) -> Tilted:
    """Tilt metric by metric; the first attribute of a metric speaks for it."""
    spoken, speaker = np.unique(law.metric_of, return_index=True)
    signs = law.signs[speaker]
    means = law.metric_means[arms]
    wanted = means.copy()
    wanted[:, spoken] += signs * moves[:, speaker]
    slopes, levels = np.zeros_like(means), np.zeros(len(means))
    for q, family in enumerate(law.families):
        if family != GAUSSIAN:
            wanted[:, q] = _inside(int(family), wanted[:, q], means[:, q])
            slopes[:, q], level = _natural(int(family), means[:, q], wanted[:, q])
            levels += level
    gaussian = np.flatnonzero(law.families == GAUSSIAN)
    factors = law.factors[:, gaussian]
    precisions = inverses(factors @ factors.transpose(0, 2, 1))
    shift = (wanted - means)[:, gaussian]
    slopes[:, gaussian] = np.einsum("ncd,nd->nc", precisions[arms], shift)
    levels += np.einsum("nc,nc->n", slopes[:, gaussian], means[:, gaussian] + 0.5 * shift)
    oriented = np.zeros_like(moves)
    oriented[:, speaker] = signs * slopes[:, spoken]
    arrays = law.arrays._replace(means=wanted, factors=law.factors[arms])
    drifts = ((wanted - means)[:, law.metric_of]) * law.signs
    return Tilted(arrays, oriented, levels, drifts)


def _inside(family: int, wanted: Floats, means: Floats) -> Floats:
    """Keep means within the family's range; one at its edge stays there."""
    is_coin = family == BERNOULLI
    most = 1.0 - _INSIDE * (1.0 - means) if is_coin else np.inf
    at_edge = (means <= 0.0) | (is_coin & (means >= 1.0))
    return np.where(at_edge, means, np.clip(wanted, _INSIDE * means, most))


def _natural(family: int, means: Floats, wanted: Floats) -> tuple[Floats, Floats]:
    """Return slope and level of a change of mean; of none, where a mean is at its edge."""
    slopes, levels = np.zeros_like(means), np.zeros_like(means)
    free = (means > 0.0) & (wanted != means)
    if family == BERNOULLI:
        free &= means < 1.0
    m, w = means[free], wanted[free]
    if family == BERNOULLI:
        levels[free] = np.log1p(-m) - np.log1p(-w)
        slopes[free] = np.log(w / m) + levels[free]
    elif family == POISSON:
        slopes[free], levels[free] = np.log(w / m), w - m
    elif family == EXPONENTIAL:
        slopes[free], levels[free] = 1.0 / m - 1.0 / w, np.log(w / m)
    return slopes, levels
