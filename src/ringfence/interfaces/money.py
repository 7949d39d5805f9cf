"""What users say of money, as studies keep it: a budget with its unit, and prices beside it.

May touch study and core.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ringfence.core.errors import InputError
from ringfence.core.money import Money, read_budget
from ringfence.core.pricing import Pricing
from ringfence.interfaces.checking import whole_budget
from ringfence.study.plan import Plan

KEYS = ("price", "price_guess", "price_cap")


class Funds(NamedTuple):
    """A budget in what counts: pulls, or the smallest amounts of its unit with their prices."""

    budget: int
    prices: tuple[int, ...] = ()
    pricing: Mapping[str, Any] = {}

    @property
    def metric(self) -> tuple[str, ...]:
        """The metric that says what a pull cost, if one does."""
        named = self.pricing.get("metric")
        return (named,) if named else ()


def funds_of(
    arms: Sequence[str], budget: Any, price: Any = None, guess: Any = None, cap: Any = None
) -> Funds:
    """Return what a budget pays for what, as users wrote it."""
    said = _said(budget)
    if said is None or said.is_pulls:
        pulls = whole_budget(budget) if said is None else int(said.amount)
        for key, value in zip(KEYS, (price, guess, cap), strict=True):
            if value is not None:
                raise InputError(
                    f"{key} = {value!r} has no effect: budget = {pulls} counts pulls, which have "
                    f'no price. Write a budget with a unit, such as budget = "{pulls} USD", or '
                    f"leave {key} out."
                )
        return Funds(pulls)
    pricing = Pricing.read(arms, said, price, guess, cap)
    return Funds(pricing.limit(said), pricing.stated, pricing.to_dict())


def budget_in(plan: Plan, budget: Any) -> int:
    """Return a budget of a study that exists: in its unit, which may be left out."""
    pricing = plan.pricing
    if pricing is None:
        said = _said(budget)
        if said is not None and not said.is_pulls:
            raise InputError(
                f'budget = "{said}" is in {said.unit}, and study {plan.definition.name!r} counts '
                "pulls. Write how many."
            )
        return whole_budget(budget) if said is None else int(said.amount)
    if isinstance(budget, int | float) and not isinstance(budget, bool):
        budget = f"{budget!r} {pricing.unit}"
    said = read_budget(budget)
    return pricing.limit(Money(said.amount, pricing.unit) if said.is_pulls else said)


def _said(budget: Any) -> Money | None:
    """Return a budget that was written with its unit; a number in quotes has none."""
    if not isinstance(budget, str):
        return None
    if budget.strip().replace("_", "").isdecimal():
        raise InputError(
            f"budget = {budget!r} must be a whole number of pulls, without quotes, or an amount "
            f'with a unit. Write budget = {int(budget)}, or budget = "{int(budget)} USD".'
        )
    return read_budget(budget)


def told_cost(plan: Plan, metrics: Mapping[str, Any], cost: Any) -> Mapping[str, Any]:
    """Return metrics with a cost that was told beside them, where it is the price of the pull."""
    if cost is None or not plan.learns_prices or not isinstance(metrics, Mapping):
        return metrics
    metric = plan.require_pricing.metric or ""
    if metric in metrics and metrics[metric] != cost:
        raise InputError(
            f"cost = {cost!r} and metric {metric!r} = {metrics[metric]!r} are both the price of "
            "the pull. Tell one of them."
        )
    return {**metrics, metric: cost}
