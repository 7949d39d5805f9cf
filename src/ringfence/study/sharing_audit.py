"""What an audit asks of items: that they are those the study was begun with, each seen so often.

May touch policies and core, and a ledger.
"""

import numpy as np

from ringfence.core.errors import DamagedError
from ringfence.study.items import hash_of
from ringfence.study.plan import Plan
from ringfence.study.ports import Ledger
from ringfence.study.stock import Stock


def problems_of_items(plan: Plan, ledger: Ledger, stock: Stock) -> list[str]:
    """Return what is wrong with items, and with who has seen them."""
    sharing = plan.sharing
    if not sharing.has_items:
        return []
    problems = []
    if sharing.are_kept:
        try:
            items = ledger.items(range(sharing.item_count))
        except DamagedError as error:
            return [error.what]
        if hash_of(items) != sharing.blocks["hash"]:
            problems.append("the items that are kept are not those that the study was begun with")
    arms = np.concatenate([arms for arms, _ in stock.seen])
    ordinals = np.concatenate([ordinals for _, ordinals in stock.seen])
    names = plan.definition.arm_names
    if len(beyond := np.unique(arms[ordinals >= sharing.most_pulls])):
        problems.append(
            f"arm {names[beyond[0]]!r} was pulled beyond its {sharing.item_count} items"
        )
    places = np.stack([arms, sharing.items_of(ordinals)])
    found, counts = np.unique(places, axis=1, return_counts=True)
    problems += [
        f"arm {names[arm]!r} was told of item {item} {count} times, more than {sharing.repeats}"
        for (arm, item), count in zip(found.T.tolist(), counts.tolist(), strict=True)
        if count > sharing.repeats
    ]
    return problems
