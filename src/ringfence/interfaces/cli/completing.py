"""What a shell may complete: names that exist, and files. Loads as little as it can.

Each function gets what was typed so far and returns the words that begin like it. May touch file
names in the folder that was typed.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import typer


def policies(incomplete: str) -> list[str]:
    """Complete the name of a policy."""
    return _beginning(incomplete, _policy_names())


def several_policies(incomplete: str) -> list[str]:
    """Complete the last of several policies with commas between."""
    before, comma, last = incomplete.rpartition(",")
    named = before.split(",")
    return [
        f"{before}{comma}{name}" for name in _beginning(last, _policy_names()) if name not in named
    ]


def instances(incomplete: str) -> list[str]:
    """Complete an instance: one of the paper's, or a file."""
    return [
        *_beginning(incomplete, ("paper-1", "paper-2", "paper-3", "paper-4")),
        *files(incomplete),
    ]


def files(incomplete: str) -> list[str]:
    """Complete the path of a TOML file; folders lead on."""
    return sorted(_paths(incomplete, ".toml"))


def studies(incomplete: str) -> list[str]:
    """Complete a study: its file, or the name that a database beside us is called by."""
    names = (Path(path).stem for path in _paths("", ".db") if path.endswith(".db"))
    return [*files(incomplete), *_beginning(incomplete, sorted(names))]


def arms(context: typer.Context, incomplete: str) -> list[str]:
    """Complete an arm of the study file that was named before."""
    from ringfence.simulation.reading import toml_file

    try:
        content: Any = toml_file(Path(context.params["study"]), key="study", advice="")
        return _beginning(incomplete, map(str, content["arms"]))
    except (KeyError, TypeError, ValueError, OSError):
        return []


def families(incomplete: str) -> list[str]:
    """Complete a family of random instances."""
    from ringfence.simulation.families import FAMILIES

    return _beginning(incomplete, (family.name for family in FAMILIES))


def answers(incomplete: str) -> list[str]:
    """Complete what is asked of arms."""
    from ringfence.core.questions import QUESTIONS

    return _beginning(incomplete, (question.name for question in QUESTIONS))


def among(*options: str) -> Callable[[str], list[str]]:
    """Return what completes one of a few words."""

    def complete(incomplete: str) -> list[str]:
        return _beginning(incomplete, options)

    return complete


def _policy_names() -> Iterator[str]:
    from ringfence.policies.registry import POLICIES

    return (policy.name for policy in POLICIES)


def _beginning(incomplete: str, options: Iterable[str]) -> list[str]:
    return [option for option in options if option.startswith(incomplete)]


def _paths(incomplete: str, suffix: str) -> Iterator[str]:
    folder, start = os.path.split(incomplete)
    try:
        entries = sorted(os.scandir(folder or "."), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if not entry.name.startswith(start) or (entry.name.startswith(".") and not start):
            continue
        path = os.path.join(folder, entry.name)  # noqa: PTH118 - "./x" stays as it was typed
        if entry.is_dir():
            yield path + "/"
        elif entry.name.endswith(suffix):
            yield path
