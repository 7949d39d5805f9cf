"""Which tool wrote a log: told from its content, never from its name. May touch the files."""

from collections.abc import Iterator
from pathlib import Path

from ringfence.core.errors import InputError, one_of
from ringfence.interfaces.logs import inspect_ai, lm_eval, promptfoo
from ringfence.interfaces.logs.entries import Entry, json_of, named
from ringfence.simulation.reading import opened

TOOLS = (inspect_ai.NAME, lm_eval.NAME, promptfoo.NAME)
_ENDINGS = (".eval", ".json", ".jsonl")
_ADVICE = "Give a log of inspect-ai, lm-eval or promptfoo, or a folder of such logs."


def require_tool(tool: str | None) -> None:
    """Refuse the name of a tool whose logs are not known."""
    if tool is not None and tool not in TOOLS:
        raise one_of("from", tool, TOOLS)


def entries_at(path: Path, tool: str | None = None) -> Iterator[Entry]:
    """Yield the answers in a log, or in all logs of a folder."""
    if not path.is_dir():
        found = list(_entries_of(path, tool))
        if not found:
            raise InputError(f"{named(path)} has no answers. {_ADVICE}")
        yield from found
        return
    count = 0
    for file in sorted(path.rglob("*")):
        if file.suffix.lower() in _ENDINGS and file.is_file():
            for entry in _entries_of(file, tool, in_folder=True):
                count += 1
                yield entry
    if not count:
        whose = "" if tool is None else f" of {tool}"
        raise InputError(f"{named(path)} is a folder without logs{whose}. {_ADVICE}")


def _entries_of(path: Path, tool: str | None, *, in_folder: bool = False) -> Iterator[Entry]:
    try:
        with opened(path, key="log", advice=_ADVICE) as file:
            head = file.read(4)
            content = b"" if head == b"PK\x03\x04" else head + file.read()
    except FileNotFoundError:
        raise InputError(f"{named(path)} does not exist. {_ADVICE}") from None
    if not content:
        if head and tool in (None, inspect_ai.NAME):
            yield from inspect_ai.read_archive(path)
        elif not in_folder:
            raise _other(path, tool)
        return
    first, _, rest = content.strip().partition(b"\n")
    is_lines = path.suffix.lower() == ".jsonl" or (first.endswith(b"}") and bool(rest))
    if is_lines:
        document = json_of(first, f"{named(path)}: line 1")
        if lm_eval.is_mine(document) and tool in (None, lm_eval.NAME):
            yield from lm_eval.read_samples(path)
            return
    else:
        document = json_of(content, named(path))
        if inspect_ai.is_mine(document) and tool in (None, inspect_ai.NAME):
            yield from inspect_ai.read_json_log(path, document)
            return
        if promptfoo.is_mine(document) and tool in (None, promptfoo.NAME):
            yield from promptfoo.read_log(path, document)
            return
        if lm_eval.is_results(document) and not in_folder:
            raise InputError(
                f"{named(path)} sums up a run of lm-eval. Give its folder, which has "
                "samples_*.jsonl with --log_samples."
            )
    if not in_folder:
        raise _other(path, tool)


def _other(path: Path, tool: str | None) -> InputError:
    if tool is not None:
        return InputError(
            f"{named(path)} is no log of {tool}. Leave --from out: the content says whose it is."
        )
    return InputError(f"{named(path)} is of no known tool. {_ADVICE}")
