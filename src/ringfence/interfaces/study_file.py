"""Study files: TOML in, a study and a way to evaluate its pulls out.

May touch every room, and the files that were named.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from ringfence.core.arrays import Floats
from ringfence.core.attributes import Functions
from ringfence.core.best_feasible import BEST_FEASIBLE
from ringfence.core.errors import ExpressionError, InputError, nearest
from ringfence.core.pricing import Pricing
from ringfence.core.problem import Problem
from ringfence.core.units import require_known_metrics
from ringfence.execution.backoff import Backoff
from ringfence.execution.evaluating import Command, Evaluate, LoggedRows
from ringfence.execution.functions import AsyncFunction, Function, is_asynchronous
from ringfence.execution.pace import rate_of
from ringfence.interfaces.blocks import NO_BLOCKS, Blocks, blocks_of, kept_items
from ringfence.interfaces.checking import arms_of, study_name
from ringfence.interfaces.money import funds_of
from ringfence.interfaces.own_policies import load_policy
from ringfence.interfaces.stopping import stop_of
from ringfence.interfaces.storages import has_study, placed_in
from ringfence.interfaces.studies import Study
from ringfence.simulation.instance_file import complaint, loaded_function, nearest_file
from ringfence.simulation.reading import toml_file, toml_of
from ringfence.simulation.tables import number_column, read_columns
from ringfence.study.facts import Definition

_SHAPE = ConfigDict(extra="forbid", strict=True)


class _Stop(BaseModel):
    model_config = _SHAPE
    confidence: Any = None
    within: Any = None
    rests_on: str | None = None


class _Table(BaseModel):
    model_config = _SHAPE
    path: str
    arm: str


class _Blocks(BaseModel):
    model_config = _SHAPE
    items: int | str | None = None
    scope: str | None = None
    repeats: int | None = None
    group: str | None = None
    evaluation: str | None = None
    seeds: bool | None = None
    every: str | None = None


class _Pull(BaseModel):
    model_config = _SHAPE
    command: list[str] | None = None
    python: str | None = None
    table: _Table | None = None
    timeout_seconds: float | None = None
    retries: int | None = None
    on_failure: dict[str, Any] | None = None
    on_timeout: dict[str, Any] | None = None
    outage_minutes: float | None = None
    backoff_seconds: float | None = None
    concurrency: int | None = None
    requests_per_minute: float | None = None
    cache: str | None = None


class _File(BaseModel):
    model_config = _SHAPE
    name: str
    objective: str
    constraints: list[str] = []
    answer: str = BEST_FEASIBLE.name
    budget: int | str
    price: str | float | dict[str, Any] | None = None
    price_guess: float | str | dict[str, Any] | None = None
    price_cap: float | str | dict[str, Any] | None = None
    policy: str = "top-two"
    arms: list[str] | dict[str, dict[str, Any]]
    pull: _Pull | None = None
    seed: int | None = None
    batch: int | None = None
    lag: int | None = None
    metrics: list[str] | None = None
    functions: dict[str, str] | None = None
    storage: str | None = None
    lease_seconds: float | None = None
    max_failures: int | None = None
    max_leases: int | None = None
    baseline: str | None = None
    noise: dict[str, Any] | None = None
    blocks: _Blocks | None = None
    stop: _Stop | None = None
    units: dict[str, str] | None = None


_KEYS = {
    "": tuple(_File.model_fields),
    "pull": tuple(_Pull.model_fields),
    "table": tuple(_Table.model_fields),
    "blocks": tuple(_Blocks.model_fields),
    "stop": tuple(_Stop.model_fields),
}
_MISSING = {
    "name": "Add one, such as name = 'prompts'.",
    "objective": "Add one, such as objective = 'maximize mean(score)'.",
    "budget": 'Add the number of pulls, budget = 600, or an amount, budget = "50 USD".',
    "arms": "Add them, such as arms = ['v1', 'v2'].",
}


@dataclass(frozen=True)
class StudyFile:
    """A study file that was read and found well formed."""

    path: Path
    content: _File
    functions: Functions

    @property
    def storage(self) -> str:
        """Where the study is kept: as the file says, seen from its folder, or in NAME.db there."""
        said = self.content.storage
        usual = f"sqlite:///{self.content.name}.db"
        return placed_in(self.path.parent, usual if said is None else said)

    def open(self, *, storage: str | None = None) -> Study:
        """Create the study, or load it if it exists and is the same one.

        Only the budget may differ, upwards. How pulls are decided and leased stays as it was
        stored where the file does not say it.
        """
        with _placed(self.path):
            return self._open(storage or self.storage)

    @property
    def backoff(self) -> Backoff:
        """How long an outage is waited for: no part of the study, and free to change."""
        pull = self.content.pull or _Pull()
        said = {"outage_minutes": pull.outage_minutes, "backoff_seconds": pull.backoff_seconds}
        with _placed(self.path):
            return Backoff(**{key: value for key, value in said.items() if value is not None})

    @property
    def work(self) -> dict[str, Any]:
        """How evaluations run, as arguments of `optimize`: no part of the study either."""
        pull = self.content.pull or _Pull()
        with _placed(self.path):
            rate_of(pull.requests_per_minute)
            if pull.concurrency is not None and pull.concurrency < 1:
                raise InputError(
                    f"pull.concurrency = {pull.concurrency} must be at least 1: how many "
                    "evaluations are in flight. Write such as 16."
                )
        cache = None if pull.cache is None else self.path.parent / pull.cache
        return {
            "workers": pull.concurrency or 1,
            "requests_per_minute": pull.requests_per_minute,
            "cache": cache,
        }

    def _open(self, storage: str) -> Study:
        file = self.content
        pull = file.pull or _Pull()
        arguments: dict[str, Any] = {
            "arms": file.arms,
            "objective": file.objective,
            "constraints": file.constraints,
            "answer": file.answer,
            "budget": file.budget,
            "price": file.price,
            "price_guess": file.price_guess,
            "price_cap": file.price_cap,
            "policy": file.policy,
            "storage": storage,
            "seed": file.seed,
            "metrics": file.metrics,
            "functions": self.functions,
            "baseline": file.baseline,
            "noise": file.noise,
            "on_failure": pull.on_failure,
            "on_timeout": pull.on_timeout,
            "blocks": self._blocks_in(storage),
            "stop": self._stop,
            "units": file.units,
            "load_if_exists": True,
        }
        settings = {
            "batch": file.batch,
            "lag": file.lag,
            "lease_seconds": file.lease_seconds,
            "retries": pull.retries,
            "max_failures": file.max_failures,
            "max_leases": file.max_leases,
        }
        held: dict[str, Any] = {}
        if None in settings.values() and has_study(storage, file.name):
            stored = Study.load(file.name, storage=storage, functions=self.functions).definition
            held = {key: getattr(stored, key) for key in settings}
            held["batch"] = stored.batch if stored.batch > 1 else None
        said = {key: value for key, value in settings.items() if value is not None}
        return Study.create(file.name, **arguments, **held | said)

    @property
    def _stop(self) -> dict[str, Any] | None:
        """When the study ends before its budget, as the file has it."""
        return None if self.content.stop is None else self.content.stop.model_dump()

    def _blocks(self) -> Blocks:
        """Return what pulls of different arms share, with the items that the file names."""
        file = self.content
        if file.blocks is None:
            return NO_BLOCKS
        said: dict[str, Any] = file.blocks.model_dump()
        table = None if file.pull is None else file.pull.table
        if table is not None and isinstance(said["items"], str):
            if (file.blocks.repeats or 1) > 1:
                raise InputError(
                    f"blocks.repeats = {file.blocks.repeats} must be 1 with a table, which has one "
                    "row of an arm on an item. Leave it out."
                )
            said["items"] = list(self._logged(table).places)
        elif table is not None and said["items"] is not None:
            raise InputError(
                f"blocks.items = {said['items']} must be the name of a column with pull.table: the "
                "one that says which item a row is of. Write it."
            )
        return blocks_of(said, self.path.parent)

    def _blocks_in(self, storage: str) -> Blocks:
        """Return blocks as the file has them; a study that keeps its items can do without it."""
        said_beside = {} if self.content.blocks is None else self.content.blocks.model_dump()
        said = said_beside.pop("items", None)
        is_gone = isinstance(said, str) and not (self.path.parent / said).exists()
        has_table = self.content.pull is not None and self.content.pull.table is not None
        if is_gone and not has_table and has_study(storage, self.content.name):
            name, functions = self.content.name, self.functions
            kept = Study.load(name, storage=storage, functions=functions).definition.blocks
            return kept_items(kept, said_beside)
        return self._blocks()

    def differs_from(self, stored: Definition) -> list[str]:
        """Return the keys of which the file says otherwise than the study that is stored."""
        file = self.content
        said = {
            "objective": file.objective,
            "constraints": tuple(file.constraints),
            "answer": file.answer,
            "arms": arms_of(file.arms),
            "policy": file.policy,
            "baseline": file.baseline,
            "stop": stop_of(self._stop),
            "units": file.units or {},
            "written_prices": self._prices,
        }
        differs = [key for key, value in said.items() if value != getattr(stored, key)]
        others = ["price" if key == "written_prices" else key for key in differs]
        with suppress(InputError):  # a file of items that is gone is missed by who begins a study
            others += ["blocks"] if self._blocks().plain != stored.blocks else []
        return others

    @property
    def _prices(self) -> dict[str, Any]:
        """What the file says of prices, as a study keeps it."""
        file = self.content
        arms = tuple(arms_of(file.arms))
        said = funds_of(arms, file.budget, file.price, file.price_guess, file.price_cap)
        return Pricing.from_dict(said.pricing).written(arms) if said.pricing else {}

    def evaluation(self) -> Evaluate:
        """Return the way in which pulls are evaluated."""
        with _placed(self.path):
            return self._evaluation()

    def _evaluation(self) -> Evaluate:
        pull = self.content.pull
        ways = [] if pull is None else [pull.command, pull.python, pull.table]
        if pull is None or sum(way is not None for way in ways) != 1:
            raise InputError(
                "[pull] must have exactly one of command, python and table. Add "
                "command = ['./evaluate', '--arm', '{arm}', '--seed', '{seed}']."
            )
        if pull.command is not None:
            folder = str(self.path.parent.resolve())
            command = Command(tuple(pull.command), pull.timeout_seconds, folder)
            has_items = self.content.blocks is not None and self.content.blocks.items is not None
            command.require_runnable(arms_of(self.content.arms), has_items=has_items)
            if pull.on_timeout is not None and pull.timeout_seconds is None:
                raise InputError(
                    "pull.on_timeout has no effect without pull.timeout_seconds: no program takes "
                    "too long. Add timeout_seconds = 60, or write on_failure."
                )
            return command
        function = None
        if pull.python is not None:
            function = loaded_function("pull.python", pull.python, self.path.parent)
            if is_asynchronous(function):
                return AsyncFunction(function, pull.timeout_seconds)
        if pull.timeout_seconds is not None:
            way = "python" if pull.python is not None else "table"
            raise InputError(
                f"pull.timeout_seconds = {pull.timeout_seconds!r} has no effect with {way}: only a "
                "program and an async function can be ended. Leave it out, or write the function "
                "as an async def."
            )
        if function is not None:
            return Function(function)
        return self._logged(pull.table)

    def _logged(self, table: _Table | None) -> LoggedRows:
        if table is None:
            raise InputError("pull.table is missing.")
        file = self.content
        problem = _problem(file, self.functions)
        metrics = tuple(dict.fromkeys((*problem.metrics, *(file.metrics or ()))))
        item = None if file.blocks is None else file.blocks.items
        own = [item] if isinstance(item, str) else []
        columns = read_columns(
            self.path.parent / table.path, [table.arm, *own, *metrics], key="pull.table.path"
        )
        rows = np.column_stack([number_column(columns[metric], metric) for metric in metrics])
        owner = np.array([str(value) for value in columns[table.arm]])
        found = {name: rows[owner == name] for name in file.arms}
        for name, mine in found.items():
            if not len(mine):
                raise InputError(
                    f"pull.table has no row of arm {name!r} in column {table.arm!r}. "
                    f"Correct the name or drop the arm.{nearest(name, sorted(set(owner.tolist())))}"
                )
        if not own:
            return LoggedRows(metrics, found)
        values = np.array([str(value) for value in columns[own[0]]])
        return _by_item(metrics, found, {name: values[owner == name] for name in file.arms})


def _by_item(
    metrics: Sequence[str], rows: Mapping[str, Floats], items: Mapping[str, Any]
) -> LoggedRows:
    """Return the rows of each arm in one order of items; each must have one of each."""
    wanted: dict[str, int] = {}
    ordered = {}
    for name, mine in items.items():
        places = dict[str, int]()
        for place, item in enumerate(mine.tolist()):
            if item in places:
                raise InputError(
                    f"blocks.items: pull.table has two rows of arm {name!r} on item {item!r}. "
                    "Leave one out."
                )
            places[item] = place
        wanted = wanted or {item: at for at, item in enumerate(places)}
        if others := sorted(set(wanted).symmetric_difference(places)):
            lacks = others[0] in wanted
            raise InputError(
                f"blocks.items: arm {name!r} {'lacks' if lacks else 'has'} item {others[0]!r} in "
                f"pull.table, and the arms before it {'have' if lacks else 'lack'} it. Arms must "
                "have the same items: add the row, or leave the item out."
            )
        ordered[name] = rows[name][[places[item] for item in wanted]]
    return LoggedRows(metrics, ordered, wanted)


def read_study_file(path: Path) -> StudyFile:
    """Read a study file; every error begins with its name."""
    try:
        content = toml_file(path, key="study", advice="Give a TOML file, or the name of a study.")
    except FileNotFoundError:
        raise InputError(
            f"study = {str(path)!r} does not exist. Give a TOML file, or write one with: "
            f"ringfence init.{nearest_file(path)}"
        ) from None
    return _study_at(path, content)


def parse_study_file(path: Path, text: str) -> StudyFile:
    """Read the text of a study file that is, or will be, at a path."""
    return _study_at(path, toml_of(path, text))


def _study_at(path: Path, content: Mapping[str, Any]) -> StudyFile:
    with _placed(path):
        return _study_file(path, content)


@contextmanager
def _placed(path: Path) -> Iterator[None]:
    """Begin every error with the file's name."""
    try:
        yield
    except ExpressionError as error:
        raise ExpressionError(f"{path}: {error.what}", error.text, error.position) from None
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _problem(file: _File, functions: Functions) -> Problem:
    return Problem.parse(
        file.objective,
        file.constraints,
        functions=functions,
        answer=file.answer,
        units=file.units,
    )


def _study_file(path: Path, content: Mapping[str, Any]) -> StudyFile:
    try:
        file = _File.model_validate(dict(content))
    except ValidationError as error:
        raise complaint(error, _KEYS, _MISSING) from None
    study_name(file.name)
    load_policy(file.policy, path.parent)
    functions = {
        name: loaded_function(f"functions.{name}", text, path.parent)
        for name, text in (file.functions or {}).items()
    }
    problem = _problem(file, functions)
    require_known_metrics(file.units or {}, (*problem.metrics, *(file.metrics or ())))
    return StudyFile(path, file, functions)
