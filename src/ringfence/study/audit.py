"""Audits a study from its stored facts: budget, leases, double counts, every decision replayed.

May touch policies and core, and a ledger.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import TypeVar

import numpy as np

from ringfence.core.errors import DamagedError
from ringfence.core.noise import NOISE_EDITION
from ringfence.study.deciding import Plan, next_round
from ringfence.study.facts import Head, Pardon, PullFact, Round, State
from ringfence.study.failing import stand_in
from ringfence.study.packing import is_of_other_format
from ringfence.study.ports import Ledger
from ringfence.study.reading import Reader

Fact = TypeVar("Fact")


@dataclass(frozen=True)
class Audit:
    """What an audit found: `problems` in words, none if all is well.

    `notes` say what could not be checked, though nothing is wrong with it.
    """

    study: str
    problems: tuple[str, ...]
    notes: tuple[str, ...]
    told: int
    issued: int
    failed: int
    lost: int
    void: int
    budget: int

    @property
    def is_sound(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


def audit(plan: Plan, ledger: Ledger) -> Audit:
    """Check every fact of a study against the others."""
    head = ledger.head
    pulls, unread = _readable(
        lambda: ledger.pulls_between(0, 2**62), ledger.pulls, range(1, head.issued + 1)
    )
    rounds, undecided = _readable(ledger.rounds, ledger.rounds_at, range(head.round + 1))
    _, unbrought = _readable(ledger.past, lambda _: (), ())
    pardons, ungranted = _readable(ledger.pardons, lambda _: (), ())
    problems = [*unread, *undecided, *unbrought, *ungranted, *_shapes(plan, rounds)]
    other_noise = list[int]()
    if not problems:
        problems += _pardons(plan, head, pulls, pardons)
    if not problems:  # nothing can be counted where something is missing
        problems += [*_budget(plan, head, pulls, pardons), *_numbering(head, pulls, rounds)]
    problems += _values(plan, pulls)
    if not problems:  # decisions make sense only on facts that do
        problems += [
            *_standing(head, rounds),
            *_decisions(plan, ledger, head, rounds, pardons, other_noise),
        ]
    void = {number for one in pardons for number in one.void}
    valid = [pull for pull in pulls if pull.number not in void]
    states = [pull.state for pull in valid if not pull.is_lost]
    return Audit(
        study=plan.definition.name,
        problems=tuple(problems),
        notes=tuple(_notes(plan, rounds, other_noise)),
        told=states.count(State.TOLD),
        issued=states.count(State.ISSUED),
        failed=states.count(State.FAILED),
        lost=len(valid) - len(states),
        void=len(pulls) - len(valid),
        budget=head.budget,
    )


def _readable(
    read: Callable[[], Sequence[Fact]],
    read_some: Callable[[Sequence[int]], Sequence[Fact]],
    numbers: Sequence[int],
) -> tuple[list[Fact], list[str]]:
    """Return the facts that can be read, one by one where not all can, and what is damaged."""
    try:
        return list(read()), []
    except DamagedError as error:
        first = error.what
    found, problems = list[Fact](), list[str]()
    for number in numbers:
        try:
            found += read_some([number])
        except DamagedError as error:
            problems.append(error.what)
    return found, problems or [first]


def _shapes(plan: Plan, rounds: Sequence[Round]) -> list[str]:
    """Require of every round what the other checks rely on."""
    problems = []
    for one in rounds:
        if {len(one.allocation), len(one.before), len(one.alive)} != {plan.arm_count}:
            problems.append(f"round {one.number} is not about {plan.arm_count} arms")
        problems += [
            f"round {one.number} does not say which {key} it saw"
            for key in ("budget", "spent")
            if not isinstance(one.seen.get(key), int)
        ]
    return problems


def _pardons(
    plan: Plan, head: Head, pulls: Sequence[PullFact], pardons: Sequence[Pardon]
) -> list[str]:
    """Require of every pardon that it could have been granted when it was."""
    problems = []
    if len(pardons) != head.pardons:
        problems.append(f"{len(pardons)} pardons were granted, but {head.pardons} are said to be")
    by_number, seen, latest = {pull.number: pull for pull in pulls}, set[int](), 0
    for place, one in enumerate(pardons):
        if not latest <= one.after <= head.round:
            problems.append(f"pardon {place} is of after round {one.after}, and cannot be")
        latest = max(latest, one.after)
        if not all(0 <= arm < plan.arm_count and since >= 0 for arm, since in one.arms):
            problems.append(f"pardon {place} names arms that are not there: {one.arms}")
        for number in one.void:
            pull = by_number.get(number)
            if pull is None or number in seen or pull.round >= one.after or not _is_void(pull):
                problems.append(f"pardon {place} makes pull {number} void, which cannot be")
            seen.add(number)
    return problems


def _is_void(pull: PullFact) -> bool:
    """Tell whether a pull is of those that can be forgiven when their round is over."""
    return pull.charged and (pull.state == State.FAILED or pull.stands_in)


def _budget(
    plan: Plan, head: Head, pulls: Sequence[PullFact], pardons: Sequence[Pardon]
) -> list[str]:
    void = {number for one in pardons for number in one.void}
    prices = plan.prices
    charged = sum(
        prices[pull.arm]
        for pull in pulls
        if pull.charged and pull.state != State.CANCELLED and pull.number not in void
    )
    problems = []
    if charged > head.budget:
        problems.append(f"{charged} is charged, more than the budget of {head.budget}")
    open_ = sum(pull.state == State.ISSUED for pull in pulls)
    if open_ != head.unresolved:
        problems.append(f"{open_} pulls are issued, but {head.unresolved} are said to be")
    if head.finished and open_:
        problems.append(f"the study is finished, but {open_} pulls are issued")
    return problems


def _numbering(head: Head, pulls: Sequence[PullFact], rounds: Sequence[Round]) -> list[str]:
    """Require exactly the pulls that the rounds ask for, each once, up to the last issued."""
    problems = []
    numbers = [pull.number for pull in pulls]
    if numbers != list(range(1, head.issued + 1)):
        problems.append(f"the pulls are not numbered from 1 to {head.issued}, each once")
        return problems
    for place, one in enumerate(rounds):
        if one.number != place:
            problems.append(f"round {place} is missing")
            return problems
        mine = pulls[one.first - 1 : one.first - 1 + one.size]
        for pull, (arm, ordinal) in zip(mine, one.order(0, len(mine)), strict=True):
            if (pull.arm, pull.ordinal, pull.round) != (arm, ordinal, one.number):
                problems.append(f"pull {pull.number} is not the one that round {place} asks for")
        if place < len(rounds) - 1 and len(mine) < one.size:
            problems.append(f"round {place} was left with {one.size - len(mine)} pulls not issued")
    if len({(pull.arm, pull.ordinal) for pull in pulls}) < len(pulls):
        problems.append("two pulls have the same arm and ordinal")
    if head.issued > _end(rounds):
        problems.append(f"{head.issued - _end(rounds)} pulls are beyond the last round")
    return problems


def _end(rounds: Sequence[Round]) -> int:
    """Return the number of the last pull that the rounds ask for."""
    return rounds[-1].first + rounds[-1].size - 1 if rounds else 0


def _values(plan: Plan, pulls: Sequence[PullFact]) -> list[str]:
    problems = []
    stand_ins = {stand_in(plan, timed_out=one) for one in (False, True)}
    for pull in pulls:
        told = pull.state == State.TOLD
        if pull.stands_in and pull.values not in stand_ins:
            problems.append(f"pull {pull.number} failed, and what was told in place is another")
        if pull.extras is not None and not all(map(math.isfinite, pull.extras.values())):
            problems.append(f"pull {pull.number} has further numbers that no tell accepts")
        if told != (pull.values is not None):
            problems.append(f"pull {pull.number} is {pull.state}, and its values say otherwise")
        elif pull.values is not None and (
            len(pull.values) != len(plan.metrics)
            or not np.isfinite(pull.values).all()
            or plan.noise.outside(plan.metrics, pull.values) is not None
        ):
            problems.append(f"pull {pull.number} has values {pull.values} that no tell accepts")
        if pull.state != State.CANCELLED and pull.lease < 1:
            problems.append(f"pull {pull.number} was never leased")
    return problems


def _standing(head: Head, rounds: Sequence[Round]) -> list[str]:
    """Require that the study stands where its last round put it."""
    wanted = Head(head.budget)
    if rounds:
        last = rounds[-1]
        spent = int(last.seen["spent"])
        wanted = replace(wanted, round=last.number, round_end=_end(rounds), charged=spent)
    problems = [
        f"the study's {key} is {getattr(head, key)}, and its rounds say {getattr(wanted, key)}"
        for key in ("round", "round_end", "charged")
        if getattr(head, key) != getattr(wanted, key)
    ]
    if head.finished and not (rounds and rounds[-1].is_last):
        problems.append("the study is finished, and its last round is not the last")
    return problems


def _is_of_another_rule(plan: Plan, one: Round) -> bool:
    return bool(one.edition != plan.policy.edition)


def _is_of_other_noise(one: Round) -> bool:
    """Tell whether a round was decided when noise was estimated otherwise."""
    return "counts" in one.seen and one.seen.get("noise", 1) != NOISE_EDITION


def _notes(plan: Plan, rounds: Sequence[Round], other_noise: Sequence[int]) -> list[str]:
    others = [one.number for one in rounds if _is_of_another_rule(plan, one)]
    checked = "the evidence was checked, the choice cannot be made again"
    return [
        f"{f'round {which[0]}' if len(which) == 1 else f'rounds {which[0]} to {which[-1]}'} went "
        f"by another edition of {what} than this version of ringfence has: {checked}"
        for what, which in ((plan.policy.name, others), ("the noise", other_noise))
        if which
    ]


def _decisions(
    plan: Plan,
    ledger: Ledger,
    head: Head,
    rounds: Sequence[Round],
    pardons: Sequence[Pardon],
    other_noise: list[int],
) -> list[str]:
    """Decide every round again from the observations before it, and who is broken by now.

    With the pardons that had been granted by then. What another edition of the rule chose cannot
    be decided again, nor what went by other noise: the numbers of such rounds are put into
    `other_noise`.
    """
    problems = []
    reader, before, tally = Reader(plan), None, ledger.tally()
    if tally is not None and is_of_other_format(tally.content):
        tally = None  # readers do without it
    if tally is not None and not 0 <= tally.through < len(rounds) - 1:
        problems.append(f"the tally is of round {tally.through}, which is not over")
        tally = None
    for one in rounds:
        granted = sum(pardon.after < one.number for pardon in pardons)
        then = Head(int(one.seen["budget"]), one.number - 1, one.first - 1, pardons=granted)
        again = next_round(plan, before, reader.catch_up(ledger, then), reader.book)
        if tally is not None and tally.through == reader.through and tally != reader.tally():
            problems.append(f"the pulls up to round {tally.through} add up to another tally")
        if _is_of_another_rule(plan, one):
            again = _with_choice(again, one)
        wrong = _differences(one, again)
        if wrong and _is_of_other_noise(one):
            other_noise.append(one.number)
            wrong = _differences(one, _with_noise(_with_choice(again, one), one))
        problems += [f"round {one.number}: decided again, it has another {key}" for key in wrong]
        before = one
    broken = reader.catch_up(ledger, head).broken
    if set(broken) != set(head.broken):
        problems.append(
            f"arms {sorted(head.broken)} are said to be broken, and by their pulls {sorted(broken)}"
        )
    return problems


def _with_choice(again: Round, one: Round) -> Round:
    return replace(again, allocation=one.allocation, alive=one.alive, left=one.left)


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
        replace(x, seen={k: v for k, v in x.seen.items() if k not in ("edition", "noise")})
        for x in (one, again)
    )
    return [
        key.name for key in fields(Round) if getattr(mine, key.name) != getattr(other, key.name)
    ]
