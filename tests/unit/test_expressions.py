"""The grammar of objectives and constraints: what is read, what is refused, and where."""

import string
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ringfence.core.errors import ExpressionError, InputError
from ringfence.core.expressions import (
    PLANNED_STATISTICS,
    Attribute,
    Constraint,
    Objective,
    parse_constraint,
    parse_objective,
)

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
    "minimize loss": 9,
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
    "minimize 2 * mean(loss)": 11,
}

BAD_CONSTRAINTS = {
    "": 0,
    "risk <= 1": 0,
    "1 >= mean(risk)": 0,
    "maen(risk) <= 1": 0,
    "  meen(risk) <= 1": 2,
    "mean(risk)": 10,
    "mean(risk) < 1": 11,
    "mean(risk) > 1": 11,
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
    "mean(risk) <= 1ms": 14,
    "mean(risk) <= 0x10": 14,
    "mean(risk) <= 1 2": 16,
    "mean(risk) <= 1 and mean(loss) <= 2": 16,
    "mean(risk) <= 1%": 15,
    "mean(risk) <= '1'": 14,
    "mean('risk) <= 1": 5,
    'mean("risk) <= 1': 5,
    "mean(risk) <= mean(loss)": 14,
}

PLANNED = {
    "variance": "variance(risk) <= 1",
    "std": "std(risk) <= 1",
    "quantile": "quantile(risk, 0.95) <= 1",
    "p95": "p95(risk) <= 1",
    "p5": "p5(risk) <= 1",
    "cvar": "cvar(risk, 0.9) <= 1",
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


@pytest.mark.parametrize("name", PLANNED)
def test_planned_attributes_are_refused_as_not_built(name: str) -> None:
    with pytest.raises(ExpressionError, match="is not built yet") as caught:
        parse_constraint(PLANNED[name])
    points_at(caught.value, PLANNED[name], 0)
    assert repr(name) in caught.value.what
    assert "mean(metric)" in caught.value.what
    text = f"minimize {PLANNED[name].partition(' <=')[0]}"
    with pytest.raises(ExpressionError, match="is not built yet") as caught:
        parse_objective(text)
    points_at(caught.value, text, 9)


def test_every_planned_attribute_is_listed_here() -> None:
    assert set(PLANNED_STATISTICS) <= set(PLANNED)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("mean(risk) < 1", ["'<'", "must be <=", "on the threshold is feasible"]),
        ("mean(risk) > 1", ["'>'", "must be >=", "on the threshold is feasible"]),
        ("mean(risk) == 1", ["'<=' or '>='", "'=='"]),
        ("mean(risk)", ["'<=' or '>='", "the end"]),
        ("mean(risk) <=", ["a number after '<='", "the end"]),
        ("mean(risk) >= x", ["a number after '>='", "'x'"]),
        ("mean(risk) <= 1e999", ["finite", "1e999"]),
        ("mean(risk) <= 1 more", ["nothing may follow", "'more'"]),
        ("mean('risk) <= 1", ["quote", "never closed"]),
        ("mean('') <= 1", ["empty"]),
        ("meen(risk) <= 1", ["'meen'", "mean(metric)", "Did you mean 'mean'?"]),
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


@pytest.mark.parametrize(
    ("bound", "expected"),
    [(">", [0, 0, 1]), (">=", [0, 1, 1]), ("<", [1, 0, 0]), ("<=", [1, 1, 0])],
)
def test_what_a_pull_contributes_to_a_share(bound: str, expected: list[int]) -> None:
    share = Attribute("share", "x", bound, 2.0)
    assert share.contributions(np.array([1.0, 2.0, 3.0])).tolist() == expected
    assert Attribute("mean", "x").contributions(np.array([1.0, 2.0])).tolist() == [1.0, 2.0]
