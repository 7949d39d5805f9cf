"""Verdicts that are kept beside their study, so that nobody works the same one out again.

A verdict follows from the study's facts, of which its pulse is another whenever any of them is,
and from this program. So it is kept under both, and worth nothing when either is another. One that
is there in no time is not kept, nor one with a certificate or of somebody else's program. `doctor`
works it out again. May touch every room.
"""

import hashlib
import json
import platform
import sys
import time
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import ringfence
from ringfence.interfaces.own_policies import MARK
from ringfence.study.accounts import Account, ArmAccount
from ringfence.study.changing import Change
from ringfence.study.desk import Desk
from ringfence.study.facts import Head, Kept, rejection_of
from ringfence.study.plan import Plan
from ringfence.study.reading import View
from ringfence.study.unseen import Doubt
from ringfence.study.verdict import (
    ArmVerdict,
    Estimate,
    Flip,
    Outcome,
    Status,
    Verdict,
    verdict_of,
)

LARGE_ARMS, LARGE_PULLS = 100, 20_000  # from where on a verdict takes its time
_KIND = "verdict"
_ROOMS = ("core", "policies", "study")  # which verdicts come from
_LOADED = time.time()


def latest_verdict(desk: Desk, view: View | None = None) -> Verdict | None:
    """Return the verdict on a view, or on the study as it is now, if it was kept."""
    if not _may_be_kept(desk.plan, desk.head if view is None else view.head):
        return None
    kept = desk.kept(_KIND, _program(), view)
    return None if kept is None else _restored(desk.plan, kept)


def verdict_on(desk: Desk, view: View) -> Verdict:
    """Return the verdict on a view, which has an arm to judge; a fresh one is kept for others."""
    found = latest_verdict(desk, view)
    if found is None:
        found = verdict_of(desk.plan, view)
        if _may_be_kept(desk.plan, view.head):
            desk.keep(_KIND, _program(), view, _packed(found))
    return found


def is_another(desk: Desk) -> bool:
    """Tell whether a verdict is kept that is not what the study's facts give."""
    if latest_verdict(desk) is None:
        return False
    view = desk.look()
    kept = latest_verdict(desk, view)
    return kept is not None and kept != verdict_of(desk.plan, view)


def _may_be_kept(plan: Plan, head: Head) -> bool:
    """Tell whether a verdict takes its time, and rests on facts and this program alone."""
    if plan.arm_count < LARGE_ARMS and head.issued < LARGE_PULLS:
        return False
    is_own = MARK in plan.definition.policy or bool(plan.definition.functions)
    may_cost = (
        plan.learns_prices and plan.definition.retries > 0
    )  # what a try cost shows in no pulse
    return not (is_own or may_cost or plan.under(head.stops).stop) and bool(_program())


@cache
def _program() -> str:
    """Return a hash of what makes verdicts; nothing where the sources are not those loaded."""
    home, versions = Path(ringfence.__file__).parent, [sys.version, np.__version__]
    digest = hashlib.sha256(" ".join([*versions, platform.machine()]).encode())
    try:
        for path in sorted(path for room in _ROOMS for path in (home / room).glob("*.py")):
            if path.stat().st_mtime > _LOADED:
                return ""
            digest.update(path.name.encode() + path.read_bytes())
    except OSError:
        return ""
    return digest.hexdigest()[:16]


def _packed(verdict: Verdict) -> bytes:
    """Return a verdict without its problem, which is the study's, as JSON."""
    plain = {
        one.name: _plain(getattr(verdict, one.name))
        for one in fields(verdict)
        if one.name != "problem"
    }
    return json.dumps(plain, separators=(",", ":")).encode()


def _plain(value: Any) -> Any:
    """Return a value of a verdict as what JSON has: objects as their fields, by name."""
    if is_dataclass(value):
        return {one.name: _plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return value


def _restored(plan: Plan, kept: Kept) -> Verdict | None:
    """Return the verdict that was packed; None where it cannot be read."""
    try:
        plain = _tupled(json.loads(kept.content))
        return Verdict(
            **{
                **plain,
                "verdict": Outcome(plain["verdict"]),
                "arms": tuple(_arm(one) for one in plain["arms"]),
                "flips": tuple(Flip(**one) for one in plain["flips"]),
                "doubts": tuple(Doubt(**one) for one in plain["doubts"]),
                "changes": tuple(Change(**one) for one in plain["changes"]),
                "problem": plan.problem,
                "account": _account(plain["account"]),
            }
        )
    except (AttributeError, KeyError, TypeError, ValueError):
        return None


def _account(plain: dict[str, Any]) -> Account:
    return Account(**{**plain, "arms": tuple(ArmAccount(**one) for one in plain["arms"])})


def _arm(plain: dict[str, Any]) -> ArmVerdict:
    left = plain["left"]
    return ArmVerdict(
        **{
            **plain,
            **{key: _estimates(plain[key]) for key in ("estimates", "differences")},
            "status": Status(plain["status"]),
            "left": None if left is None else rejection_of(left),
        }
    )


def _estimates(plain: Mapping[str, Any]) -> dict[str, Estimate]:
    return {name: Estimate(**one) for name, one in plain.items()}


def _tupled(value: Any) -> Any:
    """Return what JSON has with tuples in the place of lists, however deep."""
    if isinstance(value, list):
        return tuple(map(_tupled, value))
    if isinstance(value, dict):
        return {key: _tupled(one) for key, one in value.items()}
    return value
