"""A second look at Optuna studies: real ones, and trials that were written down."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import optuna
import pytest

import ringfence as rf
from ringfence.interfaces.bridges.optuna import arms_of_trials, read_trials

MEANS = {"a": (0.9, 1.3), "b": (0.6, 0.8), "c": (0.4, 0.5)}
LIMIT = "mean(latency) <= 1.0"


def drawn(arm: str, seed: Any) -> tuple[float, float]:
    value, latency = MEANS[arm] + 0.4 * np.random.default_rng(seed).standard_normal(2)
    return float(value), float(latency)


def recorded(count: int = 90) -> list[dict[str, Any]]:
    """Return trials as dictionaries: the deceiver, the answer and another one in turn."""
    found = []
    for number in range(count):
        arm = "abc"[number % 3]
        value, latency = drawn(arm, number)
        found.append(
            {
                "number": number,
                "params": {"model": arm},
                "value": value,
                "user_attrs": {"latency": latency, "note": "text", "odd": float("nan")},
                "constraints": {"slow": latency - 1.0},
                "state": "COMPLETE",
            }
        )
    return found


def lucky() -> list[dict[str, Any]]:
    """Return trials in which the deceiver has the best single trial that seemed fine."""
    trials = recorded()
    trials[0] |= {"value": 3.0, "user_attrs": {"latency": 0.9}, "constraints": {"slow": -0.1}}
    return trials


def real_study(trials: int = 120) -> Any:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(
        study_name="real: one", direction="maximize", sampler=optuna.samplers.RandomSampler(seed=0)
    )

    def objective(trial: Any) -> float:
        arm = trial.suggest_categorical("model", list(MEANS))
        rate = trial.suggest_float("rate", 0.1, 0.1000001)  # one value to three digits
        if trial.number == 5:
            raise optuna.TrialPruned
        value, latency = drawn(arm, (7, trial.number))
        trial.set_user_attr("latency", latency)
        assert rate > 0.0
        return float(value + 2.0 * (arm == "a"))

    study.optimize(objective, n_trials=trials)
    return study


def test_a_real_study_is_averaged_and_its_best_trial_doubted() -> None:
    study = real_study()
    review = rf.from_optuna(study, constraints=LIMIT)
    best = study.best_trial
    assert review.best is not None
    assert review.best.number == best.number
    assert best.params["model"] == "a"  # the best value of all, whatever its latency
    assert review.best_arm == "model=a, rate=0.1"
    assert review.is_deceiver
    assert review.verdict is not None
    assert review.verdict.arm == "model=b, rate=0.1"
    assert review.incomplete == 1
    complete = [trial for trial in study.trials if trial.value is not None]
    for arm in review.verdict.arms:
        mine = [trial.value for trial in complete if f"model={trial.params['model']}," in arm.name]
        assert arm.pulls == len(mine)
        assert arm.estimates["mean(value)"].value == pytest.approx(np.mean(mine))
    assert review.study.name == "real- one"


def test_trials_that_were_written_down() -> None:
    review = rf.from_optuna(lucky(), direction="maximize", constraints=LIMIT)
    assert review.headline.startswith(
        "Optuna's best trial, number 0 (model=a), is probably a deceiver (more than 99.9% sure): "
        "over 30 trials it looks over mean(latency) <= 1 (1."
    )
    assert review.headline.endswith("the trial itself had latency = 0.9.")
    assert review.doubt is not None
    assert review.doubt.right < 0.001 < 0.999 < review.doubt.breaks
    assert review.ranked[:2] == ("model=b", "model=a")
    assert "Averaged by arm: So far: model=b is the best feasible arm" in str(review)
    assert "Probabilities are approximate" in str(review)
    assert review.too_few == ()


def test_optunas_own_constraints_and_direction() -> None:
    review = rf.from_optuna(lucky(), direction="maximize")
    definition = review.study.definition
    assert definition.constraints == ("mean('constraint_slow') <= 0",)
    assert definition.objective == "maximize mean('value')"
    assert review.is_deceiver
    listed = [{**trial, "constraints": [trial["constraints"]["slow"]]} for trial in lucky()]
    again = rf.from_optuna(listed, direction="maximize")
    assert again.study.definition.constraints == ("mean('constraint_0') <= 0",)
    assert again.doubt == review.doubt


def test_a_best_trial_that_stands_and_one_that_is_beaten() -> None:
    trials = recorded()
    trials[1]["value"] = 3.0  # of b, the answer
    trials[1]["constraints"] = {"slow": -0.1}
    stands = rf.from_optuna(trials, direction="maximize", constraints=LIMIT)
    assert "(model=b), stands: averaged over 30 trials its arm is the answer" in stands.headline
    trials[2] |= {"value": 4.0, "constraints": {"slow": -0.1}}  # of c, feasible, not as good
    trials[5]["value"] = -3.0
    beaten = rf.from_optuna(trials, direction="maximize", constraints=LIMIT)
    assert "(model=c), is not what averages say: model=b is" in beaten.headline
    assert not beaten.is_deceiver


def test_too_few_repeats() -> None:
    trials = recorded(6)
    for trial in trials:
        trial["params"]["x"] = 0.1234 + 0.001 * trial["number"]
    review = rf.from_optuna(trials, direction="maximize", constraints=LIMIT, digits=6)
    assert review.verdict is None
    assert review.doubt is None
    assert "cannot be judged: its arm has 1 trial." in review.headline
    assert len(review.too_few) == 6
    assert "6 of 6 arms have too few trials" in str(review)
    assert (
        len(rf.from_optuna(trials, direction="maximize", constraints=LIMIT, digits=1).ranked) == 3
    )
    grouped = rf.from_optuna(trials, direction="maximize", constraints=LIMIT, arm=["model"])
    assert set(grouped.ranked) == {"model=a", "model=b", "model=c"}

    def half(params: Mapping[str, Any]) -> str:
        return "low" if params["x"] < 0.126 else "high"

    named = rf.from_optuna(trials, direction="maximize", constraints=LIMIT, arm=half)
    assert set(named.ranked) == {"low", "high"}


def test_a_study_goes_on_from_the_trials() -> None:
    review = rf.from_optuna(lucky(), direction="maximize", constraints=LIMIT)
    study = review.open_study(
        "more", budget=40, arms=["model=a", "model=b"], storage="memory://", seed=1
    )
    assert study.definition.arms["model=a"] == {"model": "a"}
    assert study.recommend().brought == 60
    for pull in study.pulls():
        value, latency = drawn(pull.keys["model"], pull.seed)
        study.tell(pull, {"value": value, "latency": latency})
    verdict = study.recommend()
    assert (verdict.arm, verdict.pulls_used, verdict.brought) == ("model=b", 40, 60)
    with pytest.raises(rf.InputError, match="'model=z' is no arm of the trials"):
        review.open_study("x", budget=40, arms=["model=z"], storage="memory://")


def test_what_is_left_out() -> None:
    trials = recorded()
    del trials[4]["user_attrs"]["latency"]
    trials[7]["state"] = "PRUNED"
    trials[8]["state"] = "FAIL"
    review = rf.from_optuna(trials, direction="maximize", constraints=LIMIT)
    assert (review.left_out, review.incomplete) == (1, 2)
    assert "1 trials lack a metric" in str(review)
    assert "2 trials did not complete" in str(review)
    nothing = [{**trial, "constraints": {"slow": 1.0}} for trial in recorded()]
    none = rf.from_optuna(nothing, direction="maximize")
    assert none.headline == "Optuna names no best trial."


def test_several_values() -> None:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(directions=["maximize", "minimize"])
    study.optimize(
        lambda trial: drawn(trial.suggest_categorical("model", list(MEANS)), (3, trial.number)),
        n_trials=60,
    )
    with pytest.raises(rf.InputError, match=r"several values.*'maximize mean"):
        rf.from_optuna(study, constraints="mean(value_1) <= 1")
    review = rf.from_optuna(
        study, objective="maximize mean(value_0)", constraints="mean(value_1) <= 1"
    )
    assert review.headline == "Optuna names no best trial."
    assert review.verdict is not None


@pytest.mark.parametrize(
    ("given", "options", "words"),
    [
        (3, {}, "int has no trials"),
        ([{"state": "FAIL"}], {}, "none of its 1 trials is complete"),
        (recorded(), {}, "no direction. Give an objective"),
        (
            [{**one, "constraints": None} for one in recorded()],
            {"direction": "minimize"},
            "the trials have none of their own",
        ),
        (
            recorded(),
            {"direction": "minimize", "constraints": "mean(latnecy) <= 1"},
            "no trial has all of value, latnecy. The trials have latency, constraint_slow, value",
        ),
        (
            recorded(),
            {"direction": "minimize", "arm": ["modle"]},
            "'modle' is no parameter. The trials have model",
        ),
    ],
)
def test_refusals(given: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(rf.InputError, match=words):
        rf.from_optuna(given, **options)


def test_floats_are_alike_to_some_digits() -> None:
    trials = read_trials(
        [
            {"params": {"x": x, "k": k}, "value": 1.0}
            for x, k in ((0.12341, 1), (0.12344, 1), (1e9, 2))
        ]
    ).trials
    names, arms = arms_of_trials(trials, None, 4)
    assert names == ["x=0.1234, k=1", "x=0.1234, k=1", "x=1e+09, k=2"]
    assert arms["x=0.1234, k=1"] == {"x": 0.1234, "k": 1}
    assert len(arms_of_trials(trials, None, 5)[1]) == 3
