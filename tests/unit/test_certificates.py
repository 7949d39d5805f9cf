"""Certificates of live studies: what is proven of stored pulls, by what, and what holds it up."""

import importlib.util
import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ringfence as rf
from ringfence.core.certificate import Kind
from ringfence.core.proving import Hindrance
from ringfence.interfaces.leases import Pull
from ringfence.interfaces.proofs import proof_on
from ringfence.interfaces.studies import Study
from ringfence.reports.certificate import (
    certificate_document,
    certificate_lines,
    certificate_sentence,
)
from ringfence.reports.proof import proof_document
from ringfence.study.certificates import Assumed, Certificate, Explored, ProofStep
from ringfence.study.facts import Harvest, PullFact, State
from ringfence.study.paths import Gap, Held, walked

Answer = Callable[[Pull], dict[str, float] | None]
SHARES = {"solved": {"bounds": [0, 1]}, "unsafe": {"bounds": [0, 1]}}
GOOD = {"old": (0.3, 0.1), "new": (0.9, 0.1), "wild": (0.95, 0.9)}


def made(budget: int = 600, **changes: Any) -> Study:
    plain: dict[str, Any] = {
        "arms": list(GOOD),
        "objective": "maximize mean(solved)",
        "constraints": "mean(unsafe) <= 0.5",
        "noise": SHARES,
        "budget": budget,
        "policy": "uniform",
        "storage": "memory://",
        "seed": 1,
    }
    return Study.create("s", **plain | changes)


def random_answer(pull: Pull) -> dict[str, float]:
    """Answer as `GOOD` says, by chance."""
    rng = np.random.default_rng(pull.seed)
    solved, unsafe = GOOD[pull.arm]
    return {"solved": float(rng.random() < solved), "unsafe": float(rng.random() < unsafe)}


def told(study: Study, answer: Answer = random_answer) -> Study:
    """Tell every pull, or fail it where there is no answer."""
    while pulls := study.ask(50):
        for pull in pulls:
            values = answer(pull)
            if values is None:
                study.fail(pull, "no answer")
            else:
                study.tell(pull, values)
    return study


def claim_of(found: Certificate, kind: Kind, arm: str, limit: str | None = None) -> ProofStep:
    claims = [*found.open, *found.settled]
    return next(x for x in claims if (x.kind, x.arm) == (kind, arm) and limit in (None, x.limit))


# ------------------------------------------------------------------------------ what is proven


def test_the_best_feasible_arm_is_certified() -> None:
    found = told(made()).certificate()
    assert (found.status, found.arm, found.answer) == ("certified", "new", ("new",))
    assert found.rests_on == {"solved": "exact", "unsafe": "exact"}
    assert found.open == ()
    assert {(one.kind, one.arm) for one in found.settled} == {
        ("keeps", "new"), ("no-better", "old"), ("breaks", "wild"),
    }  # fmt: skip
    assert all(one.settled for one in found.settled)
    assert claim_of(found, Kind.NO_BETTER, "old").rival == "new"
    assert (Assumed.STEADY, None) in found.assumes
    assert certificate_sentence(found) == "Certified at 95%: new is the best feasible arm."


def test_with_few_pulls_the_questions_are_open_and_say_what_they_need() -> None:
    found = told(made(30)).certificate()
    assert found.status == "open"
    assert {one.kind for one in found.open} <= set(Kind)
    for one in found.open:
        assert not one.settled
        assert one.e is not None
        assert one.e < 1.0 / one.level
    needs = [one.needs for one in found.open if one.needs is not None]
    assert needs
    assert all(0 < one < 10_000 for one in needs)
    lines = certificate_lines(found)
    assert any("more pulls" in line for line in lines)


def test_what_is_needed_is_about_what_it_takes() -> None:
    """Of an arm whose path goes on as it began, alternating, the promise comes true."""
    steady = {"old": 0.0, "new": 1.0, "wild": 0.0}

    def answer(pull: Pull) -> dict[str, float]:
        return {"solved": steady[pull.arm], "unsafe": float(pull.ordinal % 5 == 0)}

    study = told(made(45), answer)
    keeps = claim_of(study.certificate(), Kind.KEEPS, "new")
    assert keeps.needs is not None
    assert 0 < keeps.needs < 100
    more = told(made(45 + 3 * math.ceil(1.3 * keeps.needs)), answer)
    assert claim_of(more.certificate(), Kind.KEEPS, "new").settled


def test_levels_are_split_between_arms_and_limits() -> None:
    """Kept and no better at delta/K, broken at delta/(K m): section by section of the proof."""
    study = told(made(constraints=["mean(unsafe) <= 0.5", "mean(solved) >= 0.2"]))
    levels = {one.kind: one.level for one in study.certificate(0.9).settled}
    assert levels == {
        Kind.KEEPS: pytest.approx(0.1 / 3), Kind.NO_BETTER: pytest.approx(0.1 / 3),
        Kind.BREAKS: pytest.approx(0.1 / 6),
    }  # fmt: skip


def test_no_feasible_arm_is_certified_as_such() -> None:
    found = told(made(), lambda pull: {"solved": 1.0, "unsafe": 1.0}).certificate()
    assert (found.status, found.arm, found.answer) == ("none-feasible", None, ())
    assert [one.kind for one in found.settled] == ["breaks"] * 3
    assert not found.is_proven


def test_all_feasible_arms_are_certified() -> None:
    study = told(made(answer="all feasible"))
    found = study.certificate()
    assert (found.status, found.arm, found.answer) == ("certified", None, ("old", "new"))
    assert "old, new keep their limits" in certificate_sentence(found)
    few = told(made(30, answer="all feasible")).certificate()
    assert few.status == "open"
    assert {one.kind for one in few.open} <= {"keeps", "breaks"}


def test_arms_that_are_level_are_equivalent_within_a_distance() -> None:
    def answer(pull: Pull) -> dict[str, float]:
        return {"solved": float((pull.ordinal + (pull.arm == "old")) % 2), "unsafe": 0.0}

    study = told(made(1200), answer)
    assert study.certificate().status == "open"
    found = study.certificate(within=0.2)
    assert found.status == "equivalent"
    assert found.within == 0.2
    assert "better by more than 0.2" in certificate_sentence(found)
    best = told(made()).certificate(within=0.2)
    assert (best.status, best.arm) == ("certified", "new")


def test_minimised_objectives_and_lower_limits_are_turned() -> None:
    found = told(
        made(
            objective="minimize mean(unsafe)",
            constraints="mean(solved) >= 0.5",
        )
    ).certificate()
    assert (found.status, found.arm) == ("certified", "new")
    assert claim_of(found, Kind.BREAKS, "old").limit == "mean(solved) >= 0.5"


def test_a_limit_on_a_quantile_is_one_on_a_share_and_exact() -> None:
    def answer(pull: Pull) -> dict[str, float]:
        late = pull.arm == "wild" and pull.ordinal % 2 == 0
        return {"solved": GOOD[pull.arm][0] > 0.5, "latency": 1e9 if late else 100.0 + pull.ordinal}

    study = made(constraints="p90(latency) <= 1000", noise={"solved": {"bounds": [0, 1]}})
    found = told(study, answer).certificate()
    assert (found.status, found.arm) == ("certified", "new")
    assert found.rests_on == {"solved": "exact", "latency": "exact"}


def test_a_limit_relative_to_the_baseline_goes_by_differences() -> None:
    limits = "mean(unsafe) <= baseline + 0.2"
    study = told(made(900, constraints=limits, baseline="old"))
    found = study.certificate()
    assert (found.status, found.arm) == ("certified", "new")
    limit = study.desk.plan.problem.constraints[0]
    assert claim_of(found, Kind.BREAKS, "wild").limit == str(limit)
    itself = told(made(30, constraints=limits, baseline="old")).certificate()
    kept = [one for one in (*itself.open, *itself.settled) if one.arm == "old"]
    assert all(one.kind != Kind.KEEPS or one.certain for one in kept)


def test_evidence_on_several_limits_is_not_multiplied() -> None:
    """Neither limit is proven broken, and one that is proven kept proves nothing of the other."""
    pulls = 12

    def answer(pull: Pull) -> dict[str, float]:
        return {"solved": float(pull.ordinal % 4 > 0), "unsafe": float(pull.ordinal % 4 > 0)}

    limits = ["mean(unsafe) <= 0.3", "mean(solved) <= 0.3"]
    study = told(made(3 * pulls, constraints=limits), answer)
    evidence = [proof_on(study.desk).prover.breaks(0, c) for c in (0, 1)]
    level = -math.log(0.05 / 6)
    assert max(one.peak for one in evidence) < level < sum(one.peak for one in evidence)
    assert study.certificate().status == "open"
    apart = ["mean(unsafe) <= 0.5", "mean(solved) <= 0.6"]
    found = told(made(900, constraints=apart, answer="all feasible"), lambda pull: {
        "solved": float(pull.ordinal % 5 < 3), "unsafe": 0.0,
    }).certificate()  # fmt: skip
    assert found.answer == ()
    assert found.status == "open"


# ------------------------------------------------------------------------------ what holds it up


def path_length(study: Study, arm: str) -> int:
    paths = proof_on(study.desk).walked
    return len(paths[study.require_arm(arm)].pulls)


def held(study: Study, arm: str) -> Gap | None:
    one = proof_on(study.desk).walked[study.require_arm(arm)].held
    return None if one is None else one.gap


def test_a_pull_in_flight_holds_up_all_that_came_after_it() -> None:
    """Wrong answers that take longer would otherwise be passed over until it is too late."""
    study = made()
    slow = None
    for pull in study.ask(90):
        if (pull.arm, pull.ordinal) == ("new", 4):
            slow = pull
        else:
            study.tell(pull, random_answer(pull))
    assert slow is not None
    assert path_length(study, "new") == 4
    assert path_length(study, "old") == 30
    assert held(study, "new") == Gap.IN_FLIGHT
    claim = claim_of(study.certificate(), Kind.KEEPS, "new")
    assert claim.held["new"].pull == slow.pull
    assert any(
        f"pull {slow.pull} of new is in flight" in x for x in certificate_lines(study.certificate())
    )
    study.tell(slow, random_answer(slow))
    assert path_length(study, "new") == 30
    assert held(study, "new") is None


def test_a_lost_pull_holds_its_arm_up_for_good() -> None:
    study = made()
    for pull in study.ask(90):
        if (pull.arm, pull.ordinal) == ("old", 7):
            study.lost(pull)
        else:
            study.tell(pull, random_answer(pull))
    assert path_length(study, "old") == 7
    assert held(study, "old") == Gap.LOST
    told(study)
    assert path_length(study, "old") == 7


def test_a_pull_that_is_not_there_is_not_skipped() -> None:
    study = made()
    pulls = [
        PullFact(n + 1, 0, ordinal, 0, State.TOLD, 1, 9.0, values=(1.0, 0.0))
        for n, ordinal in enumerate([1, 0, 3])
    ]
    first, *_ = walked(study.desk.plan, Harvest.of(pulls, 2))
    assert first.pulls.tolist() == [2, 1]
    assert first.held == Held(3, Gap.IN_FLIGHT)


def test_a_failure_enters_as_what_is_told_in_its_place() -> None:
    study = made(on_failure={"solved": 0.0, "unsafe": 1.0})
    told(study, lambda pull: None if pull.arm == "new" else random_answer(pull))
    found = study.certificate()
    assert claim_of(found, Kind.BREAKS, "new").settled


def failing_wrong(pull: Pull) -> dict[str, float] | None:
    """Fail where the answer would have been unsafe."""
    found = random_answer(pull)
    return None if found["unsafe"] and pull.arm == "wild" else found


def test_failures_without_a_stand_in_count_as_the_worst_for_each_test() -> None:
    """An arm that fails where it would break its limit would keep it by what was told."""
    study = told(made(max_failures=1000), failing_wrong)
    wild = study.require_arm("wild")
    prover = proof_on(study.desk).prover
    kept, broken = prover.keeps(wild, 0), prover.breaks(wild, 0)
    assert kept.count == broken.count == 200
    assert max(kept.peak, broken.peak) < math.log(3 / 0.05)
    assert study.certificate().status == "open"
    assert proof_on(study.desk).prover.no_better(wild, study.require_arm("new")).log_e < 0.0


def test_failures_of_a_metric_without_bounds_leave_the_test_open_and_say_so() -> None:
    def answer(pull: Pull) -> dict[str, float] | None:
        if pull.ordinal == 3:
            return None
        rng = np.random.default_rng(pull.seed)
        return {"solved": rng.normal(GOOD[pull.arm][0]), "unsafe": 0.0}

    study = told(made(noise={"unsafe": {"bounds": [0, 1]}}), answer)
    claim = claim_of(study.certificate(), Kind.NO_BETTER, "old")
    assert claim.hindrance == Hindrance.FAILURES
    assert claim.needs is None
    assert any("nothing bounds" in line for line in certificate_lines(study.certificate()))


def test_a_failure_is_known_to_be_one() -> None:
    """Nothing else is told of it, and limits on the built-in metric need no more."""

    def answer(pull: Pull) -> dict[str, float] | None:
        failed = pull.ordinal % 2 and pull.arm == "wild"
        return None if failed else {"solved": GOOD[pull.arm][0] > 0.5}

    changes: dict[str, Any] = {
        "constraints": "mean(failed) <= 0.1",
        "noise": {"solved": {"bounds": [0, 1]}},
        "max_failures": 1000,
    }
    found = told(made(300, **changes), answer).certificate()
    assert claim_of(found, Kind.BREAKS, "wild").settled
    assert (found.status, found.arm) == ("certified", "new")


def test_a_withdrawn_arm_stays_a_question() -> None:
    study = told(made(), lambda pull: None if pull.arm == "wild" else random_answer(pull))
    found = study.certificate()
    assert found.status == "open"
    assert {one.arm for one in found.open} == {"wild"}
    assert found.answer == ("new",)


def test_observations_that_were_brought_along_are_not_evidence_and_make_it_exploratory() -> None:
    study = made(30)
    past = {"arm": ["new"] * 500, "solved": [1.0] * 500, "unsafe": [0.0] * 500}
    study.bring(past, arm="arm", label="before")
    found = told(study).certificate()
    assert found.exploratory == (Explored.BROUGHT,)
    assert claim_of(found, Kind.KEEPS, "new").blocks == 10
    assert told(made(30)).certificate(0.9).exploratory == (Explored.LEVEL,)
    assert any("Exploratory" in line for line in certificate_lines(found))


# ------------------------------------------------------------------------------ items


def test_a_tie_of_all_items_is_certified() -> None:
    """29 of 100 at a limit of 0.29 keep it, and two arms that solve as many are both the best."""
    table = np.zeros((100, 2))
    table[:29] = 1.0

    def answer(pull: Pull) -> dict[str, float]:
        turned = pull.item if pull.arm == "old" else 99 - pull.item
        return {"solved": table[turned, 0], "unsafe": table[pull.item, 1]}

    blocks = {"items": 100, "scope": "these"}
    study = made(300, constraints="mean(unsafe) <= 0.29", blocks=blocks)
    found = told(study, answer).certificate()
    assert found.status == "certified"
    assert all(one.certain or one.settled for one in found.settled)
    assert found.blocks == 100
    assert (Assumed.ONE_ANSWER, None) in found.assumes
    such = made(300, constraints="mean(unsafe) <= 0.29", blocks={"items": 100})
    assert told(such, answer).certificate().status == "open"


def test_repeats_of_an_item_are_one_average() -> None:
    blocks = {"items": 50, "repeats": 4}
    study = told(made(600, blocks=blocks))
    path = proof_on(study.desk).prover.paths[0]
    assert path.sizes.tolist() == [4] * 50
    claim = claim_of(study.certificate(), Kind.KEEPS, "new")
    assert claim.blocks == 50
    values = proof_on(study.desk).prover.observed(0, 0, True).fractions()
    expected = path.values[:, 0].reshape(50, 4).mean(axis=1)
    assert [float(one) for one in values] == expected.tolist()
    open_ = proof_on(told(made(6, blocks=blocks)).desk)
    assert [len(one.sizes) for one in open_.prover.paths] == [0, 0, 0]
    assert [one.ahead for one in open_.walked] == [2, 2, 2]


def test_items_of_a_group_are_one_average_once_all_were_seen() -> None:
    items = [{"q": n, "document": n % 7 if n < 20 else 7} for n in range(30)]
    study = told(made(90, blocks={"items": items, "group": "document"}))
    path = proof_on(study.desk).prover.paths[0]
    assert sorted(path.sizes.tolist()) == [2, 3, 3, 3, 3, 3, 3, 10]
    few = proof_on(told(made(21, blocks={"items": items, "group": "document"})).desk)
    one = few.walked[0]
    assert len(one.pulls) + one.ahead == 7
    assert one.path.sizes.sum() == len(one.pulls) <= 7


def test_pairs_go_by_differences_on_common_items() -> None:
    """Arms that solve the same items but for a few are told apart long before two that do not."""

    def answer(pull: Pull) -> dict[str, float]:
        rng = np.random.default_rng(pull.item)
        threshold = {"old": 0.45, "new": 0.6, "wild": 0.0}[pull.arm]
        return {"solved": float(rng.random() < threshold), "unsafe": 0.0}

    shared = proof_on(told(made(450, blocks={"items": 400}), answer).desk)
    old, new = 0, 1
    evidence = shared.prover.no_better(old, new)
    apart = shared.prover.no_better(new, old)
    assert evidence.log_e > 6.0
    assert apart.log_e < 0.0


# ------------------------------------------------------------------------------ what it rests on


def test_metrics_without_bounds_are_asymptotic_and_stated_noise_is_gaussian() -> None:
    def answer(pull: Pull) -> dict[str, float]:
        rng = np.random.default_rng(pull.seed)
        return {"solved": rng.normal(3.0 * (pull.arm == "new")), "unsafe": rng.normal(-1.0)}

    for noise, basis in (
        ({}, "asymptotic"),
        ({"solved": {"sigma": 1.0}, "unsafe": {"sigma": 1.0}}, "gaussian"),
    ):
        found = told(made(900, noise=noise), answer).certificate()
        assert (found.status, found.arm) == ("certified", "new")
        assert found.rests_on == {"solved": basis, "unsafe": basis}
        assert any(basis in line for line in certificate_lines(found))
    few = told(made(420, noise={}), answer).certificate()
    assert few.status == "open"
    sigmas = {"solved": {"sigma": 1.0}, "unsafe": {"sigma": 1.0}}
    blocks = {"items": 60, "scope": "these"}
    these = told(made(180, noise=sigmas, blocks=blocks), answer).certificate()
    assert these.rests_on == {"solved": "asymptotic", "unsafe": "asymptotic"}
    assert these.status == "certified"


@pytest.mark.parametrize(
    ("limit", "told_as", "basis"),
    [
        ("mean(unsafe) <= 0.5", 0.0, "exact"),
        ("mean(unsafe) <= 5", 0.0, "asymptotic"),
        ("mean(unsafe) <= 0.5", 0.25, "asymptotic"),
        ("mean(unsafe) <= baseline", 0.0, "asymptotic"),
        ("variance(unsafe) <= 5", 0.0, None),
    ],
)
def test_yes_or_no_is_what_nobody_takes_for_more(
    limit: str, told_as: float, basis: str | None
) -> None:
    study = made(60, constraints=limit, noise={}, baseline="old")
    found = told(study, lambda pull: {"solved": pull.ordinal % 2, "unsafe": told_as}).certificate()
    assert found.rests_on == {"solved": "exact", "unsafe": basis}
    assert ((Assumed.YES_OR_NO, "unsafe") in found.assumes) == (basis == "exact")


def test_nothing_is_proven_of_other_statistics_and_it_says_so() -> None:
    found = told(made(objective="maximize p90(solved)")).certificate()
    assert found.status == "open"
    assert claim_of(found, Kind.NO_BETTER, "old").hindrance == Hindrance.STATISTIC
    assert found.rests_on["solved"] is None


def test_a_stated_constant_is_known_by_one_pull_unless_it_varies() -> None:
    def answer(pull: Pull) -> dict[str, float]:
        return random_answer(pull) | {"price": 2.0 if pull.arm == "wild" else 1.0}

    changes: dict[str, Any] = {
        "constraints": "mean(price) <= 1.5",
        "noise": {"exact": ["price"], "solved": {"bounds": [0, 1]}},
    }
    found = told(made(9, **changes), answer).certificate()
    assert claim_of(found, Kind.BREAKS, "wild").certain
    assert found.rests_on["price"] == "exact"

    def varying(pull: Pull) -> dict[str, float]:
        return answer(pull) | {"price": 1.0 + 0.1 * (pull.ordinal % 2)}

    found = told(made(60, **changes), varying).certificate()
    assert {one.hindrance for one in found.open} == {Hindrance.VARIES}


def test_a_metric_that_changed_while_the_study_ran_leaves_its_questions_open() -> None:
    """With items it need not be: arms are compared on the same ones, in one order."""

    def answer(pull: Pull) -> dict[str, float]:
        rng = np.random.default_rng(pull.seed)
        late = 0.5 if pull.ordinal > 150 else 0.0
        solved = float(rng.random() < GOOD[pull.arm][0] - late)
        return {"solved": solved, "unsafe": float(rng.random() < GOOD[pull.arm][1])}

    found = told(made(900), answer).certificate()
    assert found.status == "open"
    claim = claim_of(found, Kind.NO_BETTER, "old")
    assert claim.hindrance == Hindrance.CHANGES
    assert claim_of(found, Kind.KEEPS, "new").settled
    assert any("changed while the study ran" in line for line in certificate_lines(found))
    assert told(made(900), random_answer).certificate().status == "certified"
    shared = told(made(900, blocks={"items": 300}), answer).certificate()
    assert (shared.status, shared.arm) == ("certified", "new")


# ------------------------------------------------------------------------------ refusals


@pytest.mark.parametrize("confidence", [0.5, 1.0, 0.0, 1.5, -1.0, math.nan, True, "0.9", []])
def test_a_confidence_that_is_none_is_refused(confidence: Any) -> None:
    with pytest.raises(rf.InputError, match=r"confidence = .* must be a number between 0.5 and 1"):
        made().certificate(confidence)


def test_percent_are_recognised() -> None:
    with pytest.raises(rf.InputError, match=r"Write 0\.95 for 95%"):
        made().certificate(95)


@pytest.mark.parametrize("within", [-0.1, math.inf, math.nan, "1"])
def test_a_distance_that_is_none_is_refused(within: Any) -> None:
    with pytest.raises(rf.InputError, match="within = "):
        made().certificate(within=within)


def test_a_distance_is_not_for_sets() -> None:
    with pytest.raises(rf.InputError, match="asks for all feasible"):
        made(answer="all feasible").certificate(within=0.1)


def test_a_stored_value_beyond_its_bounds_is_refused_and_not_clipped() -> None:
    study = told(made(30))
    with study.desk.storage.writing("s") as ledger:
        (pull,) = ledger.pulls([4])
        ledger.set_pulls([replace(pull, values=(1.5, 0.0))])
    with pytest.raises(rf.StorageError, match=r"pull 4 has 'solved' = 1\.5, beyond its stated"):
        study.certificate()


def test_hours_are_refused() -> None:
    with pytest.raises(rf.InputError, match=r"has blocks\.every"):
        made(blocks={"every": "1h"}).certificate()


def test_before_the_first_pull_all_is_open() -> None:
    found = made().certificate()
    assert found.status == "open"
    assert found.pulls_used == 0
    json.dumps(certificate_document(found), allow_nan=False)


# ------------------------------------------------------------------------------ checking it


def checker() -> Any:
    path = Path(__file__).parents[2] / "examples/check_certificate.py"
    spec = importlib.util.spec_from_file_location("check_certificate", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CHECKED: dict[str, dict[str, Any]] = {
    "endless": {},
    "these": {"blocks": {"items": 200, "scope": "these"}},
    "repeats": {"blocks": {"items": 200, "repeats": 2}, "budget": 1200},
    "relative": {"constraints": "mean(unsafe) <= baseline + 0.2", "baseline": "old", "budget": 900},
    "two": {"constraints": ["mean(unsafe) <= 0.5", "mean(solved) >= 0.5"]},
    "set": {"answer": "all feasible"},
    "none": {"constraints": ["mean(solved) >= 0.99", "mean(unsafe) <= 0.5"], "budget": 1800},
    "equivalent": {"arms": ["old", "new"], "budget": 1200},
    "minimise": {"objective": "minimize mean(unsafe)", "constraints": "mean(solved) >= 0.5"},
    "failing": {"max_failures": 1000},
}


@pytest.mark.parametrize("case", CHECKED)
def test_a_certificate_is_checked_by_a_program_that_shares_nothing(case: str) -> None:
    def answer(pull: Pull) -> dict[str, float] | None:
        if case == "equivalent":
            return {"solved": float((pull.ordinal + (pull.arm == "old")) % 2), "unsafe": 0.0}
        return None if case == "failing" and pull.ordinal % 40 == 3 else random_answer(pull)

    study = told(made(**CHECKED[case]), answer)
    proof = proof_on(study.desk, within=0.2 if case == "equivalent" else 0.0)
    document = json.loads(json.dumps(proof_document(study.desk.plan, proof)))
    assert document["certificate"]["status"] != "open"
    check = checker().is_proven
    assert check(document)
    for step in range(len(document["proof"])):
        steps = [one for place, one in enumerate(document["proof"]) if place != step]
        assert not check({**document, "proof": steps})
    assert not check({**document, "confidence": "0." + "9" * 120}) or case == "these"


def test_a_certificate_with_other_observations_does_not_hold() -> None:
    study = told(made())
    document = json.loads(json.dumps(proof_document(study.desk.plan, proof_on(study.desk))))
    document["observations"]["new"]["mean(unsafe)"] = ["1"] * 200
    assert not checker().is_proven(document)
