"""What ends a study by proof, said or changed while it runs.

A proof holds whenever one looks, so a stricter one may be asked for at any time. A looser one may
have been chosen since it suits what was seen: it needs a note, and its certificate is exploratory.
Before any pull was issued nobody has looked. May touch a ledger.
"""

from dataclasses import replace

from ringfence.core.errors import InputError
from ringfence.core.stop import require_level
from ringfence.study import halting
from ringfence.study.certifying import asked_of
from ringfence.study.facts import Head, StopChange
from ringfence.study.plan import Plan
from ringfence.study.ports import Ledger
from ringfence.study.stopping import PROVEN, require_stop

_LONGEST_NOTE = 500


def stop_when(
    plan: Plan, ledger: Ledger, now: float, *,
    confidence: float, within: float | None, note: str,
) -> str:  # fmt: skip
    """Have a study end when its answer is proven so: it is `set`, or `unchanged`.

    Without `within` it stays as it is. A study that such a proof has ended goes on if this one is
    stricter; one that is finished otherwise has nothing left to end.
    """
    require_level(confidence)
    head, stop = ledger.head, plan.under(ledger.head.stops).stop
    level, distance = asked_of(stop)
    change = StopChange(
        after=head.round,
        at=now,
        confidence=confidence,
        within=distance if within is None else within,
        note=_short(note),
        looking=head.issued > 0,
    )
    stops = (*head.stops, change)
    require_stop(replace(plan, stops=stops))
    if stop and (change.confidence, change.within) == (level, distance):
        return "unchanged"
    is_looser = change.confidence < level or change.within > distance
    if is_looser and change.looking and not change.note:
        raise InputError(_needs_note(change, level, distance, is_new=not stop))
    _require_unfinished(plan, ledger, head, is_looser=is_looser)
    if head.finished:
        head = halting.going_on(head)
    ledger.set_head(replace(head, stops=stops))
    return "set"


def _short(note: str) -> str:
    short = " ".join(str(note).replace("\x00", "").split())
    if len(short) > _LONGEST_NOTE:
        raise InputError(f"note has {len(short)} characters. Say it in {_LONGEST_NOTE} or fewer.")
    return short


def _needs_note(change: StopChange, level: float, distance: float, *, is_new: bool) -> str:
    if change.confidence < level:
        what = f"confidence = {change.confidence:g} is less than the {level:g}"
    else:
        what = f"within = {change.within:g} is more than the {distance:g}"
    whose = "that counts as fixed where nothing was said" if is_new else "by which the study ends"
    return (
        f"{what} {whose}, and pulls were made since: it may have been chosen by what they showed. "
        "Say why in a note, which the record keeps; certificates will be exploratory."
    )


def _require_unfinished(plan: Plan, ledger: Ledger, head: Head, *, is_looser: bool) -> None:
    """Refuse to change what ends a study that is finished, unless a laxer proof ended it."""
    if not head.finished:
        return
    last = ledger.round(head.round)
    if PROVEN in last.seen and not is_looser and plan.policy.takes_up_more:
        return
    raise InputError(
        f"study {plan.definition.name!r} is finished: nothing is left to end. Ask for a "
        "certificate of what was seen (ringfence certify), or raise the budget first."
    )
