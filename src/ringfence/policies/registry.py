"""The list of policies: a new one is a file beside this and a line below.

May touch core and every policy.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from ringfence.core.best_feasible import BEST_FEASIBLE
from ringfence.core.errors import InputError, RingfenceError, one_line, one_of
from ringfence.core.question import Question
from ringfence.policies import (
    apt,
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
    va_lucb,
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
    va_lucb.POLICY,
)
SET_POLICIES: tuple[AdaptivePolicy, ...] = (apt.POLICY,)  # of sets alone, not of one arm
POLICIES: tuple[Policy, ...] = (*PHASE_POLICIES, *ADAPTIVE_POLICIES, *SET_POLICIES)


def policies_for(question: Question) -> tuple[Policy, ...]:
    """Return the policies that answer a question."""
    return tuple(policy for policy in POLICIES if policy.own(question))


def quick_policies_for(question: Question) -> tuple[Policy, ...]:
    """Return what comparisons run unless told otherwise.

    Of our policies, thompson takes a hundred times longer to decide, and va-lucb is for proofs.
    """
    slow = (thompson.POLICY, va_lucb.POLICY)
    return tuple(one for one in policies_for(question) if one not in slow)


QUICK_POLICIES = quick_policies_for(BEST_FEASIBLE)


def require_answer(policy: Policy, question: Question) -> Policy:
    """Return the policy if it answers a question; another is refused with the names of those."""
    if policy.own(question) is not None:
        return policy
    names = ", ".join(one.name for one in policies_for(question))
    own = ", ".join(repr(one.name) for one in policy.questions)
    raise InputError(
        f"policy = {policy.name!r} is not for answer = {question.name!r}, but for {own}. Use one "
        f"of {names}, or ask for what it answers."
    )


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
            f"policy {policy.name!r}: its rule raised {what}. Correct the rule."
        ) from error
