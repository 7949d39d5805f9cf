"""Reads the trials of an Optuna study as observations of arms; Optuna itself is not needed.

A trial is whatever has `params`, `values` (or `value`), `user_attrs`, `constraints` and `state`, as
attributes or as keys. Touches its arguments only.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, TypeAlias

from ringfence.core.errors import InputError
from ringfence.interfaces.bridges.settings import arms_of_settings

COMPLETE = "COMPLETE"
CONSTRAINT = "constraint_"
Grouping: TypeAlias = Sequence[str] | Callable[[Mapping[str, Any]], str] | None


@dataclass(frozen=True)
class Trial:
    """A completed trial: its number, its parameters, and every number that it reports.

    Those are `value` (or `value_0`, `value_1`, or what the study calls them), the numbers among its
    user attributes, and Optuna's constraints as `constraint_NAME`, fine when 0 or less.
    """

    number: int
    params: Mapping[str, Any]
    metrics: Mapping[str, float]

    @property
    def passes(self) -> bool:
        """Whether its own readings of Optuna's constraints were fine."""
        return all(v <= 0.0 for key, v in self.metrics.items() if key.startswith(CONSTRAINT))


@dataclass(frozen=True)
class Trials:
    """The completed trials of a study, the directions of its values, and the trial it names."""

    name: str
    trials: tuple[Trial, ...]
    value_names: tuple[str, ...]
    directions: tuple[str, ...]
    incomplete: int
    best: int | None

    @property
    def constraints(self) -> list[str]:
        """The names of Optuna's own constraints."""
        found = (key for trial in self.trials for key in trial.metrics)
        return [key for key in dict.fromkeys(found) if key.startswith(CONSTRAINT)]


def read_trials(study: Any, direction: str | None = None) -> Trials:
    """Return the trials of a study, or of a list of trials with the direction of their value."""
    listed = study if isinstance(study, Iterable) else getattr(study, "trials", None)
    if listed is None:
        raise InputError(
            f"study = {type(study).__name__} has no trials. Give an Optuna study, or its trials."
        )
    found = list(listed)
    complete = [trial for trial in found if _state(trial) == COMPLETE]
    if not complete:
        raise InputError(f"study: none of its {len(found)} trials is complete. Run some first.")
    directions = tuple(_word(one) for one in getattr(study, "directions", ()))
    if direction is not None:
        directions = (direction,)
    width = len(_values(complete[0]))
    names = tuple(getattr(study, "metric_names", None) or _value_names(width))
    trials = tuple(_trial(place, trial, names) for place, trial in enumerate(complete))
    return Trials(
        name=str(getattr(study, "study_name", "") or "trials"),
        trials=trials,
        value_names=names,
        directions=directions,
        incomplete=len(found) - len(complete),
        best=_best(study, trials, names, directions),
    )


def arms_of_trials(
    trials: Sequence[Trial], grouping: Grouping, digits: int
) -> tuple[list[str], dict[str, dict[str, Any]]]:
    """Return the arm of each trial, and the arms with their parameters.

    Trials with the same parameters are one arm, floats alike to so many significant digits; or
    those that agree in some parameters; or those that a function gives the same name.
    """
    if callable(grouping):
        names = [str(grouping(trial.params)) for trial in trials]
        return names, {name: {} for name in dict.fromkeys(names)}
    keys = list(dict.fromkeys(key for trial in trials for key in trial.params))
    for key in grouping or ():
        if key not in keys:
            raise InputError(f"arm: {key!r} is no parameter. The trials have {', '.join(keys)}.")
    wanted = keys if grouping is None else list(grouping)
    settings = [
        {key: _rounded(trial.params[key], digits) for key in wanted if key in trial.params}
        for trial in trials
    ]
    marks = [repr(sorted(setting.items())) for setting in settings]
    unique = dict(zip(marks, settings, strict=True))
    arms = arms_of_settings(list(unique.values()))
    name_of = dict(zip(unique, arms, strict=True))
    return [name_of[mark] for mark in marks], arms


def _best(
    study: Any, trials: Sequence[Trial], names: Sequence[str], directions: Sequence[str]
) -> int | None:
    """Return the number of the trial that Optuna names; of a list, the one that it would name."""
    if hasattr(type(study), "best_trial"):
        try:
            return int(study.best_trial.number)
        except (ValueError, RuntimeError):  # no trial passed, or there are several values
            return None
    if len(names) != 1 or not directions:
        return None
    sign = -1.0 if directions[0] == "maximize" else 1.0
    passing = [trial for trial in trials if trial.passes]
    best = min(passing, key=lambda trial: sign * trial.metrics[names[0]], default=None)
    return None if best is None else best.number


def _trial(place: int, trial: Any, names: Sequence[str]) -> Trial:
    values = dict(zip(names, map(float, _values(trial)), strict=True))
    attributes = {
        str(key): float(value)
        for key, value in (_get(trial, "user_attrs") or {}).items()
        if isinstance(value, Real) and math.isfinite(value)
    }
    given = _get(trial, "constraints") or {}
    listed = given if isinstance(given, Mapping) else dict(enumerate(given))
    constraints = {f"{CONSTRAINT}{key}": float(value) for key, value in listed.items()}
    number = _get(trial, "number")
    return Trial(
        number=place if number is None else int(number),
        params=dict(_get(trial, "params") or {}),
        metrics=attributes | constraints | values,
    )


def _values(trial: Any) -> list[float]:
    values = _get(trial, "values")
    if values is None or callable(values):
        value = _get(trial, "value")
        values = [] if value is None else [value]
    return list(values)


def _value_names(width: int) -> list[str]:
    return ["value"] if width == 1 else [f"value_{place}" for place in range(width)]


def _state(trial: Any) -> str:
    state = _get(trial, "state")
    return COMPLETE if state is None else _word(state).upper()


def _word(one: Any) -> str:
    """Return the name of an enumeration's member, or the text itself."""
    text = getattr(one, "name", one)
    return str(text).lower()


def _get(trial: Any, key: str) -> Any:
    return trial.get(key) if isinstance(trial, Mapping) else getattr(trial, key, None)


def _rounded(value: Any, digits: int) -> Any:
    return float(f"{value:.{digits}g}") if isinstance(value, float) else value
