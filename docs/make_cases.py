"""Replay the cases of examples/cases: prints what their pages state, and draws their figures again.

python docs/make_cases.py [CASE...]    needs the extras `cases` and `plots`; a few minutes
"""

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import ringfence as rf

ROOT = Path(__file__).parents[1]
POLICIES = ("constrained-sr", "sequential-halving", "top-two", "ocba-co", "uniform")
CASES: dict[str, dict[str, Any]] = {
    "incentives": {"budgets": [100, 200, 400, 800, 1600]},
    "flights": {"budgets": [500, 1000, 2000, 4000, 8000], "force": True},
    "portfolios": {"budgets": [1000, 4000], "replications": 200, "force": True},
    "models": {"budgets": [42, 84, 168, 336]},
    "images": {"budgets": [200, 400, 800, 1600], "item": "image"},
    "queueing": {"budgets": [50, 100, 200, 400, 800]},
    "formats": {"budgets": [36, 72, 144, 288]},
}


def main() -> None:
    """Replay every case that is named, or all."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # latencies of `models` are one thread's
    sys.path[:0] = [str(ROOT / "examples"), str(ROOT / "examples/cases")]
    for name in sys.argv[1:] or CASES:
        case = import_module(name)
        options = {"replications": 1000, **CASES[name]}
        found = rf.replay(
            case.table(),
            arm=case.ARM,
            objective=case.OBJECTIVE,
            constraints=case.CONSTRAINTS,
            policies=POLICIES,
            **options,
        )
        show(name, found)
        figure = ROOT / f"docs/images/case-{name}.svg"
        rf.save_chart(rf.replay_figure(found.to_dict()), figure)


def show(name: str, found: rf.Replay) -> None:
    """Print the tables of a case's page."""
    log = found.log
    print(f"\n## {name}: {log.answer.name}, feasible {log.feasible}, {log.confidence:.1%} sure\n")
    print("| arm | rows |", " | ".join(log.answer.readings), "| kind |")
    for arm in sorted(log.arms, key=lambda arm: -arm.chance):
        values = " | ".join(
            f"{one.value:.4g} ({one.low:.4g}, {one.high:.4g})" for one in arm.readings.values()
        )
        print(f"| {arm.name} | {arm.rows} | {values} | {arm.kind} |")
    budgets = list(dict.fromkeys(row.result.budget for row in found.rows))
    print("\n| policy |", " | ".join(f"T = {budget:,}" for budget in budgets), "| pulls for 95% |")
    for policy in POLICIES:
        rows = [row for row in found.rows if row.result.policy == policy]
        errors = " | ".join(f"{row.result.error_rate:.1%}" for row in rows)
        needs = found.needs[policy]
        print(f"| `{policy}` | {errors} | {needs} {needs.interval_in_words} |")
    print(f"\n{found.headline}  ({found.seconds:.0f} s)")
    for doubt in found.doubts:
        print(f"doubt: {doubt}")
    for note in found.notes:
        print(f"note: {note}")


if __name__ == "__main__":
    main()
