"""Plans what is left of a study from what it has seen so far. May touch every room."""

from dataclasses import replace

import numpy as np

from ringfence.core.arrays import Integers
from ringfence.core.errors import InputError
from ringfence.core.streams import verdict_stream
from ringfence.interfaces.planning import Advance, Plan, plan_instance
from ringfence.interfaces.rare import Hands
from ringfence.interfaces.studies import Study
from ringfence.policies.evidence import Evidence
from ringfence.policies.policy import MOST_PULLS, Policy
from ringfence.simulation.instance import Instance
from ringfence.simulation.variations import gaussian_instance
from ringfence.study.reading import View

_TRUTHS = 40


def plan_from_study(
    study: Study, target: float, hands: Hands, advance: Advance | None = None, *,
    policy: Policy | None = None, scales: str | None = None, brief: bool = False,
    answer: str | None = None,
) -> Plan:  # fmt: skip
    """Return the plan for an instance like what a study has seen so far.

    Its estimates are taken for the truth, and policies are told the noise if the study states all
    of it. `study` says how many more pulls that is, and how the
    budget varies over what else the truth may be.
    """
    chosen = study.desk.plan.policy if policy is None else policy
    view = study.view()
    seen, evidence, kept = seen_instance(study, view)
    instance, plan = seen.asking(answer), study.desk.plan
    if scales is None and plan.noise.is_whole(plan.problem):
        scales = "known"
    found = plan_instance(instance, chosen, target, hands, advance, scales=scales, brief=brief)
    if advance is not None:
        advance("what else the truth may be")
    low, high = _budget_range(instance, found.point.budget, evidence.counts[kept], hands.seed)
    facts = {
        "name": study.name,
        "pulls_used": view.used,
        "more_pulls": max(0, found.point.budget - view.used),
        "budget_low": low,
        "budget_high": high,
    }
    note = (
        "the study's estimates are taken for the truth; with a truth that its pulls allow as well, "
        "8 times in 10 the budget lies between budget_low and budget_high"
    )
    return replace(found, study=facts, notes=(note, *found.notes))


def seen_instance(study: Study, view: View | None = None) -> tuple[Instance, Evidence, list[int]]:
    """Return the instance that a study's estimates describe, of arms with pulls enough."""
    plan, view = study.desk.plan, view or study.view()
    plan.problem.require_numbers("a study with one cannot be planned from yet")
    names = plan.definition.arm_names
    withdrawn = {one.rejection.arm for one in view.departures if one.rejection.is_withdrawal}
    kept = [arm for arm in range(len(names)) if arm not in withdrawn]
    unseen = [names[arm] for arm in kept if not view.book.is_seen[arm]]
    if unseen or not kept:
        raise InputError(
            f"study {study.name!r} has too few observations to plan from"
            f"{' of ' + ', '.join(unseen) if unseen else ': all its arms were withdrawn'}. Run it "
            "for a while first."
        )
    evidence = view.snapshot.evidence(view.book.is_seen, plan.priority)
    instance = gaussian_instance(
        study.name,
        plan.problem.judged,
        [names[arm] for arm in kept],
        evidence.estimates[kept],
        evidence.covariances[kept],
    )
    return instance, evidence, kept


def _budget_range(instance: Instance, budget: int, counts: Integers, seed: int) -> tuple[int, int]:
    """Return between which budgets the plan lies for 8 in 10 truths, by the oracle's rates."""
    law = instance.law
    rng = verdict_stream(seed)
    here = instance.oracle
    if here is None or here.rate <= 0.0:
        return budget, MOST_PULLS
    budgets = []
    for _ in range(_TRUTHS):
        spread = law.true_covariances / counts[:, None, None]
        means = [rng.multivariate_normal(m, c) for m, c in zip(law.means, spread, strict=True)]
        other = gaussian_instance(
            instance.name, instance.problem, instance.arms, np.array(means), law.true_covariances
        ).oracle
        rate = 0.0 if other is None else other.rate
        budgets.append(min(float(MOST_PULLS), budget * here.rate / max(rate, 1e-300)))
    low, high = np.quantile(budgets, [0.1, 0.9])
    return int(low), int(high)
