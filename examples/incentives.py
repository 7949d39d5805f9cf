"""One participant of Thornton's trial (2008), drawn from a band of incentives.

The data are `thornton_hiv` of the package causaldata: who collected the result (`got`), and the
incentive in dollars (`tinc`). The 2,834 rows that have both are used.
"""

from functools import cache

import numpy as np

from ringfence import MissingExtraError

try:
    from causaldata import thornton_hiv
except ImportError:
    raise MissingExtraError("Thornton's trial", "cases") from None

ARM = "band"
OBJECTIVE = "maximize mean(collected)"
CONSTRAINTS = ["mean(payout_usd) <= 1.25"]
BANDS = {
    "0": (-1.0, 0.0),
    "(0,0.5]": (0.0, 0.5),
    "(0.5,1]": (0.5, 1.0),
    "(1,1.5]": (1.0, 1.5),
    "(1.5,2]": (1.5, 2.0),
    "(2,2.5]": (2.0, 2.5),
    "(2.5,3]": (2.5, 3.0),
}


@cache
def trial():
    """Return (collected, payout) of every participant, by band."""
    table = thornton_hiv.load_pandas().data.dropna(subset=["got", "tinc"])
    got, offered = table["got"].to_numpy(float), table["tinc"].to_numpy(float)
    return {
        band: np.column_stack([got, offered * got])[(offered > low) & (offered <= high)]
        for band, (low, high) in BANDS.items()
    }


def table():
    """Return every participant as a row of a table, for replays."""
    rows = [(band, *row) for band, part in trial().items() for row in part.tolist()]
    return dict(zip((ARM, "collected", "payout_usd"), zip(*rows, strict=True), strict=True))


def participant(arm: str, seed: int) -> dict[str, float]:
    """Draw one participant who was offered an amount in the band."""
    rows = trial()[arm]
    collected, payout = rows[np.random.default_rng(seed).integers(len(rows))]
    return {"collected": float(collected), "payout_usd": float(payout)}
