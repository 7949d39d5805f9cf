"""What a decision waits for, and what failed pulls say: the same in every storage."""

from ringfence.study.waiting import Held, Said
from tests.contracts.places import Place
from tests.contracts.test_halting import BUDGET, desk_at


def test_leases_are_told_by_who_holds_them_and_since_when(place: Place) -> None:
    desk = desk_at(place.open())
    now = [1000.0]
    desk.clock = lambda: now[0]
    lease_seconds = desk.plan.definition.lease_seconds
    given = desk.ask(2, holder="one")
    now[0] = 1010.0
    desk.ask(1)
    assert desk.waits_for() == [
        Held("one", 2, 1000.0, 1000.0 + lease_seconds),
        Held(None, 1, 1010.0, 1010.0 + lease_seconds),
    ]
    desk.release(given[0].number, given[0].lease)
    assert desk.waits_for()[-1] == Held(None, 1, None, None), "whoever asks next is given it"
    now[0] = 1005.0 + lease_seconds
    assert [(one.pulls, one.until is None) for one in desk.waits_for()] == [(1, False), (2, True)]


def test_failures_are_told_by_arm_and_by_what_they_said(place: Place) -> None:
    desk = desk_at(place.open(), "uniform")
    assert desk.failures() == []
    said = {0: "503: away\nand more", 1: "timeout"}
    numbers: dict[int, list[int]] = {0: [], 1: []}
    for pull in desk.ask(BUDGET):
        if pull.arm in said and len(numbers[pull.arm]) < 2 - pull.arm:
            desk.fail(pull.number, pull.lease, said[pull.arm], charge=True, retry=False)
            numbers[pull.arm].append(pull.number)
    assert desk.failures() == [
        Said(0, "503: away", 2, numbers[0][-1], 0),
        Said(1, "timeout", 1, numbers[1][-1], 0),
    ]
