"""A table of logged rows with a question put to it: its own truth, and how sure it is of that.

The truth of the table is what all of its rows say. Whether it is that of the world is another
matter: rows are few, and the confidence says so by the draws of a study's verdict. May touch core,
simulation and the file that was named.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ringfence.core.answers import Answers, drawn_answers
from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.attributes import Functions
from ringfence.core.baseline import difference_covariances
from ringfence.core.beliefs import Beliefs, quantile_interval
from ringfence.core.errors import InputError
from ringfence.core.hardness import Kind
from ringfence.core.measurement import measure_sample
from ringfence.core.noise import fill_covariances, fill_pooled
from ringfence.core.problem import Problem
from ringfence.core.sparse import shrunk_variances, with_sparse_tails
from ringfence.core.stated import LARGEST
from ringfence.core.streams import verdict_stream
from ringfence.core.units import require_known_metrics
from ringfence.core.variances import no_log_variances
from ringfence.simulation.instance import Instance
from ringfence.simulation.items import in_order_of_items, item_columns
from ringfence.simulation.tables import (
    Columns,
    is_empty,
    loose_numbers,
    table_columns,
    table_instance,
    wanted_columns,
)

_REACH = 1.959963984540054  # of a 95% interval, in standard errors
_FRAME = "table"


class Reading(NamedTuple):
    """An attribute in the user's units, with the 95% interval that the table's own noise leaves."""

    value: float
    low: float
    high: float


class Unusable(NamedTuple):
    """Cells of a column that hold nothing that can be used: how many, and the first of them."""

    column: str
    cells: int
    first_row: int
    first_value: str


@dataclass(frozen=True)
class ArmTruth:
    """What the table says of one arm.

    `readings` are by expression, objective first; `chance` is the share of draws in which the arm
    is the right answer.
    """

    name: str
    rows: int
    readings: Mapping[str, Reading]
    kind: Kind
    margin: float
    chance: float


@dataclass(frozen=True, eq=False)
class Log:
    """A table and its truth; `samples[arm]` holds an arm's metrics, row by row.

    `scatters` and `errors` [arm, attribute, attribute] are the influences' scatter and the
    estimates' covariance, of the oriented attributes as the rules see them. `dropped` rows had
    unusable cells. Where all arms were tried on the same `items`, column `item` names them: the
    table is then the truth itself.
    """

    instance: Instance
    samples: tuple[Mapping[str, Floats], ...]
    scatters: Floats
    errors: Floats
    arms: tuple[ArmTruth, ...]
    answers: Answers
    unusable: tuple[Unusable, ...]
    dropped: int
    item: str | None = None
    items: int = 0

    @cached_property
    def compared_errors(self) -> Floats:
        """The covariance of the estimates as limits see them: with the baseline's, if relative."""
        place = self.instance.baseline_place
        if place is None:
            return self.errors
        once = np.ones(len(self.arms), np.int64)  # these are of estimates, not of pulls
        return difference_covariances(self.errors, once, place, self.instance.judged.factors)

    @property
    def limits(self) -> Floats:
        """The oriented limits as numbers: of relative ones, what they are by the table."""
        judged, place = self.instance.judged, self.instance.baseline_place
        if place is None:
            return judged.thresholds
        return np.asarray(judged.thresholds + judged.factors * self.instance.means[place, 1:])

    @property
    def rows(self) -> int:
        """How many rows are used."""
        return sum(arm.rows for arm in self.arms)

    @property
    def confidence(self) -> float:
        """The share of draws of the truth whose answer is that of the table."""
        theory = self.instance.hardness
        return self.answers.share(theory.optimal_arms, feasible=theory.feasible)

    @property
    def answer(self) -> ArmTruth:
        """The arm that is right by the table."""
        return self.arms[self.instance.hardness.optimal]

    @property
    def feasible(self) -> bool:
        """Whether any arm is feasible by the table."""
        return self.instance.hardness.feasible


def read_log(
    table: Any,
    *,
    arm: str,
    objective: str,
    constraints: str | Sequence[str] = (),
    item: str | None = None,
    baseline: str | None = None,
    price: str | None = None,
    functions: Functions | None = None,
    units: Mapping[str, str] | None = None,
    seed: int = 0,
) -> Log:
    """Return a table with its truth: a path, a data frame, or a mapping of columns.

    `item` names the column of what all arms were tried on, if they were; `baseline` is the arm that
    limits are relative to, if any is; `price` the column of what each pull cost, if it counts.
    """
    problem = Problem.parse(
        objective, constraints, functions=functions, units=units
    ).with_possible_limits()
    require_known_metrics(units or {}, problem.metrics)
    name = Path(table).name if isinstance(table, str | Path) else _FRAME
    if item is not None:
        found = table_columns(table, item_columns(arm, item, problem, price))
        numbers = wanted_columns(arm, problem, price)[1:]
        columns, items = in_order_of_items(found, arm, item, numbers)
        instance = table_instance(
            name, problem, columns, arm, baseline=baseline, on_items=True, price=price
        )
        return _log_of_items(instance, columns, arm, item, items)
    columns, unusable, dropped = _usable(
        table_columns(table, wanted_columns(arm, problem, price)),
        arm,
        wanted_columns(arm, problem, price)[1:],
    )
    instance = table_instance(name, problem, columns, arm, baseline=baseline, price=price)
    samples = _samples(instance, columns, arm)
    counts = np.array([len(next(iter(sample.values()))) for sample in samples])
    scatters, thirds = _scatters(instance, samples)
    errors = _errors(scatters, counts, instance.means, instance.judged.means)
    attributes = instance.judged.attributes
    varied = [shrunk_variances([sample[one.metric] for sample in samples]) for one in attributes]
    beliefs = Beliefs.of(
        instance.judged,
        instance.means,
        scatters,
        thirds,
        counts,
        with_sparse_tails(attributes, errors * counts[:, None, None], counts, varied),
        binary=np.array([_is_binary(samples, one.metric) for one in attributes]),
        are_all=True,
    )
    theory = instance.hardness
    answers = drawn_answers(
        verdict_stream(seed),
        beliefs,
        instance.scales,
        instance.judged.thresholds,
        arms=range(len(instance.arms)),
        baseline=instance.baseline_place,
        factors=instance.judged.factors,
    )
    arms = tuple(
        ArmTruth(
            name=label,
            rows=int(counts[i]),
            readings=_readings(instance, samples[i], i, beliefs),
            kind=theory.arms[i].kind,
            margin=theory.arms[i].margin,
            chance=float((answers.arms == i).mean()),
        )
        for i, label in enumerate(instance.arms)
    )
    return Log(instance, samples, scatters, errors, arms, answers, unusable, dropped)


def _log_of_items(instance: Instance, columns: Columns, arm: str, item: str, items: int) -> Log:
    """Return a table that is the truth itself: its means are those of its items, and certain."""
    theory, samples = instance.hardness, _samples(instance, columns, arm)
    counts = np.full(len(samples), items)
    scatters, _ = _scatters(instance, samples)
    optimal = np.array(theory.optimal_arms)
    answers = Answers(
        arms=optimal,
        feasible=np.full(len(optimal), theory.feasible),
        passing=np.array([float(one.margin <= 0.0) for one in theory.arms]),
        some=float(theory.feasible),
    )
    arms = tuple(
        ArmTruth(
            name=label,
            rows=items,
            readings={
                name: Reading(value, value, value)
                for name, value in _values(instance, samples[i], i).items()
            },
            kind=theory.arms[i].kind,
            margin=theory.arms[i].margin,
            chance=float((optimal == i).mean()),
        )
        for i, label in enumerate(instance.arms)
    )
    errors = _errors(scatters, counts, instance.means, instance.judged.means)
    return Log(instance, samples, scatters, errors, arms, answers, (), 0, item, items)


def _usable(
    columns: Columns, arm: str, metrics: Sequence[str]
) -> tuple[Columns, tuple[Unusable, ...], int]:
    """Return the columns without unusable rows, what was unusable, and how many rows that were."""
    bad = {arm: np.array([is_empty(value) for value in columns[arm]], np.bool_)}
    numbers = {metric: loose_numbers(columns[metric]) for metric in metrics}
    for metric, values in numbers.items():
        bad[metric] = ~(np.abs(values) <= LARGEST) | bad.get(metric, False)
    unusable = []
    for name, cells in bad.items():
        if cells.any():
            row = int(np.argmax(cells))
            unusable.append(Unusable(name, int(cells.sum()), row + 1, repr(columns[name][row])))
    kept = np.flatnonzero(~np.logical_or.reduce(list(bad.values())))
    dropped = len(columns[arm]) - len(kept)
    if len(kept) == 0:
        what = f"all {dropped} rows of the table have cells" if dropped else "the table has no rows"
        raise InputError(
            f"{what}{' that hold nothing usable' if dropped else ''}: there is nothing to replay. "
            "Fill it, or give another table."
        )
    cleaned: dict[str, Any] = {metric: numbers[metric][kept] for metric in metrics}
    cleaned[arm] = [columns[arm][row] for row in kept.tolist()]
    return cleaned, tuple(unusable), dropped


def _samples(instance: Instance, columns: Columns, arm: str) -> tuple[Mapping[str, Floats], ...]:
    labels = [str(value) for value in columns[arm]]
    place = {label: i for i, label in enumerate(instance.arms)}
    owner = np.array([place[label] for label in labels])
    metrics = instance.problem.metrics
    values = {metric: np.asarray(columns[metric], dtype=np.float64) for metric in metrics}
    return tuple(
        {metric: values[metric][owner == i] for metric in metrics}
        for i in range(len(instance.arms))
    )


def _is_binary(samples: Sequence[Mapping[str, Floats]], metric: str) -> bool:
    """Tell whether all values of a metric are zeros and ones."""
    return all(bool(np.isin(sample[metric], (0.0, 1.0)).all()) for sample in samples)


def _scatters(instance: Instance, samples: Sequence[Mapping[str, Floats]]) -> tuple[Floats, Floats]:
    """Return the scatter of every arm's influences, and the sums of their cubes.

    Zero where an attribute is not defined yet.
    """
    judged = instance.judged
    signs = judged.signs
    scatters = np.zeros(instance.law.true_covariances.shape)
    thirds = np.zeros(scatters.shape[:2])
    for i, sample in enumerate(samples):
        count = len(next(iter(sample.values())))
        if count < max(2, judged.least_pulls):
            continue
        found = measure_sample(
            judged.attributes, sample, arm=instance.arms[i], signs=signs.tolist()
        )
        scatters[i] = np.outer(signs, signs) * found.covariance * (count - 1)
        thirds[i] = signs * found.thirds
    return scatters, thirds


def _errors(scatters: Floats, counts: Integers, estimates: Floats, means: Mask) -> Floats:
    """Return the covariance of every arm's estimates, its noise shrunk as a study's is."""
    pooled, covariances = np.zeros(scatters.shape[1:]), np.zeros(scatters.shape)
    fill_pooled(pooled, scatters, counts)
    fill_covariances(
        covariances, scatters, counts, pooled, estimates, means,
        no_log_variances(*estimates.shape),
    )  # fmt: skip
    return np.asarray(covariances / counts[:, None, None])


def _readings(
    instance: Instance, sample: Mapping[str, Floats], arm: int, beliefs: Beliefs
) -> dict[str, Reading]:
    """Return an arm's attributes as written, each with its interval."""
    judged, found = instance.judged.attributes, {}
    values = _values(instance, sample, arm)
    for c, attribute in enumerate(instance.problem.attributes):
        if attribute == judged[c]:
            ends = beliefs.interval(arm, c)
        else:
            ends = quantile_interval(sample[attribute.metric], float(attribute.level or 0.0))
        found[str(attribute)] = Reading(values[str(attribute)], *ends)
    return found


def _values(instance: Instance, sample: Mapping[str, Floats], arm: int) -> dict[str, float]:
    """Return an arm's attributes as written; a limit on a quantile is shown as a quantile."""
    problem, judged = instance.problem, instance.judged.attributes
    found = {}
    for c, attribute in enumerate(problem.attributes):
        sign = float(problem.signs[c])
        if attribute == judged[c]:
            value = sign * float(instance.means[arm, c]) + 0.0
        else:
            values = sample[attribute.metric]
            value = float(values[0])
            if len(values) >= attribute.least_pulls:
                value = float(measure_sample(attribute, sample, signs=[sign]).estimates[0])
        found[str(attribute)] = value
    return found
