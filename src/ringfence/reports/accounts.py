"""What became of a budget, in words and as a table; amounts are shown short, and kept exact.

May touch study and core.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ringfence.study.accounts import Account, ArmAccount
from ringfence.study.facts import Definition
from ringfence.study.verdict import Verdict

HEADINGS = ("arm", "pulls", "price of a pull", "spent", "reserved", "dearest pull")


def shown_amount(amount: float) -> str:
    """Return an amount as people read it: cents, or three digits of what is less.

    >>> from ringfence.reports.accounts import shown_amount
    >>> shown_amount(29.515134697), shown_amount(0.030740515), shown_amount(2e6)
    ('29.52', '0.0307', '2,000,000')
    """
    if amount == round(amount):
        return f"{amount:,.0f}"
    if abs(amount) >= 0.1:
        return f"{amount:,.2f}"
    return f"{amount:.3g}"


def spent_in_words(account: Account) -> str:
    """Return what was spent of a budget, as in "29.52 of 30 USD"."""
    return f"{shown_amount(account.spent)} of {shown_amount(account.budget)} {account.unit}"


def account_in_words(account: Account) -> str:
    """Return where a budget stands in a sentence."""
    return (
        f"{spent_in_words(account)} spent, {shown_amount(account.reserved)} reserved for pulls in "
        f"flight, {shown_amount(account.left)} left."
    )


def used_in_words(verdict: Verdict, form: str = "") -> str:
    """Return how many pulls there were for what, as in "116 pulls for 29.52 of 30 USD"."""
    if not verdict.account.arms:
        return f"{verdict.pulls_used:{form}} of {verdict.budget:{form}} pulls"
    return f"{verdict.pulls_used:{form}} pulls for {spent_in_words(verdict.account)}"


def account_rows(arms: Sequence[ArmAccount]) -> list[list[str]]:
    """Return a row of cells for each arm, under HEADINGS."""
    return [
        [
            one.name,
            f"{one.pulls:,}",
            shown_amount(one.price),
            shown_amount(one.spent),
            shown_amount(one.reserved),
            shown_amount(one.most),
        ]
        for one in arms
    ]


def exceeded_in_words(account: Account) -> list[str]:
    """Return which caps did not hold, and by how much a budget was exceeded, a line each."""
    lines = [
        f"A pull of {one.name} cost {shown_amount(one.most)} {account.unit}, more than its cap of "
        f"{shown_amount(one.cap)}."
        for one in account.arms
        if one.cap is not None and one.is_over_cap
    ]
    if account.spent > account.budget:
        over = shown_amount(account.spent - account.budget)
        lines.append(
            f"Pulls in flight cost {over} {account.unit} more than was reserved for them and left."
        )
    return lines


def account_document(account: Account) -> dict[str, Any]:
    """Return an account under the keys that other programs rely on."""
    return {
        "unit": account.unit,
        "spent": account.spent,
        "reserved": account.reserved,
        "left": account.left,
        "accounts": [vars(one) for one in account.arms],
    }


def prices_in_words(definition: Definition) -> str:
    """Return what was stated of prices before the data; nothing where pulls have none."""
    said = definition.written_prices
    if not said:
        return ""
    price, unit = said["price"], said["unit"]
    if isinstance(price, str):
        parts = [f"{price}, as told with each pull"]
        parts += [
            f"{words} {_of_arms(said[key], unit)}"
            for key, words in (("price_guess", "at first about"), ("price_cap", "at most"))
            if said.get(key)
        ]
        return "; ".join(parts)
    return _of_arms(price, unit)


def _of_arms(prices: Mapping[str, Any], unit: str) -> str:
    if len({*prices.values()}) == 1 and len(prices) > 1:
        return f"{next(iter(prices.values())):g} {unit} each"
    return ", ".join(f"{arm} {price:g}" for arm, price in prices.items()) + f" {unit}"
