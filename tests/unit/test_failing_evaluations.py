"""Evaluations that fail: as data, as an outage, as a mistake of whoever wrote them."""

import asyncio
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import pytest

import ringfence as rf
from ringfence.core.errors import InputError, OutageError
from ringfence.execution.backoff import Outage
from ringfence.interfaces.studies import Study
from ringfence.policies import registry
from ringfence.study.deciding import next_round
from ringfence.study.facts import Cause, Rejection, State

ARMS = ("one", "two", "three")
MEANS = {"one": (1.0, 0.5), "two": (0.2, 1.6), "three": (0.5, 0.6)}
SOON: dict[str, Any] = {"backoff_seconds": 0.02}


def make(**changes: Any) -> Study:
    plain: dict[str, Any] = {
        "arms": ARMS,
        "objective": "minimize mean(loss)",
        "constraints": "mean(risk) <= 1.0",
        "budget": 60,
        "policy": "constrained-sr",
        "storage": "memory://",
        "seed": 1,
    }
    return Study.create("s", **plain | changes)


def evaluate(arm: str, seed: int) -> dict[str, float]:
    """Return metrics that depend on the arm and the seed alone."""
    chance = random.Random(seed)
    loss, risk = MEANS[arm]
    return {"loss": chance.gauss(loss, 0.3), "risk": chance.gauss(risk, 0.3)}


class Service:
    """What evaluations call: good for some calls, then out for some, then good again."""

    def __init__(self, good: int, out: int) -> None:
        self.good, self.out, self.calls = good, out, 0

    def __call__(self, arm: str, seed: int) -> dict[str, float]:
        self.calls += 1
        if self.good < self.calls <= self.good + self.out:
            raise RuntimeError("429")
        return evaluate(arm, seed)

    async def later(self, arm: str, seed: int) -> dict[str, float]:
        await asyncio.sleep(0.0)
        return self(arm, seed)


def counts(study: Study) -> tuple[int, int, int]:
    """Return how many pulls were told, failed and charged, and are held."""
    stands = study.status()
    return stands.told, stands.failed, len(study.desk.held())


# ------------------------------------------------------------------------------------- outages


@pytest.mark.parametrize("policy", ["top-two", "constrained-sr"])
@pytest.mark.parametrize(("workers", "batch"), [(1, 1), (8, 8)])
def test_an_outage_after_many_good_calls_costs_nothing(
    policy: str, workers: int, batch: int
) -> None:
    study = make(budget=400, policy=policy, batch=batch)
    service, said = Service(381, 30), list[Outage]()
    verdict = study.optimize(service, workers=workers, outage=said.append, **SOON)
    assert verdict is not None
    assert verdict.arm == "three"
    wanted = make(budget=400, policy=policy, batch=batch)
    wanted.optimize(evaluate)
    assert counts(study) == counts(wanted)
    assert study.status().alive == wanted.status().alive
    assert not [arm for arm in verdict.arms if arm.status == "withdrawn"]
    assert (said[0].is_over, said[-1].is_over) == (False, True)
    assert said[0].error == "RuntimeError: 429"
    assert study.doctor().is_sound


def test_within_a_round_an_outage_changes_no_decision() -> None:
    wanted = make(budget=200).optimize(evaluate)
    study = make(budget=200)
    assert study.optimize(Service(20, 25), workers=4, outage=lambda _: None, **SOON) == wanted


@pytest.mark.parametrize("workers", [1, 8])
def test_coroutines_wait_for_the_end_of_an_outage(workers: int) -> None:
    study, service = make(policy="top-two", batch=8), Service(31, 25)
    said: list[Outage] = []
    verdict = asyncio.run(
        study.optimize_async(service.later, workers=workers, outage=said.append, **SOON)
    )
    assert verdict.arm == "three"
    assert counts(study) == (60, 0, 0)
    assert (said[0].is_over, said[-1].is_over) == (False, True)
    assert study.doctor().is_sound


def test_an_outage_that_lasts_ends_the_run_and_another_goes_on() -> None:
    study = make(policy="top-two", batch=4, budget=80)
    with pytest.raises(OutageError, match=r"in a row failed, over \d arms; the last error: Run"):
        study.optimize(
            Service(40, 10_000), workers=4, outage_minutes=0.005, outage=lambda _: None, **SOON
        )
    assert counts(study) == (40, 0, 0)
    assert set(study.status().alive) == set(ARMS)
    assert study.recommend().arm == "three", "a verdict from what was told is there"
    assert study.optimize(evaluate) is not None
    assert counts(study) == (80, 0, 0)
    assert study.doctor().is_sound


@pytest.mark.parametrize("workers", [1, 3, 8])
@pytest.mark.parametrize("policy", registry.POLICIES, ids=lambda policy: policy.name)
def test_no_policy_dies_when_nothing_ever_succeeds(policy: Any, workers: int) -> None:
    study = make(policy=policy.name, answer=policy.questions[0].name, batch=2)
    for _ in range(3):
        with pytest.raises(OutageError):
            study.optimize(Service(0, 10_000), workers=workers, outage_minutes=0)
        assert counts(study) == (0, 0, 0)
    assert study.optimize(evaluate, workers=workers) is not None
    assert counts(study)[1:] == (0, 0)


@pytest.mark.parametrize("policy", ["top-two", "uniform"])
def test_a_first_round_with_fewer_pulls_than_an_outage_is_given_back_whole(policy: str) -> None:
    """Six pulls and eight workers, of whom ten failures in a row would be an outage."""
    study = make(policy=policy, budget=12 if policy == "top-two" else 6)
    service = Service(0, 6)
    study.optimize(service, workers=8, backoff_seconds=0.01)
    assert service.calls > study.status().budget
    assert counts(study) == (study.status().budget, 0, 0)
    assert study.doctor().problems == ()


def test_coroutines_end_as_threads_do() -> None:
    study = make()
    with pytest.raises(OutageError, match="429"):
        asyncio.run(study.optimize_async(Service(5, 10_000).later, workers=3, outage_minutes=0))
    assert counts(study) == (5, 0, 0)


def test_without_anybody_to_hear_of_it_an_outage_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    make().optimize(Service(5, 7), **SOON)
    first, last = (record.getMessage() for record in caplog.records)
    assert first.startswith("waiting: 6 evaluations in a row failed, over 3 arms")
    assert last.startswith("evaluations succeed again")
    assert {record.name for record in caplog.records} == {"ringfence"}


def test_one_arm_that_fails_for_ever_is_withdrawn() -> None:
    def broken(arm: str, seed: int) -> dict[str, float]:
        if arm == "two":
            raise RuntimeError("no")
        return evaluate(arm, seed)

    for workers in (1, 8):
        study = make(policy="top-two", batch=workers)
        verdict = study.optimize(broken, workers=workers)
        assert verdict is not None
        assert study.explain("two")[0].left == Rejection(1, Cause.FAILING, failures=3)
        assert 3 <= study.status().failed <= 3 + workers


def test_a_study_with_one_arm_waits_too() -> None:
    """There is no other arm whose success could say that this one is to blame."""
    study = make(arms=["three"], policy="uniform", budget=20)
    with pytest.raises(OutageError, match="3 evaluations in a row failed, over 1 arm;"):
        study.optimize(Service(0, 10_000), outage_minutes=0)
    assert counts(study) == (0, 0, 0)
    verdict = study.optimize(Service(4, 6), outage=lambda _: None, **SOON)
    assert verdict is not None
    assert counts(study) == (20, 0, 0)


def test_an_outage_before_stand_ins_are_charged() -> None:
    study = make(policy="top-two", on_failure={"loss": 9.0, "risk": 9.0})
    verdict = study.optimize(Service(20, 15), outage=lambda _: None, **SOON)
    assert verdict is not None
    assert study.status().told == 60
    assert max(study.observations()["loss"]) < 5.0


def test_a_study_whose_failures_follow_from_seeds_does_not_stop() -> None:
    """Six in a row may be chance; what is tried again with the same seed fails again."""

    def flaky(arm: str, seed: int) -> dict[str, float]:
        if random.Random(seed + 1).random() < 0.6:
            raise RuntimeError("bad luck")
        return evaluate(arm, seed)

    for batch in (1, 5):
        study = make(policy="top-two", batch=batch, budget=80, max_failures=50)
        said: list[Outage] = []
        verdict = study.optimize(
            flaky, outage=said.append, backoff_seconds=0.001, outage_minutes=0.1
        )
        assert said, "or this shows nothing"
        assert verdict is not None
        assert study.status().finished
        assert study.doctor().is_sound


def test_most_counts_what_was_resolved() -> None:
    study = make()
    study.optimize(Service(3, 9), most=10, outage=lambda _: None, **SOON)
    assert counts(study) == (10, 0, 0)


# --------------------------------------------------------------------------- failures as data


def latency(arm: str, seed: int) -> dict[str, float]:
    """Option b answers fastest, and not at all in 12% of its calls."""
    chance = random.Random(seed)
    if arm == "b" and chance.random() < 0.12:
        raise TimeoutError("no answer")
    mean, correct = {"a": (1.2, 0.80), "b": (0.8, 0.90), "c": (1.0, 0.70)}[arm]
    return {"latency_s": chance.gauss(mean, 0.1), "correct": float(chance.random() < correct)}


LATENCY: dict[str, Any] = {
    "arms": ["a", "b", "c"],
    "objective": "maximize mean(correct)",
    "budget": 900,
    "policy": "uniform",
}
SLOW = {"latency_s": 10.0, "correct": 0.0}


def test_time_outs_that_are_told_keep_an_option_from_being_the_best() -> None:
    study = make(**LATENCY, constraints="p95(latency_s) <= 2", on_timeout=SLOW)
    verdict = study.optimize(latency)
    assert verdict is not None
    assert verdict.arm == "a"
    b = next(arm for arm in verdict.arms if arm.name == "b")
    assert b.kind != "optimal"
    assert max(study.observations()["latency_s"]) == 10.0
    assert (b.failed > 0, b.untold) == (True, 0)
    assert "on_timeout: latency_s 10, correct 0" in study.record()
    assert study.doctor().is_sound


def test_time_outs_of_which_nothing_is_told_leave_the_verdict_open() -> None:
    """No call that ended was slow: of those that did not end, nobody knows that."""
    verdict = make(**LATENCY, constraints="p95(latency_s) <= 2").optimize(latency)
    assert verdict is not None
    assert (verdict.arm, verdict.verdict) == ("b", "too-close-to-call")
    assert [(one.kind, one.arm) for one in verdict.doubts] == [("failures", "b")]
    assert verdict.confidence <= 0.95


@pytest.mark.parametrize("stated", [{"on_timeout": SLOW}, {}], ids=["told", "missing"])
def test_a_limit_on_failures_is_a_limit(stated: dict[str, Any]) -> None:
    limits = ["mean(latency_s) <= 4", "mean(failed) <= 0.02"]
    study = make(**LATENCY, constraints=limits, **stated)
    verdict = study.optimize(latency)
    assert verdict is not None
    assert verdict.arm == "a"
    b = next(arm for arm in verdict.arms if arm.name == "b")
    assert 0.06 < b.estimates["mean(failed)"].value < 0.20


def test_a_time_out_is_told_as_such_and_a_failure_as_such() -> None:
    def both(arm: str, seed: int) -> dict[str, float]:
        if arm == "two":
            raise TimeoutError
        if arm == "three":
            raise RuntimeError("no")
        return evaluate(arm, seed)

    other = {"loss": 7.0, "risk": 7.0}
    late = {"loss": 5.0, "risk": 5.0}
    for stated, two, three in (
        ({"on_timeout": late, "on_failure": other}, 5.0, 7.0),
        ({"on_failure": other}, 7.0, 7.0),
        ({"on_timeout": late}, 5.0, None),
    ):
        study = make(policy="uniform", budget=12, max_failures=20, **stated)
        study.optimize(both)
        told: dict[str, float | None] = {}
        with study.desk.storage.reading("s") as ledger:
            for pull in ledger.pulls_between(1, 12):
                if pull.arm > 0:
                    told[ARMS[pull.arm]] = None if pull.values is None else pull.values[0]
        assert (told["two"], told["three"]) == (two, three)
    commands = make(policy="uniform", budget=12, max_failures=20, on_timeout=late)
    with pytest.raises(OutageError, match="did not finish within"):
        commands.optimize(
            rf.Command([sys.executable, "-c", "import time; time.sleep(9)"], timeout_seconds=0.05),
            outage_minutes=0,
        )


def test_whoever_asks_and_tells_says_so_too() -> None:
    study = make(on_timeout={"loss": 5.0, "risk": 5.0}, on_failure={"loss": 7.0, "risk": 7.0})
    first, second = study.ask(2)
    study.fail(first, "late", timed_out=True)
    study.fail(second, "broken")
    assert study.observations()["loss"] == [5.0, 7.0]


STAND_INS: dict[str, tuple[Any, str]] = {
    "a metric it has not": ({"loss": 1.0, "risk": 1.0, "riks": 2.0}, "riks"),
    "a metric too few": ({"loss": 1.0}, "risk"),
    "text": ({"loss": 1.0, "risk": "high"}, "risk"),
    "no number": ({"loss": 1.0, "risk": float("nan")}, "risk"),
    "no table": ([1.0, 2.0], "on_failure"),
}


@pytest.mark.parametrize("case", STAND_INS)
@pytest.mark.parametrize("key", ["on_failure", "on_timeout"])
def test_what_could_not_be_told_in_place_of_a_failure_is_refused(key: str, case: str) -> None:
    stated, word = STAND_INS[case]
    with pytest.raises(InputError, match=f"{key}.*{word if word != 'on_failure' else ''}"):
        make(**{key: stated})


def test_what_is_told_in_place_of_failures_is_part_of_the_study(tmp_path: Any) -> None:
    place = f"sqlite:///{tmp_path / 's.db'}"
    stated = {"on_failure": {"loss": 9.0, "risk": 9.0}}
    make(storage=place, **stated)
    make(storage=place, load_if_exists=True, **stated)
    for other in ({}, {"on_failure": {"loss": 8.0, "risk": 9.0}}, stated | {"on_timeout": SLOW}):
        with pytest.raises(InputError, match=r"on_failure|on_timeout"):
            make(storage=place, load_if_exists=True, **other)


# -------------------------------------------------------------------------------------- shapes


def returning(what: Any) -> Callable[[str, int], Any]:
    return lambda arm, seed: what


SHAPES: dict[str, tuple[Any, tuple[str, ...]]] = {
    "a metric is missing": ({"loss": 1.0}, ("risk", "missing", "loss")),
    "nothing at all": ({}, ("loss", "missing")),
    "misspelt": ({"loss": 1.0, "rsik": 0.5}, ("risk", "missing", "rsik")),
    "text": ({"loss": 1.0, "risk": "0.5"}, ("risk", "'0.5'")),
    "none inside": ({"loss": 1.0, "risk": None}, ("risk", "None")),
    "a list inside": ({"loss": 1.0, "risk": [0.5]}, ("risk", "[0.5]")),
    "nothing": (None, ("None", "mapping")),
    "a list": ([1.0, 0.5], ("[1.0, 0.5]", "mapping")),
}


@pytest.mark.parametrize("case", SHAPES)
@pytest.mark.parametrize("workers", [1, 4])
def test_the_first_observation_of_the_wrong_shape_ends_the_run(case: str, workers: int) -> None:
    what, words = SHAPES[case]
    study = make()
    with pytest.raises(InputError) as seen:
        study.optimize(returning(what), workers=workers)
    for word in words:
        assert word in str(seen.value)
    assert counts(study) == (0, 0, 0)
    assert study.optimize(evaluate) == make().optimize(evaluate)


@pytest.mark.parametrize("case", SHAPES)
def test_so_does_that_of_a_coroutine(case: str) -> None:
    what, words = SHAPES[case]
    study = make()

    async def given(arm: str, seed: int) -> Any:
        return what

    with pytest.raises(InputError) as seen:
        asyncio.run(study.optimize_async(given, workers=3))
    for word in words:
        assert word in str(seen.value)
    assert counts(study) == (0, 0, 0)


def test_results_beside_one_of_the_wrong_shape_are_told() -> None:
    study = make()

    def one_of(arm: str, seed: int) -> Mapping[str, float]:
        if arm == "one":
            time.sleep(0.2)
            return evaluate(arm, seed)
        return {"loss": 1.0}

    with pytest.raises(InputError, match="risk"):
        study.optimize(one_of, workers=3)
    assert counts(study) == (1, 0, 0)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e61])
def test_numbers_that_cannot_be_used_are_failures(value: float) -> None:
    def odd(arm: str, seed: int) -> dict[str, float]:
        return {"loss": value, "risk": 0.5} if arm == "two" else evaluate(arm, seed)

    study = make(policy="top-two")
    assert study.optimize(odd) is not None
    assert study.explain("two")[0].left == Rejection(1, Cause.FAILING, failures=3)


# ------------------------------------------------------------------------------------ a decision


@pytest.mark.parametrize("is_async", [False, True])
def test_leases_are_given_back_when_a_decision_raises(
    is_async: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    decided: Counter[str] = Counter()

    def broken(*given: Any, **named: Any) -> Any:
        decided["rounds"] += 1
        if decided["rounds"] == 4:
            raise ValueError("math domain error")
        return next_round(*given, **named)

    monkeypatch.setattr("ringfence.study.advancing.next_round", broken)
    study = make(policy="top-two", batch=4)

    async def slowly(arm: str, seed: int) -> dict[str, float]:
        await asyncio.sleep(0.001)
        return evaluate(arm, seed)

    def work() -> Any:
        if is_async:
            return asyncio.run(study.optimize_async(slowly, workers=3))
        return study.optimize(evaluate, workers=3)

    with pytest.raises(ValueError, match="math domain error"):
        work()
    assert study.desk.held() == []
    assert study.optimize(evaluate) is not None
    assert {State.TOLD} == {State(one) for one in _states(study)}


def _states(study: Study) -> set[str]:
    with study.desk.storage.reading("s") as ledger:
        return {pull.state for pull in ledger.pulls_between(1, 60)}


def test_an_error_that_is_a_sentence_ends_within_ours() -> None:
    said = Outage(6, 2, "metric 'x' = nan must be a finite number.", 4.0)
    assert "must be a finite number. Next try in 4 s." in str(said)
    assert str(OutageError(said.summary, 0.0)).count("..") == 0
