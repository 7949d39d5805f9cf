"""Constrained Successive Rejects: end each phase by dropping the arm that trails most.

Paper: Algorithm 1; our readings R1 and R2. The question says from which arm gaps are taken and what
they are; where every arm is asked about alone, the clearest is settled first. Touches its arguments
only.
"""

from functools import cache

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.best_feasible import BEST_FEASIBLE
from ringfence.core.gaps import goes_first, margin
from ringfence.core.question import Question
from ringfence.core.questions import QUESTIONS
from ringfence.core.schedule import one_more_than_arms, successive_rejects_phases
from ringfence.policies.evidence import Reject
from ringfence.policies.policy import PhasePolicy


@cache
def reject_for(question: Question) -> Reject:
    """Return the rule for a question: it drops the survivor with the largest gap."""
    reference, gap = question.reference, question.gap

    def reject(
        estimates: Floats,
        counts: Integers,
        alive: Mask,
        scales: Floats,
        thresholds: Floats,
        priority: Integers,
    ) -> int:
        """Return the survivor with the largest gap.

        Ties are common, not measure-zero: the cap in the gap makes all distant arms tie, so the tie
        rule (infeasible-looking before feasible-looking, then the farthest) decides most
        rejections.
        """
        best, best_objective, best_margin = reference(
            estimates, alive, scales, thresholds, priority
        )
        worst, worst_gap, worst_objective, worst_margin, worst_rank = -1, 0.0, 0.0, 0.0, 0
        for i in range(estimates.shape[0]):
            objective, rank = estimates[i, 0], priority[i]
            own_margin = margin(estimates, i, scales, thresholds)
            own_gap = gap(scales[0] * (objective - best_objective), own_margin, best_margin)
            tie_goes = goes_first(
                objective, own_margin, rank, worst_objective, worst_margin, worst_rank
            )
            trails = (own_gap > worst_gap) | ((own_gap == worst_gap) & tie_goes)
            if alive[i] & (i != best) & ((worst < 0) | trails):
                worst, worst_gap = i, own_gap
                worst_objective, worst_margin, worst_rank = objective, own_margin, rank
        return worst

    return reject


reject = reject_for(BEST_FEASIBLE)
reject.__qualname__ = "reject"  # processes that a policy is sent to find its rule by this name


POLICY = PhasePolicy(
    name="constrained-sr",
    summary="the paper's algorithm: drops the arm with the largest capped gap",
    schedule=successive_rejects_phases,
    minimum_budget=one_more_than_arms,
    reject=reject,
    by_gaps=True,
    questions=QUESTIONS,
    reject_for=reject_for,
)
