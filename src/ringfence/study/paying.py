"""What pulls take of a budget that has a unit: what is settled when, and what is known by then.

A pull that was told took what it told; one that failed what was told of it, or in place of it, else
the price of its arm when it was decided. One that was lost took nothing but what was told of it
before. All of it is kept with the pull, so that accounts are sums of facts. Where prices are stated
no pull is asked what it cost. May touch core, and a ledger.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ringfence.core.errors import InputError
from ringfence.core.pricing import Paid, Pricing, nothing_paid
from ringfence.study.facts import Harvest, PullFact, Round, State
from ringfence.study.plan import Plan
from ringfence.study.ports import Ledger

_ALL = 2**62
PRICES, RESERVES = "prices", "reserves"  # keys of a round whose prices were learned


def told_cost_of(plan: Plan, pull: PullFact, values: Sequence[float]) -> dict[str, Any]:
    """Return what a pull took that is told, and what was told of that, where prices are learned."""
    return _told(plan, pull, values[plan.price_column]) if plan.learns_prices else {}


def settled_failure(
    plan: Plan, ledger: Ledger, pull: PullFact, cost: float | None, *, is_over: bool
) -> PullFact:
    """Return a pull that failed with what it took.

    Where nothing was told of it, that is the price of its arm, once no try is left.
    """
    if not plan.learns_prices:
        return pull
    if cost is not None:
        return replace(pull, **_told(plan, pull, cost))
    if not is_over or pull.cost is not None or not pull.charged:
        return pull
    return replace(pull, paid=price_then(ledger.round(pull.round), pull.arm))


def _told(plan: Plan, pull: PullFact, cost: float) -> dict[str, Any]:
    """Return what a pull took of which so much was told; earlier tries took what they told then."""
    pricing = plan.require_pricing
    paid = (pull.paid or 0) + amount_of(pricing, cost)
    return {"paid": paid, "cost": float(pricing.decimal(paid))}


def amount_of(pricing: Pricing, cost: float) -> int:
    """Return what was told as a cost in smallest amounts; less than nothing is refused."""
    if cost < 0.0:
        raise InputError(
            f"metric {pricing.metric!r} = {cost!r} is the price of a pull, and must be 0 or more. "
            "Tell what it cost."
        )
    amount = pricing.amount(cost)
    if amount > pricing.most:
        raise InputError(
            f"metric {pricing.metric!r} = {cost!r} is the price of a pull, and more than can be "
            f"counted: at most {pricing.in_words(pricing.most)}. Tell what it cost."
        )
    return amount


def takes_otherwise(plan: Plan, ledger: Ledger, pull: PullFact) -> bool:
    """Tell whether a stored pull took something else than follows from what is kept of it."""
    if not plan.learns_prices:
        return pull.paid is not None
    pricing = plan.require_pricing
    if pull.cost is not None:  # with earlier tries
        is_last = pull.state == State.TOLD and not pull.stands_in and pull.values is not None
        last = pricing.amount(pull.values[plan.price_column]) if is_last and pull.values else 0
        is_whole = pull.failures == 0 and is_last
        paid = -1 if pull.paid is None else pull.paid
        return paid != pricing.amount(pull.cost) or paid < last or (is_whole and paid != last)
    if pull.state == State.FAILED and pull.charged:
        return pull.paid != price_then(ledger.round(pull.round), pull.arm)
    return pull.paid is not None or pull.state == State.TOLD


def price_then(decided: Round, arm: int) -> int:
    """Return the price of an arm when a round was decided."""
    return int(decided.seen[PRICES][arm])


def account_of(plan: Plan) -> Paid | None:
    """Return the account of a study that begins; there is none where a budget counts pulls."""
    return nothing_paid(plan.arm_count) if plan.pricing is not None else None


def add_settled(account: Paid, plan: Plan, harvest: Harvest) -> None:
    """Add what pulls took that are settled; those that are open are left for later."""
    is_over = harvest.is_told | harvest.is_failed
    counted = is_over & harvest.is_charged
    amounts = np.where(is_over, harvest.paid, 0)
    if not plan.learns_prices:
        amounts = np.where(counted, np.array(plan.prices, np.int64)[harvest.arms], 0)
    np.add.at(account.spent, harvest.arms, amounts)
    np.add.at(account.counts, harvest.arms[counted], 1)
    np.maximum.at(account.most, harvest.arms, amounts)


@dataclass(frozen=True)
class Open:
    """What is known of pulls that are not settled: `reserved` and `spent` of earlier tries."""

    reserved: tuple[int, ...]
    spent: tuple[int, ...]

    @property
    def total(self) -> int:
        """What is reserved in all."""
        return sum(self.reserved)


def reserved_of(plan: Plan, ledger: Ledger) -> Open:
    """Return what pulls that are not settled reserve, by arm."""
    pulls = ledger.expired(math.inf, _ALL)
    reserves = plan.prices
    if plan.learns_prices and ledger.head.round >= 0:
        reserves = tuple(ledger.round(ledger.head.round).seen[RESERVES])
    reserved, spent = [0] * plan.arm_count, [0] * plan.arm_count
    for pull in pulls:
        reserved[pull.arm] += _still_reserved(pull, reserves[pull.arm])
        spent[pull.arm] += pull.paid or 0
    return Open(tuple(reserved), tuple(spent))


def _still_reserved(pull: PullFact, reserve: int) -> int:
    """Return what a pull may still take: earlier tries took their part of what it reserved."""
    return max(0, reserve - (pull.paid or 0))


def copied(account: Paid | None) -> Paid | None:
    """Return an account that can go on without this one."""
    return None if account is None else Paid(*(one.copy() for one in account))
