"""Which failures are an outage: by cases, and beside a slow transcription of the rule's words."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringfence.execution.outages import Outages, least_failures


def failing(calls: Outages, *arms: int, first: int = 1) -> None:
    """Let one call after the other begin and fail."""
    for pull, arm in enumerate(arms, start=first):
        calls.begin(pull)
        calls.fail(pull, pull, arm)


@pytest.mark.parametrize(("workers", "least"), [(1, 6), (4, 6), (5, 7), (8, 10), (100, 102)])
def test_more_failures_than_could_be_in_flight_at_once(workers: int, least: int) -> None:
    assert least_failures(workers) == least


def test_failures_in_a_row_over_two_arms_are_an_outage() -> None:
    calls = Outages(6)
    failing(calls, 0, 0, 0, 0, 0)
    assert not calls.is_found(none_left=False)
    failing(calls, 0, first=6)
    assert not calls.is_found(none_left=False), "one arm alone"
    failing(calls, 1, first=7)
    assert calls.is_found(none_left=False)
    assert (calls.pulls, calls.arms) == ((1, 2, 3, 4, 5, 6, 7), 2)


def test_a_retry_is_a_failure_more_of_the_same_pull() -> None:
    calls = Outages(3)
    for lease in (1, 2):
        calls.begin((5, lease))
        calls.fail((5, lease), 5, 0)
    failing(calls, 1, first=6)
    assert calls.is_found(none_left=False)
    assert calls.pulls == (5, 6)


def test_only_what_began_after_a_failure_settles_it() -> None:
    calls = Outages(3)
    calls.begin("slow")
    failing(calls, 0, 1)
    calls.begin("between")
    failing(calls, 0, first=3)
    calls.succeed("slow")
    assert calls.is_found(none_left=False)
    calls.succeed("between")
    assert calls.pulls == (3,)
    calls.begin("after")
    calls.succeed("after")
    assert calls.unsettled == ()


def test_where_no_arm_is_left_the_few_failures_there_were_are_an_outage() -> None:
    calls = Outages(6)
    assert not calls.is_found(none_left=True)
    failing(calls, 0)
    assert calls.is_found(none_left=True)
    calls.begin("after")
    calls.succeed("after")
    assert not calls.is_found(none_left=True), "all failures are settled"


def test_an_outage_lasts_until_a_call_succeeds_that_began_in_it() -> None:
    calls = Outages(3)
    calls.begin("slow")
    failing(calls, 0, 1, 2)
    assert not calls.is_on
    calls.find()
    assert calls.is_on
    assert not calls.is_probing
    calls.succeed("slow")
    assert calls.is_on
    calls.begin("probe")
    assert calls.is_probing
    calls.fail("probe", 1, 0)
    assert calls.is_on
    assert not calls.is_probing
    calls.begin("probe")
    calls.leave("probe")
    assert calls.is_on
    assert not calls.is_probing
    calls.begin("probe")
    calls.succeed("probe")
    assert not calls.is_on
    assert calls.unsettled == ()


def test_what_was_heard_of_before_changes_nothing() -> None:
    calls = Outages(3)
    failing(calls, 0)
    calls.fail(1, 1, 0)
    calls.fail("never begun", 9, 1)
    assert calls.pulls == (1,)


def test_failures_of_an_earlier_process_count() -> None:
    calls = Outages(3)
    calls.recall([(4, 0), (5, 0)])
    failing(calls, 1, first=6)
    assert calls.is_found(none_left=False)
    assert calls.pulls == (4, 5, 6)


# ------------------------------------------------------------------------- the rule, slowly


@dataclass
class Story:
    """All that happened, in order; every question is answered by reading it again."""

    events: list[tuple[str, int, int]] = field(default_factory=list)

    def begin_of(self, call: int) -> int:
        return self.events.index(("begin", call, -1))

    def unsettled(self) -> list[int]:
        """Return the calls that failed and after whose failure none began that succeeded."""
        left = []
        for place, (what, call, _) in enumerate(self.events):
            if what != "fail":
                continue
            settled = any(
                end == "succeed" and self.begin_of(other) > place
                for end, other, _ in self.events[place:]
            )
            if not settled:
                left.append(call)
        return left

    def is_outage(self, least: int) -> bool:
        calls = self.unsettled()
        arms = {arm for what, call, arm in self.events if what == "fail" and call in calls}
        return len(calls) >= least and len(arms) >= 2


@given(
    st.lists(
        st.tuples(st.sampled_from(["begin", "fail", "fail", "succeed"]), st.integers(0, 9)),
        max_size=60,
    ),
    st.integers(1, 6),
)
def test_it_is_the_rule_to_the_letter(moves: list[tuple[str, int]], least: int) -> None:
    story, calls, flying, begun = Story(), Outages(least), list[int](), 0
    for what, pick in moves:
        if what == "begin":
            begun += 1
            flying.append(begun)
            story.events.append(("begin", begun, -1))
            calls.begin(begun)
        elif flying:
            call, arm = flying.pop(pick % len(flying)), pick % 3
            if what == "fail":
                story.events.append(("fail", call, arm))
                calls.fail(call, call, arm)
            else:
                story.events.append(("succeed", call, -1))
                calls.succeed(call)
        assert [one.pull for one in calls.unsettled] == story.unsettled()
        assert calls.is_found(none_left=False) == story.is_outage(least)
