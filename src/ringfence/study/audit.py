"""Audits a study from its stored facts: budget, leases, double counts, every decision replayed.

May touch policies and core, and a ledger.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace

import numpy as np

from ringfence.core.arrays import Integers
from ringfence.core.noise import NOISE_EDITION
from ringfence.study.advancing import resolved_through, round_after
from ringfence.study.changing import Change, changes_of
from ringfence.study.deciding import ASKED, PROOFS_EDITION, SETTLED, STOP
from ringfence.study.facts import Head, Pardon, PullFact, Round, State
from ringfence.study.packing import is_of_other_format
from ringfence.study.paying import reserved_of
from ringfence.study.plan import Plan
from ringfence.study.ports import Ledger
from ringfence.study.reading import Reader
from ringfence.study.sharing_audit import problems_of_items
from ringfence.study.stock import AT_ONCE, Advance, Stock, readable, take_stock
from ringfence.study.stopping import PROVEN

_ROUNDS_AT_ONCE = 64
_NOISE, _BATCHES = "the noise", "the rule for large batches"  # what may be of another edition
_PROOFS = "the tests of proofs"
_EDITIONS = ("edition", "noise", "groups", "proofs")


@dataclass(frozen=True)
class Audit:
    """What an audit found: `problems` in words, none if all is well.

    `notes` say what could not be checked, though nothing is wrong with it. `changes` are the
    metrics that changed while the study ran.
    """

    study: str
    problems: tuple[str, ...]
    notes: tuple[str, ...]
    told: int
    issued: int
    failed: int
    lost: int
    void: int
    budget: float
    changes: tuple[Change, ...] = ()

    @property
    def is_sound(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


@dataclass
class _Course:
    """What all rounds are together; `others` are those that went by another rule.

    `shapes` and `numbering` are what is wrong with them: the latter only counts without the former.
    """

    unread: list[str] = field(default_factory=list)
    shapes: list[str] = field(default_factory=list)
    numbering: list[str] = field(default_factory=list)
    count: int = 0
    last: Round | None = None
    others: list[int] = field(default_factory=list)


def audit(
    plan: Plan, ledger: Ledger, *, at_once: int = AT_ONCE, advance: Advance = lambda _: None
) -> Audit:
    """Check every fact of a study against the others, in stretches of so many pulls.

    `advance` hears of every pull twice: when it was read, and when what it led to was decided.
    """
    head = ledger.head
    pardons, ungranted = readable(ledger.pardons, lambda _: (), ())
    void = {number for one in pardons for number in one.void}
    stock = take_stock(plan, ledger, void, at_once=at_once, advance=advance)
    course = _course(plan, ledger, stock)
    _, unbrought = readable(ledger.past, lambda _: (), ())
    problems = [*stock.unread, *course.unread, *unbrought, *ungranted, *course.shapes]
    others: dict[str, list[int]] = {_NOISE: [], _BATCHES: [], _PROOFS: []}
    changes = list[Change]()
    if not problems:
        problems += _pardons(plan, ledger, pardons)
    if not problems:  # nothing can be counted where something is missing
        problems += [*_budget(plan, ledger, stock, pardons), *course.numbering]
    problems += stock.problems
    if not problems:
        problems += problems_of_items(plan, ledger, stock)
    if not problems:  # decisions make sense only on facts that do
        problems += [
            *_standing(head, course.last),
            *_decisions(plan, ledger, course.count, pardons, others, changes, advance),
        ]
    return Audit(
        study=plan.definition.name,
        problems=tuple(problems),
        notes=tuple(_notes({plan.policy.name: course.others, **others})),
        told=stock.told,
        issued=stock.issued,
        failed=stock.failed,
        lost=stock.lost,
        void=stock.void,
        budget=plan.in_unit(head.budget),
        changes=tuple(changes),
    )


def _stretches(head: Head) -> Iterator[tuple[int, int | None]]:
    """Yield where stretches of rounds begin and end; rounds beyond the last are in the last."""
    starts = range(0, max(head.round, 0) + 1, _ROUNDS_AT_ONCE)
    for start in starts:
        yield start, None if start == starts[-1] else start + _ROUNDS_AT_ONCE


def _course(plan: Plan, ledger: Ledger, stock: Stock) -> _Course:
    """Go through all rounds, and require exactly the pulls that they ask for, each once."""
    head, course = ledger.head, _Course()
    numbers, arms, ordinals, rounds = stock.places()
    is_whole = np.array_equal(numbers, np.arange(1, head.issued + 1))
    for start, stop in _stretches(head):
        found, unread = readable(
            lambda start=start, stop=stop: ledger.rounds(start, stop),  # type: ignore[misc]
            ledger.rounds_at,
            range(start, (head.round + 1) if stop is None else stop),
        )
        course.unread += unread
        for one in found:
            shape = _shape(plan, one)
            course.shapes += shape
            course.others += [one.number] if _is_of_another_rule(plan, one) else []
            if one.number != course.count and is_whole:
                course.numbering.append(f"round {course.count} is missing")
                is_whole = False
            if is_whole and not shape:
                mine = slice(max(one.first - 1, 0), max(one.first - 1, 0) + one.size)
                places = np.stack([arms[mine], ordinals[mine], rounds[mine]])
                course.numbering += _numbering(one, places, is_last=one.number >= head.round)
            course.count, course.last = course.count + 1, one
    if np.array_equal(numbers, np.arange(1, head.issued + 1)):
        if is_whole:
            course.numbering += _beyond(head, course.last, arms, ordinals)
    else:
        what = f"the pulls are not numbered from 1 to {head.issued}, each once"
        course.numbering = [what]
    return course


def _shape(plan: Plan, one: Round) -> list[str]:
    """Require of a round what the other checks rely on."""
    problems = []
    if {len(one.allocation), len(one.before), len(one.alive)} != {plan.arm_count}:
        problems.append(f"round {one.number} is not about {plan.arm_count} arms")
    problems += [
        f"round {one.number} does not say which {key} it saw"
        for key in ("budget", "spent")
        if not isinstance(one.seen.get(key), int)
    ]
    stated = 1 if plan.policy.has_phases else plan.definition.lag
    far = [one.seen.get("lag", 1), one.seen.get("through", 0)]
    if not all(isinstance(x, int) for x in far) or far[0] != (far[0] if stated is None else stated):
        problems.append(f"round {one.number} has a lag of {far[0]} and saw the pulls to {far[1]}")
    return problems


def _pardons(plan: Plan, ledger: Ledger, pardons: Sequence[Pardon]) -> list[str]:
    """Require of every pardon that it could have been granted when it was."""
    problems, head = [], ledger.head
    if len(pardons) != head.pardons:
        problems.append(f"{len(pardons)} pardons were granted, but {head.pardons} are said to be")
    void = [number for one in pardons for number in one.void]
    by_number = {pull.number: pull for pull in ledger.pulls(void)}
    seen, latest = set[int](), 0
    after = [one.after for one in pardons if 0 <= one.after <= head.round]
    known = {one.number: one.through for one in ledger.rounds_at(after)}
    for place, one in enumerate(pardons):
        if not latest <= one.after <= head.round:
            problems.append(f"pardon {place} is of after round {one.after}, and cannot be")
        latest = max(latest, one.after)
        if not all(0 <= arm < plan.arm_count and since >= 0 for arm, since in one.arms):
            problems.append(f"pardon {place} names arms that are not there: {one.arms}")
        for number in one.void:
            pull = by_number.get(number)
            is_new = number > known.get(one.after, head.issued)
            if pull is None or number in seen or is_new or not _is_void(pull):
                problems.append(f"pardon {place} makes pull {number} void, which cannot be")
            seen.add(number)
    return problems


def _is_void(pull: PullFact) -> bool:
    """Tell whether a pull is of those that can be forgiven when their round is over."""
    return pull.charged and (pull.state == State.FAILED or pull.stands_in)


def _budget(plan: Plan, ledger: Ledger, stock: Stock, pardons: Sequence[Pardon]) -> list[str]:
    """Require that no more is spent and reserved than there is, where that can be known before."""
    problems, head = [], ledger.head
    taken = stock.charged + sum(amount for one in pardons for _, amount in one.sunk)
    if plan.learns_prices:
        taken += reserved_of(plan, ledger).total
    if taken > head.budget and not _may_exceed(plan, stock):
        problems.append(
            f"{plan.in_words(taken)} is charged, more than the budget of "
            f"{plan.in_words(head.budget)}"
        )
    if stock.open != head.unresolved:
        problems.append(f"{stock.open} pulls are issued, but {head.unresolved} are said to be")
    if head.finished and stock.open:
        problems.append(f"the study is finished, but {stock.open} pulls are issued")
    return problems


def _may_exceed(plan: Plan, stock: Stock) -> bool:
    """Tell whether a budget may be exceeded: prices are learned, or a cap did not hold."""
    if not plan.learns_prices:
        return False
    pricing, tries = plan.require_pricing, plan.definition.retries + 1
    caps = np.array(pricing.caps, np.int64) * tries
    return not pricing.is_capped or bool((stock.most > caps).any())


def _numbering(one: Round, places: Integers, *, is_last: bool) -> list[str]:
    """Require of pulls, by their places [arm, ordinal and round], that the round asks for them."""
    count = places.shape[1]
    arms, ordinals = one.places(0, count)
    wanted = np.stack([arms, ordinals, np.full(count, one.number)])
    problems = [
        f"pull {one.first + place} is not the one that round {one.number} asks for"
        for place in np.flatnonzero((places != wanted).any(axis=0)).tolist()
    ]
    if not is_last and count < one.size:
        problems.append(f"round {one.number} was left with {one.size - count} pulls not issued")
    return problems


def _beyond(head: Head, last: Round | None, arms: Integers, ordinals: Integers) -> list[str]:
    """Require that no pull is there twice, and none that no round asks for."""
    problems = []
    order = np.lexsort((ordinals, arms))
    if ((np.diff(arms[order]) == 0) & (np.diff(ordinals[order]) == 0)).any():
        problems.append("two pulls have the same arm and ordinal")
    if head.issued > _end(last):
        problems.append(f"{head.issued - _end(last)} pulls are beyond the last round")
    return problems


def _end(last: Round | None) -> int:
    """Return the number of the last pull that the rounds ask for."""
    return 0 if last is None else last.first + last.size - 1


def _standing(head: Head, last: Round | None) -> list[str]:
    """Require that the study stands where its last round put it."""
    wanted = Head(head.budget)
    if last is not None:
        spent = int(last.seen["spent"])
        wanted = replace(wanted, round=last.number, round_end=_end(last), charged=spent)
    problems = [
        f"the study's {key} is {getattr(head, key)}, and its rounds say {getattr(wanted, key)}"
        for key in ("round", "round_end", "charged")
        if getattr(head, key) != getattr(wanted, key)
    ]
    if head.finished and head.is_stopped:
        problems.append("the study is finished, and said to be stopped, which only ends others")
    if head.archived_at is not None and not head.is_over:
        problems.append("the study is archived, and neither finished nor stopped")
    if head.finished and not (last and last.is_last):
        problems.append("the study is finished, and its last round is not the last")
    return problems


def _is_of_another_rule(plan: Plan, one: Round) -> bool:
    return bool(one.edition != plan.policy.edition)


def _is_of_other_noise(one: Round) -> bool:
    """Tell whether a round was decided when noise was estimated otherwise."""
    return "counts" in one.seen and one.seen.get("noise", 1) != NOISE_EDITION


def _is_of_other_batches(one: Round, again: Round) -> bool:
    """Tell whether a large batch was decided when these were cut otherwise, or not at all."""
    return bool(one.seen.get("groups", 1) != again.seen.get("groups", 1))


def _is_of_other_proofs(plan: Plan, one: Round) -> bool:
    """Tell whether a round was decided when proofs, or what they ask for, were other ones."""
    return bool(plan.stop) and one.seen.get("proofs", 1) != PROOFS_EDITION


def _notes(others: Mapping[str, Sequence[int]]) -> list[str]:
    checked = "the evidence was checked, the choice cannot be made again"
    return [
        f"{f'round {which[0]}' if len(which) == 1 else f'rounds {which[0]} to {which[-1]}'} went "
        f"by another edition of {what} than this version of ringfence has: {checked}"
        for what, which in others.items()
        if which
    ]


def _decisions(
    plan: Plan,
    ledger: Ledger,
    count: int,
    pardons: Sequence[Pardon],
    others: Mapping[str, list[int]],
    changes: list[Change],
    advance: Advance,
) -> list[str]:
    """Decide every round again from the observations before it, and who is broken by now.

    With the pardons that had been granted by then. What another edition of the rule chose cannot
    be decided again, nor what went by other noise or by another rule for large batches: the numbers
    of such rounds are put into `others`, and what changed over time into `changes`.
    """
    problems, head = [], ledger.head
    reader, tally, resolved = Reader(plan), ledger.tally(), resolved_through(ledger, head)
    before: Round | None = None
    done = 0
    if tally is not None and is_of_other_format(tally.content):
        tally = None  # readers do without it
    if tally is not None and not 0 <= tally.through < count - 1:
        problems.append(f"the tally is of round {tally.through}, which is not over")
        tally = None
    for one in (one for ends in _stretches(head) for one in ledger.rounds(*ends)):
        granted = sum(pardon.after < one.number for pardon in pardons)
        then = Head(int(one.seen["budget"]), one.number - 1, one.first - 1, pardons=granted)
        known = min(then.issued, resolved)
        under = plan.under(tuple(stop for stop in head.stops if stop.after < one.number))
        again = round_after(under, before, reader, ledger, then, resolved=known, lag=one.lag)
        if again is None:
            problems.append(f"round {one.number} was decided from pull {known + 1}, which is open")
            break
        if tally is not None and tally.through == reader.through and tally != reader.tally():
            problems.append(f"the pulls up to round {tally.through} add up to another tally")
        if _is_of_another_rule(plan, one):
            again = _with_choice(again, one)
        if one.seen.get(STOP, plan.definition.stop) != under.stop:
            problems.append(f"round {one.number} went by another stop than was said by then")
        wrong = _differences(one, again)
        if wrong and _is_of_other_proofs(under, one):
            again = _with_proofs(again, one)
            others[_PROOFS].append(one.number)
            wrong = _differences(one, again)
        if wrong and _is_of_other_batches(one, again):
            again = _with_choice(again, one)
            others[_BATCHES].append(one.number)
            wrong = _differences(one, again)
        if wrong and _is_of_other_noise(one):
            others[_NOISE].append(one.number)
            wrong = _differences(one, _with_noise(_with_choice(again, one), one))
        problems += [f"round {one.number}: decided again, it has another {key}" for key in wrong]
        advance(reader.read - done)
        before, done = one, reader.read
    broken = reader.catch_up(ledger, head).broken
    changes += changes_of(reader.book)
    advance(head.issued - done)
    if set(broken) != set(head.broken):
        problems.append(
            f"arms {sorted(head.broken)} are said to be broken, and by their pulls {sorted(broken)}"
        )
    return problems


def _with_choice(again: Round, one: Round) -> Round:
    return replace(again, allocation=one.allocation, alive=one.alive, left=one.left)


def _with_proofs(again: Round, one: Round) -> Round:
    """Return a round that was decided again, with what it made of other proofs."""
    known = {key: again.seen.get(key, value) for key, value in one.seen.items()}
    proven = {key: one.seen[key] for key in (SETTLED, ASKED, PROVEN) if key in one.seen}
    again = replace(_with_choice(again, one), is_last=one.is_last, phase=one.phase)
    return replace(again, seen=known | proven)


def _with_noise(again: Round, one: Round) -> Round:
    """Return a round that was decided again with the noise that it saw.

    Estimates must be nearly the same: a variance of rounding alone is none by now.
    """
    seen = {**again.seen, "scales": one.seen.get("scales")}
    try:
        found = np.array([again.seen["estimates"], one.seen["estimates"]], np.float64)
    except (KeyError, ValueError, TypeError):
        return again
    rounding = 1e-9 * float(np.abs(found[0]).max(initial=0.0))
    if np.allclose(found[0], found[1], rtol=1e-9, atol=rounding):
        seen["estimates"] = one.seen["estimates"]
    return replace(again, seen=seen)


def _differences(one: Round, again: Round) -> list[str]:
    """Return in what two rounds differ, editions aside."""
    mine, other = (
        replace(x, seen={k: v for k, v in x.seen.items() if k not in _EDITIONS})
        for x in (one, again)
    )
    return [
        key.name for key in fields(Round) if getattr(mine, key.name) != getattr(other, key.name)
    ]
