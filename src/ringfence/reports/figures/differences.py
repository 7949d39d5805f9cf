"""Figure data of differences: how far each arm is from the answer, attribute by attribute. Pure."""

from collections.abc import Sequence
from typing import Any

from ringfence.reports.differences import attributes_of, compared_arms
from ringfence.reports.figures.words import counted, shortened
from ringfence.reports.ordering import shown_arms
from ringfence.study.verdict import ArmVerdict, Estimate, Verdict

MOST_ROWS = 20


def difference_rows(verdict: Verdict) -> list[dict[str, Any]]:
    """Return a row for every attribute and arm, 20 arms at most: those that matter most.

    Arms are in one order for all attributes: the best by the objective first, or by the first
    attribute that has differences. `is_clear` tells whether the interval keeps off zero, and
    `is_better` on which side of it the arm seems to be.
    """
    arms = compared_arms(verdict, shown_arms(verdict, MOST_ROWS + 1))[:MOST_ROWS]
    names = attributes_of(arms)
    signs = _signs(verdict)
    if names:
        first = names[0]
        arms.sort(key=lambda arm: _behind(arm, first, signs[first]))
    return [
        {
            "attribute": name,
            "better": "lower" if signs[name] > 0.0 else "higher",
            "name": arm.name,
            "place": place,
            "value": one.value,
            "low": one.low,
            "high": one.high,
            "is_clear": _is_clear(one),
            "is_better": signs[name] * one.value < 0.0,
        }
        for name in names
        for place, arm in enumerate(arms)
        if (one := arm.differences.get(name)) is not None
    ]


def difference_title(verdict: Verdict) -> str:
    """Return what the differences of all arms show, of the first attribute, as a headline."""
    arms = compared_arms(verdict)
    if not arms:
        return "No arm can be compared with the answer yet"
    name = attributes_of(arms)[0]
    sign, answer = _signs(verdict)[name], shortened(verdict.arm or "")
    told = [arm.differences[name] for arm in arms if name in arm.differences]
    clear = [sign * one.value for one in told if _is_clear(one)]
    worse, better = sum(one > 0.0 for one in clear), sum(one < 0.0 for one in clear)
    if not clear:
        return f"By {name}, no arm is clearly apart from {answer}"
    side = "worse" if worse else "better"
    are = f"{counted(len(told), 'arm')} {'is' if (worse or better) == 1 else 'are'}"
    also = f", {better} clearly better" if worse and better else ""
    return f"By {name}, {worse or better} of {are} clearly {side} than {answer}{also}"


def difference_subtitle(verdict: Verdict, rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return what else a reader should know, a line each."""
    lines = ["bars: 95% intervals of the difference; filled: clear of zero"]
    left_out = len(compared_arms(verdict)) - len({row["name"] for row in rows})
    return [*lines, f"{counted(left_out, 'arm')} not drawn"] if left_out else lines


def _is_clear(one: Estimate) -> bool:
    return one.low > 0.0 or one.high < 0.0


def _behind(arm: ArmVerdict, name: str, sign: float) -> tuple[bool, float]:
    one = arm.differences.get(name)
    return one is None, 0.0 if one is None else sign * one.value


def _signs(verdict: Verdict) -> dict[str, float]:
    """Return 1 for every attribute of which lower is better, and -1 for the others."""
    problem = verdict.problem
    pairs = zip(problem.attributes, problem.signs, strict=True)
    return {str(name): float(sign) for name, sign in reversed(list(pairs))}
