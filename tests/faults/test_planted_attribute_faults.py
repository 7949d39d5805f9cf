"""Faults planted in what measures, adds up, keeps and knows attributes other than the mean.

Each must be noticed by a named check, which passes on the sources as they are.
"""

import importlib
from collections.abc import Callable
from dataclasses import fields
from functools import cache
from typing import Any

import numpy as np
import pytest

from ringfence.simulation import cpu
from tests.choosing import first_of, some_of
from tests.faults.planting import planted, require_applicable
from tests.faults.test_planted_faults import Fault, Named, Rooms, fault
from tests.statistical import test_attribute_engines as engines
from tests.unit import test_ratios as ratios
from tests.unit import test_running as running
from tests.unit import test_truths as truths

RUNNING = "tests/unit/test_running.py"
TRUTHS = "tests/unit/test_truths.py"
ENGINES = "tests/statistical/test_attribute_engines.py"


# --------------------------------------------------------------------------------- the checks


def tied_pulls(offset: float = 0.0) -> Any:
    return np.round(running.random_pulls(4, 60)) + offset


@cache
def recording(name: str) -> Named:
    return Named(
        f"{RUNNING}::test_a_replication_forgets_the_one_before",
        lambda rooms: running.check_long_plan(rooms["simulation.records"], name),
    )


def of_running(test: str, check: Callable[..., None], *given: object) -> Named:
    return Named(f"{RUNNING}::{test}", lambda rooms: check(rooms["core.running"], *given))


def of_truths(test: str, check: Callable[..., None], *given: object) -> Named:
    return Named(
        f"{TRUTHS}::{test}",
        lambda rooms: check(rooms["simulation.truths"].true_attributes, *given),
    )


@cache
def forms(family: str, mean: float, deviation: float) -> Named:
    test = "test_values_and_variances_are_the_textbooks"
    return of_truths(test, truths.check_forms, family, mean, deviation)


@cache
def closed_form(name: str) -> Named:
    """An error rate of the compiled engine, with a law whose parts are all planted."""

    def check(rooms: Rooms) -> None:
        real: Any = engines.FORMS[name][0].instance.law
        content = {field.name: getattr(real, field.name) for field in fields(real)}
        law = rooms["simulation.laws"].SampledLaw(**content)
        engines.check_form(cpu.run_chunk, name, size=40_000, law=law)

    return Named(f"{ENGINES}::test_errors_are_as_frequent_as_closed_forms_say", check)


SAMPLE, ADDED = recording("sample"), recording("running")
KEPT = recording("sample, no quantiles")  # the density at a quantile takes pulls that are in order
STREAMING = of_running(
    "test_streaming_equals_measuring_the_whole", running.check_streaming, tied_pulls()
)
FAR = of_running("test_many_pulls_stream_and_merge", running.check_streaming, tied_pulls(1e6))
MERGING = of_running(
    "test_merging_in_any_split_and_order_equals_adding_one_by_one",
    running.check_merging, tied_pulls(), [7, 20, 20, 41], [2, 0, 3, 1],
)  # fmt: skip
BLOCKS = of_running(
    "test_adding_blocks_equals_adding_one_by_one",
    running.check_blocks, tied_pulls(), [7, 20, 20, 41],
)  # fmt: skip
NORMAL, COIN, WAIT = (
    forms("gaussian", -3.0, 0.25), forms("bernoulli", 0.3, 0.0), forms("exponential", 0.02, 0.0),
)  # fmt: skip
PRICE = of_truths(
    "test_correlated_metrics_covary_as_price_says",
    truths.check_correlated, (0.3, -0.5), (2.0, 0.5), -0.8,
)  # fmt: skip
PAIRS = of_truths(
    "test_covariances_on_one_metric_are_the_textbooks",
    truths.check_pairs, "exponential", 300.0, 0.0,
)  # fmt: skip
TURNED = of_truths("test_turning_an_attribute_turns_its_covariances", truths.check_turned)
TABLE = Named(
    f"{TRUTHS}::test_a_tables_truth_is_that_of_its_rows",
    lambda rooms: truths.check_table_values(rooms["simulation.tables"].table_instance),
)


def check_sorting(rooms: Rooms) -> None:
    stream = np.random.default_rng(5)
    for count in (2, 3, 13, 41, 200):
        values = stream.integers(0, 50, count).astype(np.float64).tolist()
        running.check_sort(rooms["simulation.records"].sort, values)


def check_sorted_merge(rooms: Rooms) -> None:
    stream = np.random.default_rng(6)
    for one, other in ((3, 4), (0, 2), (10, 1), (7, 7)):
        values = stream.integers(0, 9, one + other).astype(np.float64).tolist()
        running.check_merge(rooms["simulation.records"].merge, values[:one], values[one:])


RATIOS = "tests/unit/test_ratios.py"
INFLUENCES = Named(
    f"{RATIOS}::test_influences_are_the_derivatives_by_a_pulls_weight",
    lambda rooms: ratios.check_influences(rooms["core.statistics"], 1),
)
ADDED_RATIO = Named(
    f"{RATIOS}::test_adding_up_equals_measuring_the_whole",
    lambda rooms: ratios.check_adding_up(rooms["core.running"], ratios.random_pulls(2), 17),
)
TRUE_RATIO = Named(
    f"{RATIOS}::test_the_truth_of_normals_is_that_of_the_delta_method",
    lambda rooms: ratios.check_truth(rooms["simulation.truths"].true_attributes),
)
SORT = Named(f"{RUNNING}::test_sorting_any_length", check_sorting)
MERGE = Named(f"{RUNNING}::test_merging_equals_sorted", check_sorted_merge)


# --------------------------------------------------------------------------------- the faults

STATISTICS, FEATURES, RECORDS, KNOWN, TABLES = (
    "core.statistics", "core.running", "simulation.records", "simulation.truths",
    "simulation.tables",
)  # fmt: skip

FAULTS = [
    # What is measured on a sample.
    fault(
        "a variance over n", STATISTICS,
        "variance = squares / (count - 1)", "variance = squares / count",
        SAMPLE,
    ),
    fault(
        "a quantile is the lower one to maximize, too", STATISTICS,
        "if sign > 0.0 else count + 1 - lower_rank(count, 1.0 - level)",
        "if sign > 0.0 else lower_rank(count, level)",
        SAMPLE,
    ),
    fault(
        "a tail mean's influences are not over its mass", STATISTICS,
        "influences[k] = max(side * (values[k] - edge), 0.0) / mass",
        "influences[k] = max(side * (values[k] - edge), 0.0)",
        SAMPLE,
    ),
    fault(
        "the lower tail begins a pull too late", STATISTICS,
        "else ordered[count - rank]", "else ordered[count - rank + (rank > 1)]",
        SAMPLE,
    ),
    fault(
        "a share counts what lies on its level", STATISTICS,
        "return 1.0 if value > level else 0.0", "return 1.0 if value >= level else 0.0",
        STREAMING, SAMPLE,
    ),
    fault(
        "cut pulls are forgotten in the noise of a robust mean", STATISTICS,
        "influences[k] *= count / max(inside, 1)", "influences[k] *= 1.0",
        SAMPLE,
    ),
    fault(
        "a ratio does not move with what it is divided by", STATISTICS,
        "- ratio * (under[k] - divisor / count)) / mean", ") / mean",
        INFLUENCES,
    ),
    # What is added up.
    fault(
        "a running ratio moves the wrong way with what it is divided by", FEATURES,
        "else -over / under * (count / under)", "else over / under * (count / under)",
        ADDED_RATIO,
    ),
    fault(
        "a merged ratio is taken for a spread", FEATURES,
        "        if recipe.kinds[c] == RATIO:\n            place += 1\n        elif",
        "        if",
        ADDED_RATIO,
    ),
    fault(
        "an origin at zero", FEATURES,
        "running.origins[arm, q] = metrics[q]", "running.origins[arm, q] = 0.0",
        FAR,
    ),
    fault(
        "a running variance over n", FEATURES,
        "return scatter / (count - 1)\n    if", "return scatter / count\n    if",
        STREAMING, ADDED, closed_form("variance kept"),
    ),
    fault(
        "the slope of a square is turned", FEATURES,
        "return float(-2.0 * unit", "return float(2.0 * unit",
        STREAMING, ADDED,
    ),
    fault(
        "a deviation moves as a variance does", FEATURES,
        "unit = 0.5 / math.sqrt(", "unit = 1.0 / math.sqrt(",
        STREAMING, ADDED,
    ),
    fault(
        "two origins are merged as one", FEATURES,
        "shift[place] = away * away - 2.0 * away * other.origins[arm, q]",
        "shift[place] = 0.0",
        MERGING,
    ),
    fault(
        "a merged scatter is not turned about its new origin", FEATURES,
        "turn[place, place - 1] = 2.0 * away", "turn[place, place - 1] = 0.0",
        MERGING,
    ),
    fault(
        "a block has an origin of its own", FEATURES,
        "    if count == 0:\n        running.origins[arm] = metrics[0]",
        "    running.origins[arm] = metrics[0]",
        BLOCKS,
    ),
    fault(
        "scatters of turned attributes are not turned", FEATURES,
        "scatters[arm, c, d] = recipe.signs[c] * recipe.signs[d] * total",
        "scatters[arm, c, d] = total",
        STREAMING, ADDED,
    ),
    # What is kept.
    fault(
        "a replication begins with the last one's order", RECORDS,
        "record.sorted[:] = 0", "record.sorted[:] = record.sorted",
        KEPT,
    ),
    fault(
        "sums of the last replication are kept", RECORDS,
        "    forget_moments(record.running.moments)", "    record.metrics[:] = 0.0",
        ADDED,
    ),
    fault(
        "fresh pulls overwrite the first ones", RECORDS,
        "for number in range(count, count + pulls):", "for number in range(pulls):",
        KEPT,
    ),
    fault(
        "every pull of a block counts as its first", RECORDS,
        "record.recipe, arm, count + number, record.metrics",
        "record.recipe, arm, count, record.metrics",
        ADDED,
    ),
    fault(
        "the last pull is sorted again", RECORDS,
        "record.sorted[arm] = count", "record.sorted[arm] = count - 1",
        KEPT,
    ),
    fault(
        "scatters of turned attributes are not turned, from a sample", RECORDS,
        "scatters[arm, c, d] = recipe.signs[c] * recipe.signs[d] * total",
        "scatters[arm, c, d] = total",
        KEPT,
    ),
    fault(
        "the least comes last", RECORDS,
        "ordered[left] > fresh[right]", "ordered[left] < fresh[right]",
        MERGE, KEPT,
    ),
    fault(
        "the last round of a sort is left out", RECORDS,
        "while stride > 0:", "while stride > 1:",
        SORT,
    ),
    # What is known.
    fault(
        "a lower tail is added to its edge", KNOWN,
        "Shape(_SHORTFALL, edge, -1.0 / level)", "Shape(_SHORTFALL, edge, 1.0 / level)",
        NORMAL, WAIT,
    ),
    fault(
        "a known ratio forgets what it is divided by", KNOWN,
        "Shape(_LINEAR, mean, -ratio * per, other)", "Shape(_LINEAR, mean, 0.0, other)",
        TRUE_RATIO,
    ),
    fault(
        "a density for one over it", KNOWN,
        "Shape(_ABOVE, cut, 1.0 / law.pdf(cut))", "Shape(_ABOVE, cut, law.pdf(cut))",
        NORMAL, WAIT,
    ),
    fault(
        "a deviation varies as a variance does", KNOWN,
        "0.5 / root if root", "1.0 / root if root",
        NORMAL, COIN,
    ),
    fault(
        "a count on the level is not from it", KNOWN,
        "np.asarray(x >= shape.cut", "np.asarray(x > shape.cut",
        COIN,
    ),
    fault(
        "the slope of one metric on the other is turned about", KNOWN,
        "slope = together[p, q] / together[p, p]", "slope = together[p, q] / together[q, q]",
        PRICE,
    ),
    fault(
        "what is left of a square is forgotten", KNOWN,
        "rest = math.sqrt(max(together[q, q] - slope * together[p, q], 0.0))",
        "rest = math.sqrt(together[q, q])",
        PRICE,
    ),
    fault(
        "attributes of one metric do not covary", KNOWN,
        "if p == q:", "if one == two:",
        PAIRS,
    ),
    fault(
        "known covariances are not turned", KNOWN,
        "turned * covariance", "covariance",
        TURNED,
    ),
    fault(
        "a table's quantiles have one direction", TABLES,
        "measure_sample(problem.attributes, sample, arm=arm, signs=signs.tolist())",
        "measure_sample(problem.attributes, sample, arm=arm)",
        TABLE,
    ),
]  # fmt: skip

CASES = [
    pytest.param(one, killer, id=f"{one.name} | {killer.test.split('::')[1]}")
    for one in some_of(FAULTS, step=2)
    for killer in first_of(one.killed_by)
]
CONTROLS = list(dict.fromkeys(killer for one in FAULTS for killer in one.killed_by))


@pytest.mark.parametrize(("one", "killer"), CASES)
def test_fault_is_noticed(one: Fault, killer: Named) -> None:
    """The check fails, or what the fault made cannot even be computed."""
    rooms = planted(one.edit)
    with pytest.raises((AssertionError, ZeroDivisionError, IndexError)):
        killer.check(rooms)


@pytest.mark.parametrize("control", some_of(CONTROLS), ids=lambda control: control.test)
def test_control_the_sources_as_they_are_pass(control: Named) -> None:
    control.check(planted())


def test_every_fault_can_be_planted() -> None:
    """Those too that wait for `make faults`."""
    for one in FAULTS:
        require_applicable(one.edit)


def test_every_named_test_exists() -> None:
    for killer in CONTROLS:
        path, name = killer.test.split("::")
        module = importlib.import_module(path.removesuffix(".py").replace("/", "."))
        assert callable(getattr(module, name)), killer.test


def test_faults_have_names_of_their_own() -> None:
    names = [one.name for one in FAULTS]
    assert len(set(names)) == len(names)
    for room in (STATISTICS, FEATURES, RECORDS, KNOWN, TABLES):
        assert any(one.edit.room == room for one in FAULTS)
