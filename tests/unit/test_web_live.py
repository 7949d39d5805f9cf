"""Following a study: what is told when looking at it breaks, and after."""

import asyncio
from typing import Any

import pytest

from ringfence.core.errors import InputError
from ringfence.interfaces.web import live
from ringfence.interfaces.web.live import Watch


class Shelf:
    """A study whose version is looked up as the test says, look after look; the last one stays."""

    def __init__(self, looks: list[str | Exception]) -> None:
        self.looks, self.last = looks, "0"

    def pulse(self, name: str) -> str:
        look = self.looks.pop(0) if len(self.looks) > 1 else self.looks[0]
        if isinstance(look, Exception):
            raise look
        self.last = look
        return look

    def news(self, name: str) -> dict[str, Any]:
        return {"version": self.last}


async def changes(watch: Watch, most: int) -> list[str]:
    """Return the changes that a follower is told of, until the stream ends."""
    found = []
    async for event in watch.events("s"):
        if event.startswith("event: change"):
            found.append(event.split('"')[3])
            if len(found) == most:
                break
    return found


def followed(looks: list[str | Exception], *, streams: list[int]) -> list[list[str]]:
    """Return what one stream after the other tells."""

    async def follow() -> list[list[str]]:
        watch = Watch(Shelf(looks))  # type: ignore[arg-type]
        return [await asyncio.wait_for(changes(watch, most), 10.0) for most in streams]

    return asyncio.run(follow())


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "_POLL_SECONDS", 0.01)


def test_a_study_that_is_away_for_a_moment_is_waited_for() -> None:
    assert followed(["1", InputError("away"), "2"], streams=[3]) == [["0", "1", "2"]]


def test_a_stream_ends_when_looking_breaks_and_the_next_one_begins_anew() -> None:
    looks: list[str | Exception] = ["1", ValueError("broken"), "2"]
    assert followed(looks, streams=[9, 2]) == [["0", "1"], ["1", "2"]]
