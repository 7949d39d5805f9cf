"""Thompson sampling for the best feasible arm: pull what a draw of the truth calls the answer.

BFAI-TS (Yang, Gao, Li and Wang 2025), with two additions that a fixed budget needs: a draw without
a feasible arm answers with its least infeasible one, and a search for a second answer that takes
too long ends with the arm that is cheapest to make the answer. Touches its arguments only, and
writes in `work` and `chosen`.
"""

from typing import NamedTuple

import numpy as np

from ringfence.core.arrays import Floats, Integers
from ringfence.core.chance import next_uniform, spin
from ringfence.core.cost import CostWork, beating_cost, cost_work, nearing_cost
from ringfence.core.gaps import apparent_best, margin
from ringfence.core.posterior import fill_draw, fill_factors
from ringfence.core.schedule import one_more_than_arms, ten_or_half_a_share
from ringfence.policies.evidence import Evidence
from ringfence.policies.policy import AdaptivePolicy

LEADER_SHARE = 0.5
MOST_DRAWS = 10


class Work(NamedTuple):
    """Room for draws of all arms."""

    factors: Floats
    draw: Floats
    state: Floats
    cost: CostWork


def make_work(arm_count: int, attribute_count: int) -> Work:
    """Return room for `choose`."""
    return Work(
        np.zeros((arm_count, attribute_count, attribute_count)),
        np.zeros((arm_count, attribute_count)),
        np.zeros(2),
        cost_work(attribute_count),
    )


def choose(seen: Evidence, uniforms: Floats, chosen: Integers, work: Work) -> None:
    """Choose a batch: for each pull a drawn answer, or with probability 1/2 a second one."""
    scales, thresholds, priority = seen.scales, seen.thresholds, seen.priority
    draw, state = work.draw, work.state
    fill_factors(work.factors, seen.covariances, seen.counts, seen.alive)
    for k in range(chosen.shape[0]):
        spin(state, uniforms[k])
        fill_draw(draw, seen.estimates, work.factors, seen.alive, state)
        arm = apparent_best(draw, seen.alive, scales, thresholds, priority)
        if next_uniform(state) >= LEADER_SHARE:
            leader = arm
            for _ in range(MOST_DRAWS):
                fill_draw(draw, seen.estimates, work.factors, seen.alive, state)
                arm = apparent_best(draw, seen.alive, scales, thresholds, priority)
                if arm != leader:
                    break
            if arm == leader:
                arm = cheapest_rival(seen, leader, work.cost)
        chosen[k] = arm


def cheapest_rival(seen: Evidence, leader: int, work: CostWork) -> int:
    """Return the arm, other than the leader, that is cheapest to make the answer in its place.

    A single arm is its own rival.
    """
    estimates, covariances, thresholds = seen.estimates, seen.covariances, seen.thresholds
    feasible = margin(estimates, leader, seen.scales, thresholds) <= 0.0
    found, least = leader, 0.0
    for j in range(estimates.shape[0]):
        if not seen.alive[j] or j == leader:
            continue
        pulls = float(seen.counts[leader]), float(seen.counts[j])
        if feasible:
            cost, _ = beating_cost(
                estimates, covariances, leader, pulls[0], j, pulls[1], thresholds, work
            )
        else:
            cost, _ = nearing_cost(
                estimates, covariances, leader, pulls[0], j, pulls[1], seen.scales, thresholds, work
            )
        if (
            found == leader
            or cost < least
            or (cost == least and seen.priority[j] < seen.priority[found])
        ):
            found, least = j, cost
    return found


POLICY = AdaptivePolicy(
    name="thompson",
    summary="pulls what a draw of the truth calls the answer, or a second such answer (BFAI-TS)",
    warm_up=ten_or_half_a_share,
    minimum_budget=one_more_than_arms,
    choose=choose,
    make_work=make_work,
    edition=2,
)
