"""The decision record: one HTML file with all that a reader needs to check a verdict. Pure.

It loads nothing and runs nothing: no script, no style sheet, no picture from elsewhere. Whatever a
study calls its arms and metrics is text in it.
"""

import hashlib
import json
import math
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from importlib.metadata import version
from typing import Any

import numpy as np

from ringfence.reports.verdict import reason, remarks, sentence, shown
from ringfence.study.facts import Definition, Round
from ringfence.study.verdict import ArmVerdict, Verdict

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
       color: #1b1b1f; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #d8d8de;
         vertical-align: top; overflow-wrap: break-word; }
td.figure { white-space: nowrap; font-variant-numeric: tabular-nums; }
.wide { overflow-x: auto; }
.verdict { border-left: .4rem solid; padding: .8rem 1rem; background: #f6f6f8; font-size: 1.1rem; }
.feasible { border-color: #1a7f37; } .infeasible { border-color: #b42318; }
.too-close-to-call { border-color: #b58900; }
svg { width: 100%; height: auto; } code { overflow-wrap: anywhere; }
@media (prefers-color-scheme: dark) {
  body { background: #17171a; color: #e8e8ec; } .verdict { background: #222226; }
  th, td { border-color: #3a3a40; } }
"""
_COLOURS = {
    "optimal": "#1a7f37",
    "feasible-suboptimal": "#4c78a8",
    "deceiver": "#b42318",
    "infeasible-suboptimal": "#8a8a94",
    "infeasible": "#8a8a94",
}
_WIDTH, _HEIGHT, _EDGE = 720.0, 360.0, 48.0
_SHORT_CELL = 28
_MOST_LETTERS = 48


def data_hash(observations: Mapping[str, Sequence[Any]]) -> str:
    """Return a hash of all observations in their order: the same data, the same hash."""
    text = json.dumps({key: list(values) for key, values in observations.items()}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def record_html(
    definition: Definition,
    verdict: Verdict,
    rounds: Sequence[Round],
    observations: Mapping[str, Sequence[Any]],
    *,
    created_at: float | None = None,
) -> str:
    """Return the record as one HTML page."""
    title = f"{definition.name}: decision record"
    parts = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="verdict {escape(verdict.verdict)}">{escape(sentence(verdict))}</p>',
        "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in remarks(verdict)) + "</ul>",
        "<h2>Arms</h2>",
        deceiver_map(verdict),
        _arms(verdict),
        "<h2>Fixed before the data</h2>",
        _fixed(definition, created_at),
        "<h2>Rounds</h2>",
        _rounds(definition, rounds),
        "<h2>To check it</h2>",
        _provenance(definition, verdict, observations),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>"
        f"<body>{''.join(parts)}</body></html>\n"
    )


def deceiver_map(verdict: Verdict) -> str:
    """Return a picture of all arms: objective against the margin, feasible to the left."""
    arms = [arm for arm in verdict.arms if arm.margin is not None and arm.estimates]
    if not arms:
        return ""
    objective = next(iter(arms[0].estimates))
    across = np.array([arm.margin or 0.0 for arm in arms])
    up = np.array([arm.estimates[objective].value for arm in arms])
    low = np.array([arm.estimates[objective].low for arm in arms])
    high = np.array([arm.estimates[objective].high for arm in arms])
    x = _scale(np.append(across, 0.0), _EDGE, _WIDTH - _EDGE)
    y = _scale(np.concatenate([low, high, up]), _HEIGHT - _EDGE, _EDGE)
    border = x(0.0)
    parts = [
        (
            f'<svg viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" role="img" aria-label="Arms by margin and '
            f'objective">'
        ),
        (
            f'<line x1="{border:.1f}" y1="{_EDGE / 2:g}" x2="{border:.1f}" '
            f'y2="{_HEIGHT - _EDGE:g}" stroke="#8a8a94" stroke-dasharray="4 4"/>'
        ),
        _text(border - 6, _EDGE / 2 + 4, "feasible", "end"),
        _text(border + 6, _EDGE / 2 + 4, "infeasible", "start"),
        _text(_WIDTH / 2, _HEIGHT - 8, "margin: largest violation, in units of noise"),
        _text(8, 16, objective, "start"),
        *(_tick(x(value), _HEIGHT - _EDGE + 14, value) for value in _ticks(np.append(across, 0.0))),
        *(
            _tick(_EDGE - 10, y(value) + 4, value, "end")
            for value in _ticks(np.concatenate([low, high]))
        ),
    ]
    for arm, at, value, bottom, top in zip(arms, across, up, low, high, strict=True):
        colour = _COLOURS[arm.kind or "infeasible"]
        parts.append(
            f'<line x1="{x(at):.1f}" y1="{y(bottom):.1f}" x2="{x(at):.1f}" y2="{y(top):.1f}" '
            f'stroke="{colour}" stroke-width="2" opacity=".5"/>'
            f'<circle cx="{x(at):.1f}" cy="{y(value):.1f}" r="6" fill="{colour}">'
            f"<title>{escape(f'{arm.name}: {arm.kind}')}</title></circle>"
        )
        parts.append(_text(x(at) + 9, y(value) + 4, arm.name, "start"))
    return "".join([*parts, "</svg>"])


def _scale(values: Any, start: float, stop: float) -> Any:
    low, high = float(np.min(values)), float(np.max(values))
    span = (high - low) or 1.0
    return lambda value: start + (float(value) - low) / span * (stop - start)


def _ticks(values: Any) -> list[float]:
    """Return three to six round numbers within the values' range."""
    low, high = float(np.min(values)), float(np.max(values))
    if high <= low:
        return [low]
    step = 10.0 ** math.floor(math.log10(high - low))
    for finer in (1.0, 2.0, 4.0):
        first = math.ceil(low * finer / step)
        found = [k * step / finer for k in range(first, math.floor(high * finer / step) + 1)]
        if len(found) >= 3:
            break
    return found


def _tick(x: float, y: float, value: float, anchor: str = "middle") -> str:
    return _text(x, y, f"{value:.3g}", anchor)


def _text(x: float, y: float, words: str, anchor: str = "middle") -> str:
    short = words if len(words) <= _MOST_LETTERS else words[: _MOST_LETTERS - 1] + "…"
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="12" '
        f'fill="currentColor">{escape(short)}</text>'
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in rows)
    table = f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="wide">{table}</div>'


def _cell(words: str) -> str:
    short = len(words) <= _SHORT_CELL
    return f"<td{' class=figure' if short else ''}>{escape(words)}</td>"


def _arms(verdict: Verdict) -> str:
    names = list(dict.fromkeys(name for arm in verdict.arms for name in arm.estimates))

    def row(arm: ArmVerdict) -> list[str]:
        values = [shown(arm.estimates[name]) if name in arm.estimates else "-" for name in names]
        distance = "-" if arm.margin is None else f"{arm.margin:.3g}"
        return [arm.name, arm.kind or "-", str(arm.pulls), *values, distance, reason(arm)]

    head = ["arm", "looks", "pulls", *(f"{name} (95% interval)" for name in names)]
    return _table([*head, "margin", "why"], [row(arm) for arm in verdict.arms])


def _fixed(definition: Definition, created_at: float | None) -> str:
    when = "-"
    if created_at is not None:
        when = datetime.fromtimestamp(created_at, UTC).isoformat(timespec="seconds")
    return _table(
        ["what", "as it was fixed"],
        [
            ["objective", definition.objective],
            *(["limit", limit] for limit in definition.constraints),
            ["arms", ", ".join(definition.arm_names)],
            ["policy", f"{definition.policy}, {definition.batch} pulls decided at once"],
            ["budget at first", str(definition.budget)],
            ["seed", str(definition.seed)],
            ["created", when],
        ],
    )


def _rounds(definition: Definition, rounds: Sequence[Round]) -> str:
    """Return rounds in which an arm left, the first and the last: batches may be thousands.

    The others need not be among those given.
    """
    names = definition.arm_names
    last = rounds[-1].number if rounds else -1
    told = [one for one in rounds if one.left or one.number in (0, last)]
    rows = []
    for one in told:
        gone = "; ".join(f"{names[left.arm]}: {left.reason}" for left in one.left)
        pulls = ", ".join(
            f"{name} {count}" for name, count in zip(names, one.allocation, strict=True) if count
        )
        rows.append([str(one.number), gone or "-", pulls or "none: finished"])
    return f"<p>{last + 1} in all.</p>" + _table(["round", "left before it", "pulls"], rows)


def _provenance(
    definition: Definition, verdict: Verdict, observations: Mapping[str, Sequence[Any]]
) -> str:
    versions = ", ".join(f"{name} {version(name)}" for name in ("ringfence", "numpy"))
    rows = [
        ["pulls charged", f"{verdict.pulls_used} of {verdict.budget}"],
        ["observations", str(len(observations.get("pull", [])))],
        ["SHA-256 of the observations", data_hash(observations)],
        ["versions", f"{versions}, Python {platform.python_version()}"],
        ["how", f"ringfence doctor {definition.name} decides every round again"],
    ]
    return _table(["what", "value"], rows)
