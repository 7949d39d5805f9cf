"""What is shown of work that goes through stages: answers at once, the others in between."""

import sys
from io import StringIO

import pytest

from ringfence.interfaces.cli import output


class Terminal(StringIO):
    """A screen that says that it is one."""

    def isatty(self) -> bool:
        return True


def test_without_a_terminal_answers_are_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    heard = StringIO()
    monkeypatch.setattr(sys, "stderr", heard)
    with output.stages("planning", answers=("first", "found")) as advance:
        for stage in ("first: 7", "searching: 8", "found: 9", "drawing: 9"):
            advance(stage)
    assert heard.getvalue() == "planning: first: 7\nplanning: found: 9\n"


def test_nothing_is_an_answer_unless_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    heard = StringIO()
    monkeypatch.setattr(sys, "stderr", heard)
    with output.stages("planning") as advance:
        advance("first: 7")
    assert heard.getvalue() == ""


def test_on_a_terminal_answers_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with output.stages("planning", answers=("first",)) as advance:
        advance("first: 7 [pulls]")
        advance("searching: 8")
    spun = "\x1b[0m planning: "
    assert "planning: first: 7 [pulls]\n" in screen.getvalue()
    assert f"{spun}first" not in screen.getvalue()
    assert f"{spun}searching: 8" in screen.getvalue()
