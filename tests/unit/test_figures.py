"""Figure data: exact on small studies made by hand, and bounded on large ones."""

import math
from typing import Any

import numpy as np
import pytest

from ringfence.reports.departures import standing
from ringfence.reports.figures.allocation import allocation_rows, allocation_title, parts_of
from ringfence.reports.figures.axes import beyond, bounds, how_far, reach_of
from ringfence.reports.figures.evidence import FLAG, evidence_rows, evidence_title, thinned
from ringfence.reports.figures.labels import MOST_LABELS, Frame, _box, labelled, spread
from ringfence.reports.figures.map import distance, map_rows, map_subtitle, map_title
from ringfence.reports.figures.stretches import Stretch, first_pull_after, stretches
from ringfence.reports.figures.timeline import share_levels, timeline_rows, timeline_title
from ringfence.reports.figures.words import KINDS, LEGEND, answer_of, shortened
from tests.unit.drawing import BROKE, four_kinds, make_arm, make_plan, make_rounds, make_verdict

# ------------------------------------------------------------------ the map


def test_the_map_has_every_judged_arm_the_answer_first_and_deceivers_next() -> None:
    rows = map_rows(four_kinds())
    assert [(row["name"], row["kind"]) for row in rows] == [
        ("best", "best feasible"),
        ("tempting", "deceiver"),
        ("far", "feasible suboptimal"),
        ("hopeless", "infeasible suboptimal"),
    ]
    assert rows[1] == {
        "name": "tempting",
        "kind": "deceiver",
        "is_feasible": False,
        "is_answer": False,
        "margin": 0.3,
        "margin_low": pytest.approx(0.2),
        "margin_high": pytest.approx(0.4),
        "value": 1.0,
        "low": 0.5,
        "high": 1.5,
        "pulls": 15,
        "status": "in the running",
        "phase": None,
        "why": standing(make_arm("tempting", "deceiver", 0.3, 1.0)),
    }
    assert [row["phase"] for row in rows] == [None, None, 1, 2]
    assert [row["is_feasible"] for row in rows] == [True, False, True, False]


def test_the_map_says_what_it_leaves_out() -> None:
    verdict = four_kinds()
    assert map_title(verdict) == "best is the best feasible arm"
    assert map_subtitle(verdict, map_rows(verdict)) == [
        "1 deceiver looks better, but past a limit; 100 of 100 pulls; bars: 95% intervals",
        "1 arm could not be judged",
    ]


def test_without_a_feasible_arm_the_nearest_is_named() -> None:
    verdict = make_verdict(
        [make_arm("b", "infeasible", 2.0, 1.0), make_arm("a", "optimal", 1.0, 5.0)]
    )
    assert [(row["name"], row["kind"]) for row in map_rows(verdict)] == [
        ("a", "least infeasible"),
        ("b", "infeasible"),
    ]
    assert map_title(verdict) == "No arm is feasible; a comes nearest"
    close = make_verdict(verdict.arms, verdict="too-close-to-call")
    assert map_title(close) == "Too close to call: a comes nearest"


def test_distances_are_in_half_widths_of_intervals() -> None:
    verdict = four_kinds()
    far, best, tempting, hopeless, _ = verdict.arms
    assert distance(verdict, best, best) == 0.0
    assert distance(verdict, far, best) == pytest.approx(2.0 / math.hypot(0.5, 0.5))
    assert distance(verdict, tempting, best) == pytest.approx(0.3 / 0.1)
    assert distance(verdict, hopeless, best) == pytest.approx(max(9.0, 3.0 / math.hypot(0.5, 0.5)))


def test_exact_arms_are_infinitely_far_unless_they_tie() -> None:
    def exact(name: str, kind: Any, value: float) -> Any:
        arm = make_arm(name, kind, -1.0, value, margin_low=-1.0, margin_high=-1.0)
        one = arm.estimates["mean(loss)"]
        return type(arm)(
            **{**vars(arm), "estimates": {"mean(loss)": type(one)(value, value, value)}}
        )

    best, tied, other = (
        exact("a", "optimal", 1.0),
        exact("b", "feasible-suboptimal", 1.0),
        exact("c", "feasible-suboptimal", 2.0),
    )
    verdict = make_verdict([other, tied, best])
    assert distance(verdict, tied, best) == 0.0
    assert distance(verdict, other, best) == math.inf
    assert [row["name"] for row in map_rows(verdict)] == ["a", "b", "c"]


def test_of_a_thousand_arms_every_kind_is_drawn_the_nearest_first() -> None:
    arms = [make_arm("best", "optimal", -0.1, 0.0)]
    arms += [make_arm(f"f{k}", "feasible-suboptimal", -1.0, 1.0 + k) for k in range(700)]
    arms += [make_arm(f"d{k}", "deceiver", 1.0 + k, -1.0) for k in range(9)]
    arms += [make_arm(f"i{k}", "infeasible-suboptimal", 1.0, 1.0 + k) for k in range(290)]
    verdict = make_verdict(arms)
    rows = map_rows(verdict)
    assert len(rows) == 300
    assert rows[0]["is_answer"]
    assert [row["name"] for row in rows[1:7]] == ["d0", "f0", "i0", "d1", "f1", "i1"]
    assert sum(row["kind"] == "deceiver" for row in rows) == 9
    assert map_subtitle(verdict, rows)[1] == "700 arms further from the answer not drawn"


def test_one_arm_is_a_map() -> None:
    verdict = make_verdict([make_arm("only", "optimal", -0.3, 1.0)])
    assert [row["name"] for row in map_rows(verdict)] == ["only"]
    assert answer_of(verdict) is verdict.arms[0]


def test_every_kind_has_its_place_in_the_legend() -> None:
    assert sorted(KINDS) == sorted(LEGEND)


# ------------------------------------------------------------------ names and where they go


def test_long_names_are_cut_in_the_middle() -> None:
    assert shortened("short") == "short"
    cut = shortened("a" * 100 + "z" * 100, 22)
    assert (len(cut), cut) == (22, "a" * 14 + "…" + "z" * 7)


def test_the_shown_range_holds_all_points_and_not_every_interval() -> None:
    low, high = bounds([0.0, 10.0], [-100.0, 9.0], [1.0, 11.0])
    assert low == pytest.approx(-4.0 - 0.07 * 15.0)
    assert high == pytest.approx(11.0 + 0.07 * 15.0)
    assert bounds([2.0], [1.0], [4.0])[0] < 1.0
    assert bounds([0.0], [0.0], [0.0]) == (-1.0, 1.0)
    assert bounds([5.0, 5.0], [5.0], [5.0]) == (4.5, 5.5)


@pytest.mark.parametrize("crowd", [1, 30, 300])
def test_names_touch_neither_each_other_nor_a_mark(crowd: int) -> None:
    rng = np.random.default_rng(crowd)
    rows = [
        {"name": f"arm number {k}", "x": x, "y": y, "phase": k if k % 2 else None}
        for k, (x, y) in enumerate(rng.random((crowd, 2)).tolist())
    ]
    frame = Frame(-0.1, 1.1, -0.1, 1.1, 640, 380)
    placed = labelled(rows, frame)
    boxes = [
        _box(frame.place(row["x"], row["y"]), row["label"], row["side"])
        for row in placed
        if row["label"]
    ]
    assert placed[0]["label"] == "arm number 0"
    assert 1 <= len(boxes) <= MOST_LABELS
    for k, one in enumerate(boxes):
        assert 0.0 <= one[0] < one[2] <= 640.0
        assert 0.0 <= one[1] < one[3] <= 380.0
        for other in boxes[:k]:
            assert (
                one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
            )
    free = boxes if crowd < 300 else boxes[1:]  # in a crowd the first name lies on some marks
    for row in placed:
        x, y = frame.place(row["x"], row["y"])
        assert not any(a < x < c and b < y < d for a, b, c, d in free)


def test_arms_at_one_place_leave_room_for_few_names() -> None:
    rows = [{"name": f"arm {k}", "x": 0.5, "y": 0.5} for k in range(9)]
    named = [row for row in labelled(rows, Frame(0.0, 1.0, 0.0, 1.0, 640, 380)) if row["label"]]
    assert len(named) <= 4


def test_a_name_avoids_the_limit_where_it_can() -> None:
    rows = [{"name": "a name of an arm", "x": 0.49, "y": 0.5}]
    frame = Frame(0.0, 1.0, 0.0, 1.0, 640, 380)
    assert labelled(rows, frame)[0]["side"] == "upper right"
    assert labelled(rows, frame, [(317.0, 0.0, 323.0, 380.0)])[0]["side"] == "upper left"


def test_names_at_the_ends_of_lines_are_spread() -> None:
    assert spread([], 10.0, 0.0, 100.0) == []
    assert spread([50.0], 10.0, 0.0, 100.0) == [50.0]
    assert spread([50.0, 50.0], 10.0, 0.0, 100.0) == [45.0, 55.0]
    assert spread([80.0, 20.0], 10.0, 0.0, 100.0) == [80.0, 20.0]
    assert spread([100.0, 100.0, 100.0], 10.0, 0.0, 100.0) == [80.0, 90.0, 100.0]
    assert spread([0.0, -5.0], 10.0, 0.0, 100.0) == [10.0, 0.0]


def test_spread_names_keep_their_order_and_distance() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        wanted = (100.0 * rng.random(rng.integers(1, 10))).round(0).tolist()
        places = spread(wanted, 10.0, 0.0, 100.0)
        ordered = [places[i] for i in np.argsort(wanted, kind="stable")]
        assert min(np.diff(ordered), default=10.0) >= 10.0 - 1e-9
        assert min(places) >= 0.0
        assert max(places) <= 100.0 + 1e-9


# ------------------------------------------------------------------ stretches of pulls


def test_stretches_add_up() -> None:
    rounds = make_rounds([[4, 4], [2, 0], [1, 1], [0, 0]])
    assert stretches(rounds) == [
        Stretch(0, 8, (4, 4)),
        Stretch(8, 10, (2, 0)),
        Stretch(10, 12, (1, 1)),
    ]
    assert stretches(rounds, 1) == [Stretch(0, 12, (7, 5))]
    assert stretches([]) == []


def test_stretches_of_thinned_rounds_lose_no_pull() -> None:
    rounds = make_rounds([[5, 5]] + [[k % 2, 1 - k % 2] for k in range(90)] + [[0, 0]])
    for kept in (rounds, rounds[::7] + rounds[-1:]):
        cut = stretches(kept, 4)
        assert len(cut) == 4
        assert [sum(one.pulls[arm] for one in cut) for arm in (0, 1)] == [50, 50]
        assert all(sum(one.pulls) == one.end - one.start for one in cut)
        assert max(one.end - one.start for one in cut) <= 32


def test_the_pulls_before_a_round() -> None:
    rounds = make_rounds([[4, 4], [2, 0], [1, 1], [0, 0]])
    assert [first_pull_after(rounds, number) for number in range(5)] == [0, 8, 10, 12, 12]
    assert first_pull_after(rounds[::3], 1) == 12
    assert first_pull_after([], 1) == 0


# ------------------------------------------------------------------ timeline and allocation

NAMES = ("far", "best", "tempting", "hopeless", "broken")
PHASES = [[5, 5, 5, 5, 3], [0, 5, 5, 5, 0], [0, 10, 5, 0, 0], [0, 0, 0, 0, 0]]


def test_a_phase_policys_timeline_ends_where_arms_left() -> None:
    plan, rounds = make_plan(NAMES), make_rounds(PHASES)
    rows = timeline_rows(plan, four_kinds(), rounds)
    assert [(row["name"], row["end"], row["fate"], row["note"]) for row in rows] == [
        ("best", 53, "the answer", "the answer"),
        ("tempting", 53, "in the running", "in the running"),
        ("hopeless", 38, "rejected", "phase 2, behind tempting"),
        ("broken", 38, "withdrawn", "withdrawn in round 2"),
        ("far", 23, "rejected", "phase 1"),
    ]
    assert [row["place"] for row in rows] == [0, 1, 2, 3, 4]
    assert {row["start"] for row in rows} == {0}
    assert timeline_title(plan, four_kinds(), rows) == "3 arms left; best leads the rest"


def test_a_round_under_way_is_part_of_the_timeline() -> None:
    rows = timeline_rows(make_plan(NAMES), four_kinds(), make_rounds(PHASES[:3]))
    assert rows[0]["end"] == 53


def test_an_adaptive_policys_timeline_shows_shares() -> None:
    verdict = make_verdict(
        [make_arm("a", "optimal", -1.0, 0.0, pulls=7), make_arm("b", None, None, 0.0, pulls=3)]
    )
    plan = make_plan(["a", "b"], "top-two")
    rows = timeline_rows(plan, verdict, make_rounds([[2, 2], [3, 1], [2, 0], [0, 0]]))
    assert [(row["name"], row["start"], row["end"], row["share"]) for row in rows] == [
        ("a", 0, 4, 0.5),
        ("a", 4, 8, 0.75),
        ("a", 8, 10, 1.0),
        ("b", 0, 4, 0.5),
        ("b", 4, 8, 0.25),
    ]
    assert timeline_title(plan, verdict, rows) == "a took 100% of the latest pulls"


@pytest.mark.parametrize("policy", ["constrained-sr", "top-two"])
def test_before_the_first_round_there_is_nothing_to_show(policy: str) -> None:
    plan, verdict = make_plan(NAMES, policy), four_kinds()
    assert timeline_rows(plan, verdict, []) == []
    assert allocation_rows(plan, verdict, []) == []
    assert evidence_rows(plan, verdict, []) == []
    assert timeline_title(plan, verdict, []) == "No pulls yet"
    assert allocation_title(verdict, [], 0) == "No pulls yet"
    assert evidence_title([]) == "No round has been decided yet"


def test_many_arms_are_cut_off_and_the_answer_stays() -> None:
    arms = [make_arm(f"a{k}", "feasible-suboptimal", -1.0, 1.0) for k in range(100)]
    arms.append(make_arm("last", "optimal", -1.0, 0.0))
    names = [arm.name for arm in arms]
    rounds = make_rounds([[9] * 100 + [1]])
    for policy in ("uniform", "top-two"):
        plan = make_plan(names, policy, budget=1000)
        drawn = {row["name"] for row in timeline_rows(plan, make_verdict(arms), rounds)}
        assert (len(drawn), "last" in drawn) == (40, True)
        drawn = {row["name"] for row in allocation_rows(plan, make_verdict(arms), rounds)}
        assert (len(drawn), "last" in drawn) == (40, True)


def test_the_allocation_of_phases() -> None:
    plan, verdict, rounds = make_plan(NAMES), four_kinds(), make_rounds(PHASES)
    assert parts_of(plan, rounds) == ["phase 1", "phase 2", "phase 3"]
    rows = allocation_rows(plan, verdict, rounds)
    found = [(row["name"], row["when"], row["pulls"], row["total"]) for row in rows]
    assert found[:4] == [
        ("best", "phase 1", 5, 20),
        ("best", "phase 2", 5, 20),
        ("best", "phase 3", 10, 20),
        ("tempting", "phase 1", 5, 15),
    ]
    assert sum(row["pulls"] for row in rows) == 53
    assert allocation_title(verdict, rows, 53) == "best, the answer, was given 38% of the pulls"


def test_the_allocation_of_an_adaptive_policy_is_by_quarters() -> None:
    verdict = make_verdict(
        [make_arm("a", "optimal", -1.0, 0.0), make_arm("b", "infeasible-suboptimal", 1.0, 1.0)]
    )
    rounds = make_rounds([[5, 5]] + [[1, 0]] * 30 + [[0, 0]])
    plan = make_plan(["a", "b"], "top-two")
    parts = ["pulls 1 to 10", "pulls 11 to 20", "pulls 21 to 30", "pulls 31 to 40"]
    assert parts_of(plan, rounds) == parts
    rows = allocation_rows(plan, verdict, rounds)
    assert [(row["name"], row["part"], row["pulls"]) for row in rows] == [
        ("a", 0, 5), ("a", 1, 10), ("a", 2, 10), ("a", 3, 10), ("b", 0, 5),
    ]  # fmt: skip


def test_an_even_allocation_is_said_to_be_even() -> None:
    verdict = make_verdict(
        [make_arm("a", "optimal", -1.0, 0.0), make_arm("b", "infeasible-suboptimal", 1.0, 1.0)]
    )
    rows = allocation_rows(make_plan(["a", "b"], "uniform"), verdict, make_rounds([[50, 50]]))
    assert allocation_title(verdict, rows, 100) == "Every arm was given 50 pulls"


# ------------------------------------------------------------------ evidence


def seen(estimates: Any, counts: Any, scales: Any) -> dict[str, Any]:
    return {"estimates": estimates, "counts": counts, "scales": scales, "budget": 9, "spent": 0}


def plain_verdict(*kinds: Any) -> Any:
    return make_verdict(
        [make_arm(f"arm {k}", kind, 0.0, 0.0) for k, kind in enumerate(kinds)], feasible=True
    )


# Variances 2 and 0.5: scales are sqrt(1 / (2 V)).
SCALES = [0.5, 1.0000001]


def test_evidence_by_hand_when_the_leader_looks_feasible() -> None:
    """V = 1/(2 scale^2): lead^2 / (2 (V0/n + V0/n')) for an arm inside, its excess for one out."""
    scales = [0.5, 0.8]
    noise = [2.0, 0.5 / 0.64]
    estimates = [[1.0, 0.4], [3.0, 0.0], [0.0, 1.5]]
    verdict = plain_verdict("optimal", "feasible-suboptimal", "deceiver")
    plan = make_plan([arm.name for arm in verdict.arms], "top-two")
    rounds = make_rounds(
        [[4, 4, 4], [8, 4, 6], [0, 0, 0]],
        [{}, seen(estimates, [4, 4, 4], scales), seen(estimates, [12, 8, 10], scales)],
    )
    rows = evidence_rows(plan, verdict, rounds)
    found = {(row["name"], row["pulls"]): row["evidence"] for row in rows}
    for pulls, (a, b, c) in {12: (4, 4, 4), 30: (12, 8, 10)}.items():
        assert found[FLAG, pulls] == pytest.approx(a * 0.6**2 / (2 * noise[1]))
        joint = noise[0] * (1 / a + 1 / b)
        assert found["arm 1", pulls] == pytest.approx(2.0**2 / (2 * joint))
        assert found["arm 2", pulls] == pytest.approx(c * 0.5**2 / (2 * noise[1]))
    assert {row["leader"] for row in rows} == {"arm 0"}
    order = {row["series"]: row["name"] for row in rows}
    assert order == {0: FLAG, 1: "arm 2", 2: "arm 1"}
    assert evidence_title(rows) == "arm 2 is the closest challenger: 1.6 nats against it"


def test_evidence_by_hand_when_nothing_looks_feasible() -> None:
    verdict = make_verdict(
        [make_arm("near", "optimal", 0.4, 0.0), make_arm("off", "infeasible", 2.0, 0.0)]
    )
    plan = make_plan(["near", "off"])
    rounds = make_rounds([[4, 4], [0, 0]], [{}, seen([[0.0, 1.4], [0.0, 3.0]], [4, 4], [0.5, 0.8])])
    rows = evidence_rows(plan, verdict, rounds)
    noise = 0.5 / 0.64
    assert [(row["name"], row["evidence"]) for row in rows] == [
        (FLAG, pytest.approx(4 * 0.4**2 / (2 * noise))),
        ("off", pytest.approx(1.6**2 / (2 * noise * 0.5))),
    ]
    assert evidence_title(rows) == "The closest call is whether near is feasible: 0.41 nats"


def test_an_arm_that_leads_has_no_evidence_against_it() -> None:
    verdict = plain_verdict("optimal", "feasible-suboptimal")
    plan = make_plan(["arm 0", "arm 1"], "top-two")
    rounds = make_rounds(
        [[4, 4], [4, 4], [0, 0]],
        [
            {},
            seen([[3.0, 0.0], [1.0, 0.0]], [4, 4], [0.5, 0.8]),
            seen([[1.0, 0.0], [2.0, 0.0]], [8, 8], [0.5, 0.8]),
        ],
    )
    rows = [row for row in evidence_rows(plan, verdict, rounds) if row["series"] == 1]
    assert [(row["name"], row["leader"]) for row in rows] == [
        ("arm 1", "arm 1"),
        ("arm 1", "arm 0"),
    ]
    assert rows[0]["evidence"] == 0.0
    assert rows[1]["evidence"] > 0.0


def test_what_never_varied_gives_no_row() -> None:
    """The constraint is exact, so neither the flag nor an infeasible arm can be moved by chance."""
    verdict = plain_verdict("optimal", "deceiver", "feasible-suboptimal")
    plan = make_plan(["arm 0", "arm 1", "arm 2"], "top-two")
    known = seen([[1.0, 0.5], [0.0, 2.0], [2.0, 0.5]], [4, 4, 4], [0.5, 1.0])
    rows = evidence_rows(plan, verdict, make_rounds([[4, 4, 4], [0, 0, 0]], [{}, known]))
    assert [row["name"] for row in rows] == ["arm 2"]


def test_withdrawn_and_unseen_arms_are_no_challengers() -> None:
    verdict = make_verdict(
        [
            make_arm("a", "optimal", -1.0, 0.0),
            make_arm("gone", None, None, 0.0, phase=1, left=BROKE),
            make_arm("hardly", None, None, 0.0),
            make_arm("b", "feasible-suboptimal", -1.0, 1.0),
        ]
    )
    plan = make_plan(["a", "gone", "hardly", "b"], "top-two")
    estimates = [[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [1.0, 0.0]]
    known = seen(estimates, [4, 4, 1, 4], [0.5, 0.8])
    rows = evidence_rows(plan, verdict, make_rounds([[4] * 4, [0] * 4], [{}, known], left={1: [1]}))
    assert [row["name"] for row in rows] == [FLAG, "b"]


def test_evidence_is_bounded_however_long_a_study_was() -> None:
    names = [f"arm {k}" for k in range(20)]
    verdict = plain_verdict("optimal", *["feasible-suboptimal"] * 19)
    plan = make_plan(names, "top-two", budget=10_000)
    estimates = [[0.1 * k, 0.0] for k in range(20)]
    allocations = [[2] * 20] + [[1] + [0] * 19] * 999
    known: list[dict[str, Any]] = [{}] + [
        seen(estimates, [2 + k] + [2] * 19, SCALES) for k in range(999)
    ]
    rounds = make_rounds(allocations, known)
    rows = evidence_rows(plan, verdict, rounds)
    assert len({row["pulls"] for row in rows}) == 200
    assert {row["name"] for row in rows} == {FLAG, *names[1:9]}
    assert rows[0]["pulls"] == rounds[1].first - 1
    assert rows[-1]["pulls"] == rounds[-1].first - 1


def test_thinning_keeps_both_ends() -> None:
    rounds = make_rounds([[1, 1]] * 1000)
    assert thinned(rounds[:5]) == rounds[:5]
    kept = thinned(rounds, 10)
    assert (len(kept), kept[0].number, kept[-1].number) == (10, 0, 999)


# ------------------------------------------------------------------ axes


@pytest.mark.parametrize(
    ("points", "anchors", "wanted"),
    [
        ([1.0, 2.0, 3.0, 50.0], [], [0, 0, 0, 1]),
        ([1.0, -60.0, 2.0, 3.0], [], [0, -1, 0, 0]),
        ([1.0, 2.0, 3.0, 4.0, 1.5, 50.0, 51.0], [], [0, 0, 0, 0, 0, 1, 1]),
        ([1.0, 2.0, 3.0, 4.0, 1.5, 50.0, -40.0], [], [0, 0, 0, 0, 0, 1, -1]),
        ([1.0, 2.0, 3.0, 50.0], [60.0], [0, 0, 0, 0]),  # an anchor is drawn whatever it costs
        ([1.0, 2.0, 3.0, 8.0], [], [0, 0, 0, 0]),  # they have room enough
        ([1.0, 50.0], [], [0, 0]),  # nobody is squeezed
        ([1.0, 1.0, 1.0, 50.0], [], [0, 0, 0, 0]),  # nothing would be seen without it
        ([1.0, 1.0, 1.0, 50.0], [0.0], [0, 0, 0, 1]),
        ([], [0.0], []),
    ],
)
def test_a_far_point_is_beyond_the_others(
    points: list[float], anchors: list[float], wanted: list[int]
) -> None:
    assert list(beyond(points, anchors)) == wanted
    shifted = beyond([7.0 - 3.0 * one for one in points], [7.0 - 3.0 * one for one in anchors])
    assert list(shifted) == [-one for one in wanted]


def test_wide_intervals_need_room_so_nothing_is_far_beside_them() -> None:
    points = [1.0, 2.0, 3.0, 50.0]
    assert list(beyond(points, (), 30.0)) == [0, 0, 0, 0]
    assert list(beyond(points, (), 3.0)) == [0, 0, 0, 1]


@pytest.mark.parametrize(
    ("value", "signed", "wanted"),
    [(48.312, False, "48.3 →"), (1697.0, True, "+1,697 →"), (-2e12, True, "-2e+12 →"),
     (-0.0421, True, "-0.0421 →")],
)  # fmt: skip
def test_what_is_far_is_said_in_digits(value: float, *, signed: bool, wanted: str) -> None:
    assert how_far(value, "→", signed=signed) == wanted


def test_an_axis_reaches_to_what_is_near_and_no_further() -> None:
    points = [1.0, 2.0, 3.0, 500.0]
    reach = reach_of(points, [p - 0.1 for p in points], [p + 0.1 for p in points], [0.0])
    assert list(reach.beyond) == [0, 0, 0, 1]
    assert -1.0 < reach.low < 0.0
    assert 3.1 < reach.high < 4.0
    near = points[:3]
    same = reach_of(near, [p - 0.1 for p in near], [p + 0.1 for p in near], [0.0])
    assert (same.low, same.high) == (reach.low, reach.high)


# ------------------------------------------------------------------ shares in words


@pytest.mark.parametrize("most", [1.0, 0.9, 1 / 3, 0.2, 0.016, 0.0004, 2e-7])
def test_levels_of_a_share_are_told_apart_however_small_it_is(most: float) -> None:
    shares = [most * k / 40.0 for k in range(1, 41)]
    rows = [{"share": share} for share in shares]
    levels = share_levels(rows)
    assert 2 <= len(levels) == len({*levels}) <= 5
    tops = [float(one.removeprefix("up to ").removesuffix("%")) / 100.0 for one in levels]
    for row in rows:
        k = levels.index(str(row["level"]))
        assert (tops[k - 1] if k else 0.0) - 1e-12 <= row["share"] <= tops[k] * (1.0 + 1e-9)


def test_without_strips_there_are_no_levels() -> None:
    assert share_levels([]) == []
