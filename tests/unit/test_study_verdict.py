"""The verdict: three values, why, how sure, and what another threshold would change."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from ringfence.core.arrays import Floats
from ringfence.core.errors import NoAnswerError
from ringfence.core.problem import Problem
from ringfence.interfaces.studies import Study
from ringfence.reports.chances import percent
from ringfence.reports.verdict import findings, is_tied, reason, remarks, sentence
from ringfence.study.verdict import Flip, Status, Verdict

ALPHA = 1e-6
Law = Callable[[str, int], dict[str, float]]


def make(arms: int = 3, **changes: Any) -> Study:
    plain: dict[str, Any] = {
        "arms": [f"arm {arm}" for arm in range(arms)],
        "objective": "minimize mean(loss)",
        "constraints": "mean(risk) <= 1.0",
        "budget": 60,
        "policy": "uniform",
        "storage": "memory://",
        "seed": 1,
    }
    return Study.create("s", **{**plain, **changes})


def gaussian(means: Any, spread: float = 1.0) -> Law:
    def evaluate(arm: str, seed: int) -> dict[str, float]:
        row = means[int(arm.removeprefix("arm "))]
        loss, risk = np.random.default_rng(seed).normal(row, spread).tolist()
        return {"loss": loss, "risk": risk}

    return evaluate


def judged(study: Study, law: Law) -> Verdict:
    first = study.ask(100_000)
    while first:
        study.tell_many(first, [law(pull.arm, pull.seed) for pull in first])
        first = study.ask(100_000)
    return study.recommend()


# --------------------------------------------------------------------------------------
# Three values
# --------------------------------------------------------------------------------------

POLICIES = ["uniform", "constrained-sr", "top-two"]


@pytest.mark.parametrize("policy", POLICIES)
def test_an_easy_problem_is_feasible(policy: str) -> None:
    study = make(policy=policy, budget=200)
    verdict = judged(study, gaussian([[0.0, 3.0], [2.0, -2.0], [4.0, -2.0]]))
    assert (verdict.arm, verdict.feasible, verdict.verdict) == ("arm 1", True, "feasible")
    assert verdict.confidence > 0.99
    assert verdict.chance_feasible > 0.99
    kinds = [arm.kind for arm in verdict.arms]
    assert kinds == ["deceiver", "optimal", "feasible-suboptimal"]
    assert verdict.arms[0].blocked_by == ("mean(risk) <= 1",)
    assert verdict.arms[1].blocked_by == ()
    margins = [arm.margin for arm in verdict.arms]
    assert margins[0] is not None
    assert margins[0] > 0.0
    assert margins[1] is not None
    assert margins[1] < 0.0
    assert verdict.finished


@pytest.mark.parametrize("policy", POLICIES)
def test_a_problem_without_a_way_is_infeasible(policy: str) -> None:
    study = make(policy=policy, budget=200)
    verdict = judged(study, gaussian([[0.0, 6.0], [2.0, 3.0], [4.0, 7.0]]))
    assert (verdict.arm, verdict.feasible, verdict.verdict) == ("arm 1", False, "infeasible")
    assert verdict.confidence > 0.99
    assert verdict.chance_feasible < 0.01
    assert {arm.kind for arm in verdict.arms} == {"optimal", "infeasible"}
    assert all(arm.blocked_by == ("mean(risk) <= 1",) for arm in verdict.arms)


def test_one_broken_constraint_is_enough() -> None:
    study = make(budget=200, constraints=["mean(risk) <= 1.0", "mean(loss) <= 9.0"])
    verdict = judged(study, gaussian([[0.0, 6.0], [2.0, 3.0], [4.0, 7.0]]))
    assert (verdict.arm, verdict.verdict) == ("arm 1", "infeasible")
    assert verdict.chance_feasible < 0.01
    assert all(arm.blocked_by == ("mean(risk) <= 1",) for arm in verdict.arms)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_problem_on_the_threshold_is_too_close_to_call(policy: str) -> None:
    found = set()
    for seed in range(5):
        study = make(policy=policy, budget=60, seed=seed, arms=2)
        verdict = judged(study, gaussian([[0.0, 1.0], [3.0, 9.0]]))
        found.add(verdict.verdict)
        assert 0.0 < verdict.chance_feasible < 1.0
        assert verdict.confidence < 0.999
        if 0.05 < verdict.chance_feasible < 0.95:
            assert verdict.verdict == "too-close-to-call"
    assert "too-close-to-call" in found


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_the_verdict_turns_at_95_percent(sign: float) -> None:
    """The chance that an arm is feasible is Student's; from 95% on the verdict says so."""
    risks = stats.norm.ppf((np.arange(25) + 0.5) / 25.0)  # without skewness
    mean, error = float(risks.mean()), float(risks.std(ddof=1)) / 5.0
    rows = {"arm": ["arm 0"] * 25, "loss": risks[::-1].tolist(), "risk": risks.tolist()}
    near = Counter[str]()
    for z in np.linspace(1.0, 2.6, 17).tolist():
        study = make(arms=1, constraints=f"mean(risk) <= {mean + sign * z * error!r}")
        study.bring(rows, arm="arm", label="log")
        verdict = study.recommend()
        assert verdict.feasible == (sign > 0.0)
        chance = verdict.chance_feasible
        assert abs(chance - stats.t(24).cdf(sign * z)) < 0.02
        right = chance if verdict.feasible else 1.0 - chance
        assert verdict.confidence == pytest.approx(right), "a single arm is always the answer"
        flag = "feasible" if verdict.feasible else "infeasible"
        assert verdict.verdict == (flag if right >= 0.95 else "too-close-to-call")
        near[verdict.verdict] += 0.91 <= right <= 0.985
        for metric in ("loss", "risk"):
            estimate = verdict.arms[0].estimates[f"mean({metric})"]
            found = (estimate.low, estimate.value, estimate.high)
            ends = stats.t(24).ppf([0.025, 0.5, 0.975]) * error + mean
            assert found == pytest.approx(ends, abs=1e-9)
    assert len(near) == 2
    assert min(near.values()) >= 2, "on both sides of 95%"


def test_the_flag_is_the_point_estimates_even_where_it_is_too_close() -> None:
    for seed in range(20):
        verdict = judged(make(seed=seed, arms=1, budget=20), gaussian([[0.0, 1.0]]))
        estimate = verdict.arms[0].estimates["mean(risk)"]
        assert verdict.feasible == (estimate.value <= 1.0)
        assert estimate.low < estimate.value < estimate.high


def test_rejected_arms_say_when_why_and_to_whom() -> None:
    study = make(policy="constrained-sr", budget=200)
    verdict = judged(study, gaussian([[0.0, 3.0], [2.0, -2.0], [4.0, -2.0]]))
    gone = {arm.name: arm for arm in verdict.arms if arm.name != verdict.arm}
    assert sorted(arm.phase or 0 for arm in gone.values()) == [1, 2]
    for arm in gone.values():
        assert arm.status == "rejected"
        assert arm.left is not None
        assert (arm.left.cause, arm.left.policy) == ("rejected", "constrained-sr")
        assert arm.rival == "arm 1"
        assert arm.gap is not None
        assert arm.gap > 0.0
    assert study.explain("arm 1")[0].status == "in the running"
    assert [arm.name for arm in study.explain()] == ["arm 0", "arm 1", "arm 2"]


def test_an_arm_that_is_rejected_though_it_looks_best_lost_to_nobody() -> None:
    """A rule that is blind to constraints drops the one feasible arm for its objective."""
    study = make(policy="successive-rejects", budget=200)
    verdict = judged(study, gaussian([[0.0, 3.0], [2.0, 3.5], [4.0, -2.0]]))
    first = verdict.arms[2]
    assert (first.status, first.phase) == ("rejected", 1)
    assert first.left is not None
    assert first.left.policy == "successive-rejects"
    assert (first.rival, verdict.arms[1].rival) == (None, "arm 0")


def test_an_arm_that_is_withdrawn_says_nothing_of_the_answer() -> None:
    """It was seen often enough to be judged, and looked better than the arm that is left."""
    study = make(policy="top-two", arms=2, budget=60, max_failures=3)
    law = gaussian([[0.0, -2.0], [2.0, 3.0]])
    warm = study.ask(100_000)
    study.tell_many(warm, [law(pull.arm, pull.seed) for pull in warm])
    assert study.recommend().arm == "arm 0"
    for pull in study.pulls():
        if pull.arm == "arm 0":
            study.fail(pull, "no")
        else:
            study.tell(pull, law(pull.arm, pull.seed))
    verdict = study.recommend()
    gone = verdict.arms[0]
    assert gone.status == "withdrawn"
    assert gone.pulls >= 10
    assert (gone.margin, gone.kind, gone.blocked_by) == (None, None, ())
    assert (verdict.arm, verdict.verdict) == ("arm 1", "infeasible")
    assert verdict.chance_feasible < 0.01
    assert verdict.confidence > 0.99
    assert "arm 0" not in {flip.answer for flip in verdict.flips}


def test_pulls_that_a_withdrawn_arm_leaves_over_are_spoken_of() -> None:
    study = make(policy="top-two", budget=60)
    for pull in study.pulls():
        if pull.arm == "arm 0":
            study.fail(pull, "no")
        else:
            study.tell(pull, {"loss": float(pull.seed % 5), "risk": 0.5})
    verdict = study.recommend()
    assert (verdict.finished, verdict.pulls_used) == (True, 53), "three of ten were tried"
    said = "7 pulls were not made: those of withdrawn arms go to no other."
    assert said in remarks(verdict)
    assert not any("not made" in line for line in remarks(judged(make(), gaussian([[0, 0]] * 3))))


def test_estimates_are_in_the_users_units_and_direction() -> None:
    study = make(objective="maximize mean(loss)", constraints=["mean(risk) >= 0.5"], arms=2)
    verdict = judged(study, gaussian([[3.0, 2.0], [5.0, 2.5]], spread=0.1))
    assert verdict.arm == "arm 1"
    for arm, mean in zip(verdict.arms, [(3.0, 2.0), (5.0, 2.5)], strict=True):
        for key, wanted in zip(("mean(loss)", "mean(risk)"), mean, strict=True):
            estimate = arm.estimates[key]
            assert abs(estimate.value - wanted) < 0.2
            assert estimate.low < estimate.value < estimate.high
            assert estimate.high - estimate.low < 0.2


@pytest.mark.parametrize(("limit", "shown"), [("<= 7.5", 7.0), (">= 7.5", 8.0)])
def test_a_quantile_is_shown_from_the_side_of_its_limit(limit: str, shown: float) -> None:
    """Of ten pulls the eighth has 80% of them up to it, and the ninth 20% from it on."""
    study = make(arms=1, constraints=f"p80(risk) {limit}")
    rows = {"arm": ["arm 0"] * 10, "loss": [0.0, 1.0] * 5, "risk": np.arange(10.0)}
    study.bring(rows, arm="arm", label="log")
    verdict = study.recommend()
    assert verdict.arms[0].estimates["p80(risk)"].value == shown
    assert verdict.feasible


def test_a_verdict_is_the_same_every_time() -> None:
    study = make()
    assert judged(study, gaussian([[0.0, 1.0], [0.1, 0.9], [0.2, 0.8]])) == study.recommend()


@pytest.mark.parametrize("large", [1e30, 1e50, 1e60])
@pytest.mark.parametrize("limit", ["variance(lat) <= 0", "std(lat) <= 0", "mean(lat) <= 0"])
def test_a_verdict_is_there_however_unlike_the_arms_are(large: float, limit: str) -> None:
    """Draws of the small arm overflowed, a baseline made them undefined, and no arm was right."""
    study = Study.create(
        "unlike",
        arms=["small", "large"],
        objective="maximize mean(score)",
        constraints=[limit, "mean(lat) <= 1.1 * baseline(mean(lat))"],
        baseline="small",
        budget=20,
        policy="uniform",
        storage="memory://",
        seed=1,
    )
    rng = np.random.default_rng(5)
    for pull in study.pulls():
        value = (
            1e-60 * rng.integers(1, 3) if pull.arm == "small" else large * rng.uniform(-1.0, 1.0)
        )
        study.tell(pull, {"score": float(value), "lat": float(value)})
    with np.errstate(all="raise", under="ignore"):
        verdict = study.recommend()
    chances = [arm.chance_best or 0.0 for arm in verdict.arms]
    assert sum(chances) == pytest.approx(1.0)
    assert 0.0 <= verdict.confidence <= 1.0


def test_nothing_is_judged_before_a_pull() -> None:
    study = make()
    assert study.status().arm is None
    with pytest.raises(NoAnswerError, match=r"'s' has no arm with enough observations.*Tell some"):
        study.recommend()


@pytest.mark.parametrize("pulls", [1, 2, 3])
def test_nothing_is_sure_before_the_noise_of_any_arm_is_known(pulls: int) -> None:
    """One pull of each arm says nothing of the noise: no metric is exact, no answer certain."""
    study = make()
    law = gaussian([[0.0, 0.5], [1.0, 0.5], [2.0, 0.5]])
    for pull in study.ask(pulls):
        study.tell(pull, law(pull.arm, pull.seed))
    try:
        verdict = study.recommend()
    except NoAnswerError:
        return
    assert verdict.exact == ()
    assert verdict.verdict == "too-close-to-call"
    assert verdict.confidence < 0.95


# --------------------------------------------------------------------------------------
# Arms that tie, and metrics of any size
# --------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("prices", [(7.0, 7.0, 9.0), (9.0, 0.1, 0.1), (3.0, 3.0, 3.0)])
def test_of_arms_that_tie_any_is_right(policy: str, prices: tuple[float, ...]) -> None:
    """Two options at the same price are common; to name one of them is not to be unsure."""

    def law(arm: str, seed: int) -> dict[str, float]:
        price = prices[int(arm.removeprefix("arm "))]
        return {"loss": price, "risk": 0.2 + 0.1 * (seed % 3)}

    verdict = judged(make(policy=policy, noise={"exact": ["loss"]}), law)
    assert verdict.verdict == "feasible"
    assert verdict.confidence > 0.999
    tied = [f"arm {i}" for i, price in enumerate(prices) if price == min(prices)]
    others = [name for name in tied if name != verdict.arm]
    assert verdict.arm in tied
    assert f"As good as {verdict.arm}, by what was seen: {', '.join(others)}." in remarks(verdict)
    reasons = {
        arm.name: reason(arm, verdict) for arm in verdict.arms if arm.status == Status.RUNNING
    }
    for name in set(reasons) & set(others):
        assert reasons[name] == f"as good as {verdict.arm}"


def test_of_arms_that_come_equally_near_any_is_right() -> None:
    study = make(arms=2, noise={"exact": ["risk"]})
    verdict = judged(study, lambda arm, seed: {"loss": float(seed % 5), "risk": 2.0})
    assert (verdict.verdict, verdict.confidence) == ("infeasible", 1.0)
    assert sum(is_tied(arm, verdict) for arm in verdict.arms) == 1
    assert "How near arms come, their margin, is in units of the noise." in remarks(verdict)


def test_nothing_is_said_of_ties_where_there_are_none() -> None:
    verdict = judged(make(), gaussian([[0.0, 3.0], [2.0, -2.0], [4.0, -2.0]]))
    assert not any(is_tied(arm, verdict) for arm in verdict.arms)
    assert not any("As good" in line for line in remarks(verdict))


def seen_as(rows: list[tuple[float, float]]) -> Verdict:
    """Return top-two's verdict on ten pulls an arm, a unit on either side of these means."""
    study = make(len(rows), policy="top-two", budget=10 * len(rows), batch=10 * len(rows))
    pulls = study.ask(10 * len(rows))
    count: Counter[str] = Counter()
    told = []
    for pull in pulls:
        loss, risk = rows[int(pull.arm.removeprefix("arm "))]
        sides = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])[count[pull.arm] % 4]
        count[pull.arm] += 1
        told.append({"loss": loss + sides[0], "risk": risk + sides[1]})
    study.tell_many(pulls, told)
    return study.recommend()


def test_an_answer_that_does_not_look_best_says_what_does() -> None:
    """Arm 0 looks better, by little, and lies on the verge; arm 1 is safe."""
    verdict = seen_as([(0.0, 0.79), (0.05, -3.0), (0.5, -3.0)])
    assert (verdict.arm, verdict.feasible, verdict.apparent) == ("arm 1", True, "arm 0")
    assert verdict.confidence > 0.35
    assert (
        "By estimates alone arm 0 looks best, and feasible, but arm 1 is likelier to be right."
        in findings(verdict)
    )
    assert [reason(arm, verdict) for arm in verdict.arms] == [
        "looks best, but arm 1 is likelier to be right",
        "the answer",
        "arm 0 looks better",
    ]
    assert verdict.flips == (), "they would be those of arm 0"


def test_an_answer_that_seems_to_break_a_limit_says_so_and_others_keep_their_looks() -> None:
    """Arms 0 and 1 break the limit by a hair: likely one of them keeps it. Arm 2 surely does."""
    verdict = seen_as([(0.0, 0.85), (-3.0, 0.82), (5.0, -2.0)])
    assert (verdict.arm, verdict.feasible, verdict.apparent) == ("arm 1", True, "arm 2")
    assert (verdict.verdict, verdict.confidence < 0.7) == ("too-close-to-call", True)
    assert "is the likeliest answer" in sentence(verdict)
    likely = percent(1.0 - (verdict.arms[1].chance_feasible or 0.0))
    assert findings(verdict)[0] == (
        f"arm 1 looks over mean(risk) <= 1 (1.02): {likely} likely infeasible."
    )
    assert [arm.kind for arm in verdict.arms] == [
        "infeasible-suboptimal", "optimal", "feasible-suboptimal",
    ]  # fmt: skip


@pytest.mark.parametrize("policy", POLICIES)
def test_a_cheaper_arm_that_breaks_its_limit_gains_nothing_from_a_tie(policy: str) -> None:
    """Prices have no noise, and two arms that keep the limit have the same one."""
    law = gaussian([[3.0, -1.0], [1.0, 1.6], [3.0, -1.0]])
    verdict = judged(
        make(policy=policy),
        lambda arm, seed: law(arm, seed) | {"loss": 1.0 if arm == "arm 1" else 3.0},
    )
    assert verdict.arm != "arm 1"
    assert verdict.feasible
    assert verdict.confidence > 0.9


def test_an_answer_that_looks_best_says_nothing_of_it() -> None:
    verdict = seen_as([(0.0, -3.0), (3.0, -3.0), (5.0, -3.0)])
    assert (verdict.arm, verdict.apparent) == ("arm 0", "arm 0")
    assert not any("alone" in line for line in remarks(verdict))
    assert reason(verdict.arms[1], verdict) == "arm 0 looks better"
    assert verdict.flips


@pytest.mark.parametrize("unit", [1e-60, 1e-20, 1e-11, 1e-10, 1e-9, 1.0, 1e12, 1e58])
def test_units_do_not_matter(unit: float) -> None:
    """Metrics as small as 1e-10 had been taken for shares of yes-or-no outcomes."""

    def law(arm: str, seed: int) -> dict[str, float]:
        return {"loss": float(arm == "arm 1") + (seed % 7) / 7, "risk": unit * (2 + seed % 10)}

    verdict = judged(make(arms=2, constraints=f"mean(risk) <= {20 * unit!r}"), law)
    assert (verdict.arm, verdict.verdict) == ("arm 0", "feasible")
    assert verdict.confidence > 0.9
    for arm in verdict.arms:
        found = arm.estimates["mean(risk)"]
        assert unit < found.low < found.value < found.high < 12 * unit


# --------------------------------------------------------------------------------------
# Metrics that never vary
# --------------------------------------------------------------------------------------


def test_what_varied_is_not_said_to_be_exact_where_all_items_were_seen() -> None:
    def optimized(cost: Callable[[int], float]) -> tuple[str, ...]:
        study = Study.create(
            "all", arms=["a", "b"], objective="maximize mean(x)", constraints="mean(cost) <= 1",
            blocks={"items": 20, "scope": "these"}, budget=40, storage="memory://", seed=1,
        )  # fmt: skip
        study.optimize(lambda arm, item: {"x": (item + (arm == "a")) % 7, "cost": cost(item)})
        return study.recommend().exact

    assert optimized(lambda item: item / 40) == ()
    assert optimized(lambda item: 0.5) == ("mean(cost)",)


def test_a_metric_that_never_varies_is_exact() -> None:
    def law(arm: str, seed: int) -> dict[str, float]:
        risk = {"arm 0": 0.1, "arm 1": 0.3, "arm 2": 1.0}[arm]
        return {"loss": float(np.random.default_rng(seed).normal(int(arm[-1]), 0.1)), "risk": risk}

    for policy in POLICIES:
        verdict = judged(make(policy=policy, budget=90), law)
        assert verdict.exact == ("mean(risk)",)
        assert (verdict.arm, verdict.verdict, verdict.chance_feasible) == ("arm 0", "feasible", 1.0)
        estimate = verdict.arms[0].estimates["mean(risk)"]
        assert (estimate.low, estimate.value, estimate.high) == (0.1, 0.1, 0.1)
        assert verdict.arms[2].blocked_by == (), "on the threshold is inside"


def test_a_metric_that_never_leaves_its_threshold_is_inside() -> None:
    def law(arm: str, seed: int) -> dict[str, float]:
        return {"loss": float(np.random.default_rng(seed).normal()), "risk": 1.0}

    for noise in ({"risk": {"bounds": [0, 1]}}, {"exact": ["risk"]}):  # a share of 1 at most, and 1
        verdict = judged(make(arms=2, noise=noise), law)
        assert (verdict.feasible, verdict.verdict) == (True, "feasible")
        assert verdict.chance_feasible == 1.0


@pytest.mark.parametrize(
    ("limit", "noise", "doubted"),
    [
        ("mean(risk) <= 0.3", None, False),  # a share, and its Beta says how sure that is
        ("mean(risk) <= 5", None, True),  # no share is above 5: who asks this expects more than 1
        ("mean(risk) <= 1", None, True),
        ("mean(risk) >= 0", None, True),
        ("variance(risk) <= 0.25", None, True),
        ("variance(risk) <= 0.2", None, False),
        ("mean(risk) <= 5", {"risk": {"bounds": [0, 1]}}, False),
        ("mean(risk) <= 5", {"exact": ["risk"]}, False),
        ("mean(risk) <= 5", {"risk": {"bounds": [0, 1000]}}, True),  # 3 in 30 may be 1000
        ("mean(risk) <= 0.3", {"risk": {"bounds": [0, 1000]}}, True),
        ("mean(risk) <= 101", {"risk": {"bounds": [0, 1000]}}, False),
        ("p80(risk) <= 5", None, False),  # a share of pulls above 5, whatever they are
    ],
)
def test_zeros_of_what_may_be_more_are_doubted(limit: str, noise: Any, doubted: bool) -> None:
    """Nothing but zeros in 30 pulls an arm: a share of yes and no, or costs that did not come."""
    verdict = judged(
        make(arms=2, constraints=limit, noise=noise),
        lambda arm, seed: {"loss": 9.0 * float(arm[-1]) + seed % 3, "risk": 0.0},
    )
    assert (verdict.arm, verdict.feasible) == ("arm 0", True)
    assert {one.kind for one in verdict.doubts} == ({"unseen"} if doubted else set())
    assert verdict.verdict == ("too-close-to-call" if doubted else "feasible")
    assert verdict.confidence <= 0.95 or not doubted


def test_a_deceiver_with_the_same_objective_is_called_as_good() -> None:
    def evaluate(arm: str, seed: int) -> dict[str, float]:
        return {"loss": 1.0, "risk": (2.0 if arm == "arm 0" else 0.5) + seed % 7 / 100}

    verdict = judged(make(arms=2), evaluate)
    assert [arm.kind for arm in verdict.arms] == ["deceiver", "optimal"]
    assert findings(verdict)[0].startswith(
        "arm 0 is as good by mean(loss), but over mean(risk) <= 1 (2.0"
    )


def test_a_world_without_noise_is_known_for_sure_where_that_is_stated() -> None:
    def law(arm: str, seed: int) -> dict[str, float]:
        return {"loss": float(arm[-1]), "risk": 2.0}

    doubted = judged(make(), law)
    assert doubted.exact == ("mean(loss)", "mean(risk)")
    assert (doubted.feasible, doubted.verdict) == (False, "too-close-to-call")
    assert doubted.confidence <= 0.95
    assert {(one.kind, one.attribute) for one in doubted.doubts} == {("unseen", "mean(risk)")}
    verdict = judged(make(noise={"exact": ["risk"]}), law)
    assert (verdict.feasible, verdict.verdict, verdict.doubts) == (False, "infeasible", ())
    assert verdict.chance_feasible == 0.0


@pytest.mark.parametrize(
    ("limit", "noise", "doubted"),
    [
        ("mean(risk) <= 4", None, False),  # a fifth of arm 0's could be 5, as arm 1's are: 3.4
        ("mean(risk) <= 3.3", None, True),
        ("mean(risk) <= 3.3", {"exact": ["risk"]}, False),
        ("mean(risk) <= 4", {"risk": {"bounds": [0, 10]}}, True),  # 3 + 7 / 5
        ("mean(risk) <= 4.5", {"risk": {"bounds": [0, 10]}}, False),
        ("mean(risk) <= 5.5", None, False),
    ],
)
def test_what_was_not_seen_counts_as_far_as_it_is_possible(
    limit: str, noise: Any, doubted: bool
) -> None:
    """Prices of 3 and 5 that never varied, in 15 pulls each; arm 0 has the lower loss by far."""
    study = make(arms=2, budget=30, constraints=limit, noise=noise)
    verdict = judged(
        study,
        lambda arm, seed: {"loss": 9.0 * float(arm[-1]) + seed % 3, "risk": 3.0 + 2 * int(arm[-1])},
    )
    assert bool(verdict.doubts) == doubted
    if verdict.doubts:
        assert verdict.verdict == "too-close-to-call"
        assert (verdict.doubts[0].arm, verdict.doubts[0].pulls) == ("arm 0", 15)
    else:
        assert verdict.verdict == "feasible"


# --------------------------------------------------------------------------------------
# Flips
# --------------------------------------------------------------------------------------

PROBLEMS: dict[str, tuple[str, list[str]]] = {
    "one limit": ("minimize mean(loss)", ["mean(risk) <= {0}"]),
    "one limit from below": ("maximize mean(loss)", ["mean(risk) >= {0}"]),
    "two limits": ("minimize mean(loss)", ["mean(risk) <= {0}", "mean(loss) >= {1}"]),
    "a quantile": ("minimize mean(loss)", ["p80(risk) <= {0}"]),
    "a share": ("minimize mean(loss)", ["share(risk > 0.5) <= {0}"]),
}
LIMITS = {"a share": [(0.2, 0.0), (0.6, 0.0), (0.02, 0.0), (0.9, 0.0)]}
MOST_LIMITS = [(0.2, -0.5), (0.8, 0.3), (-0.6, 0.5), (1.8, -2.0)]


def answer_under(rows: Any, objective: str, limits: list[str]) -> tuple[str, bool]:
    """Return the plain answer that the same observations give under these limits.

    Flips are looked for far beyond where a share can be, too.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Problem, "with_possible_limits", lambda self: self)
        study = make(arms=4, objective=objective, constraints=limits)
    study.bring(rows, arm="arm", label="again")
    verdict = study.recommend()
    return verdict.answer[0], verdict.feasible


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("seed", range(4))
def test_the_answer_changes_at_a_flip_and_not_before(problem: str, seed: int) -> None:
    objective, written = PROBLEMS[problem]
    values = LIMITS.get(problem, MOST_LIMITS)[seed]
    rng = np.random.default_rng([3, seed])
    means = rng.uniform(0.0, 1.5, (4, 2))
    columns = [rng.normal(means[arm], 0.5, (12, 2)) for arm in range(4)]
    rows = {
        "arm": [f"arm {arm}" for arm in range(4) for _ in range(12)],
        "loss": np.concatenate(columns)[:, 0],
        "risk": np.concatenate(columns)[:, 1],
    }

    def under(changed: dict[int, float]) -> str | None:
        limits = [
            text.replace(f"{{{c}}}", repr(float(changed.get(c, values[c]))))
            for c, text in enumerate(written)
        ]
        arm, feasible = answer_under(rows, objective, limits)
        return arm if feasible else None

    study = make(
        arms=4,
        objective=objective,
        constraints=[text.replace(f"{{{c}}}", repr(values[c])) for c, text in enumerate(written)],
    )
    study.bring(rows, arm="arm", label="once")
    verdict = study.recommend()
    now = verdict.arm if verdict.feasible else None
    assert now == under({})
    constraints = [str(one) for one in study.desk.plan.problem.constraints]
    for c, text in enumerate(constraints):
        flips = [flip for flip in verdict.flips if flip.constraint == text]
        for side in (-1.0, 1.0):
            mine = [flip for flip in flips if np.sign(flip.threshold - values[c]) == side]
            assert len(mine) <= 1
            if mine:
                check_flip(mine[0], values[c], now, lambda x, c=c: under({c: x}))  # type: ignore[misc]
            else:
                for far in (0.1, 1.0, 10.0, 1e6):
                    assert under({c: values[c] + side * far}) == now, "there is a flip after all"


def test_a_limit_that_excludes_an_arm_says_beyond_which_value() -> None:
    """The threshold itself is exact: the next number below an arm's own value, here a denormal."""
    law = gaussian([[0.0, 0.0], [1.0, 0.0]])
    verdict = judged(make(arms=2), lambda arm, seed: law(arm, seed) | {"risk": 0.0})
    (flip,) = verdict.flips
    assert flip == Flip("mean(risk) <= 1", -5e-324, None, 0.0)
    assert flip.side == "below"
    assert str(flip.beyond) == "0.0"


def check_flip(
    flip: Flip, limit: float, now: str | None, under: Callable[[float], str | None]
) -> None:
    after = flip.answer
    assert after != now
    side = np.sign(flip.threshold - limit)
    reach = abs(flip.threshold - limit)
    assert under(flip.threshold) == after
    assert under(flip.threshold + side * 1e-12 * (1.0 + abs(flip.threshold))) == after
    assert under(float(np.nextafter(flip.threshold, limit))) == now, "just before it"
    if flip.beyond is not None:
        assert flip.beyond == np.nextafter(flip.threshold, limit)
        assert flip.side == ("below" if side < 0.0 else "above")
    for part in np.linspace(0.0, 1.0, 30, endpoint=False):
        assert under(float(limit + side * part * reach)) == now, "on the way to it"


# --------------------------------------------------------------------------------------
# Calibration
# --------------------------------------------------------------------------------------

BINS = (0.0, 0.5, 0.7, 0.85, 0.95, 1.0)
STUDIES = 400
PULLS_EACH = 12


def confidences(copies: int) -> tuple[Floats, Floats]:
    """Return the confidence of many small studies, and whether they were right.

    Truths are drawn far wider than the noise, so that they favour no answer. With `copies` a study
    is judged that every observation is brought to so many times, as if it had been seen as often.
    """
    said, right = [], []
    for number in range(STUDIES):
        rng = np.random.default_rng([17, number])
        means = rng.uniform(-1.5, 1.5, (3, 2))
        asked: dict[str, Any] = {
            "seed": number,
            "budget": 3 * PULLS_EACH,
            "constraints": "mean(risk) <= 0.0",
        }
        study = make(**asked)
        verdict = judged(study, gaussian(means))
        if copies:
            seen = study.observations()
            past = {key: seen[key] * copies for key in ("arm", "loss", "risk")}
            twin = make(**asked)
            twin.bring(past, arm="arm", label="the same again")
            verdict = twin.recommend()
        passes = means[:, 1] <= 0.0
        best = (
            int(np.argmin(np.where(passes, means[:, 0], np.inf)))
            if passes.any()
            else int(np.argmin(means[:, 1]))
        )
        said.append(verdict.confidence)
        right.append((verdict.arm, verdict.feasible) == (f"arm {best}", bool(passes.any())))
    return np.array(said), np.array(right, dtype=np.float64)


def check_calibrated(said: Floats, right: Floats) -> None:
    """Compare what was right with what was said, bin by bin and over all, at alpha in all."""
    limit = float(stats.norm.isf(ALPHA / 2 / len(BINS)))
    places = np.clip(np.digitize(said, BINS) - 1, 0, len(BINS) - 2)
    for one in [*(places == place for place in range(len(BINS) - 1)), np.full(len(said), True)]:
        expected, found = float(said[one].sum()), float(right[one].sum())
        error = max(float((said[one] * (1.0 - said[one])).sum()), 0.25) ** 0.5
        z = (found - expected) / error
        where = f"{one.sum()} verdicts: {found:.0f} right, {expected:.1f} expected (z = {z:.1f})"
        assert abs(z) <= limit, where


def test_confidence_is_how_often_a_verdict_is_right() -> None:
    said, right = confidences(copies=0)
    assert ((said > 0.5) & (said < 0.85)).sum() >= 40, "enough that are in doubt"
    check_calibrated(said, right)


def test_the_check_of_calibration_notices_too_much_confidence() -> None:
    with pytest.raises(AssertionError, match="right"):
        check_calibrated(*confidences(copies=4))


# --------------------------------------------------------------------------------------
# The interval of the margin
# --------------------------------------------------------------------------------------


def test_the_margins_interval_is_that_of_the_binding_constraint() -> None:
    """One arm: its variance is the pooled one, so a margin's error is sqrt(1/(2 V)) sqrt(V/n)."""
    risk = stats.norm.ppf((np.arange(40) + 0.5) / 40.0)  # without skewness
    heat = 3.0 * np.random.default_rng(5).permutation(risk)
    rows = {"arm": ["arm 0"] * 40, "loss": risk[::-1].tolist(), "risk": risk.tolist()}
    for limit, binding in ((100.0, risk - 1.0), (float(heat.mean()) - 2.0, heat)):
        constraints = ["mean(risk) <= 1.0", f"mean(heat) <= {limit!r}"]
        study = make(arms=1, constraints=constraints)
        study.bring({**rows, "heat": heat.tolist()}, arm="arm", label="log")
        (arm,) = study.recommend().arms
        excess = float(binding.mean()) - (limit if binding is heat else 0.0)
        spread = float(binding.std(ddof=1))
        assert arm.margin == pytest.approx(excess / (2.0**0.5 * spread))
        reach = stats.t(39).ppf(0.975) / (2.0 * len(risk)) ** 0.5
        assert arm.margin is not None
        assert arm.margin_low == pytest.approx(arm.margin - reach)
        assert arm.margin_high == pytest.approx(arm.margin + reach)


def test_an_arm_that_cannot_be_judged_has_no_interval() -> None:
    study = make(arms=2)
    rows = {"arm": ["arm 0"] * 4, "loss": [1.0, 2.0, 3.0, 4.0], "risk": [0.0, 0.5, 0.0, 0.5]}
    study.bring(rows, arm="arm", label="log")
    seen, unseen = study.recommend().arms
    assert seen.margin_low is not None
    assert (unseen.margin, unseen.margin_low, unseen.margin_high) == (None, None, None)


# --------------------------------------------------------------------------------------
# Failures
# --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("direction", "fails"), [("maximize", True), ("minimize", True), ("maximize", False)]
)
def test_failed_pulls_count_as_bad_as_can_be(direction: str, fails: bool) -> None:
    """Arm 0 is better and keeps its limit; but every fifth of its pulls fails, as slow ones do."""
    sign = 1.0 if direction == "maximize" else -1.0
    study = make(
        arms=2, objective=f"{direction} mean(loss)", budget=80, noise={"risk": {"bounds": [0, 3]}}
    )
    count: Counter[str] = Counter()
    for pull in study.pulls():
        count[pull.arm] += 1
        if fails and pull.arm == "arm 0" and count[pull.arm] % 5 == 1:
            assert study.fail(pull, "it took too long") == "failed"
            continue
        loss, risk = {"arm 0": (3.0, 0.7), "arm 1": (1.0, 0.5)}[pull.arm]
        wobble = 0.2 * (count[pull.arm] % 3) - 0.2
        study.tell(pull, {"loss": sign * loss + wobble, "risk": risk + wobble})
    verdict = study.recommend()
    failed = [arm.failed for arm in verdict.arms]
    assert verdict.arm == "arm 0"
    assert verdict.chance_keeps_limits > 0.999, "draws know nothing of what was not told"
    if not fails:
        assert (verdict.verdict, verdict.doubts, failed) == ("feasible", (), [0, 0])
        return
    assert (verdict.verdict, failed) == ("too-close-to-call", [8, 0])
    assert [arm.untold for arm in verdict.arms] == [8, 0]
    assert [(one.kind, one.arm, one.failed) for one in verdict.doubts] == [("failures", "arm 0", 8)]
    assert verdict.confidence <= 0.95


@pytest.mark.parametrize(
    ("limit", "risk", "noise", "doubted"),
    [
        # Never slower than 1.2 in what was told: who timed out may well have been.
        ("p95(risk) <= 2", 1.0, None, True),
        ("p85(risk) <= 2", 1.0, None, False),  # one pull in eight is not one in seven
        ("p95(risk) <= 2", 1.0, {"risk": {"bounds": [0, 1.5]}}, False),
        ("share(risk > 2) <= 0.05", 1.0, None, True),
        ("share(risk <= 2) >= 0.95", 1.0, None, True),
        ("share(risk >= 0.5) >= 0.95", 1.0, None, True),
        ("mean(risk) <= 2", 1.0, None, False),  # by how far is for bounds or stand-ins to say
        ("mean(risk) <= 0.1", 0.0, None, True),  # yes or no: an eighth may be yes
        ("mean(risk) <= 0.2", 0.0, None, False),
    ],
)
def test_a_failed_pull_may_be_the_event_that_no_pull_has_told(
    limit: str, risk: float, noise: Any, doubted: bool
) -> None:
    """Every eighth pull of arm 0, which is better by far, times out."""
    study = make(arms=2, budget=400, constraints=limit, noise=noise, max_failures=9)
    count: Counter[str] = Counter()
    for pull in study.pulls():
        count[pull.arm] += 1
        if pull.arm == "arm 0" and count[pull.arm] % 8 == 1:
            study.fail(pull, "no answer", timed_out=True)
            continue
        wobble = 0.1 * (count[pull.arm] % 3)
        study.tell(pull, {"loss": 9.0 * float(pull.arm[-1]) + wobble, "risk": risk * (1 + wobble)})
    verdict = study.recommend()
    assert (verdict.arm, verdict.feasible) == ("arm 0", True)
    assert [(one.kind, one.arm) for one in verdict.doubts] == [("failures", "arm 0")] * doubted
    assert verdict.verdict == ("too-close-to-call" if doubted else "feasible")


def test_an_objective_that_has_a_limit_is_doubted_once() -> None:
    verdict = judged(make(arms=2, constraints="mean(loss) >= 1"), lambda arm, seed: {"loss": 1.5})
    found = [(one.kind, one.arm, one.attribute) for one in verdict.doubts]
    assert found == [("unseen", arm, "mean(loss)") for arm in ("arm 0", "arm 1")]


@pytest.mark.parametrize(
    ("limit", "noise", "doubted"),
    [
        ("mean(risk) <= 1", None, True),  # a tenth of arm 0's could be 12, as some of arm 1's are
        ("mean(risk) <= 1.3", None, False),
        ("mean(risk) <= 1", {"exact": ["risk"]}, False),
        ("mean(risk) <= 1", {"risk": {"sigma": 1.0}}, False),
        ("mean(risk) <= 1.3", {"risk": {"bounds": [0, 20]}}, True),
    ],
)
def test_what_the_named_arm_did_not_show_is_doubted_though_others_showed_it(
    limit: str, noise: Any, doubted: bool
) -> None:
    """Thirty pulls of arm 0 cost nothing, and every third one of arm 1 costs 12."""
    study = make(arms=2, constraints=limit, noise=noise)
    count: Counter[str] = Counter()
    for pull in study.pulls():
        count[pull.arm] += 1
        loss = 9.0 * float(pull.arm[-1]) + count[pull.arm] % 3
        risk = 12.0 * (pull.arm == "arm 1" and count[pull.arm] % 3 == 0)
        study.tell(pull, {"loss": loss, "risk": risk})
    verdict = study.recommend()
    assert (verdict.arm, verdict.feasible) == ("arm 0", True)
    found = [(one.arm, one.attribute, one.pulls) for one in verdict.doubts]
    assert found == ([("arm 0", "mean(risk)", 30)] if doubted else [])
    assert verdict.verdict == ("too-close-to-call" if doubted else "feasible")


@pytest.mark.parametrize(
    ("limit", "shown"), [("mean(failed) <= 0.08", 0.2), ("p90(failed) <= 0.5", 1.0)]
)
def test_pulls_that_failed_are_failures_at_worst(limit: str, shown: float) -> None:
    """Arm 0 is better and fails in every fifth pull; a limit on failures is what it breaks."""
    study = make(arms=2, budget=200, constraints=limit, max_failures=9)
    count: Counter[str] = Counter()
    for pull in study.pulls():
        count[pull.arm] += 1
        if pull.arm == "arm 0" and count[pull.arm] % 5 == 1:
            study.fail(pull, "boom")
            continue
        study.tell(pull, {"loss": float(pull.arm[-1]) + 0.1 * (count[pull.arm] % 3)})
    verdict = study.recommend()
    assert (verdict.arm, verdict.verdict, verdict.doubts) == ("arm 1", "feasible", ())
    assert [arm.failed for arm in verdict.arms] == [20, 0]
    estimates = [arm.estimates[limit.split(" ", maxsplit=1)[0]] for arm in verdict.arms]
    assert [one.value for one in estimates] == [pytest.approx(shown), 0.0]
    assert estimates[0].low <= shown <= estimates[0].high


def test_failures_that_could_not_change_the_answer_are_no_doubt() -> None:
    """Those of an arm that is behind anyway, and few of one that is far ahead."""
    study = make(arms=2, budget=80)
    count: Counter[str] = Counter()
    for pull in study.pulls():
        count[pull.arm] += 1
        if count[pull.arm] % 20 == 1:
            study.fail(pull, "boom")
            continue
        ahead = {"arm 0": 1.0, "arm 1": 9.0}[pull.arm]
        study.tell(pull, {"loss": ahead + 0.1 * (count[pull.arm] % 3), "risk": pull.seed % 7 / 100})
    verdict = study.recommend()
    assert {arm.failed for arm in verdict.arms} == {2}
    assert (verdict.arm, verdict.verdict, verdict.doubts) == ("arm 0", "feasible", ())
