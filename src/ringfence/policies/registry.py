"""The list of policies: a new one is a file beside this and a line below.

May touch core and every policy.
"""

from ringfence.core.errors import one_of
from ringfence.policies import (
    constrained_sr,
    infeasible_first,
    sequential_halving,
    successive_rejects,
    uniform,
)
from ringfence.policies.policy import PhasePolicy

POLICIES: tuple[PhasePolicy, ...] = (
    constrained_sr.POLICY,
    infeasible_first.POLICY,
    sequential_halving.with_rule(constrained_sr.reject),
    successive_rejects.POLICY,
    uniform.POLICY,
)


def find_policy(name: str) -> PhasePolicy:
    """Return the policy of that name; an unknown name is answered with the nearest one."""
    for policy in POLICIES:
        if policy.name == name:
            return policy
    raise one_of("policy", name, (policy.name for policy in POLICIES))
