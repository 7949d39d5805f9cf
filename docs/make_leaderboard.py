"""Writes docs/research/tournament.md and its picture from the JSON of `ringfence compare --family`.

    python benchmarks/leaderboard.py
    python docs/make_leaderboard.py out/board/*.json

Files of the same family, target and noise are put together, whatever their sizes. Where two have
the same policy on the same instance, the base that others were measured against, the first counts.
"""

import json
import sys
from pathlib import Path
from typing import Any

from ringfence.reports.charts import save_chart, tournament_figure
from ringfence.reports.tournament import Tournament, tournament_report
from ringfence.simulation.cells import Cell
from ringfence.simulation.families import find_family

HERE = Path(__file__).parent
FIRST = ("uniform", "known")
CELL = ("instance", "arms", "policy", "budget", "batch", "errors", "replications")


def read(paths: list[Path]) -> list[Tournament]:
    """Return the tournaments, those of one kind put together."""
    kinds: dict[tuple[Any, ...], dict[tuple[str, str], Cell]] = {}
    for path in paths:
        found = json.loads(path.read_text(encoding="utf-8"))
        key = (found["family"], found["seed"], found["target_error"], found["scales"])
        cells = kinds.setdefault(key, {})
        for one in found["cells"]:
            cell = Cell(**{name: one[name] for name in CELL})
            cells.setdefault((cell.instance, cell.policy), cell)
    return [
        tournament_report(
            sorted(cells.values(), key=lambda cell: cell.arms),
            family=family,
            seed=seed,
            target_error=target,
            scales=scales,
        )
        for (family, seed, target, scales), cells in kinds.items()
    ]


def table(result: Tournament) -> str:
    """Return a tournament as a heading, the command that made it, and a table."""
    first = result.duels[0].base.policy
    sizes = sorted({standing.arms for standing in result.standings})
    by_key = {(standing.arms, standing.policy): standing for standing in result.standings}
    lines = [
        f"## Family `{result.family}`, {result.scales} noise",
        "",
        find_family(result.family).summary.capitalize() + ".",
        "",
        "```sh",
        f"ringfence compare --family {result.family} --scales {result.scales} --seed {result.seed}",
        f"    --policies {','.join(dict.fromkeys(duel.cell.policy for duel in result.duels))}",
        f"    --arms {','.join(map(str, sizes))} --count {by_key[sizes[0], first].instances}",
        "```",
        "",
        "| policy | " + " | ".join(f"{size} arms | worst | harmed" for size in sizes) + " |",
        "| --- |" + " --- | --- | --- |" * len(sizes),
    ]
    for name in result.ranking:
        entries = []
        for size in sizes:
            row = by_key.get((size, name))
            if row is None:
                entries.append("- | - | -")
            else:
                mean = f"{row.geometric_mean:.3f} ({row.low:.3f} to {row.high:.3f})"
                entries.append(f"{mean} | {row.worst:.2f} | {row.harmed} of {row.instances}")
        lines.append(f"| `{name}` | " + " | ".join(entries) + " |")
    return "\n".join(lines)


def main() -> None:
    """Write the page and the picture of the first tournament."""
    tournaments = read([Path(name) for name in sys.argv[1:]])
    tournaments.sort(key=lambda result: (result.family, result.scales) != FIRST)
    at = HERE / "research" / "tournament.md"
    opening = at.read_text(encoding="utf-8").partition("\n## ")[0]  # what is written by hand
    page = [opening.rstrip(), *(table(result) for result in tournaments)]
    at.write_text("\n\n".join(page) + "\n", encoding="utf-8")
    save_chart(tournament_figure(tournaments[0]), HERE / "images" / "tournament.svg")


if __name__ == "__main__":
    main()
