"""Faults planted in what stands between others and a server: each is noticed by a named test."""

from functools import cache

import pytest

from ringfence.core.errors import InputError
from tests.faults.planting import planted_pages, require_applicable
from tests.faults.test_planted_faults import Fault, Named, fault

GUARD, SHEETS, JOBS = (
    f"tests.unit.test_{name}" for name in ("web_guard", "spreadsheets", "web_jobs")
)
GUARDING, WORK, CELLS = "interfaces.web.guard", "interfaces.web.work", "core.spreadsheets"
FORMULAS = "test_a_text_that_begins_like_a_formula_is_made_one_no_longer"


@cache
def of(home: str, test: str, *given: object) -> Named:
    return Named(
        f"{home.replace('.', '/')}.py::{test}", lambda rooms: getattr(rooms[home], test)(*given)
    )


COMPUTING = of(GUARD, "test_a_page_has_nothing_computed_without_the_token")
READING = of(GUARD, "test_a_read_only_door_has_nothing_computed")
FAULTS: list[Fault] = [
    fault(
        "pages compute for everybody", GUARDING,
        'if writes and path != "/token":', "if False:", COMPUTING,
    ),
    fault(
        "pages compute for who shows any cookie", GUARDING,
        "return any(map(self.door.is_cookie, held[:_MOST_COOKIES]))", "return bool(held)",
        COMPUTING,
    ),
    fault(
        "a read-only server computes", GUARDING,
        """        if self.door.read_only:
            return problem(403, _READ_ONLY)
        if not knows:""", "        if not knows:", READING,
    ),
    fault(
        "a page offers to compute what is refused", GUARDING,
        'scope["may_compute"] = knows and not self.door.read_only',
        'scope["may_compute"] = knows', READING,
    ),
    fault(
        "an origin that cannot be read is none", GUARDING,
        """        return None


async def _whole_body""", """        return ""


async def _whole_body""",
        of(GUARD, "test_an_origin_that_cannot_be_read_is_no_fault_of_ours", "http://["),
    ),
    fault(
        "the first of two headers decides", GUARDING,
        "if len(headers.getlist(name)) > 1:", "if False:",
        of(GUARD, "test_a_header_that_decides_is_there_once", b"authorization"),
    ),
    fault(
        "a body that breaks off is taken for whole", GUARDING,
        "raise GoneError", "break", of(GUARD, "test_a_body_that_breaks_off_is_no_body"),
    ),
    fault(
        "text that was typed in may name a file", WORK,
        """or noise.get("family") == "table")""", """and False)""",
        of(JOBS, "test_what_is_typed_in_is_refused_in_no_time", "a file"),
    ),
    fault(
        "a formula with a minus stays one", CELLS,
        r"[=+\\-@", "[=+@", of(SHEETS, FORMULAS, "-2+3"),
    ),
    fault(
        "an apostrophe of one's own is lost", CELLS,
        """re.compile("'*[""", """re.compile("[""",
        of(SHEETS, FORMULAS, "'=1"),
    ),
]  # fmt: skip
CASES = [pytest.param(one, killer, id=one.name) for one in FAULTS for killer in one.killed_by]
CONTROLS = list(dict.fromkeys(killer for one in FAULTS for killer in one.killed_by))


@pytest.mark.parametrize(("one", "killer"), CASES)
def test_fault_is_noticed(one: Fault, killer: Named) -> None:
    rooms = planted_pages(one.edit)
    with pytest.raises((AssertionError, pytest.fail.Exception, InputError, ValueError)):
        killer.check(rooms)


def test_control_the_sources_as_they_are_pass() -> None:
    rooms = planted_pages()
    for control in CONTROLS:
        control.check(rooms)


def test_every_fault_can_be_planted() -> None:
    for one in FAULTS:
        require_applicable(one.edit)
