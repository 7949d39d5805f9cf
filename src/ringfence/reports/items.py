"""Items in words: what they are called, who did better on which. Pure.

Whatever an item holds is text here: one line of it, however long it is.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ringfence.core.errors import one_line
from ringfence.reports.figures.words import counted
from ringfence.reports.ordering import ordered_arms
from ringfence.study.outcomes import Contest, Outcomes
from ringfence.study.verdict import Verdict

_NAMES = ("id", "name")
_LONGEST, _LONGEST_NAME = 160, 60


@dataclass(frozen=True)
class Told:
    """An item on which two arms differ: its name or number, what it is, how they did."""

    name: str
    text: str
    own: str
    rival: str


def item_name(content: Any) -> str:
    """Return what an item is called: its key `id` or `name`, else itself on one line."""
    return _own_name(content) or item_text(content, _LONGEST_NAME)


def _own_name(content: Any) -> str:
    """Return the name that an item has of its own; nothing where it has none."""
    keys = content if isinstance(content, Mapping) else {}
    found = (keys[key] for key in _NAMES if isinstance(keys.get(key), str | int | float))
    return one_line(str(next(found, "")), _LONGEST_NAME)


def item_text(content: Any, most: int = _LONGEST) -> str:
    """Return an item on one line: a text as it is, all else as JSON."""
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    return one_line(text, most)


def rivals(verdict: Verdict, outcomes: Outcomes) -> tuple[int, int] | None:
    """Return the answer and its nearest rival, among arms that saw some items; None without two.

    The nearest is the likeliest to be the answer in its place. Where no arm is named, or nothing
    was seen of it, it is the first of those that were.
    """
    seen = [name for name, some in zip(outcomes.arms, outcomes.was_tried, strict=True)
            if some]  # fmt: skip
    ordered = [arm for arm in ordered_arms(verdict) if arm.name in seen]
    if len(ordered) < 2:
        return None
    best = next((arm for arm in ordered if arm.name == verdict.arm), ordered[0])
    others = [arm for arm in ordered if arm is not best]
    rival = max(others, key=lambda arm: arm.chance_best or 0.0)
    return outcomes.arms.index(best.name), outcomes.arms.index(rival.name)


def contest_in_words(contest: Contest, outcomes: Outcomes) -> str:
    """Return how often one arm did better than another, and how often worse."""
    arm, rival = outcomes.arms[contest.arm], outcomes.arms[contest.rival]
    if not contest.common:
        return f"{arm} and {rival} were tried on no item in common."
    return (
        f"Of {counted(contest.common, 'item')} that both were tried on, {arm} did better than "
        f"{rival} on {len(contest.won):,}, worse on {len(contest.lost):,} and as well on "
        f"{contest.even:,}."
    )


def told_of(
    contest: Contest, outcomes: Outcomes, contents: Mapping[int, Any], most: int
) -> tuple[list[Told], list[Told]]:
    """Return items that an arm won, and those that it lost, at most so many: the clearest first."""

    def told(places: tuple[int, ...]) -> list[Told]:
        return [_told(contest, outcomes, contents, place) for place in places[:most]]

    return told(contest.won), told(contest.lost)


def _told(
    contest: Contest, outcomes: Outcomes, contents: Mapping[int, Any], place: int
) -> Told:  # fmt: skip
    number = int(outcomes.blocks[place])
    content = contents[number]
    return Told(
        name=_own_name(content) or str(number),
        text="" if content == number else item_text(content),
        own=f"{outcomes.written(contest.arm, place):.4g}",
        rival=f"{outcomes.written(contest.rival, place):.4g}",
    )
