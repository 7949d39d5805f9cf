"""`ringfence init`: a study file to begin with, by three questions or from flags.

May touch the study file and the evaluation beside it; neither is ever overwritten unasked.
"""

import os
import shlex
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ringfence.core.errors import InputError
from ringfence.core.money import read_budget
from ringfence.interfaces.cli import output
from ringfence.interfaces.cli.completing import policies
from ringfence.interfaces.cli.options import POLICY_HELP, Json, Units, units_given

if TYPE_CHECKING:
    from ringfence.interfaces.drafts import ByCommand, ByPython, ByTable, Draft

_EXECUTABLE = 0o755


def init(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="The study file to write (.toml).")
    ] = None,
    *,
    name: Annotated[
        str | None, typer.Option("--name", help="The study's name; by default the file's.")
    ] = None,
    arms: Annotated[
        str | None, typer.Option("--arms", help="The options: names with commas between.")
    ] = None,
    objective: Annotated[
        str | None, typer.Option("--objective", help="Such as 'maximize mean(score)'.")
    ] = None,
    constraint: Annotated[
        list[str] | None,
        typer.Option("--constraint", help="Such as 'p95(latency_ms) <= 200'; may be repeated."),
    ] = None,
    unit: Units = None,
    budget: Annotated[
        str | None,
        typer.Option(
            "--budget", help="Pulls in all, by default from the arms; or such as '50 USD'."
        ),
    ] = None,
    price: Annotated[
        str | None,
        typer.Option(
            "--price", help="With such a budget: 'small=0.03,large=1.1', or a metric that tells it."
        ),
    ] = None,
    price_guess: Annotated[
        str | None,
        typer.Option("--price-guess", help="What a price that is told is likely to be at first."),
    ] = None,
    price_cap: Annotated[
        str | None, typer.Option("--price-cap", help="What no pull exceeds, as --price.")
    ] = None,
    policy: Annotated[
        str, typer.Option("--policy", help=POLICY_HELP, autocompletion=policies)
    ] = "top-two",
    command: Annotated[
        str | None,
        typer.Option("--command", help="A program to run, such as './evaluate {arm} {seed}'."),
    ] = None,
    python: Annotated[
        str | None, typer.Option("--python", help="A function to call, as module:function.")
    ] = None,
    table: Annotated[
        Path | None, typer.Option("--table", help="A CSV or Parquet file of logged rows.")
    ] = None,
    arm_column: Annotated[
        str | None, typer.Option("--arm-column", help="With --table: the column of arms.")
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="The study's seed.")] = None,
    items: Annotated[
        str | None,
        typer.Option(
            "--items",
            help="What all arms are tried on: a JSONL file, a number, or a column of --table.",
        ),
    ] = None,
    seeds: Annotated[
        bool, typer.Option("--seeds", help="All arms share their random seeds.")
    ] = False,
    every: Annotated[
        str | None, typer.Option("--every", help="All arms share the hour: 30m, 1h or 1d.")
    ] = None,
    stop: Annotated[
        float | None,
        typer.Option("--stop", metavar="P", help="End when the answer is proven, such as 0.95."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a study file.")] = False,
    json: Json = False,
) -> None:
    """Write a commented study file: asks three questions, or takes flags; alone, an example."""
    from ringfence.interfaces.checking import study_name
    from ringfence.interfaces.drafts import EXAMPLE_ARMS, ByPython, Draft

    target = _target(file, name)
    if target.exists() and not force:
        raise InputError(f"{target} exists already. Choose another file, or add --force.")
    given = _Given(arms, objective, tuple(constraint or ()), command, python, table, arm_column)
    known = study_name(name if name is not None else target.stem)
    draft = Draft(
        known, EXAMPLE_ARMS, "", (), ByPython.named_after(known), 0, policy, seed,
        _shared(items, target, is_column=table is not None, seeds=seeds, every=every), stop,
        units_given(unit),
        _prices({"price": price, "price_guess": price_guess, "price_cap": price_cap}),
    )  # fmt: skip
    amount = None if budget is None else _budget(budget)
    if given.is_nothing and not json and sys.stdin.isatty() and sys.stdout.isatty():
        draft = _asked(draft, amount, target)
    else:
        draft = given.onto(draft, amount, target)
    written = _write(draft, target, force=force)
    _tell(draft, target, written, as_json=json)


def _budget(text: str) -> int | str:
    """Return a number of pulls, or an amount as it is written."""
    said = read_budget(text, "--budget")
    return int(said.amount) if said.is_pulls else str(said)


def _prices(given: dict[str, str | None]) -> dict[str, str | dict[str, str]]:
    """Return what flags say of prices: of arms by name, of all of them, or the name of a metric."""
    from ringfence.interfaces.drafts import is_amount

    said: dict[str, str | dict[str, str]] = {}
    for key, text in given.items():
        if text is None:
            continue
        flag = "--" + key.replace("_", "-")
        if "=" not in text:
            if key != "price" and not is_amount(text):
                raise InputError(f"{flag} = {text!r} must be a number. Write {flag} 0.5.")
            said[key] = text
            continue
        by_arm = dict[str, str]()
        for part in text.split(","):
            arm, _, amount = part.rpartition("=")
            if not arm.strip() or not is_amount(amount.strip()):
                raise InputError(
                    f"{flag} holds {part!r}, which must be an arm and its number. Write {flag} "
                    "small=0.03,large=1.1."
                )
            by_arm[arm.strip()] = amount.strip()
        said[key] = by_arm
    return said


def _shared(
    items: str | None, target: Path, *, is_column: bool, seeds: bool, every: str | None
) -> dict[str, str | int | bool]:
    """Return what the study file says of blocks; what cannot be is refused when it is read."""
    said: dict[str, str | int | bool] = {}
    if items is not None:
        is_number = items.isdecimal() and not is_column
        said["items"] = int(items) if is_number else items
        if not is_number and not is_column:
            said["items"] = _seen_from(target, Path(items))
    if seeds:
        said["seeds"] = True
    return said if every is None else {**said, "every": every}


@dataclass(frozen=True)
class _Given:
    """What flags said of the problem."""

    arms: str | None
    objective: str | None
    constraints: tuple[str, ...]
    command: str | None
    python: str | None
    table: Path | None
    column: str | None

    @property
    def is_nothing(self) -> bool:
        return not any(vars(self).values()) and self.command is None

    def onto(self, draft: "Draft", budget: int | str | None, target: Path) -> "Draft":
        """Return the draft that flags describe; nothing is guessed once one of them is there."""
        from dataclasses import replace

        from ringfence.interfaces import drafts
        from ringfence.interfaces.cli.asking import named_arms

        objective, limits = drafts.EXAMPLE_OBJECTIVE, drafts.EXAMPLE_CONSTRAINTS
        names = drafts.EXAMPLE_ARMS
        if not self.is_nothing:
            names = named_arms(self.arms) if self.arms is not None else self._logged_arms()
            objective, limits = self.objective or "", self.constraints
            if not objective:
                example = drafts.EXAMPLE_OBJECTIVE
                raise InputError(
                    f"--objective is missing. Add it, such as --objective '{example}'."
                )
        made = replace(
            draft, arms=names, objective=objective, constraints=limits, way=self._way(draft, target)
        )
        if budget is None:
            budget = drafts.suggested_budget(made.problem, len(names))
        return replace(made, budget=budget)

    def _way(self, draft: "Draft", target: Path) -> "ByCommand | ByPython | ByTable":
        from ringfence.interfaces.drafts import ByCommand, ByPython, ByTable

        ways = {"--command": self.command, "--python": self.python, "--table": self.table}
        chosen = [key for key, value in ways.items() if value is not None]
        if len(chosen) > 1:
            raise InputError(f"{' and '.join(chosen)} exclude each other. Give one of them.")
        if (self.table is None) != (self.column is None):
            raise InputError("--table and --arm-column go together. Give both or neither.")
        if self.command is not None:
            way = ByCommand.of(self.command)
            if "items" in draft.blocks and not any("{item}" in word for word in way.arguments):
                raise InputError(
                    f"--command {self.command!r} must hold {{item}}, or all items are evaluated "
                    "alike. Add it."
                )
            return way
        if self.table is not None and self.column is not None:
            return ByTable(_seen_from(target, self.table), self.column)
        return draft.way if self.python is None else ByPython.of(self.python)

    def _logged_arms(self) -> tuple[str, ...]:
        """Return the arms of a table, where they were not named."""
        from ringfence.simulation.tables import read_columns

        if self.table is None or self.column is None:
            raise InputError("--arms is missing. Add it, such as --arms small,medium,large.")
        column = read_columns(self.table, [self.column], key="--table")[self.column]
        return tuple(dict.fromkeys(str(value) for value in column if str(value).strip()))


def _asked(draft: "Draft", budget: int | str | None, target: Path) -> "Draft":
    from dataclasses import replace

    from ringfence.interfaces.cli.asking import asked
    from ringfence.interfaces.drafts import ByTable

    try:
        answered = asked(draft, budget)
    except EOFError:
        raise InputError("the questions were not answered: nothing was written.") from None
    if isinstance(answered.way, ByTable):
        path = _seen_from(target, Path(answered.way.path))
        return replace(answered, way=ByTable(path, answered.way.column))
    return answered


def _target(file: Path | None, name: str | None) -> Path:
    from ringfence.interfaces.checking import study_name

    if file is None:
        return Path(f"{'study' if name is None else study_name(name)}.toml")
    if file.suffix != ".toml":
        raise InputError(f"file = {str(file)!r} must end in .toml. Write {str(file) + '.toml'!r}.")
    if not file.parent.is_dir():
        raise InputError(f"file = {str(file)!r}: there is no folder {str(file.parent)!r}. Make it.")
    return file


def _seen_from(target: Path, path: Path) -> str:
    """Return a path as the study file must say it: relative to its own folder."""
    return str(path) if path.is_absolute() else os.path.relpath(path, target.parent)


def _write(draft: "Draft", target: Path, *, force: bool) -> list[Path]:
    """Write the study file and, where it is missing, the evaluation; return what was written."""
    from ringfence.interfaces.drafts import ByTable
    from ringfence.interfaces.study_file import parse_study_file, read_study_file
    from ringfence.reports.files import write_file

    text = draft.toml()
    checked = parse_study_file(target, text)
    checked.open(storage="memory://")  # refuses a name, a policy or a budget that cannot be
    if isinstance(draft.way, ByTable):
        checked.evaluation()
    beside = _evaluation(draft, target.parent)
    write_file(target, text.encode(), key="file", new=not force)
    written = [target]
    if beside is not None:
        path, content, mode = beside
        write_file(path, content.encode(), key="evaluation", new=True)
        path.chmod(path.stat().st_mode | mode)
        written.append(path)
    if read_study_file(target).content != checked.content:
        raise InputError(f"{target} was changed while it was written. Run this again.")
    return written


def _evaluation(draft: "Draft", folder: Path) -> tuple[Path, str, int] | None:
    """Return the evaluation to write beside the study, unless there is one."""
    from ringfence.interfaces.drafts import ByPython, script_beside

    if isinstance(draft.way, ByPython):
        module = draft.way.module
        path = folder / f"{module}.py"
        if path.exists() or (folder / module.split(".")[0]).is_dir():
            return None
        if "." in module or find_spec(module) is not None:
            return None  # installed, or the user's own business
        return path, draft.module(), 0
    program = script_beside(draft, folder)
    if program is None or program.exists():
        return None
    return program, draft.script(), _EXECUTABLE


def _tell(draft: "Draft", target: Path, written: list[Path], *, as_json: bool) -> None:
    run = f"ringfence run {shlex.quote(str(target))}"
    steps = [run, f"ringfence explain {shlex.quote(str(target))}"]
    if as_json:
        document: dict[str, Any] = {
            "study": draft.name,
            "file": str(target),
            "written": [str(path) for path in written],
            "arms": list(draft.arms),
            "objective": draft.objective,
            "constraints": list(draft.constraints),
            "budget": draft.budget,
            **draft.prices,
            "policy": draft.policy,
            "next": steps,
        }
        output.print_json(document)
        return
    output.say(
        f"wrote {' and '.join(map(str, written))}: {len(draft.arms)} arms, {draft.budget}"
        f"{'' if isinstance(draft.budget, str) else ' pulls'}"
    )
    if len(written) > 1:
        output.say(f"next: put your own evaluation into {written[1]}, which makes up its numbers")
        output.say(f"then: {run}")
    else:
        output.say(f"next: {run}")
