"""The decision record: one HTML file with all that a reader needs to check a verdict. Pure.

It loads nothing and runs nothing: no script, no style sheet, no picture from elsewhere. Whatever a
study calls its arms and metrics is text in it.
"""

import hashlib
import json
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from importlib.metadata import version
from typing import Any

from ringfence.core.stated import ARMS, COVARIANCE
from ringfence.reports.accounts import (
    HEADINGS,
    account_in_words,
    account_rows,
    prices_in_words,
    used_in_words,
)
from ringfence.reports.arms_table import narrow_tables, rows_of
from ringfence.reports.certificate import stop_in_words
from ringfence.reports.departures import departure
from ringfence.reports.differences import (
    NOTE,
    compared_arms,
    difference_layouts,
    difference_title,
)
from ringfence.reports.html import items, table
from ringfence.reports.ordering import ordered_arms
from ringfence.reports.pictures import dark_rules, study_pictures
from ringfence.reports.plain import plain_pictures
from ringfence.reports.shared_record import shared_html
from ringfence.reports.sharing import shared_in_words
from ringfence.reports.verdict import remarks, sentence
from ringfence.study.facts import Definition, Round, StopChange
from ringfence.study.outcomes import Outcomes
from ringfence.study.plan import Plan
from ringfence.study.sharing import Sharing
from ringfence.study.stopping import PROVEN
from ringfence.study.verdict import Verdict

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem;
       color: #1b1b1f; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; } h3 { font-size: 1rem; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #d8d8de;
         vertical-align: top; overflow-wrap: break-word; }
td.short, td.pair small { white-space: nowrap; font-variant-numeric: tabular-nums; }
td.pair { font-variant-numeric: tabular-nums; } small { color: #55555e; }
th { overflow-wrap: break-word; }
.wide { overflow-x: auto; }
.verdict { border-left: .4rem solid; padding: .8rem 1rem; background: #f6f6f8; font-size: 1.1rem; }
.feasible { border-color: #1a7f37; } .infeasible { border-color: #b42318; }
.too-close-to-call { border-color: #b58900; }
figure { margin: 1rem 0; } svg { max-width: 100%; height: auto; }
@media print {
  body { max-width: none; margin: 0; font-size: 12px; } figure, tr { break-inside: avoid; }
  .wide { overflow-x: visible; } table { font-size: 10px; } th, td { padding: .2rem .3rem; }
  td.short, td.pair small { white-space: normal; } td:first-child { min-width: 4.5rem; }
  td:first-child, td:last-child { overflow-wrap: anywhere; }
}
"""
_DARK_STYLE = """
body { background: #17171a; color: #e8e8ec; } .verdict { background: #222226; }
th, td { border-color: #3a3a40; } small { color: #b0b2bc; }
"""
_PLAIN = "Pictures are simple ones: pip install 'ringfence[plots]' brings what draws all of them."


def data_hash(observations: Mapping[str, Sequence[Any]]) -> str:
    """Return a hash of all observations in their order: the same data, the same hash."""
    text = json.dumps({key: list(values) for key, values in observations.items()}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def record_html(
    plan: Plan,
    verdict: Verdict,
    rounds: Sequence[Round],
    observations: Mapping[str, Sequence[Any]],
    *,
    created_at: float | None = None,
    shared: tuple[Outcomes, Mapping[int, Any]] | None = None,
) -> str:
    """Return the record as one HTML page, with pictures where they can be drawn.

    `shared` is what arms did on items or in hours that they share, and the items that are shown.
    """
    definition = plan.definition
    kinds = ["map"] * bool(plan.problem.constraints) + ["differences", "timeline", "evidence"]
    drawn = study_pictures(plan, verdict, rounds, kinds)
    pictures = plain_pictures(plan, verdict) if drawn is None else drawn
    title = f"{definition.name}: decision record"
    parts = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="verdict {escape(verdict.verdict)}">{escape(sentence(verdict))}</p>',
        items(remarks(verdict)),
        "<h2>Arms</h2>",
        _picture(pictures, "map"),
        f"<p>{escape(_PLAIN)}</p>" if drawn is None else "",
        _arms(plan, verdict),
        _account(verdict),
        _differences(verdict, _picture(pictures, "differences")),
        "" if shared is None else shared_html(verdict, *shared),
        "<h2>Fixed before the data</h2>",
        _fixed(plan, created_at, rounds[0].lag if rounds else 1),
        _since(plan),
        "<h2>Rounds</h2>",
        _picture(pictures, "timeline"),
        _picture(pictures, "evidence"),
        _rounds(definition, rounds),
        "<h2>To check it</h2>",
        _provenance(definition, verdict, observations),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}{_dark()}</style></head>"
        f"<body>{''.join(parts)}</body></html>\n"
    )


def _dark() -> str:
    return f"@media screen and (prefers-color-scheme: dark) {{{_DARK_STYLE}{dark_rules()}}}\n"


def _picture(pictures: Mapping[str, str], kind: str) -> str:
    return f"<figure>{pictures[kind]}</figure>" if kind in pictures else ""


def _arms(plan: Plan, verdict: Verdict) -> str:
    arms = ordered_arms(verdict)
    first, *estimates = narrow_tables(verdict, plan.problem.constraints, arms)
    told = "".join(table(*rows_of(one)) for one in estimates)
    note = "<p>The margin is in units of the noise.</p>" if plan.problem.constraints else ""
    return (
        f"{table(*rows_of(first))}{note}"
        f"<h2>Estimates</h2>{told}<p>Estimates are followed by 95% intervals.</p>"
    )


def _account(verdict: Verdict) -> str:
    """Return what became of a budget in which pulls have a price."""
    account = verdict.account
    if not account.arms:
        return ""
    told = table(list(HEADINGS), account_rows(account.arms))
    said = f"{account_in_words(account)} Amounts are in {account.unit}."
    return f"<h2>What was spent</h2><p>{escape(said)}</p>{told}"


def _differences(verdict: Verdict, picture: str) -> str:
    """Return how far arms are from the answer, where some can be compared with it."""
    arms = compared_arms(verdict)
    if not arms:
        return ""
    told = table(*rows_of(difference_layouts(verdict, arms)[0]))
    return f"<h2>{escape(difference_title(verdict))}</h2>{picture}{told}<p>{escape(NOTE)}</p>"


def _as_decided(definition: Definition, lag: int) -> str:
    at_once = f"{definition.batch} pulls decided at once"
    return f"{at_once}, with a lag of {lag}" if lag > 1 else at_once


def _fixed(plan: Plan, created_at: float | None, lag: int) -> str:
    definition = plan.definition
    when, shared = "-", Sharing.of(definition)
    if created_at is not None:
        when = datetime.fromtimestamp(created_at, UTC).isoformat(timespec="seconds")
    return table(
        ["what", "as it was fixed"],
        [
            ["objective", definition.objective],
            *(["limit", limit] for limit in definition.constraints),
            *([["baseline", definition.baseline]] if definition.baseline is not None else []),
            *(["stated noise", one] for one in _stated(definition)),
            *(["told in place of a failure", one] for one in _stand_ins(definition)),
            *([["arms share", shared_in_words(shared.plain())]] if definition.blocks else []),
            *([["SHA-256 of the items", shared.blocks["hash"]]] if shared.are_kept else []),
            ["arms", ", ".join(definition.arm_names)],
            ["policy", f"{definition.policy}, {_as_decided(definition, lag)}"],
            ["budget at first", plan.in_words(definition.budget)],
            *([["price of a pull", prices]] if (prices := prices_in_words(definition)) else []),
            *([["ends when proven", stop_in_words(definition.stop)]] if definition.stop else []),
            ["seed", str(definition.seed)],
            ["created", when],
        ],
    )


def _asked(one: StopChange) -> str:
    return stop_in_words({"confidence": one.confidence, "within": one.within})


def _since(plan: Plan) -> str:
    """Return what was said since of when the study ends by proof, and why."""
    rows = [
        [
            datetime.fromtimestamp(one.at, UTC).isoformat(timespec="seconds"),
            f"ends when proven, {_asked(one)}",
            f"after round {one.after}" if one.looking else "before the first pull",
            one.note or "-",
        ]
        for one in plan.stops
    ]
    told = table(["when", "what", "decided", "note"], rows)
    return f"<h2>Changed since</h2>{told}" if rows else ""


def _stated(definition: Definition) -> list[str]:
    """Return what was stated of the noise, a line a metric, or a metric of an arm."""
    lines: list[str] = []
    for metric, said in definition.noise.items():
        if isinstance(said, list):
            lines.append(f"{'covariance of means' if metric == COVARIANCE else metric}: {said}")
        elif metric == ARMS and all(isinstance(one, Mapping) for one in said.values()):
            lines += [
                f"{own} of {arm}: sigma {of['sigma']}"
                for arm in said
                for own, of in said[arm].items()
            ]
        else:
            lines.append(f"{metric}: " + ", ".join(f"{key} {value}" for key, value in said.items()))
    return lines


def _stand_ins(definition: Definition) -> list[str]:
    """Return what counts in place of failed pulls, and of those that took too long."""
    stated = {"on_timeout": definition.on_timeout, "on_failure": definition.on_failure}
    return [
        f"{key}: " + ", ".join(f"{metric} {value:g}" for metric, value in values.items())
        for key, values in stated.items()
        if values
    ]


def _rounds(definition: Definition, rounds: Sequence[Round]) -> str:
    """Return rounds in which an arm left, the first and the last: batches may be thousands.

    The others need not be among those given.
    """
    names = definition.arm_names
    last = rounds[-1].number if rounds else -1
    told = [one for one in rounds if one.left or one.number in (0, last)]
    rows = []
    for one in told:
        gone = "; ".join(f"{names[left.arm]}: {departure(left)}" for left in one.left)
        pulls = ", ".join(
            f"{name} {count}" for name, count in zip(names, one.allocation, strict=True) if count
        )
        rows.append(
            [str(one.number), gone or "-", pulls or f"none: {one.seen.get(PROVEN, 'finished')}"]
        )
    return f"<p>{last + 1} in all.</p>" + table(["round", "left before it", "pulls"], rows)


def _failed(verdict: Verdict) -> str:
    """Return how many pulls failed, by arm."""
    counts = [f"{arm.name} {arm.failed}" for arm in verdict.arms if arm.failed]
    return ", ".join(counts) or "none"


def _provenance(
    definition: Definition, verdict: Verdict, observations: Mapping[str, Sequence[Any]]
) -> str:
    versions = ", ".join(f"{name} {version(name)}" for name in ("ringfence", "numpy"))
    rows = [
        ["pulls charged", used_in_words(verdict).removesuffix(" pulls")],
        ["failed pulls", _failed(verdict)],
        ["observations", str(len(observations.get("pull", [])))],
        ["SHA-256 of the observations", data_hash(observations)],
        ["versions", f"{versions}, Python {platform.python_version()}"],
        ["how", f"ringfence doctor {definition.name} decides every round again"],
    ]
    return table(["what", "value"], rows)
