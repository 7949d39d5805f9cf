"""What users give as `stop`: how sure a proof must be for a study to end by it, read at the door.

What it must be beyond its keys is decided where a plan is at hand, in `study/stopping.py`. May
touch core.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

from ringfence.core.errors import InputError, nearest, one_of
from ringfence.core.grounds import Basis
from ringfence.core.stop import Stop, require_level

KEYS = ("confidence", "within", "rests_on")
AnyStop: TypeAlias = float | Mapping[str, Any] | None
"""A confidence, or a table of it and of what is as good."""


def stop_in(given: AnyStop, method: str = "monte-carlo") -> Stop | None:
    """Return what ends replications, for a method that counts errors; None where nothing does."""
    if given is None:
        return None
    if method != "monte-carlo":
        raise InputError(
            f"stop cannot go with method = {method!r}, which counts no proofs. Leave one out."
        )
    said = stop_of(given if isinstance(given, Mapping) else {"confidence": given})
    if "rests_on" in said:
        raise InputError(
            "stop.rests_on is for studies: in simulations bounds and laws are known. Leave it out."
        )
    require_level(said["confidence"], key="stop.confidence")
    return Stop(said["confidence"], said.get("within", 0.0))


def stop_of(given: Any) -> dict[str, Any]:
    """Return a `stop` as a definition keeps it; nothing where there is none."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InputError(f"stop = {given!r} must be a table. Write {{'confidence': 0.95}}.")
    for key in given:
        if key not in KEYS:
            raise InputError(
                f"stop.{key} is unknown. Use {', '.join(KEYS)}.{nearest(str(key), KEYS)}"
            )
    said = {key: given[key] for key in KEYS if given.get(key) is not None}
    if "confidence" not in said:
        raise InputError("stop.confidence is missing. Write it, such as confidence = 0.95.")
    if said.get("rests_on", Basis.EXACT) != Basis.EXACT:
        raise one_of("stop.rests_on", said["rests_on"], [str(Basis.EXACT)])
    return said
