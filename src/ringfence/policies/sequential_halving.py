"""Sequential Halving: a logarithmic number of rounds, each dropping half of the survivors.

Karnin, Koren and Somekh (ICML 2013), with the data kept from round to round and the rejections
left to another policy's rule, handed in by the registry. Touches its arguments only.
"""

from ringfence.core.schedule import Phase, one_more_than_arms
from ringfence.policies.evidence import Reject
from ringfence.policies.policy import PhasePolicy


def rounds(arm_count: int) -> int:
    """Return ceil(log2(arm_count)), exactly."""
    return (arm_count - 1).bit_length()


def minimum_budget(arm_count: int) -> int:
    """Return the least budget that pulls every arm in the first round."""
    return max(one_more_than_arms(arm_count), arm_count * rounds(arm_count))


def schedule(arm_count: int, budget: int) -> tuple[Phase, ...]:
    """Return the rounds; the last one also spends what the divisions left over."""
    if arm_count == 1:
        return (Phase(budget, 0, 1),)
    alive, spent, phases = arm_count, 0, []
    for _ in range(rounds(arm_count) - 1):
        pulls = budget // (alive * rounds(arm_count))
        phases.append(Phase(pulls, 0, -(-alive // 2)))
        spent += alive * pulls
        alive = -(-alive // 2)
    pulls, extra = divmod(budget - spent, alive)
    return (*phases, Phase(pulls, extra, 1))


def with_rule(reject: Reject, *, name: str, rule: str, by_gaps: bool = False) -> PhasePolicy:
    """Return the policy that drops arms one by one by the given rule until half are left."""
    return PhasePolicy(
        name=name,
        summary=f"halves the survivors in each round, dropping by {rule}",
        schedule=schedule,
        minimum_budget=minimum_budget,
        reject=reject,
        by_gaps=by_gaps,
    )
