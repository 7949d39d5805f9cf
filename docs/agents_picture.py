"""Draws the picture of the README: right answers against dollars, on a table of coding agents.

    python docs/agents_picture.py agents.csv     measures the curves again, and then draws them
    python docs/agents_picture.py                draws the curves of docs/images/agents.json

The table has the columns `model`, `task`, `resolved` and `cost`, and every model has every task
(docs/howto/coding-agents.md says how to write one). No row of it is kept, and no name: only how
often each policy was right, and what it had spent by then.
"""

import json
import sys
from pathlib import Path
from typing import Any

import altair as alt

import ringfence as rf
from ringfence.reports.charts import themed

IMAGES = Path(__file__).parent / "images"
CURVES = IMAGES / "agents.json"
NAMES = {
    "top-two": "ringfence",
    "constrained-sr": "Constrained-SR",
    "uniform": "equal shares",
}
BUDGETS = (120, 240, 360, 480, 600, 900, 1200, 1800, 2400, 3600, 6000)
REPLICATIONS = 1000
LIMIT = 0.5
LAST_DOLLARS = 1300


def measure(path: Path) -> dict[str, Any]:
    """Replay the policies on a table, and return their curves."""
    import pandas as pd

    table = pd.read_csv(path)
    prices = table.groupby("model")["cost"].mean()
    found = rf.replay(
        table,
        arm="model",
        item="task",
        objective="maximize mean(resolved)",
        constraints=[f"mean(cost) <= {LIMIT}"],
        budgets=BUDGETS,
        policies=list(NAMES),
        replications=REPLICATIONS,
    )
    rows = [
        {
            "policy": row.result.policy,
            "pulls": row.result.budget,
            "dollars": round(
                sum(pulls * prices[arm] for arm, pulls in row.result.mean_pulls.items()), 2
            ),
            "right": round(row.right_rate, 3),
        }
        for row in found.rows
    ]
    return {
        "arms": int(table["model"].nunique()),
        "items": int(table["task"].nunique()),
        "dollars": round(float(table["cost"].sum()), 2),
        "replications": REPLICATIONS,
        "rows": rows,
    }


def picture(curves: dict[str, Any], *, theme: str) -> Any:
    """Return the picture: a line for each way to spend, and where the answer is proven."""
    rows = [
        {**row, "way": NAMES[row["policy"]]}
        for row in curves["rows"]
        if row["dollars"] <= LAST_DOLLARS
    ]
    proven = curves["proven"]["dollars"]
    x = alt.X(
        "dollars:Q",
        title="dollars spent",
        scale=alt.Scale(domain=[0, LAST_DOLLARS], nice=False),
        axis=alt.Axis(format="$,d", values=list(range(0, LAST_DOLLARS + 1, 200))),
    )
    y = alt.Y(
        "right:Q",
        title="names the right agent",
        scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1]),
    )
    ways = list(NAMES.values())
    colour = alt.Color("way:N", title=None, scale=alt.Scale(domain=ways), legend=None)
    shape = alt.Shape(
        "way:N",
        scale=alt.Scale(domain=ways, range=["circle", "square", "triangle-up"]),
        legend=None,
    )
    base = alt.Chart(alt.Data(values=rows))
    lines = base.mark_line(strokeWidth=2.5).encode(x=x, y=y, color=colour)
    marks = base.mark_point(filled=True, size=50).encode(x=x, y=y, color=colour, shape=shape)
    places = {
        "ringfence": (75, 0.93),
        "Constrained-SR": (905, 0.955),
        "equal shares": (905, 0.83),
    }
    notes = [
        {"way": way, "dollars": dollars, "right": right} for way, (dollars, right) in places.items()
    ]
    names = (
        alt.Chart(alt.Data(values=notes))
        .mark_text(align="left", fontSize=13, fontWeight="bold")
        .encode(x=x, y=y, text="way:N", color=colour)
    )
    rule = alt.Chart(alt.Data(values=[{"dollars": proven}])).mark_rule(style="limit").encode(x=x)
    said = f"ringfence has proven it: ${proven:,.0f}"
    note = (
        alt.Chart(alt.Data(values=[{"dollars": proven, "right": 0.4, "said": said}]))
        .mark_text(style="note", align="left", dx=6, fontSize=12)
        .encode(x=x, y=y, text="said:N")
    )
    chart = (rule + lines + marks + names + note).properties(
        width=640,
        padding={"left": 5, "top": 5, "bottom": 5, "right": 40},
        height=300,
        title=alt.TitleParams(
            f"Which of {curves['arms']} coding agents is best at ${LIMIT:.2f} a task or less?",
            subtitle=f"The same {curves['items']} tasks for all. "
            f"Every agent on every task would cost ${curves['dollars']:,.0f}.",
        ),
        description="Right answers against dollars spent, by way to spend them.",
    )
    return themed(chart, theme)


def keep(curves: dict[str, Any]) -> None:
    """Write the curves, a line for each point."""
    head = json.dumps({key: value for key, value in curves.items() if key != "rows"}, indent=1)
    rows = ",\n".join("  " + json.dumps(row) for row in curves["rows"])
    CURVES.write_text(f'{head[:-2]},\n "rows": [\n{rows}\n ]\n}}\n', encoding="utf-8")


def draw() -> None:
    """Write the picture, for light pages and for dark ones."""
    curves = json.loads(CURVES.read_text("utf-8"))
    for theme, name in (("light", "agents.svg"), ("dark", "agents-dark.svg")):
        print(rf.save_chart(picture(curves, theme=theme), IMAGES / name))


if __name__ == "__main__":
    if sys.argv[1:]:
        kept = json.loads(CURVES.read_text("utf-8")) if CURVES.exists() else {}
        fresh = measure(Path(sys.argv[1])) | {"proven": kept.get("proven", {"dollars": 0})}
        keep(fresh)
    draw()
