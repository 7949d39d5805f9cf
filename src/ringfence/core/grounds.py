"""What is known of attributes, by which claims about them are proven: bounds, a law, or little.

Nobody can tell from values alone that they have bounds: these are stated. A metric of yes or no is
the exception, where a limit or both of its values say that it is one. Touches its arguments only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ringfence.core.arrays import Floats, Mask
from ringfence.core.codes import Code
from ringfence.core.decimals import decimal
from ringfence.core.problem import Problem


class Basis(Code):
    """What a proof rests on, the strongest first; by OTHER statistics nothing is proven."""

    EXACT = "exact"
    GAUSSIAN = "gaussian"
    ASYMPTOTIC = "asymptotic"
    OTHER = "other"


@dataclass(frozen=True)
class Ground:
    """What is known of an attribute: its `basis`, and the ends of what one pull contributes.

    A `constant` one is the same for every pull of an arm. One that `changes` was another at some
    times than at others, so that an arm has no mean to be proven.
    """

    basis: Basis
    low: Fraction = Fraction(0)
    high: Fraction = Fraction(1)
    constant: bool = False
    changes: bool = False


def grounds_of(
    problem: Problem,
    values: Floats,
    *,
    bounds: Mapping[str, tuple[float, float]],
    shares: Mask,
    gaussian: Sequence[str] = (),
    constant: Sequence[str] = (),
) -> tuple[Ground, ...]:
    """Return what is known of a problem's attributes.

    `values` [pull, metric] are all that was told. `shares` are attributes that nobody takes for
    more than shares: one is of yes or no if nothing but 0 and 1 was told of it, and both were
    unless a limit between them says what it is.
    """
    found = []
    for c, attribute in enumerate(problem.attributes):
        told = values[:, problem.metrics.index(attribute.metric)]
        if not attribute.is_mean:
            found.append(Ground(Basis.OTHER))
        elif attribute.metric in constant:
            found.append(Ground(Basis.EXACT, constant=True))
        elif attribute.bound is not None:
            found.append(Ground(Basis.EXACT))
        elif attribute.metric in bounds:
            low, high = bounds[attribute.metric]
            found.append(Ground(Basis.EXACT, decimal(low), decimal(high)))
        elif shares[c] and is_yes_or_no(told, both=not _limits_share(problem, attribute.metric)):
            found.append(Ground(Basis.EXACT))
        else:
            is_gaussian = attribute.metric in gaussian
            found.append(Ground(Basis.GAUSSIAN if is_gaussian else Basis.ASYMPTOTIC))
    return tuple(found)


def is_yes_or_no(values: Floats, *, both: bool) -> bool:
    """Tell whether nothing but 0 and 1 was told, or indeed both."""
    told = set(np.unique(values[~np.isnan(values)]).tolist())
    return told == {0.0, 1.0} if both else told <= {0.0, 1.0}


def _limits_share(problem: Problem, metric: str) -> bool:
    """Tell whether a limit on the mean of a metric is a number between 0 and 1."""
    return any(
        one.attribute.metric == metric and not one.factor and 0.0 < one.threshold < 1.0
        for one in problem.constraints
        if one.attribute.bound is None
    )
