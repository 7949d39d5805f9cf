"""Surveys: everything that is stored of a stretch of pulls, as columns that an audit can check.

A survey is taken only of what can be read at once and has the right shape; for the rest the pulls
are read one by one. May touch core.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.study.facts import NO_HOUR, PullFact, State

UNPAID = -1  # in arrays, where nothing was paid


@dataclass(frozen=True, eq=False)
class Survey:
    """Facts of pulls in the order of their numbers.

    `values` [pull, metric] are NaN where there are none, `hours` and `paid` -1. `extras_fit` says
    that all further numbers are finite.
    """

    numbers: Integers
    arms: Integers
    ordinals: Integers
    rounds: Integers
    leases: Integers
    is_issued: Mask
    is_told: Mask
    is_failed: Mask
    is_cancelled: Mask
    is_charged: Mask
    stands_in: Mask
    has_values: Mask
    values: Floats
    hours: Integers
    paid: Integers
    extras_fit: bool

    @classmethod
    def of_columns(
        cls,
        whole: Sequence[Sequence[int]],
        states: Sequence[str],
        charged: Sequence[object],
        has_error: Sequence[object],
        values: tuple[Mask, Floats],
        hours: Sequence[int | None],
        paid: Sequence[int | None],
        *,
        extras_fit: bool,
    ) -> "Survey":
        """Return the survey of columns; the `whole` numbers are the five first fields."""
        numbers, arms, ordinals, rounds, leases = (np.array(one, np.int64) for one in whole)
        state = np.array(states, dtype="U9")
        is_told = state == State.TOLD.value
        return cls(
            numbers=numbers,
            arms=arms,
            ordinals=ordinals,
            rounds=rounds,
            leases=leases,
            is_issued=state == State.ISSUED.value,
            is_told=is_told,
            is_failed=state == State.FAILED.value,
            is_cancelled=state == State.CANCELLED.value,
            is_charged=np.array(charged, dtype=np.bool_),
            stands_in=is_told & np.array(has_error, dtype=np.bool_),
            has_values=values[0],
            values=values[1],
            hours=np.array([NO_HOUR if one is None else one for one in hours], dtype=np.int64),
            paid=np.array([UNPAID if one is None else one for one in paid], dtype=np.int64),
            extras_fit=extras_fit,
        )

    @classmethod
    def of(cls, pulls: Sequence[PullFact], width: int) -> "Survey | None":
        """Return the survey of pulls; None where one has other than `width` values."""
        found = np.full((len(pulls), width), np.nan)
        has_values = np.array([pull.values is not None for pull in pulls], dtype=np.bool_)
        told = [pull.values for pull in pulls if pull.values is not None]
        if any(len(one) != width for one in told):
            return None
        found[has_values] = np.array(told, dtype=np.float64).reshape(len(told), width)
        keys = ("number", "arm", "ordinal", "round", "lease")
        return cls.of_columns(
            [[getattr(pull, key) for pull in pulls] for key in keys],
            [pull.state.value for pull in pulls],
            [pull.charged for pull in pulls],
            [pull.error is not None for pull in pulls],
            (has_values, found),
            [pull.block for pull in pulls],
            [pull.paid for pull in pulls],
            extras_fit=all(
                math.isfinite(one) for pull in pulls for one in (pull.extras or {}).values()
            ),
        )
