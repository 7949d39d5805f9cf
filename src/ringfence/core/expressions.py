"""The language of objectives and constraints, read by a small grammar and never evaluated.

    objective  := ("minimize" | "maximize") attribute
    constraint := attribute ("<=" | ">=" | "<" | ">") (number | relative)
    relative   := [number "*"] baseline [("+" | "-") number]
                | baseline "*" number [("+" | "-") number]
    baseline   := "baseline" ["(" attribute ")"]
    attribute  := metric                                   the mean: accuracy is mean(accuracy)
                | ("mean" | "robust_mean" | "variance" | "std" | "median") "(" metric ")"
                | "share" "(" metric (">" | ">=" | "<" | "<=") number ")"
                | "quantile" "(" metric "," number ")"     quantile(x, 0.95), also p95(x)
                | "cvar" "(" metric "," number ")"         cvar(x, 0.95): mean of the highest 5%
                | "lower_cvar" "(" metric "," number ")"   lower_cvar(x, 0.05): of the lowest 5%
                | mean "/" mean                            a ratio of means
                | name "(" metric ("," metric)* ")"        a function of the user's own
    mean       := metric | "mean" "(" metric ")"
    metric     := a name, or any text in single or double quotes
    number     := digits, such as 200, 0.05 or 1e-3, and then a unit, such as 3%, 2s or 200 ms

A value on a limit is inside it, so that < is read as <=, and > as >=. A unit needs the metric's
own, which the study states; percent does not. `core/grammar.py` reads. Touches its arguments only.
"""

from collections.abc import Mapping

from ringfence.core.attributes import Attribute, Constraint, Functions, Objective
from ringfence.core.errors import nearest
from ringfence.core.grammar import Reader

_RELATIONS = {"<=": "<=", ">=": ">=", "<": "<=", ">": ">=", "≤": "<=", "≥": ">="}


def parse_attribute(
    text: str, functions: Functions | None = None, units: Mapping[str, str] | None = None
) -> Attribute:
    """Read "p95(latency_ms)"; `functions` are the user's own, by name, `units` those of metrics.

    >>> import ringfence as rf
    >>> rf.parse_attribute("share(latency_ms > 200)").level
    200.0
    >>> rf.parse_attribute("accuracy") == rf.parse_attribute("mean(accuracy)")
    True
    >>> rf.parse_attribute("meen(latency_ms)")
    Traceback (most recent call last):
    ringfence.core.errors.ExpressionError: ...
    """
    reader = Reader(text, functions, units)
    attribute = reader.attribute()
    reader.end()
    return attribute


def parse_objective(
    text: str, functions: Functions | None = None, units: Mapping[str, str] | None = None
) -> Objective:
    """Read "minimize mean(loss)", or "minimize loss"."""
    reader = Reader(text, functions, units)
    direction = reader.take("name", "'minimize' or 'maximize'")
    if direction.text not in ("minimize", "maximize"):
        hint = nearest(direction.text, ("minimize", "maximize")) or reader.directed()
        if direction.text in ("max", "min"):
            hint = f" Did you mean '{direction.text}imize'?"
        reader.fail(f"expected 'minimize' or 'maximize', got {direction.text!r}.{hint}", direction)
    attribute = reader.attribute()
    reader.end()
    return Objective("minimize" if direction.text == "minimize" else "maximize", attribute)


def parse_constraint(
    text: str, functions: Functions | None = None, units: Mapping[str, str] | None = None
) -> Constraint:
    """Read "risk <= 5%", or "mean(risk) <= 1.1 * baseline(mean(risk))"."""
    reader = Reader(text, functions, units)
    if reader.tokens[0].kind == "number":
        reader.fail("the limit stands to the right. Write: mean(x) <= 1", reader.tokens[0])
    attribute = reader.attribute()
    relation = reader.take("sign", "'<=' or '>=' and a threshold")
    if relation.text not in _RELATIONS:
        right = reader.tokens[reader.next]
        limit = right.text if right.kind == "number" else "1"
        reader.fail(
            f"expected '<=' or '>=', got {relation.text!r}. Write: {attribute} <= {limit}, or "
            f"{attribute} >= {limit}",
            relation,
        )
    found = reader.limit(relation.text, attribute)
    reader.end()
    return Constraint(
        attribute,
        "<=" if _RELATIONS[relation.text] == "<=" else ">=",
        found.threshold,
        found.factor,
        found.unit,
        found.times_after,
    )
