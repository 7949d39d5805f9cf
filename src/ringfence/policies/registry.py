"""The list of policies: a new one is a file beside this and a line below.

May touch core and every policy.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from ringfence.core.errors import InputError, RingfenceError, one_line, one_of
from ringfence.policies import (
    constrained_sr,
    glr_halving,
    infeasible_first,
    ocba_co,
    scalarised,
    sequential_halving,
    successive_rejects,
    thompson,
    top_two,
    uniform,
)
from ringfence.policies.policy import AdaptivePolicy, PhasePolicy, Policy

PHASE_POLICIES: tuple[PhasePolicy, ...] = (
    constrained_sr.POLICY,
    infeasible_first.POLICY,
    sequential_halving.with_rule(
        constrained_sr.reject,
        name="sequential-halving",
        rule="the constrained-sr rule",
        by_gaps=True,
    ),
    sequential_halving.with_rule(glr_halving.reject, name="glr-halving", rule="likelihood"),
    successive_rejects.POLICY,
    uniform.POLICY,
    scalarised.POLICY,
)
ADAPTIVE_POLICIES: tuple[AdaptivePolicy, ...] = (
    top_two.POLICY,
    ocba_co.POLICY,
    thompson.POLICY,
)
POLICIES: tuple[Policy, ...] = (*PHASE_POLICIES, *ADAPTIVE_POLICIES)

# What comparisons run unless told otherwise: thompson takes a hundred times longer to decide.
QUICK_POLICIES = tuple(policy for policy in POLICIES if policy is not thompson.POLICY)


def find_policy(name: str) -> Policy:
    """Return the policy of that name; an unknown name is answered with the nearest one.

    >>> import ringfence as rf
    >>> rf.find_policy("top-two").name
    'top-two'
    >>> rf.find_policy("toptwo")
    Traceback (most recent call last):
    ringfence.core.errors.InputError: ...
    """
    for policy in POLICIES:
        if policy.name == name:
            return policy
    raise one_of("policy", name, (policy.name for policy in POLICIES))


def find_phase_policy(name: str) -> PhasePolicy:
    """Return the phase policy of that name."""
    for policy in PHASE_POLICIES:
        if policy.name == name:
            return policy
    raise one_of("phase policy", name, (policy.name for policy in PHASE_POLICIES))


@contextmanager
def rules_in_words(policy: Policy) -> Iterator[None]:
    """Say in words that a rule from outside raised an error."""
    try:
        yield
    except RingfenceError:
        raise
    except Exception as error:
        if policy in POLICIES:
            raise
        what = one_line(f"{type(error).__name__}: {error}")
        raise InputError(
            f"policy {policy.name!r}: its rule raised {what}. Mend the rule."
        ) from error
