"""What users hand to simulations, turned into what these work on; all else is refused in words.

May touch policies, and simulation's instances.
"""

from collections.abc import Mapping, Sequence
from numbers import Integral
from pathlib import Path
from typing import Any, TypeAlias

from ringfence.core.errors import InputError
from ringfence.core.money import Money
from ringfence.interfaces.checking import each_once, listed
from ringfence.policies.policy import Policy
from ringfence.policies.registry import find_policy
from ringfence.simulation.instance import Instance

AnyInstance: TypeAlias = Instance | Mapping[str, Any] | str | Path
AnyPolicy: TypeAlias = Policy | str
AnyBudget: TypeAlias = int | str | Money
ONE_INSTANCE = (Instance, Mapping, str, Path)
ONE_POLICY = (Policy, str)
ONE_BUDGET = (Integral, str, Money)


def instance_of(source: AnyInstance) -> Instance:
    """Return an instance, however it is given."""
    if isinstance(source, Instance):
        return source
    if isinstance(source, Mapping):
        return Instance.from_dict(source)
    if isinstance(source, str | Path):
        return Instance.load(source)
    raise InputError(
        f"instance = {source!r} must be a name, the path of a TOML file, its content as a "
        "dictionary, or an Instance. Give one."
    )


def policy_of(source: AnyPolicy) -> Policy:
    """Return a policy, of ours by its name or of one's own."""
    if isinstance(source, str):
        return find_policy(source)
    if not isinstance(source, Policy):
        raise InputError(f"policy = {source!r} must be a name, a PhasePolicy or an AdaptivePolicy.")
    return source


def policies_of(sources: AnyPolicy | Sequence[AnyPolicy]) -> list[Policy]:
    """Return policies whose names tell them apart."""
    chosen = [policy_of(source) for source in listed("policies", sources, ONE_POLICY)]
    remedy = "Leave the repeats out, or rename one that differs."
    each_once("policies", [policy.name for policy in chosen], remedy)
    return chosen


def positive(key: str, value: int) -> int:
    """Return a count that must be at least one, as a plain whole number."""
    if not isinstance(value, Integral) or value < 1:
        rule = "at least 1" if isinstance(value, Integral) else "a whole number"
        raise InputError(f"{key} = {value!r} must be {rule}. Give a positive whole number.")
    return int(value)


def threads_of(threads: int | None) -> int | None:
    """Return how many threads were asked for, if any number was."""
    return None if threads is None else positive("threads", threads)
