"""What notebooks show of a verdict: a sentence and a small table. Pure.

No colour and no style sheet: a notebook's own suit its theme, light or dark.
"""

from collections.abc import Mapping
from html import escape
from typing import Any

from ringfence.core.showing import html_of
from ringfence.reports.accounts import shown_amount
from ringfence.reports.arms_table import FEW, layouts, rows_of
from ringfence.reports.differences import compared_arms, difference_layouts, difference_title
from ringfence.reports.html import items, table
from ringfence.reports.ordering import shown_arms
from ringfence.reports.verdict import cautions, findings, sentence
from ringfence.study.facts import Definition
from ringfence.study.verdict import Verdict


def block(headline: str, *parts: str) -> str:
    """Return parts under a sentence in bold."""
    return f"<div><p><strong>{escape(headline)}</strong></p>{''.join(parts)}</div>"


@html_of.register
def verdict_html(verdict: Verdict) -> str:
    """Return a verdict: its sentence, the arms, what else was found."""
    said = [*findings(verdict), *cautions(verdict)]
    return block(sentence(verdict), arms_table(verdict), _differences(verdict), items(said))


def study_html(definition: Definition, status: Mapping[str, Any], verdict: Verdict | str) -> str:
    """Return a study: what it asks, where it stands, the verdict so far or why there is none."""
    limits = " and ".join(definition.constraints) or "without limits"
    stands = f"{status['told']:,} of {status['budget']:,} pulls told, {status['failed']:,} failed"
    if status["accounts"]:
        spent = f"{shown_amount(status['spent'])} of {shown_amount(status['budget'])}"
        stands = f"{spent} {status['unit']} spent, {status['told']:,} pulls told"
        stands += f", {status['failed']:,} failed"
    stands += ", finished" if status["finished"] else f", {status['issued']:,} issued"
    headline = f"Study {definition.name}: {definition.objective}, {limits}"
    found = f"<p>{escape(verdict)}</p>" if isinstance(verdict, str) else verdict_html(verdict)
    return block(headline, f"<p>{escape(stands)}; policy {escape(definition.policy)}.</p>", found)


def _differences(verdict: Verdict) -> str:
    """Return how far arms are from the answer, where they share what tells that."""
    arms = compared_arms(verdict, shown_arms(verdict, FEW))
    if verdict.blocks is None or not arms:
        return ""
    told = table(*rows_of(difference_layouts(verdict, arms)[0]))
    return f"<p>{escape(difference_title(verdict))}</p>{told}"


def arms_table(verdict: Verdict) -> str:
    """Return the arms that matter most, and how many are left out."""
    arms = shown_arms(verdict, FEW)
    left = len(verdict.arms) - len(arms)
    rest = f"<p>{left} further arms are not shown.</p>" if left else ""
    return table(*rows_of(layouts(verdict, (), arms)[0])) + rest
