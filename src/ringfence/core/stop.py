"""How sure a proof must be for pulls to end by it: what a stop says, and what it may say.

May touch core.
"""

import math
from dataclasses import dataclass
from typing import Any

from ringfence.core.errors import InputError

CONFIDENCE = 0.95
_LEAST, _MOST = 0.5, 1.0


@dataclass(frozen=True)
class Stop:
    """Pulls end when the answer is proven at a `confidence`.

    Where the best arm is asked for, one is as good that no other betters by more than `within`, in
    the unit of the objective.
    """

    confidence: float = CONFIDENCE
    within: float = 0.0


def require_level(confidence: Any, key: str = "confidence") -> None:
    """Refuse what is no confidence to prove anything at."""
    is_number = isinstance(confidence, int | float) and not isinstance(confidence, bool)
    if is_number and _LEAST < confidence < _MOST:
        return
    meant = ""
    if is_number and 100.0 * _LEAST < confidence < 100.0 * _MOST:
        meant = f" Write {confidence / 100:g} for {confidence:g}%."
    raise InputError(
        f"{key} = {confidence!r} must be a number between 0.5 and 1, without these."
        f"{meant or ' Write 0.95 for 95%.'}"
    )


def require_distance(within: Any, *, of_set: bool, key: str = "within") -> None:
    """Refuse what is no distance, or has nothing that it could be about."""
    is_number = isinstance(within, int | float) and not isinstance(within, bool)
    if not is_number or not 0.0 <= within < math.inf:
        raise InputError(
            f"{key} = {within!r} must be a number, 0 or more, in the unit of the objective. "
            "Write one, or leave it out."
        )
    if within and of_set:
        raise InputError(
            f"{key} = {within:g} is about the best arm, and the study asks for all feasible ones. "
            "Leave it out."
        )
