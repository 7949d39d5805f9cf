"""The part of a decision record on what arms share: results by item or by hour. Pure."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from ringfence.reports.figures.words import counted
from ringfence.reports.html import table
from ringfence.reports.items import Told, contest_in_words, rivals, told_of
from ringfence.reports.pictures import shared_picture
from ringfence.study.outcomes import Outcomes, contest_of
from ringfence.study.verdict import Verdict

MOST_LISTED = 12  # items of either side


def shared_html(verdict: Verdict, outcomes: Outcomes, contents: Mapping[int, Any]) -> str:
    """Return results by item, with what the answer wins and loses, or the course of the hours."""
    kind = "items" if verdict.blocks is not None and "items" in verdict.blocks else "hours"
    picture = shared_picture(kind, verdict, outcomes, contents)
    figure = f"<figure>{picture}</figure>" if picture else ""
    if kind == "hours":
        return f"<h2>Hours</h2>{figure}" if figure else ""
    return f"<h2>Items</h2>{figure}{_contest(verdict, outcomes, contents)}"


def _contest(verdict: Verdict, outcomes: Outcomes, contents: Mapping[int, Any]) -> str:
    pair = rivals(verdict, outcomes)
    if pair is None:
        return ""
    contest, (arm, rival) = contest_of(outcomes, *pair), (outcomes.arms[one] for one in pair)
    won, lost = told_of(contest, outcomes, contents, MOST_LISTED)
    parts = [f"<p>{escape(contest_in_words(contest, outcomes))}</p>"]
    for told, count, side in ((won, contest.won, "better"), (lost, contest.lost, "worse")):
        if told:
            parts.append(f"<h3>{escape(f'{arm} did {side}')}</h3>{_table(told, arm, rival)}")
            if more := len(count) - len(told):
                parts.append(f"<p>{counted(more, 'more item')} not listed.</p>")
    return "".join(parts)


def _table(told: Sequence[Told], arm: str, rival: str) -> str:
    has_text = any(one.text for one in told)
    head = ["item", arm, rival, *["what it is"] * has_text]
    rows = [[one.name, one.own, one.rival, *[one.text] * has_text] for one in told]
    return table(head, rows)
