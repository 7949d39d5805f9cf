"""The grammar of objectives and constraints: what is read, what is refused, and where."""

import math
import string
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ringfence.core.attributes import (
    OWN,
    Attribute,
    Constraint,
    Functions,
    Objective,
    Own,
    complement,
)
from ringfence.core.errors import ExpressionError, InputError
from ringfence.core.expressions import parse_attribute, parse_constraint, parse_objective
from ringfence.core.grammar import STATISTICS
from ringfence.core.problem import Problem

RISK = Attribute("mean", "risk")

OBJECTIVES = {
    "minimize mean(loss)": Objective("minimize", Attribute("mean", "loss")),
    "maximize mean(loss)": Objective("maximize", Attribute("mean", "loss")),
    "  minimize\tmean ( loss )  ": Objective("minimize", Attribute("mean", "loss")),
    "minimize\nmean(loss)\n": Objective("minimize", Attribute("mean", "loss")),
    "minimize mean(_x9)": Objective("minimize", Attribute("mean", "_x9")),
    "minimize mean(größe)": Objective("minimize", Attribute("mean", "größe")),
    "minimize mean('cost in $')": Objective("minimize", Attribute("mean", "cost in $")),
    'minimize mean("cost in $")': Objective("minimize", Attribute("mean", "cost in $")),
    'minimize mean("it\'s")': Objective("minimize", Attribute("mean", "it's")),
    "minimize mean('say \"hi\"')": Objective("minimize", Attribute("mean", 'say "hi"')),
    "minimize mean('a <= 1')": Objective("minimize", Attribute("mean", "a <= 1")),
    "minimize mean(mean)": Objective("minimize", Attribute("mean", "mean")),
    "minimize mean(minimize)": Objective("minimize", Attribute("mean", "minimize")),
    "minimize mean(p95)": Objective("minimize", Attribute("mean", "p95")),
}

NUMBERS = {
    "1": 1.0,
    "1.": 1.0,
    "1.0": 1.0,
    ".5": 0.5,
    "-1": -1.0,
    "+2": 2.0,
    "-.5": -0.5,
    "0": 0.0,
    "1e3": 1000.0,
    "1E3": 1000.0,
    "2.5e-3": 0.0025,
    "-1.5E+2": -150.0,
    "123456789": 123456789.0,
    "0.1234567890123": 0.1234567890123,
    "1e-400": 0.0,
}

# The text, and the place of the character that the error must point at.
BAD_OBJECTIVES = {
    "": 0,
    "   ": 0,
    "mean(loss)": 0,
    "minimise mean(loss)": 0,
    "Minimize mean(loss)": 0,
    "3 mean(loss)": 0,
    "  minimum mean(loss)": 2,
    "minimize": 8,
    "minimize men(loss)": 9,
    "minimize mean": 13,
    "minimize mean loss": 14,
    "minimize mean[loss]": 13,
    "minimize mean()": 14,
    "minimize mean('')": 14,
    "minimize mean(3)": 14,
    "minimize mean(loss": 18,
    "minimize mean(loss]": 18,
    "minimize mean(loss, 1)": 18,
    "minimize mean(los s)": 18,
    "minimize mean('loss)": 14,
    'minimize mean("loss)': 14,
    "minimize mean(loss) twice": 20,
    "minimize mean(loss) <= 1": 20,
    "minimize mean(loss);": 19,
    "minimize -mean(loss)": 9,
    "minimize 2 * mean(loss)": 9,
}

BAD_CONSTRAINTS = {
    "": 0,
    "1 >= mean(risk)": 0,
    "maen(risk) <= 1": 0,
    "  meen(risk) <= 1": 2,
    "mean(risk)": 10,
    "mean(risk) == 1": 11,
    "mean(risk) = 1": 11,
    "mean(risk) =< 1": 11,
    "mean(risk) != 1": 11,
    "mean(risk) 1": 11,
    "mean(risk) ( 1": 11,
    "mean(risk) <=": 13,
    "mean(risk) <=   ": 13,
    "mean(risk) <= limit": 14,
    "mean(risk) <= nan": 14,
    "mean(risk) <= inf": 14,
    "mean(risk) <= -inf": 14,
    "mean(risk) <= 1e999": 14,
    "mean(risk) <= -1e999": 14,
    "mean(risk) <= 1,5": 15,
    "mean(risk) <= 1.5.2": 17,
    "mean(risk) <= 1ms": 15,
    "mean(risk) <= 0x10": 15,
    "mean(risk) <= 1 2": 16,
    "mean(risk) <= 1 and mean(loss) <= 2": 16,
    "mean(risk) <= 1%%": 16,
    "mean(risk) <= '1'": 14,
    "mean('risk) <= 1": 5,
    'mean("risk) <= 1': 5,
    "mean(risk) <= mean(loss)": 14,
}


@pytest.mark.parametrize("text", OBJECTIVES)
def test_objectives_are_read(text: str) -> None:
    assert parse_objective(text) == OBJECTIVES[text]


@pytest.mark.parametrize("number", NUMBERS)
def test_thresholds_are_read(number: str) -> None:
    assert parse_constraint(f"mean(risk) <= {number}") == Constraint(RISK, "<=", NUMBERS[number])
    assert parse_constraint(f"mean(risk) >= {number}") == Constraint(RISK, ">=", NUMBERS[number])


@pytest.mark.parametrize(
    "text",
    [
        "mean(risk)<=1.5",
        " mean ( risk )  <=  1.5 ",
        "mean(risk)\t<=\t1.5",
        "mean('risk') <= 1.5",
        'mean("risk") <= +1.5e0',
        "\nmean(risk)\n<= 1.5\n",
    ],
)
def test_spaces_and_quotes_do_not_matter(text: str) -> None:
    assert parse_constraint(text) == Constraint(RISK, "<=", 1.5)


@pytest.mark.parametrize("text", BAD_OBJECTIVES)
def test_a_bad_objective_is_pointed_at(text: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse_objective(text)
    points_at(caught.value, text, BAD_OBJECTIVES[text])


@pytest.mark.parametrize("text", BAD_CONSTRAINTS)
def test_a_bad_constraint_is_pointed_at(text: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse_constraint(text)
    points_at(caught.value, text, BAD_CONSTRAINTS[text])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("mean(risk) == 1", ["'<=' or '>='", "'=='"]),
        ("mean(risk)", ["'<=' or '>='", "the end"]),
        ("mean(risk) <=", ["a number after '<='", "the end"]),
        ("mean(risk) >= x", ["a number after '>='", "'x'"]),
        ("mean(risk) <= 1e999", ["finite", "1e999"]),
        ("mean(risk) <= 1 more", ["nothing may follow", "'more'"]),
        ("mean('risk) <= 1", ["quote", "never closed"]),
        ("mean('') <= 1", ["empty"]),
        ("meen(risk) <= 1", ["'meen'", "robust_mean", "such as p95", "Did you mean 'mean'?"]),
    ],
)
def test_the_reason_is_given(text: str, words: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        parse_constraint(text)
    for word in words:
        assert word in str(caught.value).splitlines()[0]


@pytest.mark.parametrize(("typed", "meant"), [("minimise", "minimize"), ("maximise", "maximize")])
def test_the_nearest_direction_is_offered(typed: str, meant: str) -> None:
    with pytest.raises(ExpressionError, match=f"got '{typed}'. Did you mean '{meant}'?"):
        parse_objective(f"{typed} mean(loss)")


NAMES = st.text(string.ascii_letters + string.digits + "_", min_size=1)
ANY_TEXT = st.text(min_size=1).filter(lambda text: "'" not in text or '"' not in text)
METRICS = NAMES | ANY_TEXT
FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(metric=METRICS, relation=st.sampled_from(["<=", ">="]), threshold=FINITE)
@example(metric="risk", relation="<=", threshold=0.1234567)
@example(metric="risk", relation="<=", threshold=123456789.0)
@example(metric="risk\n", relation="<=", threshold=1.0)
@example(metric="9lives", relation=">=", threshold=-0.0)
def test_a_constraint_reads_itself(metric: str, relation: str, threshold: float) -> None:
    quote = '"' if "'" in metric else "'"
    parsed = parse_constraint(f"mean({quote}{metric}{quote}) {relation} {threshold!r}")
    assert parsed.attribute.metric == metric
    assert parsed.threshold == threshold
    assert parse_constraint(str(parsed)) == parsed


@given(metric=METRICS, direction=st.sampled_from(["minimize", "maximize"]))
@example(metric="loss\n", direction="minimize")
def test_an_objective_reads_itself(metric: str, direction: str) -> None:
    quote = '"' if "'" in metric else "'"
    parsed = parse_objective(f"{direction} mean({quote}{metric}{quote})")
    assert parsed.attribute.metric == metric
    assert parse_objective(str(parsed)) == parsed


@pytest.mark.parametrize("text", [None, 3, b"mean(x)", ["mean(x)"]])
def test_what_is_no_text_is_refused(text: Any) -> None:
    with pytest.raises(InputError, match=r"expression = .* must be text, such as"):
        parse_attribute(text)


def test_people_see_short_numbers() -> None:
    assert str(parse_constraint("mean(risk) <= 1.0")) == "mean(risk) <= 1"
    assert str(parse_constraint("mean('a b') >= -0.50")) == "mean('a b') >= -0.5"


@given(text=st.text(), parse=st.sampled_from([parse_objective, parse_constraint]))
def test_any_text_is_read_or_refused_in_words(
    text: str, parse: Callable[[str], Objective | Constraint]
) -> None:
    refused = None
    try:
        parse(text)
    except ExpressionError as error:
        refused = error
    if refused is not None:
        assert 0 <= refused.position <= len(text)
        points_at(refused, text, refused.position)


def points_at(error: ExpressionError, text: str, position: int) -> None:
    """Check the position, and the caret below that very character."""
    assert error.position == position
    assert error.text == text
    assert str(error) == f"{error.what}\n    {text}\n    {' ' * position}^"


# --------------------------------------------------------------------------------------- shares

SHARES = {
    "share(x > 200)": Attribute("share", "x", ">", 200.0),
    "share(x >= -1.5)": Attribute("share", "x", ">=", -1.5),
    " share ( x<2e3 ) ": Attribute("share", "x", "<", 2000.0),
    "share('time in s' <= .5)": Attribute("share", "time in s", "<=", 0.5),
}


@pytest.mark.parametrize("text", SHARES)
def test_shares_are_read_and_written(text: str) -> None:
    found = parse_constraint(f"{text} <= 0.05")
    assert found == Constraint(SHARES[text], "<=", 0.05)
    assert parse_constraint(str(found)) == found
    assert parse_objective(f"maximize {text}").attribute == SHARES[text]


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("share(x) <= 1", 7, "'>', '>=', '<' or '<=' and a number"),
        ("share(x = 3) <= 1", 8, "expected '>', '>=', '<' or '<='"),
        ("share(x == 3) <= 1", 8, "expected '>', '>=', '<' or '<='"),
        ("share(x > ) <= 1", 10, "a number after '>'"),
        ("share(x > y) <= 1", 10, "a number after '>'"),
        ("share(x > 1e999) <= 1", 10, "must be finite"),
        ("share(x > 1 <= 1", 12, "expected ')'"),
        ("mean(x > 1) <= 1", 7, "expected ')'"),
        ("shear(x > 1) <= 1", 0, "Did you mean 'share'?"),
    ],
)
def test_a_bad_share_is_pointed_at(text: str, place: int, words: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse_constraint(text)
    points_at(caught.value, text, place)
    assert words in caught.value.what


# ------------------------------------------------------------------------- the other statistics

# What is written, what it is, and how it is written again.
READ: dict[str, tuple[Attribute, str]] = {
    "robust_mean(x)": (Attribute("robust_mean", "x"), "robust_mean(x)"),
    "variance('a b')": (Attribute("variance", "a b"), "variance('a b')"),
    " std ( x ) ": (Attribute("std", "x"), "std(x)"),
    "quantile(x, 0.95)": (Attribute("quantile", "x", None, 0.95), "p95(x)"),
    "quantile(x,.5)": (Attribute("quantile", "x", None, 0.5), "p50(x)"),
    "quantile(x, 5e-2)": (Attribute("quantile", "x", None, 0.05), "p5(x)"),
    "quantile(x, 0.07)": (Attribute("quantile", "x", None, 0.07), "p7(x)"),
    "p95(x)": (Attribute("quantile", "x", None, 0.95), "p95(x)"),
    "p5 ( x )": (Attribute("quantile", "x", None, 0.05), "p5(x)"),
    "p99.9(x)": (Attribute("quantile", "x", None, 0.999), "p99.9(x)"),
    "p0.1(x)": (Attribute("quantile", "x", None, 0.001), "p0.1(x)"),
    "p05(x)": (Attribute("quantile", "x", None, 0.05), "p5(x)"),
    "p29(x)": (Attribute("quantile", "x", None, 0.29), "p29(x)"),
    "p57.0(x)": (Attribute("quantile", "x", None, 0.57), "p57(x)"),
    "p95(p95)": (Attribute("quantile", "p95", None, 0.95), "p95(p95)"),
    "cvar(x, 0.9)": (Attribute("cvar", "x", None, 0.9), "cvar(x, 0.9)"),
    "cvar(x, 0.5)": (Attribute("cvar", "x", None, 0.5), "cvar(x, 0.5)"),
    "cvar(cvar, 0.99)": (Attribute("cvar", "cvar", None, 0.99), "cvar(cvar, 0.99)"),
    "lower_cvar(x, 0.05)": (Attribute("lower_cvar", "x", None, 0.05), "lower_cvar(x, 0.05)"),
    "lower_cvar(x, 0.50)": (Attribute("lower_cvar", "x", None, 0.5), "lower_cvar(x, 0.5)"),
    "lower_cvar('p 1', 1e-3)": (
        Attribute("lower_cvar", "p 1", None, 0.001),
        "lower_cvar('p 1', 0.001)",
    ),
}


@pytest.mark.parametrize("text", READ)
def test_attributes_are_read_and_written(text: str) -> None:
    found, written = READ[text]
    assert parse_attribute(text) == found
    assert str(found) == written
    assert parse_attribute(written) == found
    assert parse_objective(f"maximize {text}") == Objective("maximize", found)
    assert parse_constraint(f"{text}>=-1") == Constraint(found, ">=", -1.0)
    assert found.metrics == (found.metric,)


@pytest.mark.parametrize("percent", [str(k) for k in range(1, 100)] + ["99.9", "0.5", "12.25"])
def test_a_percentile_is_the_quantile_as_written(percent: str) -> None:
    level = float(Fraction(percent) / 100)
    assert parse_attribute(f"p{percent}(x)") == Attribute("quantile", "x", None, level)
    assert parse_attribute(f"quantile(x, {level!r})") == parse_attribute(f"p{percent}(x)")
    assert str(parse_attribute(f"quantile(x, {level!r})")) == f"p{percent}(x)"


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("", 0, "an attribute such as mean(metric)"),
        ("p95", 3, "'(' after 'p95'"),
        ("p95 x", 4, "'(' after 'p95'"),
        ("p0(x)", 0, "between p0 and p100"),
        ("p100(x)", 0, "between p0 and p100"),
        ("p250(x)", 0, "between p0 and p100"),
        ("p00.0(x)", 0, "between p0 and p100"),
        ("p95()", 4, "a metric's name"),
        ("p95(x, 0.5)", 5, "')'"),
        ("p95(x", 5, "')'"),
        ("p95(x) <= 1", 7, "nothing may follow"),
        ("p95.(x)", 3, "'.'"),
        ("p-5(x)", 1, "'-5'"),
        ("P95(x)", 0, "'P95'"),
        ("quantile(x)", 10, "between 0 and 1"),
        ("quantile(x 0.5)", 11, "','"),
        ("quantile(x, )", 12, "between 0 and 1"),
        ("quantile(x, y)", 12, "between 0 and 1"),
        ("quantile(x, 0)", 12, "between 0 and 1"),
        ("quantile(x, 1)", 12, "between 0 and 1"),
        ("quantile(x, 95)", 12, "between 0 and 1"),
        ("quantile(x, -0.5)", 12, "between 0 and 1"),
        ("quantile(x, 1e-400)", 12, "between 0 and 1"),
        ("quantile(x, nan)", 12, "between 0 and 1"),
        ("quantile(x, 0.5, 0.6)", 15, "')'"),
        ("quantile(, 0.5)", 9, "a metric's name"),
        ("quantile('', 0.5)", 9, "empty"),
        ("quantile(0.5, x)", 9, "a metric's name"),
        ("cvar(x)", 6, "from 0.5 to below 1"),
        ("cvar(x, 0.49)", 8, "from 0.5 to below 1"),
        ("cvar(x, 0.05)", 8, "mean of the highest 5%"),
        ("cvar(x, 1)", 8, "from 0.5 to below 1"),
        ("cvar(x, 95)", 8, "got 95"),
        ("lower_cvar(x)", 12, "up to 0.5"),
        ("lower_cvar(x, 0)", 14, "up to 0.5"),
        ("lower_cvar(x, 0.51)", 14, "up to 0.5"),
        ("lower_cvar(x, 0.95)", 14, "mean of the lowest 5%"),
        ("lower_cvar(x, -.1)", 14, "got -.1"),
        ("mean(x, 0.5)", 6, "')'"),
        ("std(x, y)", 5, "')'"),
        ("variance(x > 1)", 11, "')'"),
        ("varianze(x)", 0, "Did you mean 'variance'?"),
        ("quantil(x, 0.5)", 0, "Did you mean 'quantile'?"),
        ("lowercvar(x, 0.1)", 0, "Did you mean 'lower_cvar'?"),
        ("median(x, 0.5)", 8, "expected ')'"),
        ("f(x)", 0, "unknown attribute 'f'"),
    ],
)
def test_a_bad_attribute_is_pointed_at(text: str, place: int, words: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse_attribute(text)
    points_at(caught.value, text, place)
    assert words in caught.value.what
    with pytest.raises(ExpressionError) as caught:
        parse_objective(f"minimize {text}")
    assert caught.value.position == (place + 9 if text else 8)


def test_unknown_attributes_are_told_what_there_is() -> None:
    with pytest.raises(ExpressionError) as caught:
        parse_attribute("nothing(x)", {"tail_ratio": len})
    for name in (*STATISTICS, "p95", "tail_ratio"):
        assert name in caught.value.what


LEVEL = st.floats(0.0, 1.0, exclude_min=True, exclude_max=True)
SIMPLE = st.sampled_from(["mean", "robust_mean", "variance", "std"])
ANY_ATTRIBUTE = st.one_of(
    st.builds(Attribute, SIMPLE, METRICS),
    st.builds(
        Attribute, st.just("share"), METRICS, st.sampled_from([">", ">=", "<", "<="]), FINITE
    ),
    st.builds(Attribute, st.just("quantile"), METRICS, st.none(), LEVEL),
    st.builds(
        Attribute, st.just("cvar"), METRICS, st.none(), st.floats(0.5, 1.0, exclude_max=True)
    ),
    st.builds(
        Attribute, st.just("lower_cvar"), METRICS, st.none(), st.floats(0.0, 0.5, exclude_min=True)
    ),
)


@given(attribute=ANY_ATTRIBUTE)
@example(attribute=Attribute("quantile", "x", None, 1e-7))
@example(attribute=Attribute("quantile", "x", None, 0.1234567890123456))
@example(attribute=Attribute("quantile", "x", None, 0.8444218515250481))
@example(attribute=Attribute("quantile", "x", None, math.nextafter(1.0, 0.0)))
@example(attribute=Attribute("quantile", "x", None, 5e-324))
@example(attribute=Attribute("cvar", "x", None, math.nextafter(1.0, 0.0)))
@example(attribute=Attribute("lower_cvar", "p95(x)", None, 1e-300))
def test_an_attribute_reads_itself(attribute: Attribute) -> None:
    assert parse_attribute(str(attribute)) == attribute
    objective = Objective("minimize", attribute)
    assert parse_objective(str(objective)) == objective
    constraint = Constraint(attribute, ">=", 0.5)
    assert parse_constraint(str(constraint)) == constraint


@given(k=st.integers(1, 9999))
def test_a_quantile_of_few_digits_is_written_with_few(k: int) -> None:
    text = str(parse_attribute(f"quantile(x, {k / 10000!r})"))
    assert text == f"p{k // 100}.{k % 100:02d}".rstrip("0").rstrip(".") + "(x)"


@given(st.text(string.ascii_lowercase + "0123456789.,()<>=' ", max_size=30))
@example("p95(x)")
@example("quantile(x, 0.5)")
def test_any_attribute_is_read_or_refused_in_words(text: str) -> None:
    try:
        found = parse_attribute(text)
    except ExpressionError as error:
        points_at(error, text, error.position)
    else:
        assert parse_attribute(str(found)) == found


# ----------------------------------------------------------------- what is known of an attribute


def test_kinds_tell_attributes_apart() -> None:
    texts = ["mean(x)", "robust_mean(x)", "variance(x)", "std(x)", "p95(x)"]
    texts += ["cvar(x, 0.9)", "lower_cvar(x, 0.1)"]
    texts += [f"share(x {bound} 1)" for bound in (">", ">=", "<", "<=")]
    kinds = [parse_attribute(text).kind for text in texts]
    assert len(set(kinds)) == len(kinds)
    assert OWN not in kinds
    assert parse_attribute("p5(y)").kind == parse_attribute("quantile(x, 0.5)").kind
    assert parse_attribute("mine(x)", {"mine": len}).kind == OWN


@pytest.mark.parametrize(
    ("text", "is_mean", "least", "first"),
    [
        ("mean(x)", True, 1, 1),
        ("share(x > 0.99)", True, 1, 1),
        ("robust_mean(x)", False, 2, 2),
        ("variance(x)", False, 2, 2),
        ("std(x)", False, 2, 2),
        ("p50(x)", False, 2, 10),
        ("p90(x)", False, 2, 50),
        ("p95(x)", False, 2, 100),
        ("p5(x)", False, 2, 100),
        ("p70(x)", False, 2, 17),
        ("cvar(x, 0.95)", False, 2, 100),
        ("cvar(x, 0.5)", False, 2, 10),
        ("lower_cvar(x, 0.05)", False, 2, 100),
        ("lower_cvar(x, 0.3)", False, 2, 17),
    ],
)
def test_how_many_pulls_an_attribute_needs(
    text: str, is_mean: bool, least: int, first: int
) -> None:
    attribute = parse_attribute(text)
    assert (attribute.is_mean, attribute.least_pulls, attribute.first_pulls) == (
        is_mean,
        least,
        first,
    )


@pytest.mark.parametrize("digits", [2, 3, 4, 5, 6])
def test_first_pulls_are_exact_for_levels_as_written(digits: int) -> None:
    """Five over the smaller side of the level, rounded up: 50,000 for p99.99, not one more."""
    for k in {*range(1, 100), *(10**digits - k for k in range(1, 100))} - {0, 10**digits}:
        level = Fraction(k, 10**digits)
        attribute = Attribute("quantile", "x", None, float(level))
        assert attribute.first_pulls == math.ceil(5 / min(level, 1 - level)), float(level)


def test_a_complement_is_exact_as_written() -> None:
    for k in range(1, 1000):
        assert complement(k / 1000) == (1000 - k) / 1000
        assert complement(complement(k / 1000)) == k / 1000


def test_complements_by_hand() -> None:
    assert complement(0.9) == 0.1 != 1.0 - 0.9
    assert complement(0.95) == 0.05
    assert complement(0.999) == 0.001
    assert complement(1e-7) == 0.9999999


# ------------------------------------------------------------------------ functions of one's own


def first(x: Any, *_: Any) -> float:
    return float(x[0])


def test_functions_of_ones_own_are_read_and_written() -> None:
    functions: Functions = {"mine": first, "other_2": Own(first, variance=first, least_pulls=7)}
    mine = parse_attribute(" mine ( x , 'a b' , x ) ", functions)
    assert mine == Attribute("mine", "x", others=("a b", "x"))
    assert mine.metrics == ("x", "a b", "x")
    assert str(mine) == "mine(x, 'a b', x)"
    assert parse_attribute(str(mine), functions) == mine
    assert mine.own == Own(first)
    assert (mine.is_mean, mine.least_pulls, mine.first_pulls) == (False, 3, 3)
    other = parse_attribute("other_2(x)", functions)
    assert other.own is functions["other_2"]
    assert (other.is_mean, other.least_pulls, other.first_pulls) == (False, 8, 8)
    assert parse_objective("minimize mine(x)", functions).attribute.own == Own(first)
    limit = parse_constraint("other_2(x, y) <= 3", functions)
    assert str(limit) == "other_2(x, y) <= 3"
    assert parse_attribute("p95(x)", functions) == Attribute("quantile", "x", None, 0.95)


def test_a_problem_takes_functions_of_ones_own() -> None:
    limits = ["mine(x, y) <= 2", "p95(z) <= 1"]
    problem = Problem.parse("maximize mine(w)", limits, functions={"mine": first})
    assert problem.metrics == ("w", "x", "y", "z")
    assert problem.judged.constraints[0] == problem.constraints[0]
    with pytest.raises(ExpressionError, match=r"constraints\[0\] cannot be read"):
        Problem.parse("maximize mean(w)", limits)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("mine()", 5),
        ("mine(x,)", 7),
        ("mine(x y)", 7),
        ("mine(x, 3)", 8),
        ("mine(x > 3)", 7),
        ("mine(x, '')", 8),
        ("mine(x, y", 9),
        ("mine", 4),
        ("mime(x)", 0),
    ],
)
def test_a_bad_call_of_ones_own_is_pointed_at(text: str, place: int) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse_attribute(text, {"mine": first})
    points_at(caught.value, text, place)


@pytest.mark.parametrize("name", [*STATISTICS, "p95", "p5", "p99.9", "p100"])
def test_names_that_are_taken_are_refused(name: str) -> None:
    for parse, text in PARSERS.items():
        with pytest.raises(InputError, match="taken") as caught:
            parse(text, {"fine": first, name: first})
        assert repr(name) in str(caught.value)


@pytest.mark.parametrize("name", ["", " ", "a b", "2x", "a-b", "f()", "a.b", "'f'", "f\n", "<="])
def test_names_that_no_expression_can_hold_are_refused(name: str) -> None:
    for parse, text in PARSERS.items():
        with pytest.raises(InputError, match="cannot be a name") as caught:
            parse(text, {name: first})
        assert repr(name) in str(caught.value)


PARSERS: dict[Callable[..., Any], str] = {
    parse_attribute: "mean(x)",
    parse_objective: "minimize mean(x)",
    parse_constraint: "mean(x) <= 1",
}


@given(name=NAMES.filter(lambda name: not name[0].isdigit()), metrics=st.lists(METRICS, min_size=1))
@example(name="p", metrics=["x"])
@example(name="p95x", metrics=["x"])
@example(name="P95", metrics=["x", "x"])
@example(name="minimize", metrics=["x"])
def test_any_other_name_will_do(name: str, metrics: list[str]) -> None:
    if name in STATISTICS or (name[0] == "p" and name[1:].isdigit()):
        return
    wanted = Attribute(name, metrics[0], others=tuple(metrics[1:]), own=Own(first))
    found = parse_attribute(str(wanted), {name: first})
    assert found == wanted
    assert found.own == Own(first)
    assert parse_objective(f"minimize {wanted}", {name: first}).attribute == wanted
