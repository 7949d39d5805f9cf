"""What the answers of replications are proven by: the law's bounds, and the pulls as they come.

Nothing is proven here of what has neither bounds nor a normal law. A table's bounds are the least
and the largest of its values. May touch core and simulation.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np

from ringfence.core.arrays import Floats, Mask
from ringfence.core.bets import Terms, terms_of
from ringfence.core.decimals import decimal, decimals
from ringfence.core.errors import InputError
from ringfence.core.settling import Proof, new_proof
from ringfence.core.stop import Stop, require_distance, require_level
from ringfence.simulation.draws import BERNOULLI, GAUSSIAN, MixedArrays
from ringfence.simulation.instance import Instance
from ringfence.simulation.laws import GaussianLaw, MixedLaw, SampledLaw, TableLaw
from ringfence.simulation.path_records import (
    draw_gaussian_attributes,
    draw_mixed_attributes,
    draw_table_attributes,
    path_recording,
)
from ringfence.simulation.records import Recording
from ringfence.simulation.shared_laws import ItemLaw

_DIGITS = 12
_WHOLE = 2.0**52


def require_provable(instance: Instance, stop: Stop) -> None:
    """Refuse a stop that is none, or an instance of which nothing can be proven."""
    require_level(stop.confidence, key="stop.confidence")
    require_distance(stop.within, of_set=instance.problem.question.settles, key="stop.within")
    for attribute in instance.judged.attributes:
        if not attribute.is_mean:
            raise InputError(
                f"stop: nothing can be proven of {attribute}, only of means, shares and limits on "
                "quantiles. Leave stop out, or ask for one of these."
            )
    law = instance.law
    arrays = law.arrays if isinstance(law, MixedLaw | SampledLaw) else None
    if isinstance(arrays, MixedArrays):
        for c, attribute in enumerate(instance.judged.attributes):
            family = arrays.families[instance.judged.recipe.metric_of[c]]
            if attribute.bound is None and family not in (BERNOULLI, GAUSSIAN):
                raise InputError(
                    f"stop: values of {attribute.metric!r} have no bounds, so that nothing is "
                    f"proven exactly of {attribute}. Leave stop out, or give a table of values, "
                    "whose bounds are those of the table."
                )


def as_good(instance: Instance, stop: Stop) -> Mask:
    """Return the feasible arms that no other betters by more than what counts as good."""
    theory = instance.hardness
    good = np.zeros(len(instance.arms), np.bool_)
    if stop.within and theory.feasible and not instance.problem.question.settles:
        feasible = (instance.compared[:, 1:] <= instance.judged.thresholds).all(axis=1)
        best = instance.means[feasible, 0].min()
        good |= feasible & (instance.means[:, 0] <= best + stop.within)
    return good


def recording_of_paths(instance: Instance) -> Recording:
    """Return how a replication remembers every pull of every arm."""
    law, width = instance.law, len(instance.judged.attributes)
    if instance.shares:
        return law.recording
    if isinstance(law, GaussianLaw):
        return path_recording(draw_gaussian_attributes, width)
    if isinstance(law, TableLaw):
        return path_recording(draw_table_attributes, width)
    recipe, metrics = instance.judged.recipe, len(instance.judged.metrics)
    return path_recording(draw_mixed_attributes, width, recipe, metrics)


def proof_of(instance: Instance, stop: Stop, record: Any, most_pulls: int) -> Proof:
    """Return the proof of a replication that keeps its pulls in a record.

    Of items it goes by whole numbers, so that a tie is a tie; of all else nothing is ever equal.
    """
    problem, law = instance.judged, instance.law
    width = len(problem.attributes)
    factors = [Fraction(0), *(decimal(one.factor) for one in problem.constraints)]
    signs = [int(sign) for sign in problem.signs]
    limits = [
        -decimal(stop.within),
        *(
            sign * decimal(one.threshold)
            for sign, one in zip(signs[1:], problem.constraints, strict=True)
        ),
    ]
    own, base, bounds = np.ones(width), np.zeros(width), np.zeros(width)
    if isinstance(law, ItemLaw):
        rows = _as_written(law.rows, law.origin).reshape(len(instance.arms), law.blocks, width)
        table, order, size = np.empty_like(rows), record.order, law.blocks
        for c in range(width):
            found = _whole(rows[:, :, c], factors[c], limits[c])
            table[:, :, c], own[c], base[c], bounds[c] = found
    else:
        table, order, size = record.pulls, np.arange(max(most_pulls, 1)), 0
        for c in range(width):
            base[c], bounds[c] = float(factors[c]), float(limits[c])
        bounds[1:] -= law.origin[1:]
    return new_proof(
        _terms(instance, table, size),
        own,
        base,
        -1 if instance.baseline_place is None else instance.baseline_place,
        bounds,
        stop.confidence,
        table,
        order,
        of_set=problem.question.settles,
    )


def _as_written(rows: Floats, origin: Floats) -> Floats:
    """Return rows as they were before the origin was taken off: as decimals, where they are."""
    written = np.round(rows + origin, _DIGITS)
    return np.where((written - origin == rows).all(axis=0), written, rows + origin)


def _whole(rows: Floats, factor: Fraction, limit: Fraction) -> tuple[Floats, float, float, float]:
    """Return rows, their multiples and a limit as whole numbers, if these are not too large."""
    exact = decimals(rows.ravel())
    common = math.lcm(exact.denominator * factor.denominator, limit.denominator)
    times = common // exact.denominator
    largest = float(np.abs(exact.numerators.astype(np.float64)).max(initial=0.0))
    if largest * times * (1.0 + float(abs(factor))) * rows.shape[1] >= _WHOLE:
        return rows, 1.0, float(factor), float(limit)
    whole = exact.numerators.astype(np.float64).reshape(rows.shape)
    return whole, float(times), float(factor * times), float(limit * common)


def _terms(instance: Instance, table: Floats, size: int) -> Terms:
    """Return the bounds of what each attribute counts; shares have theirs whatever the law."""
    law, problem = instance.law, instance.judged
    width = len(problem.attributes)
    exact, lows, highs = np.ones(width, np.bool_), np.zeros(width), np.zeros(width)
    for c, attribute in enumerate(problem.attributes):
        ends = sorted((0.0, float(problem.signs[c])))
        if attribute.bound is not None and isinstance(law, TableLaw):
            ends = [one - float(law.origin[c]) * (size == 0) for one in ends]
        elif isinstance(law, ItemLaw):
            ends = [float(table[:, :, c].min()), float(table[:, :, c].max())]
        elif isinstance(law, TableLaw):
            ends = [float(law.rows[:, c].min()), float(law.rows[:, c].max())]
        elif attribute.bound is None:
            exact[c] = not _is_normal(instance, c)
        lows[c], highs[c] = ends
    return terms_of(exact, lows, highs, size)


def _is_normal(instance: Instance, c: int) -> bool:
    if not isinstance(instance.law, MixedLaw | SampledLaw):
        return True
    family = instance.law.arrays.families[instance.judged.recipe.metric_of[c]]
    return bool(family == GAUSSIAN)
