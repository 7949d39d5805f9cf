"""Small studies made by hand, for figures: plans, rounds and verdicts with chosen numbers."""

from collections.abc import Sequence
from typing import Any

from ringfence.core.hardness import Kind
from ringfence.core.problem import Problem
from ringfence.study.facts import Cause, Definition, Rejection, Round
from ringfence.study.plan import Plan
from ringfence.study.verdict import ArmVerdict, Estimate, Outcome, Status, Verdict

LOST = Rejection(0, Cause.REJECTED, policy="constrained-sr")
BROKE = Rejection(0, Cause.FAILING, failures=3)

HOSTILE = (
    "</script><script>alert(1)</script>",
    "'; DROP TABLE pulls; --",
    '"quoted" \\ back',
    "a.b[0]['c']",
    "datum.pulls",
    "$(touch pwned) ${x} {seed}",
    "x" * 200,
    "مرحبا بالعالم",
    "<img src=x onerror=alert(1)>",
)


def make_plan(names: Sequence[str], policy: str = "constrained-sr", **changes: Any) -> Plan:
    plain: dict[str, Any] = {
        "name": "s",
        "objective": "minimize mean(loss)",
        "constraints": ("mean(risk) <= 1.0",),
        "arms": {name: {} for name in names},
        "budget": 100,
        "policy": policy,
        "seed": 1,
    }
    return Plan.of(Definition(**{**plain, **changes}))


def make_arm(
    name: str, kind: Kind | None, margin: float | None, value: float, **changes: Any
) -> ArmVerdict:
    """Return an arm with intervals of half-width 0.1 (margin) and 0.5 (objective).

    Its status follows from why it `left`. Unless it is the answer it is `value` away from that.
    """
    judged = margin is not None
    estimate = Estimate(value, value - 0.5, value + 0.5)
    left: Rejection | None = changes.get("left")
    plain: dict[str, Any] = {
        "pulls": 10,
        "estimates": {"mean(loss)": estimate} if judged else {},
        "differences": {"mean(loss)": estimate} if judged and kind != "optimal" else {},
        "margin_low": None if margin is None else margin - 0.1,
        "margin_high": None if margin is None else margin + 0.1,
        "status": Status.RUNNING,
    }
    if left is not None:
        plain["status"] = Status.WITHDRAWN if left.is_withdrawal else Status.REJECTED
    return ArmVerdict(name=name, margin=margin, kind=kind, **{**plain, **changes})


def make_verdict(arms: Sequence[ArmVerdict], **changes: Any) -> Verdict:
    """Return a verdict on arms; its limits are those that block some of them, and another."""
    answer = next(arm for arm in arms if arm.kind == "optimal")
    feasible = answer.margin is not None and answer.margin <= 0.0
    limits = dict.fromkeys(["mean(risk) <= 1.0", *(one for arm in arms for one in arm.blocked_by)])
    plain: dict[str, Any] = {
        "study": "s",
        "arm": answer.name,
        "feasible": feasible,
        "verdict": Outcome.FEASIBLE if feasible else Outcome.INFEASIBLE,
        "confidence": 0.97,
        "chance_feasible": 1.0 if feasible else 0.0,
        "chance_keeps_limits": 1.0 if feasible else 0.0,
        "pulls_used": 100,
        "budget": 100,
        "finished": True,
        "flips": (),
        "exact": (),
        "brought": 0,
        "apparent": answer.name,
        "answer": (answer.name,),
        "problem": Problem.parse("minimize mean(loss)", list(limits)),
    }
    return Verdict(arms=tuple(arms), **{**plain, **changes})


def make_rounds(
    allocations: Sequence[Sequence[int]], seen: Sequence[dict[str, Any]] = (), **changes: Any
) -> list[Round]:
    """Return consecutive rounds; the last one ends the study if it has no pulls.

    `left` maps the number of a round to the arms that left when it was decided.
    """
    left: dict[int, Sequence[int]] = changes.get("left", {})
    before = [0] * len(allocations[0])
    alive = [True] * len(before)
    rounds = []
    first = 1
    for number, allocation in enumerate(allocations):
        gone = left.get(number, ())
        for arm in gone:
            alive[arm] = False
        rounds.append(
            Round(
                number=number,
                first=first,
                allocation=tuple(allocation),
                before=tuple(before),
                alive=tuple(alive),
                phase=number,
                is_last=sum(allocation) == 0,
                left=tuple(Rejection(arm, Cause.REJECTED) for arm in gone),
                seen=seen[number] if seen else {},
            )
        )
        first += sum(allocation)
        before = [a + b for a, b in zip(before, allocation, strict=True)]
    return rounds


def four_kinds() -> Verdict:
    """Return a verdict with an arm of every kind, two that left and one that broke."""
    return make_verdict(
        [
            make_arm("far", "feasible-suboptimal", -0.5, 4.0, phase=1, rival="best",
                     left=LOST, pulls=5),
            make_arm("best", "optimal", -0.2, 2.0, pulls=20),
            make_arm("tempting", "deceiver", 0.3, 1.0, pulls=15),
            make_arm("hopeless", "infeasible-suboptimal", 0.9, 5.0, phase=2, rival="tempting",
                     left=LOST),
            make_arm("broken", None, None, 0.0, phase=2, pulls=3,
                     left=BROKE),
        ]
    )  # fmt: skip
