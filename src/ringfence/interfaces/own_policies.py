"""Policies of users' own in live studies: where they can be found again, for the record.

A study keeps the place of such a policy, "module:name". Whoever opens the study has imported that
module, or names the policy: nothing is imported because a database says so. May touch policies, and
simulation's loader of what files name.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

from ringfence.core.errors import InputError, nearest
from ringfence.policies.policy import Policy
from ringfence.policies.registry import POLICIES, find_policy
from ringfence.simulation.instance_file import loaded_object

MARK = ":"  # in the place of a policy, and in no name of ours


def named(policy: str | Policy) -> tuple[str, Policy]:
    """Return what a study keeps of a policy, and the policy."""
    if isinstance(policy, str):
        return policy, policy_at(policy) if MARK in policy else find_policy(policy)
    if not isinstance(policy, Policy):
        raise InputError(f"policy = {policy!r} must be a name, a PhasePolicy or an AdaptivePolicy.")
    if any(policy is one for one in POLICIES):
        return policy.name, policy
    return place_of(policy), policy


def place_of(policy: Policy) -> str:
    """Return where a policy can be found again: the module that it was made in, if it says so."""
    home = getattr(policy.course.rule, "__module__", "")
    first = [home] if home in sys.modules else []
    for module in [*first, *sys.modules]:
        for name, value in _names_of(sys.modules.get(module)).items():
            if value is policy and name.isidentifier():
                return f"{module}{MARK}{name}"
    raise InputError(
        f"policy {policy.name!r} cannot be found again when the study goes on. Give it a name at "
        "the top of a module, such as POLICY = PhasePolicy(...)."
    )


def policy_at(place: str) -> Policy:
    """Return the policy at a place whose module was imported."""
    module, _, name = place.partition(MARK)
    home = sys.modules.get(module)
    if home is None:
        raise InputError(
            f"policy = {place!r} is a policy of your own, and its module was not imported. Import "
            f"{module} first, give the policy itself (policy=...), or name the study's file."
        )
    found = _names_of(home).get(name)
    if not isinstance(found, Policy):
        near = nearest(name, (key for key, one in _names_of(home).items() if _is_policy(one)))
        raise InputError(
            f"policy = {place!r} must be a PhasePolicy or an AdaptivePolicy: module {module} has "
            f"no such policy {name!r}. Correct the name.{near}"
        )
    return found


def load_policy(text: str, folder: Path) -> None:
    """Import the policy of one's own that a study file in `folder` names, if it names one."""
    if MARK in text:
        loaded_object("policy", text, folder, "name")
        policy_at(text)


def _names_of(module: ModuleType | None) -> Mapping[str, object]:
    return dict(getattr(module, "__dict__", {}))


def _is_policy(value: object) -> bool:
    return isinstance(value, Policy)
