"""What pages may have computed: plans, and the paper's panels, as values for another process.

May touch wiring and reproducing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from ringfence.core.attributes import Functions
from ringfence.core.errors import InputError
from ringfence.core.strict import read_toml

MOST_REPLICATIONS = 1_000_000
MOST_TEXT = 2**16
MOST_ARMS = 100
MOST_EXPRESSIONS = 20
Advance = Callable[[str], None]


class Work(Protocol):
    """A piece of work, which says how far it is while it runs."""

    def run(self, advance: Advance) -> Any:
        """Return what comes of it."""


@dataclass(frozen=True)
class StudySource:
    """A study to plan from: its name, where it is kept, and its own attributes."""

    name: str
    storage: str
    functions: Functions | None

    def opened(self) -> Any:
        """Return the study."""
        from ringfence.interfaces.studies import Study

        return Study.load(self.name, storage=self.storage, functions=self.functions)


@dataclass(frozen=True)
class TextSource:
    """An instance that was typed in; it is read where it can do no harm."""

    text: str

    def opened(self) -> Any:
        """Return the instance."""
        from ringfence.simulation.instance import Instance

        return Instance.from_dict(pasted_instance(self.text), name="your instance")


@dataclass(frozen=True)
class NamedSource:
    """An instance of the paper."""

    name: str

    def opened(self) -> Any:
        """Return what names it."""
        return self.name


@dataclass(frozen=True)
class Planning:
    """The work of planning."""

    source: StudySource | TextSource | NamedSource
    policy: str | None
    target_error: float
    brief: bool

    def run(self, advance: Advance) -> Any:
        """Return the plan."""
        from ringfence.interfaces import wiring

        return wiring.plan(
            self.source.opened(),
            self.policy,
            target_error=self.target_error,
            brief=self.brief,
            advance=advance,
        )


@dataclass(frozen=True)
class Reproduction:
    """The work of drawing the paper's four panels."""

    replications: int

    def run(self, advance: Advance) -> Any:
        """Return the report."""
        from ringfence.interfaces import reproducing

        done, total = 0, reproducing.paper_replications(self.replications)

        def progress(more: int) -> None:
            nonlocal done
            done += more
            advance(f"{done:,} of {total:,} replications")

        return reproducing.reproduce_paper(replications=self.replications, progress=progress)


def require_short(text: str) -> None:
    """Refuse an instance that is longer than anyone types."""
    if len(text) > MOST_TEXT:
        raise InputError(
            f"instance has {len(text):,} characters: {MOST_TEXT:,} are allowed here. Use: "
            "ringfence plan FILE."
        )


def pasted_instance(text: str) -> Mapping[str, Any]:
    """Return an instance that was typed into the page; it may name no file and no code."""
    require_short(text)
    try:
        content = read_toml(text)
    except ValueError as error:
        raise InputError(f"instance is not TOML: {error}. Correct it there.") from None
    noise = content.get("noise")
    named = isinstance(noise, dict) and ("path" in noise or noise.get("family") == "table")
    if named or "functions" in content:
        raise InputError(
            "instance must not name a file or a function here: the page reads and runs nothing "
            "of its server's. Use: ringfence plan FILE."
        )
    for key, most in (("arms", MOST_ARMS), ("constraints", MOST_EXPRESSIONS), ("metrics", 50)):
        entries = content.get(key, ())
        if isinstance(entries, dict | list) and len(entries) > most:
            raise InputError(
                f"{key} has {len(entries)} entries: {most} are allowed here. Use: "
                "ringfence plan FILE."
            )
    return content
