"""The theory of an instance as a document: what `ringfence gaps` shows. Pure."""

from typing import Any

import numpy as np

from ringfence.core.arrays import Mask
from ringfence.core.oracle import oracle, static_rate, sum_rate
from ringfence.policies.policy import Policy
from ringfence.policies.registry import policies_for
from ringfence.simulation.funding import prices_in
from ringfence.simulation.instance import Instance

_LONG_RUN = 10**9  # pulls: a schedule's shares of them are those of any large budget


def theory_document(
    instance: Instance, budget: int | None = None, *, unit: str | None = None
) -> dict[str, Any]:
    """Return the theory of an instance under the keys that other programs rely on.

    `margin_unit` says in what the violations of different constraints are compared; `scales` that
    the noise is the instance's own, which studies estimate;
    `oracle_is_exact` whether the noise is gaussian, so that costs are exact. Where limits are
    relative to a `baseline`, gaps are of differences. There, and where arms share blocks, rates and
    bounds, whose proofs take arms for independent, are left out. `optimal` is the arm that the
    right answer names, null if none. With a `unit`, in which the instance has prices, rates are
    also per unit of money, in `by_money`.
    """
    theory, best = instance.hardness, instance.oracle
    shares = None if best is None else best.allocation
    return {
        "instance": instance.name,
        "answer": instance.problem.question.name,
        "optimal": instance.arms[theory.optimal] if theory.optimal >= 0 else None,
        "feasible": theory.feasible,
        "baseline": instance.baseline,
        "shares_blocks": instance.shares,
        "arms": [
            {"name": name} | vars(arm) for name, arm in zip(instance.arms, theory.arms, strict=True)
        ],
        "margin_unit": "noise",
        "scales": "known",
        "H1": theory.h1,
        "H2": theory.h2,
        "lower_bound_rate": instance.lower_bound_rate,
        "conjectured_rate": None
        if instance.baseline is not None or instance.shares
        else theory.conjectured_rate,
        "oracle_rate": None if best is None else best.rate,
        "oracle_allocation": None
        if shares is None
        else {name: float(share) for name, share in zip(instance.arms, shares, strict=True)},
        "oracle_is_exact": instance.law.covariances is not None,
        "policy_rates": None
        if best is None
        else {policy.name: last_phase_rate(instance, policy) for policy in _with_phases(instance)},
        "budget": budget,
        "upper_bound": None if budget is None else instance.upper_bound(budget),
        **({} if unit is None else {"by_money": money_rates(instance, unit)}),
    }


def money_rates(instance: Instance, unit: str) -> dict[str, Any]:
    """Return what pulls cost, and how fast errors fall with money at best, and with even pulls."""
    prices = prices_in(instance, unit)
    known = None if instance.oracle is None else oracle(instance.truth, prices)
    even = np.full(len(prices), 1.0 / len(prices))
    allocation = None if known is None else known.allocation
    return {
        "unit": unit,
        "prices": dict(zip(instance.arms, prices.tolist(), strict=True)),
        "oracle_rate": None if known is None else known.rate,
        "oracle_allocation": None
        if allocation is None
        else {name: float(share) for name, share in zip(instance.arms, allocation, strict=True)},
        "uniform_rate": None
        if known is None
        else static_rate(instance.truth, even) / float(prices.mean()),
    }


def _with_phases(instance: Instance) -> list[Policy]:
    """Return the policies with phases that answer what an instance is asked."""
    return [one for one in policies_for(instance.problem.question) if one.has_phases]


def last_phase_rate(instance: Instance, policy: Policy) -> float:
    """Return the rate at which a phase policy errs in its last phase.

    The arms that are left by then are those that it keeps when all estimates are true; where it
    does not keep the right one, it errs ever more surely, unless arms that left were settled.
    Errors of earlier phases come on top, so its own rate is at most this; uniform has no earlier
    phase.
    """
    phases = policy.phases(len(instance.arms), _LONG_RUN)
    alive, total, left = np.ones(len(instance.arms), np.bool_), 0, []
    for phase in phases:
        total += phase.pulls
        left = [int(arm) for arm in np.flatnonzero(alive)]
        _reject_by_truth(instance, policy, alive, phase.keep, total)
    if not (instance.problem.question.settles or alive[instance.hardness.optimal]):
        return 0.0
    shares = np.full(len(alive), total / _LONG_RUN)
    if policy.weights is None:
        return static_rate(instance.truth, shares, left)
    return sum_rate(instance.truth, shares, policy.weights(instance.scales), left)


def _reject_by_truth(
    instance: Instance, policy: Policy, alive: Mask, keep: int, pulls: int
) -> None:
    """Drop arms from `alive` as a policy would whose estimates are the truth."""
    counts, order = np.full(len(alive), pulls), np.arange(len(alive))
    while alive.sum() > keep:
        out = policy.course_for(instance.problem.question).rule(
            instance.means, counts, alive, instance.scales, instance.judged.thresholds, order
        )
        alive[out] = False
