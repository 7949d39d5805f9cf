"""The leaderboard's page: what is fought, and how documents of several fights become one table."""

import json
from pathlib import Path
from typing import Any

from benchmarks.headroom import hardest
from benchmarks.leaderboard import BASE, KINDS, fights
from docs.make_leaderboard import read, table
from ringfence.core.best_feasible import BEST_FEASIBLE
from ringfence.policies.registry import find_policy, policies_for
from ringfence.reports.tournament import tournament_report
from ringfence.simulation.cells import Cell
from ringfence.simulation.families import FAMILIES, find_family


def test_every_policy_is_fought_and_every_kind_by_several() -> None:
    found = list(fights("cuda", 7, 50, 1000))
    assert len({one.name for one in found}) == len(found)
    assert {policy for one in found for policy in one.asked["policies"]} == {
        policy.name for policy in policies_for(BEST_FEASIBLE)
    } - {"va-lucb"}, "which is made to stop by a proof, not for a budget"
    assert {family.name for family in FAMILIES} >= {family for family, _, _ in KINDS}
    for one in found:
        policies = one.asked["policies"]
        assert policies[0] == BASE, "all are measured against it"
        assert len(set(policies)) == len(policies) > 1
        adaptive = not find_policy(policies[-1]).has_phases
        assert one.asked.get("engine", "cpu") == ("cuda" if adaptive else "cpu")


def test_documents_of_one_kind_become_one_table_with_each_base_counted_once(
    tmp_path: Path,
) -> None:
    def written(name: str, policies: dict[str, int], scales: str = "known", **more: Any) -> Path:
        cells = [
            Cell(f"uniform-3-{place}", 3, policy, 100, 1, errors, 1000)
            for place in range(4)
            for policy, errors in policies.items()
        ]
        kind = {"family": "uniform", "seed": 0, "target_error": 0.05, "scales": scales, **more}
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(tournament_report(cells, **kind).to_dict()), encoding="utf-8")
        return path

    paths = [
        written("0", {BASE: 400, "uniform": 200}),
        written("1", {BASE: 100, "top-two": 100}),  # against the base of the first: a quarter
        written("2", {BASE: 400, "top-two": 200}, scales="estimated"),
    ]
    known, estimated = read(paths)
    assert (known.scales, estimated.scales) == ("known", "estimated")
    assert [(one.policy, one.instances, one.geometric_mean) for one in known.standings] == [
        (BASE, 4, 1.0), ("uniform", 4, 0.5), ("top-two", 4, 0.25),
    ]  # fmt: skip
    lines = table(known).splitlines()
    assert "    --policies constrained-sr,uniform,top-two" in lines
    rows = [line.split(" | ")[0] for line in lines if line.startswith("| `")]
    assert rows == ["| `top-two`", "| `uniform`", "| `constrained-sr`"], "the best comes first"


def test_arms_that_are_taken_away_are_those_of_the_largest_gaps() -> None:
    for number in range(4):
        whole = find_family("uniform").draw(number, arm_count=9)
        few = hardest(whole, 4)
        gaps = {name: arm.delta for name, arm in zip(whole.arms, whole.hardness.arms, strict=True)}
        right = whole.arms[whole.hardness.optimal]
        ranked = sorted((gap, name) for name, gap in gaps.items() if gap is not None)
        assert set(few.arms) == {right, *(name for _, name in ranked[:3])}
        assert few.arms[few.hardness.optimal] == right
        places = [whole.arms.index(name) for name in few.arms]
        assert few.means.tolist() == whole.means[places].tolist()
