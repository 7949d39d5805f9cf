"""The account of a budget: spent, reserved for pulls in flight, and left; in all and by arm.

Spent is what settled pulls took, and what was told of earlier tries of the others. Reserved is what
a pull that is leased, or was given back, may still take: its reserve by the latest decision. Where
prices are stated, or no pull exceeds its cap, both together are never more than the budget. May
touch core.
"""

from dataclasses import dataclass

from ringfence.core.money import PULLS
from ringfence.study.plan import Plan
from ringfence.study.reading import View


@dataclass(frozen=True)
class ArmAccount:
    """What an arm took of a budget: amounts in its unit, `price` what a pull of it costs by now.

    `most` is the most that one pull took; `cap` what none should have exceeded, if it was stated,
    and `is_over_cap` says that one did for all the times that it may be tried.
    """

    name: str
    pulls: int
    price: float
    spent: float
    reserved: float
    most: float
    cap: float | None = None
    is_over_cap: bool = False


@dataclass(frozen=True)
class Account:
    """What became of a budget, in its unit; `arms` are told apart where pulls have a price."""

    budget: float
    unit: str
    spent: float
    reserved: float
    left: float
    arms: tuple[ArmAccount, ...] = ()


NOTHING_SPENT = Account(0, PULLS, 0, 0, 0)


def account_on(plan: Plan, view: View) -> Account:
    """Return what became of the budget when a study was viewed; without prices it counts pulls."""
    budget, pricing = view.head.budget, plan.pricing
    if pricing is None or view.paid is None or view.open is None:
        left = budget - view.used - view.head.unresolved
        return Account(budget, PULLS, view.used, view.head.unresolved, left)
    prices, tries = plan.learned(view.paid)[0], plan.definition.retries + 1
    caps = pricing.caps or (0,) * plan.arm_count

    def unit(amount: int) -> float:
        return float(pricing.decimal(amount))

    spent = [int(x) + y for x, y in zip(view.paid.spent, view.open.spent, strict=True)]
    taken = sum(spent) + view.open.total
    arms = tuple(
        ArmAccount(
            name=name,
            pulls=int(view.paid.counts[arm]),
            price=unit(prices[arm]),
            spent=unit(spent[arm]),
            reserved=unit(view.open.reserved[arm]),
            most=unit(int(view.paid.most[arm])),
            cap=unit(caps[arm]) if caps[arm] else None,
            is_over_cap=bool(0 < caps[arm] * tries < view.paid.most[arm]),
        )
        for arm, name in enumerate(plan.definition.arm_names)
    )
    return Account(
        unit(budget),
        pricing.unit,
        unit(sum(spent)),
        unit(view.open.total),
        unit(budget - taken),
        arms,
    )
