"""An instance as it would be otherwise: a threshold relaxed, an arm dropped, a study's own truth.

May touch core and simulation.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ringfence.core.arrays import Floats
from ringfence.core.problem import Problem
from ringfence.simulation.instance import Instance
from ringfence.simulation.laws import GaussianLaw, MixedLaw

_RELAXED = 0.05


def relaxed(instance: Instance, place: int) -> tuple[str, Instance]:
    """Return the instance with one constraint 5% looser, and the constraint in words.

    A limit of zero moves by 5% of the noise instead; a relative one by 5% of what it is.
    """
    constraints = list(instance.problem.constraints)
    one = constraints[place]
    limit = one.threshold
    if one.factor and instance.baseline_place is not None:
        sign = float(instance.problem.signs[place + 1])
        limit += one.factor * sign * float(instance.means[instance.baseline_place, place + 1])
    by = _RELAXED * abs(limit)
    if by == 0.0:
        by = _RELAXED / float(np.sqrt(2.0 * instance.law.constants[place + 1]))
    looser = one.threshold + (by if one.relation == "<=" else -by)
    constraints[place] = replace(one, threshold=float(f"{looser:.6g}"))
    problem = replace(instance.problem, constraints=tuple(constraints))
    return f"{one} relaxed to {constraints[place]}", replace(instance, problem=problem)


def without(instance: Instance, arm: int) -> Instance | None:
    """Return the instance without an arm; None where its law cannot be cut, or limits need it."""
    if arm == instance.baseline_place:
        return None
    kept = [place for place in range(len(instance.arms)) if place != arm]
    law = instance.law
    if isinstance(law, GaussianLaw):
        law = replace(
            law, means=law.means[kept], covariance=law.covariance[kept], factors=law.factors[kept]
        )
    elif isinstance(law, MixedLaw):
        law = replace(law, metric_means=law.metric_means[kept], factors=law.factors[kept])
    else:
        return None
    if instance.tariff is not None:
        return None
    arms, price = tuple(instance.arms[place] for place in kept), instance.price
    if isinstance(price, Mapping):
        price = {arm: price[arm] for arm in arms}
    return replace(instance, arms=arms, law=law, price=price)


def gaussian_instance(
    name: str, problem: Problem, arms: Sequence[str], means: Floats, covariances: Floats
) -> Instance:
    """Return an instance whose oriented attributes are gaussian with these moments."""
    values, vectors = np.linalg.eigh(covariances)
    factors = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    return Instance(name, problem, tuple(arms), GaussianLaw(means, covariances, factors))
