"""Limits as people write them: short forms, units, percent; how they were written is kept."""

import math
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import ringfence as rf
from ringfence.core.attributes import RATIO, Attribute, Constraint, Own
from ringfence.core.errors import ExpressionError, InputError
from ringfence.core.expressions import parse_attribute, parse_constraint, parse_objective
from ringfence.core.problem import Problem
from ringfence.core.strict import strict_json
from ringfence.core.units import KNOWN, Unit, unit_between, units_of
from ringfence.reports.arms_table import layouts, rows_of
from ringfence.reports.differences import compared_arms, difference_layouts
from ringfence.reports.verdict import remarks, sentence, verdict_document

UNITS = {"latency": "ms", "cost": "USD", "failures": "%", "memory": "MiB", "a b": "s"}
LATENCY = Attribute("mean", "latency")
MEDIAN = Attribute("quantile", "latency", None, 0.5)
OVER = Attribute(RATIO, "tokens", others=("correct",))
BEYOND = Attribute("share", "latency", ">", 2000.0)

# What is written, what it is, and how it is shown.
READ: dict[str, tuple[Constraint, str]] = {
    "latency <= 200": (Constraint(LATENCY, "<=", 200.0), "latency <= 200"),
    "latency < 200": (Constraint(LATENCY, "<=", 200.0), "latency <= 200"),
    "latency > 200": (Constraint(LATENCY, ">=", 200.0), "latency >= 200"),
    "mean(latency) ≤ 200": (Constraint(LATENCY, "<=", 200.0), "mean(latency) <= 200"),
    "latency ≥ 200": (Constraint(LATENCY, ">=", 200.0), "latency >= 200"),
    "latency<2s": (Constraint(LATENCY, "<=", 2000.0), "latency <= 2 s"),
    "latency <= 200ms": (Constraint(LATENCY, "<=", 200.0), "latency <= 200 ms"),
    "latency <= 1.1 s": (Constraint(LATENCY, "<=", 1100.0), "latency <= 1.1 s"),
    "latency <= 5e2 us": (Constraint(LATENCY, "<=", 0.5), "latency <= 500 us"),
    "latency <= 0.1min": (Constraint(LATENCY, "<=", 6000.0), "latency <= 0.1 min"),
    "memory <= 2 GiB": (Constraint(Attribute("mean", "memory"), "<=", 2048.0), "memory <= 2 GiB"),
    "cost <= 0.5 USD": (Constraint(Attribute("mean", "cost"), "<=", 0.5), "cost <= 0.5 USD"),
    "accuracy >= 97%": (Constraint(Attribute("mean", "accuracy"), ">=", 0.97), "accuracy >= 97%"),
    "x <= 3.2 %": (Constraint(Attribute("mean", "x"), "<=", 0.032), "x <= 3.2%"),
    "x <= .29%": (Constraint(Attribute("mean", "x"), "<=", 0.0029), "x <= 0.29%"),
    "failures <= 3%": (Constraint(Attribute("mean", "failures"), "<=", 3.0), "failures <= 3%"),
    "failures <= 3": (Constraint(Attribute("mean", "failures"), "<=", 3.0), "failures <= 3"),
    "'a b' <= 3ms": (Constraint(Attribute("mean", "a b"), "<=", 0.003), "'a b' <= 3 ms"),
    "median(latency) <= 2s": (Constraint(MEDIAN, "<=", 2000.0), "median(latency) <= 2 s"),
    "p50(latency) <= 2s": (Constraint(MEDIAN, "<=", 2000.0), "p50(latency) <= 2 s"),
    "quantile(latency, 50%) <= 2s": (Constraint(MEDIAN, "<=", 2000.0), "p50(latency) <= 2 s"),
    "share(latency > 2s) <= 5%": (Constraint(BEYOND, "<=", 0.05), "share(latency > 2 s) <= 5%"),
    "tokens / correct <= 9": (Constraint(OVER, "<=", 9.0), "tokens / correct <= 9"),
    "mean(tokens)/mean(correct)<9": (
        Constraint(OVER, "<=", 9.0),
        "mean(tokens) / mean(correct) <= 9",
    ),
    "tokens / mean(correct) <= 9": (Constraint(OVER, "<=", 9.0), "tokens / mean(correct) <= 9"),
    "latency / latency <= 90%": (
        Constraint(Attribute(RATIO, "latency", others=("latency",)), "<=", 0.9),
        "latency / latency <= 90%",
    ),
    "latency <= baseline * 1.1": (
        Constraint(LATENCY, "<=", 0.0, 1.1),
        "latency <= baseline * 1.1",
    ),
    "latency <= 110% * baseline": (
        Constraint(LATENCY, "<=", 0.0, 1.1),
        "latency <= 1.1 * baseline(latency)",
    ),
    "latency <= baseline(mean(latency))*1.1 + 5ms": (
        Constraint(LATENCY, "<=", 5.0, 1.1),
        "latency <= baseline * 1.1 + 5 ms",
    ),
    "mean(latency) <= baseline - 0.1 s": (
        Constraint(LATENCY, "<=", -100.0, 1.0),
        "mean(latency) <= baseline(mean(latency)) - 0.1 s",
    ),
    "tokens / correct <= 1.1 * baseline(tokens / correct)": (
        Constraint(OVER, "<=", 0.0, 1.1),
        "tokens / correct <= 1.1 * baseline(tokens / correct)",
    ),
}


@pytest.mark.parametrize("text", READ)
def test_limits_are_read_and_shown_as_they_were_written(text: str) -> None:
    wanted, shown = READ[text]
    found = parse_constraint(text, units=UNITS)
    assert found == wanted
    assert hash(found) == hash(wanted)
    assert str(found) == shown
    again = parse_constraint(shown, units=UNITS)
    assert again == found
    assert str(again) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("minimize loss", "minimize loss"),
        ("maximize  'time to first token'", "maximize 'time to first token'"),
        ("minimize tokens/correct", "minimize tokens / correct"),
        ("minimize median( x )", "minimize median(x)"),
        ("minimize p95", ""),
    ],
)
def test_objectives_are_shown_as_they_were_written(text: str, shown: str) -> None:
    if not shown:
        with pytest.raises(ExpressionError, match=r"Write: p95\(metric\), or mean\(p95\)"):
            parse_objective(text)
        return
    assert str(parse_objective(text)) == shown
    assert parse_objective(shown) == parse_objective(text)


@pytest.mark.parametrize(
    ("text", "place", "right"),
    [
        ("latency <= baseline + 10%", 22, r"Write: baseline \* 1.1,"),
        ("x <= baseline - 10%", 16, r"Write: baseline \* 0.9, .* or baseline - 0.1,"),
        ("x <= baseline +10%", 14, r"Write: baseline \* 1.1, .* or baseline \+ 0.1,"),
        ("latency <= 110% of baseline", 16, r"Write: latency <= 110% \* baseline"),
        ("latency <= 1.1 baseline", 15, r"Write: latency <= 1.1 \* baseline"),
        ("latency <= baseline * 1.1 s", 26, "nothing may follow here"),
        ("latency <= baseline / 2", 20, r"Write: baseline \* 1.1"),
        ("latency <= control * 1.1", 11, 'baseline = "control"'),
        ("latency <= 3 USD", 13, "is in ms. Write: 3 ms"),
        ("latency <= 3%", 12, "is in ms. Write: 3 ms"),
        ("tokens <= 2s", 11, r'Write: units = \{ tokens = "s" \}'),
        ("tokens <= 2 tokens", 12, r'write: units = \{ tokens = "tokens" \}'),
        ("'my x' <= 2s", 11, r'Write: units = \{ "my x" = "s" \}'),
        ("share(latency > 2s) <= 5 s", 25, "has none. Write: 5"),
        ("share(x > 2s) <= 5%", 11, 'x = "s"'),
        ("cost / correct <= 5 s", 20, "is in USD. Write: 5 USD"),
        ("p95(latency) <= 2s and cost <= 3", 19, "Write: constraints = "),
        ("1 <= latency <= 3", 0, r"Write: mean\(x\) <= 1"),
        ("latency >= 1 <= 3", 13, "Write two limits"),
        ("latency == 3", 8, "Write: latency <= 3, or latency >= 3"),
        ("latency =< 3", 8, "Write: latency <= 3, or"),
        ("time to first token <= 3", 5, "goes in quotes"),
        ("cost <= $3", 8, "Write: 0.5 USD"),
        ("latency <= 2,000", 12, "Write a number as 1000"),
        ("latency <= 2_000", 12, "Write a number as 1000"),
        ("avg(x) <= 3", 0, r"Write: mean\(x\)"),
        ("max(x) <= 3", 0, r"Write: p99\(x\)"),
        ("p95(x) / mean(y) <= 3", 0, r"Write: mean\(x\) / mean\(y\)"),
        ("x / std(y) <= 3", 4, r"Write: mean\(x\) / mean\(y\)"),
        ("tokens / 1000 <= 3", 9, r"Write: tokens / mean\(other\)"),
        ("mean <= 3", 5, r"Write: mean\(metric\)"),
        ("latency <= 1e308 d", 11, "finite"),
    ],
)
def test_each_error_has_the_right_form(text: str, place: int, right: str) -> None:
    with pytest.raises(ExpressionError, match=right) as caught:
        parse_constraint(text, units=UNITS)
    assert caught.value.position == place


def test_a_function_of_ones_own_may_be_called_median() -> None:
    found = parse_attribute("median(x, y)", {"median": len})
    assert found.own == Own(len)
    assert str(found) == "median(x, y)"


NUMBERS = st.floats(1e-300, 1e300) | st.decimals(0, 10**6, places=3).map(float)
ATTRIBUTES = st.sampled_from(
    ["latency", "mean(latency)", "median(latency)", "p95(latency)", "std(latency)", "'latency'"]
)


@given(
    attribute=ATTRIBUTES,
    relation=st.sampled_from(["<=", ">=", "<", ">"]),
    number=NUMBERS,
    unit=st.sampled_from(["", "ns", "us", "µs", "ms", "s", "min", "h", "d"]),
    sign=st.sampled_from(["", "-"]),
    form=st.sampled_from(["{}", "baseline + {}", "baseline * 1.5 - {}", "2 * baseline + {}"]),
)
@example(attribute="latency", relation="<", number=0.29, unit="s", sign="", form="{}")
def test_what_is_shown_reads_as_the_same(
    attribute: str, relation: str, number: float, unit: str, sign: str, form: str
) -> None:
    limit = form.format(f"{sign if form == '{}' else ''}{number!r} {unit}")
    try:
        found = parse_constraint(f"{attribute} {relation} {limit}", units=UNITS)
    except ExpressionError as error:
        assert "finite" in error.what  # noqa: PT017 - a number of days beyond all in ms
        return
    again = parse_constraint(str(found), units=UNITS)
    assert again == found
    assert str(again) == str(found)


@given(number=st.decimals(-(10**9), 10**9, places=6), written=st.sampled_from(KNOWN))
def test_a_number_with_a_unit_is_the_nearest_to_what_it_says(number: object, written: str) -> None:
    for kept in (*KNOWN, ""):
        unit = unit_between(written, kept)
        if unit is not None:
            exact = Fraction(str(number)) * unit.size
            found = unit.read(str(number))
            assert found == float(exact)
            assert unit.read(unit.write(found).split(" ")[0].rstrip("%")) == found or unit.write(
                found
            ) == repr(found)


def test_units_of_one_kind_turn_into_each_other_and_others_do_not() -> None:
    second, minute = unit_between("s", "ms"), unit_between("min", "s")
    assert second == Unit("s", Fraction(1000))
    assert minute == Unit("min", Fraction(60))
    assert unit_between("%", "") == Unit("%", Fraction(1, 100))
    assert unit_between("%", "%") == Unit("%")
    assert unit_between("points", "points") == Unit("points")
    assert unit_between("s", "MB") is unit_between("%", "ms") is unit_between("s", "") is None
    assert unit_between("points", "tokens") is None


def test_exponents_beyond_all_numbers_cost_nothing() -> None:
    assert parse_constraint("x <= 1e-999999999 %").threshold == 0.0
    with pytest.raises(ExpressionError, match="finite"):
        parse_constraint("x <= 1e999999999 %")


@pytest.mark.parametrize("units", ["ms", ["ms"], {"x": ""}, {"x": 3}, {"x": " ms"}, {3: "ms"}])
def test_units_that_are_none_are_refused(units: object) -> None:
    with pytest.raises(InputError, match="units"):
        units_of("units", units)


def test_a_problem_keeps_its_units() -> None:
    problem = Problem.parse(
        "minimize cost / correct", ["p95(latency) < 2s", "std(latency) < 1s"], units=UNITS
    )
    assert problem.thresholds.tolist() == [2000.0, 1000.0]
    assert [one.unit(dict(problem.units)) for one in problem.attributes] == ["USD", "ms", "ms"]
    assert str(problem.judged.constraints[0]) == "share(latency > 2 s) <= 0.05"
    assert problem == Problem.parse(
        "minimize mean(cost) / mean(correct)",
        ["quantile(latency, 0.95) <= 2000", "std(latency) <= 1000"],
        units=UNITS,
    )


def test_numbers_are_shown_in_the_unit_of_their_limit() -> None:
    limits = ["p95(latency) <= 2s", "x >= 3%", "latency <= 900 ms", "std(latency) <= 5"]
    problem = Problem.parse("minimize cost", limits, units=UNITS)
    assert problem.unit("p95(latency)").show(1100.4) == "1.1 s"
    assert problem.unit("x").show(0.03219) == "3.219%"
    assert problem.unit("std(latency)").show(12.0) == "12 ms"
    assert problem.unit("cost").show(0.25, 3, sign="+") == "+0.25 USD"
    assert Problem.parse("minimize y").unit("y").show(0.5) == "0.5"


def test_a_verdict_has_its_units_and_no_noise_of_rounding() -> None:
    study = rf.Study.create(
        "units",
        arms=["plain", "warm"],
        objective="maximize score",
        constraints=["latency < 2s", "bad <= 3%"],
        units={"latency": "ms"},
        budget=40,
        policy="uniform",
        storage="memory://",
        seed=1,
    )
    for pull in study.pulls():
        is_warm = pull.arm == "warm"
        seen = {"score": 0.5 + 0.01 * (pull.seed % 5), "bad": float(not is_warm)}
        study.tell(pull, {**seen, "latency": (1500.0 if is_warm else 2500.0) + pull.seed % 9})
    verdict = study.recommend()
    words = " ".join([sentence(verdict), *remarks(verdict)])
    assert "latency <= 2 s (2.504 s)" in words
    assert "bad <= 3% (100%)" in words
    head, rows = rows_of(layouts(verdict, verdict.problem.constraints, verdict.arms)[0])
    assert {"latency <= 2 s", "bad <= 3%"} <= set(head)
    assert any(cell.startswith("1.504 s (1.5") and cell.endswith(" s)") for cell in rows[1])
    _, rows = rows_of(difference_layouts(verdict, compared_arms(verdict))[0])
    assert any(cell.startswith("+1 s (") for cell in rows[0])
    (flip,) = [one for one in verdict_document(verdict)["flips"] if one["beyond"] == 0.0]
    assert (flip["threshold"], flip["side"]) == (0.0, "below")
    assert "e-324" not in strict_json(verdict_document(verdict))


def test_units_of_statistics() -> None:
    units = {"latency": "ms", "cost": "USD"}
    for text, unit in {
        "latency": "ms",
        "variance(latency)": "ms²",
        "share(latency > 3)": "",
        "latency / cost": "ms/USD",
        "x / cost": "1/USD",
        "cost / cost": "",
        "variance(x)": "",
        "cvar(cost, 0.95)": "USD",
    }.items():
        assert parse_attribute(text).unit(units) == unit, text
    assert math.isclose(parse_constraint("variance(latency) <= 4 ms²", units=units).threshold, 4.0)
