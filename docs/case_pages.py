"""Runs every case, small, while the site is built, and shows on its page what came out.

The tables of the pages are from long runs; this says whether the version that built the site
agrees. An error ends the build.
"""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from make_cases import CASES

import ringfence as rf

ROOT = Path(__file__).parents[1]
DRAWN = "now"  # the folder beside the pages for pictures of this build
POLICIES = ("top-two", "uniform")
REPLICATIONS = 100
HEADING = "**Run while this page was built**"


def run_case(app: Any, name: str, source: list[str]) -> None:
    """Add what a small replay says now to the source of a case's page."""
    folder, _, case = name.rpartition("/")
    if folder == "cases" and case in CASES:
        source[0] += "\n" + outcome(case, Path(app.srcdir) / folder / DRAWN)


def outcome(name: str, pictures: Path) -> str:
    """Replay a case at its first three budgets; return the table, the picture and the headline."""
    sys.path[:0] = [str(ROOT / "examples"), str(ROOT / "examples/cases")]
    case = import_module(name)
    found = rf.replay(
        case.table(),
        arm=case.ARM,
        objective=case.OBJECTIVE,
        constraints=case.CONSTRAINTS,
        budgets=CASES[name]["budgets"][:3],
        policies=POLICIES,
        replications=REPLICATIONS,
        force=True,
    )
    pictures.mkdir(exist_ok=True)
    rf.save_chart(rf.replay_figure(found.to_dict()), pictures / f"{name}.svg")
    budgets = list(dict.fromkeys(row.result.budget for row in found.rows))
    answer = f"{found.log.answer.name}, {'feasible' if found.log.feasible else 'not feasible'}"
    lines = [
        f"{HEADING}, by this version of ringfence, {REPLICATIONS} replications. By the whole table",
        f"the answer is {answer} ({found.log.confidence:.0%} sure); errors against it:",
        "",
        "| policy | " + " | ".join(f"T = {budget:,}" for budget in budgets) + " |",
        "| --- |" + " --- |" * len(budgets),
    ]
    for policy in POLICIES:
        rows = [row.result for row in found.rows if row.result.policy == policy]
        lines.append(f"| `{policy}` | " + " | ".join(f"{r.error_rate:.0%}" for r in rows) + " |")
    lines += ["", f"![Right answers against budget, as of this build]({DRAWN}/{name}.svg)", ""]
    doubts = [f"- {doubt}" for doubt in found.doubts]
    if doubts:
        lines += ["What the table cannot answer:", "", *doubts, ""]
    return "\n".join(lines)
