"""Uniform: pull every arm equally often and answer with what looks right.

The honest baseline. Touches its arguments only.
"""

from ringfence.core.questions import QUESTIONS
from ringfence.core.schedule import Phase, one_more_than_arms
from ringfence.policies.policy import PhasePolicy


def schedule(arm_count: int, budget: int) -> tuple[Phase, ...]:
    """Return one phase that spends the whole budget and drops nothing."""
    pulls, extra = divmod(budget, arm_count)
    return (Phase(pulls, extra, arm_count),)


POLICY = PhasePolicy(
    name="uniform",
    summary="pulls every arm equally often",
    schedule=schedule,
    minimum_budget=one_more_than_arms,
    reject=None,
    questions=QUESTIONS,
)
