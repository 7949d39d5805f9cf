"""Writes the reference of all commands from the commands themselves, so that it cannot be wrong."""

import re
from pathlib import Path
from typing import Any

import typer.main

from ringfence.interfaces.cli.app import app

_INTRODUCTION = """# Commands

Every command takes `--json` (one strict JSON document on standard output; what is infinite or
undefined is null). Exit codes: 0 done, and for `run` and `recommend` feasible; 3 infeasible; 4 too
close to call, less sure than `--min-confidence` asks, or not proven where `--require-certificate`
asks for it; 2 bad input; 130 interrupted (`run` also
143 by SIGTERM, 129 by SIGHUP); 1 anything else.
"""


def write_command_page(path: Path) -> None:
    """Write the page, if it would differ: an unchanged page is not built again."""
    group: Any = typer.main.get_command(app)
    commands = [command for command in group.commands.values() if not command.hidden]
    text = "\n".join([_INTRODUCTION, *map(_section, commands)])
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def _section(command: Any) -> str:
    """Return what one command does, and its arguments and options."""
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    options = [one for one in command.params if one.param_type_name == "option"]
    usage = " ".join(["ringfence", command.name, *map(_name, arguments), "[OPTIONS]"])
    lines = [f"## {command.name}", "", _clean(command.help), "", "```text", usage, "```", ""]
    rows = [(f"`{_name(one)}`", "", _clean(one.help)) for one in arguments]
    rows += [
        (
            ", ".join(f"`{flag}`" for flag in (*one.opts, *one.secondary_opts)),
            _default(one),
            _clean(one.help),
        )
        for one in options
        if one.name != "help"
    ]
    if rows:
        lines += ["| | default | |", "| --- | --- | --- |"]
        lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([*lines, ""])


def _name(argument: Any) -> str:
    return str(argument.metavar or argument.name.upper())


def _flags(option: Any) -> str:
    return ", ".join(f"`{flag}`" for flag in (*option.opts, *option.secondary_opts))


def _default(option: Any) -> str:
    value = option.default
    if value is None or value is False or callable(value) or value == []:
        return ""
    return "on" if value is True else f"`{value}`"


def _clean(text: str | None) -> str:
    return re.sub(r"\s+", " ", text or "").replace("|", "\\|").strip()
