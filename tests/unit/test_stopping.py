"""Studies with a `stop`: they end when their answer is proven, and an audit finds the same."""

import dataclasses
import itertools
from pathlib import Path
from typing import Any

import pytest

import ringfence as rf
from ringfence.core.errors import InputError
from ringfence.core.looks import is_due
from ringfence.interfaces.leases import Pull
from ringfence.study.deciding import PROOFS_EDITION, SETTLED
from ringfence.study.facts import Round
from ringfence.study.stopping import PROVEN
from tests.unit.test_certificates import Answer, made, random_answer, told

STOP = {"confidence": 0.95}


def ended_by(study: rf.Study) -> str | None:
    """Return what ended a study, by the code of its last round."""
    last: Round = study.rounds()[-1]
    assert not last.is_last or last.size == 0
    found: str | None = last.seen.get(PROVEN)
    return found


@pytest.mark.parametrize(
    ("policy", "lag"),
    [("uniform", None), ("constrained-sr", None), ("top-two", None), ("top-two", 12)],
)
def test_a_study_ends_when_its_answer_is_proven(policy: str, lag: int | None) -> None:
    study = told(made(3000, policy=policy, stop=STOP, lag=lag))
    status = study.status()
    assert status.finished
    assert status.told < 3000
    assert ended_by(study) == "certified"
    certificate = study.certificate()
    assert (certificate.status, certificate.arm) == ("certified", "new")
    assert study.ask(5) == []
    assert study.doctor().problems == ()


def test_without_a_stop_the_same_study_spends_its_budget() -> None:
    study = told(made(600))
    assert study.status().told == 600
    assert ended_by(study) is None
    assert study.certificate().status == "certified"
    assert "stop" not in study.definition.to_dict()


def test_it_goes_on_while_a_question_is_open_and_ends_with_its_budget() -> None:
    study = told(made(24, stop=STOP))
    assert study.status().told == 24
    assert ended_by(study) is None
    assert study.certificate().status == "open"
    assert study.doctor().problems == ()


def test_it_does_not_end_before_the_proof() -> None:
    used = told(made(3000, policy="top-two", stop=STOP)).status().told
    assert used > 20
    assert told(made(used - 1, policy="top-two", stop=STOP)).certificate().status == "open"


def test_none_feasible_and_equivalent_end_a_study_too() -> None:
    none = told(made(3000, stop=STOP, constraints="mean(unsafe) <= 0.02"))
    assert ended_by(none) == "none-feasible"

    def as_good(pull: Pull) -> dict[str, float]:
        return {"solved": float(pull.ordinal % 2), "unsafe": 0.0}

    apart = told(made(2000, arms=["old", "new"], stop=STOP | {"within": 0.3}), as_good)
    assert ended_by(apart) == "equivalent"
    assert apart.status().told < 2000
    assert apart.certificate().within == 0.3
    assert told(made(2000, arms=["old", "new"], stop=STOP), as_good).status().told == 2000


@pytest.mark.parametrize("policy", ["uniform", "constrained-sr", "sequential-halving"])
def test_phases_in_steps_are_the_same_phases(policy: str) -> None:
    """Where nothing is proven, arms leave after the same phases with the same pulls."""
    changes = {"policy": policy, "constraints": "mean(unsafe) <= 0.11"}
    whole, steps = told(made(200, **changes)), told(made(200, stop=STOP, **changes))
    assert ended_by(steps) is None
    assert len(steps.rounds()) > len(whole.rounds())
    left = [[(one.phase, one.left) for one in x.rounds() if one.left] for x in (whole, steps)]
    assert left[0] == left[1]
    pulls = [[arm.pulls for arm in x.recommend().arms] for x in (whole, steps)]
    assert pulls[0] == pulls[1]
    assert steps.doctor().problems == ()


def test_failures_and_lost_pulls_end_no_phase_early() -> None:
    def fails(pull: Pull) -> dict[str, float] | None:
        return None if pull.ordinal % 5 == 3 else random_answer(pull)

    study = told(made(400, policy="constrained-sr", stop=STOP), fails)
    assert study.status().finished
    assert study.status().failed > 0
    assert len(study.status().alive) >= 1
    assert not [one for one in study.desk.look().departures if one.rejection.is_withdrawal]
    assert study.doctor().problems == ()


@pytest.mark.parametrize(("policy", "items"), [("top-two", 0), ("top-two", 400), ("thompson", 0)])
def test_an_arm_that_is_settled_gets_nothing_more(policy: str, items: int) -> None:
    blocks = {"items": items} if items else None
    study = told(made(3000, policy=policy, stop=STOP, blocks=blocks))
    saved = [one for one in study.rounds() if one.seen.get(SETTLED)]
    assert saved
    for one in saved:
        assert [one.allocation[arm] for arm in one.seen[SETTLED]] == [0] * len(one.seen[SETTLED])
    assert ended_by(study) == "certified"
    assert study.doctor().problems == ()


def test_where_all_others_have_seen_their_items_settled_arms_go_on() -> None:
    """Nothing can be proven of a deviation, and so that question stays open to the end."""
    study = told(
        made(
            240,
            policy="top-two",
            stop=STOP,
            blocks={"items": 80},
            objective="maximize std(solved)",
            noise={"unsafe": {"bounds": [0, 1]}},
        )
    )
    assert study.status().told == 240
    assert any(one.seen.get(SETTLED) for one in study.rounds())
    assert study.doctor().problems == ()


def test_a_set_of_arms_ends_a_study() -> None:
    study = told(made(4000, stop=STOP, answer="all feasible"))
    assert ended_by(study) == "certified"
    assert study.certificate().answer == ("old", "new")


def test_it_ends_no_sooner_than_all_that_was_asked_for_is_told() -> None:
    study = made(3000, policy="top-two", lag=12, stop=STOP)
    held: list[Pull] = []
    while not study.desk.is_finished:
        held += study.ask(12)
        pull = held.pop(0)
        study.tell(pull, random_answer(pull))
        if not held:
            held += study.ask(12)
    assert held == []
    assert study.status().issued == 0
    assert study.doctor().problems == ()


def test_it_goes_on_after_a_kill_where_it_was(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 's.db'}"
    whole = told(made(3000, policy="top-two", stop=STOP))
    study = made(3000, policy="top-two", stop=STOP, storage=url)
    for n in itertools.count():
        if not (pulls := study.ask(1)):
            break
        study.tell(pulls[0], random_answer(pulls[0]))
        if n % 40 == 17:
            study = rf.Study.load("s", storage=url)
    assert study.rounds() == whole.rounds()
    again = rf.Study.load("s", storage=url)
    assert again.definition.stop == STOP
    assert again.doctor().problems == ()


def test_a_raised_budget_does_not_begin_a_proven_study_anew() -> None:
    study = told(made(3000, policy="top-two", stop=STOP))
    used = study.status().told
    study.raise_budget(4000)
    assert told(study).status().told == used
    assert ended_by(study) == "certified"
    assert study.doctor().problems == ()


def test_an_audit_notices_a_proof_that_is_none_and_one_that_was_passed_over() -> None:
    study = told(made(3000, stop=STOP))
    plan = study.desk.plan
    without = dataclasses.replace(plan.definition, stop={})
    study.desk.plan = dataclasses.replace(plan, definition=without)
    assert any("decided again" in one for one in study.doctor().problems)
    unstopped = told(made(600))
    plan = unstopped.desk.plan
    with_stop = dataclasses.replace(plan.definition, stop=STOP)
    unstopped.desk.plan = dataclasses.replace(plan, definition=with_stop)
    assert any("the tests of proofs" in one for one in unstopped.doctor().notes)


def test_rounds_of_before_are_no_damage_and_those_of_now_are_checked() -> None:
    """Rounds that were decided with other tests are noted; one that says it has ours must agree."""
    study = told(made(3000, stop=STOP))
    assert study.doctor().notes == ()
    for edition, problems in ((1, 0), (PROOFS_EDITION, 1)):
        again = told(made(3000, stop=STOP))
        rounds = again.desk.storage._studies[again.name]._rounds  # type: ignore[attr-defined]
        last = rounds[-1]
        assert last.seen[PROVEN] == "certified"
        changed = dict(last.seen) | {PROVEN: "none-feasible", "proofs": edition}
        rounds[-1] = dataclasses.replace(last, seen=changed)
        found = again.doctor()
        assert len(found.problems) == problems
        assert len(found.notes) == 1 - problems


def test_looks_are_due_with_every_pull_and_later_with_each_hundredth() -> None:
    assert all(is_due(n, n + 1) for n in range(127))
    last, looks = 1, 0
    for n in range(2, 100_000):
        if is_due(n - 1, n):
            assert n - last <= max(1, last / 64 + 1)
            last, looks = n, looks + 1
    assert 500 < looks < 900
    assert not is_due(10_000, 10_001)
    assert is_due(10_000, 10_160)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"stop": {"confidence": 0.5}}, "stop.confidence = 0.5 must be a number between 0.5 and 1"),
        ({"stop": {"confidence": 1.0}}, "stop.confidence = 1.0 must be"),
        ({"stop": {"confidence": 95}}, "Write 0.95 for 95%"),
        ({"stop": {"confidence": "high"}}, "stop.confidence = 'high' must be"),
        ({"stop": {"confidence": float("nan")}}, "stop.confidence = nan must be"),
        ({"stop": {}}, "stop.confidence is missing"),
        ({"stop": {"confidense": 0.95}}, "stop.confidense is unknown"),
        ({"stop": 0.95}, "stop = 0.95 must be a table"),
        ({"stop": STOP | {"within": -1.0}}, "stop.within = -1.0 must be"),
        ({"stop": STOP | {"within": 0.1}, "answer": "all feasible"}, "stop.within = 0.1 is about"),
        ({"stop": STOP, "blocks": {"every": "1h"}}, "cannot stand beside blocks.every"),
        ({"stop": STOP | {"rests_on": "sure"}}, "stop.rests_on = 'sure'"),
        ({"stop": STOP | {"rests_on": "exact"}, "noise": None}, "no bounds of 'solved' are stated"),
        (
            {"stop": STOP | {"rests_on": "exact"}, "objective": "maximize std(solved)"},
            "nothing can be proven of std(solved)",
        ),
    ],
)
def test_what_cannot_be_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said.replace("(", r"\(").replace(")", r"\)")):
        made(**changes)


def test_exactness_may_be_asked_for_where_bounds_or_shares_give_it() -> None:
    exact = STOP | {"rests_on": "exact"}
    assert made(stop=exact).definition.stop == exact
    shares = made(stop=exact, noise=None, objective="maximize share(solved > 0.5)",
                  constraints="p95(unsafe) <= 0.5")  # fmt: skip
    assert shares.definition.stop == exact


def test_another_stop_is_another_study() -> None:
    study = made(stop=STOP)
    with pytest.raises(InputError, match="another stop"):
        rf.Study.create(
            "s", arms=["old", "new", "wild"], objective="maximize mean(solved)",
            constraints="mean(unsafe) <= 0.5", noise={"solved": {"bounds": [0, 1]},
            "unsafe": {"bounds": [0, 1]}}, budget=600, policy="uniform",
            storage=study.desk.storage, seed=1, load_if_exists=True,
        )  # fmt: skip


def always(solved: float) -> Answer:
    return lambda pull: {"solved": solved if pull.arm == "new" else 0.0, "unsafe": 0.0}


def test_its_own_level_is_no_choice_after_looking() -> None:
    study = told(made(3000, stop={"confidence": 0.9}), always(1.0))
    assert study.certificate().confidence == 0.9
    assert study.certificate().exploratory == ()
    assert study.certificate(0.85).exploratory != ()
    assert study.certificate(0.95).exploratory == (), "whoever is wrong there is wrong at 90%, too"
    assert study.certificate(within=0.1).exploratory != ()
