"""A second look at an Optuna study: trials averaged by arm, and its best trial doubted.

`best_trial` is the luckiest single reading whose limits seemed fine. May touch every room.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ringfence.core.errors import InputError
from ringfence.core.problem import Problem
from ringfence.interfaces.bridges.optuna import (
    Grouping,
    Trial,
    Trials,
    arms_of_trials,
    read_trials,
)
from ringfence.interfaces.studies import Study
from ringfence.reports.chances import percent
from ringfence.reports.html import items
from ringfence.reports.notebook import arms_table, block
from ringfence.reports.sharing import CAVEAT
from ringfence.reports.verdict import findings, outside, sentence, shown
from ringfence.storage.memory import MemoryStorage
from ringfence.study.doubting import Doubt, doubt_of
from ringfence.study.verdict import ArmVerdict, Verdict, in_the_running

LABEL = "optuna"
PROBABLY = 0.5
_AMPLE = 1000  # pulls for each arm of a study that is only looked at
_MOST_NAMED = 5
_FEW_ARMS = 10


def from_optuna(
    study: Any,
    *,
    objective: str | None = None,
    constraints: str | Sequence[str] | None = None,
    arm: Grouping = None,
    digits: int = 3,
    direction: str | None = None,
) -> "OptunaReview":
    """Return a review of an Optuna study, or of a list of its trials.

    Trials with the same parameters (floats to `digits` significant digits) are repeats of one arm;
    `arm` groups them by some parameters only, or by a function of the parameters. Expressions are
    about `value`, the user attributes that are numbers, and `constraint_NAME`. Without them the
    study's own direction and constraints count. Trials that lack one of these are left out.

    >>> import ringfence as rf
    >>> trials = [
    ...     {"params": {"model": model}, "value": value, "user_attrs": {"seconds": seconds}}
    ...     for model, value, seconds in [
    ...         ("big", 0.93, 0.9), ("big", 0.90, 1.3), ("big", 0.91, 1.4), ("big", 0.92, 1.3),
    ...         ("small", 0.84, 0.5), ("small", 0.86, 0.6), ("small", 0.85, 0.5),
    ...     ]
    ... ]
    >>> review = rf.from_optuna(trials, direction="maximize", constraints="mean(seconds) <= 1")
    >>> review.verdict.arm
    'model=small'
    >>> review.is_deceiver
    True
    """
    found = read_trials(study, direction)
    objective = _objective(found) if objective is None else objective
    limits = _constraints(found) if constraints is None else constraints
    problem = Problem.parse(objective, limits)
    kept = [trial for trial in found.trials if _has(trial, problem.metrics)]
    if not kept:
        known = dict.fromkeys(key for trial in found.trials for key in trial.metrics)
        raise InputError(
            f"no trial has all of {', '.join(problem.metrics)}. The trials have "
            f"{', '.join(known)}: use these in the expressions, or set the user attributes."
        )
    names, arms = arms_of_trials(kept, arm, digits)
    looked_at = Study.create(
        _study_name(found.name),
        arms=arms,
        objective=objective,
        constraints=limits,
        budget=_AMPLE * len(arms),
        storage=MemoryStorage(),
        seed=0,
    )
    columns: dict[str, list[Any]] = {"arm": names}
    columns |= {metric: [one.metrics[metric] for one in kept] for metric in problem.metrics}
    looked_at.bring(columns, arm="arm", label=LABEL)
    best = next((trial for trial in kept if trial.number == found.best), None)
    return OptunaReview(
        study=looked_at,
        observations=columns,
        best=best,
        best_arm=None if best is None else names[kept.index(best)],
        left_out=len(found.trials) - len(kept),
        incomplete=found.incomplete,
    )


@dataclass(frozen=True, eq=False)
class OptunaReview:
    """What Optuna's trials say when they are averaged by arm, and of its best trial.

    `study` holds them as observations that were brought along; no pull of it is spent.
    """

    study: Study
    observations: dict[str, list[Any]]
    best: Trial | None
    best_arm: str | None
    left_out: int
    incomplete: int

    @cached_property
    def verdict(self) -> Verdict | None:
        """The verdict on the averaged trials; None where no arm was repeated."""
        if not in_the_running(self.study.view()).any():
            return None
        return self.study.recommend()

    @cached_property
    def doubt(self) -> Doubt | None:
        """The chances that the best trial's arm is right, and that it breaks a limit."""
        if self.best_arm is None:
            return None
        place = self.study.definition.arm_names.index(self.best_arm)
        return doubt_of(self.study.desk.plan, self.study.view(), place)

    @property
    def is_deceiver(self) -> bool:
        """Whether the best trial's arm probably breaks a limit."""
        return self.doubt is not None and self.doubt.breaks > PROBABLY

    @property
    def too_few(self) -> tuple[str, ...]:
        """The arms with too few trials to be judged, the most promising first."""
        least = self.study.desk.plan.least_pulls
        return tuple(name for name in self.ranked if self._counts[name] < least)

    @cached_property
    def ranked(self) -> tuple[str, ...]:
        """All arms: the answer, the best trial's, then by the mean of the objective's metric."""
        goal = self.study.desk.plan.problem.objective
        sign = 1.0 if goal.direction == "minimize" else -1.0
        owner = np.array(self.observations["arm"])
        values = sign * np.array(self.observations[goal.attribute.metrics[0]])
        names = sorted(self._counts, key=lambda name: float(values[owner == name].mean()))
        first = list(self.verdict.answer) if self.verdict is not None else []
        first += [self.best_arm] if self.best_arm is not None else []
        return tuple(dict.fromkeys([*first, *names]))

    def open_study(
        self, name: str, *, budget: int, arms: Sequence[str] | None = None, **options: Any
    ) -> Study:
        """Return a study that goes on from these trials and spends its budget on what is in doubt.

        It has these arms, by default the first ten of `ranked`; `options` are `Study.create`'s.
        """
        chosen = list(self.ranked[:_FEW_ARMS] if arms is None else arms)
        known = self.study.definition.arms
        for one in chosen:
            if one not in known:
                raise InputError(f"arms: {one!r} is no arm of the trials. Take it from `ranked`.")
        fresh = Study.create(
            name,
            arms={one: known[one] for one in chosen},
            objective=self.study.definition.objective,
            constraints=self.study.definition.constraints,
            budget=budget,
            **options,
        )
        places = [i for i, one in enumerate(self.observations["arm"]) if one in chosen]
        past = {key: [values[i] for i in places] for key, values in self.observations.items()}
        fresh.bring(past, arm="arm", label=LABEL)
        return fresh

    def __str__(self) -> str:
        return "\n".join(self.lines)

    def _repr_html_(self) -> str:
        """Return what notebooks show."""
        arms = "" if self.verdict is None else arms_table(self.verdict)
        return block(self.headline, arms, items(self.lines[1:]))

    @property
    def lines(self) -> list[str]:
        """The review in words, a line each."""
        found = [self.headline]
        if self.verdict is None:
            found.append("No arm has enough trials to be judged: nothing was repeated.")
        else:
            found += [f"Averaged by arm: {sentence(self.verdict)}", *findings(self.verdict)]
        if few := self.too_few:
            named = ", ".join(few[:_MOST_NAMED]) + (", ..." if len(few) > _MOST_NAMED else "")
            found.append(
                f"{len(few)} of {len(self._counts)} arms have too few trials to be judged: "
                f"{named}. Repeat them, or count more trials as one arm (digits=, arm=)."
            )
        if self.left_out:
            found.append(f"{self.left_out} trials lack a metric and were left out.")
        if self.incomplete:
            found.append(f"{self.incomplete} trials did not complete.")
        return [*found, CAVEAT]

    @property
    def headline(self) -> str:
        """What to think of the best trial, in a sentence."""
        if self.best is None or self.best_arm is None:
            return "Optuna names no best trial."
        trial = f"Optuna's best trial, number {self.best.number} ({self.best_arm}),"
        count = self._counts[self.best_arm]
        if self.doubt is None or self.verdict is None:
            return f"{trial} cannot be judged: its arm has {count} trial{'s' * (count > 1)}."
        mine = next(one for one in self.verdict.arms if one.name == self.best_arm)
        if self.is_deceiver:
            word = "infeasible" if mine.kind == "infeasible-suboptimal" else "a deceiver"
            sure = f"{percent(self.doubt.breaks)} sure"
            return (
                f"{trial} is probably {word} ({sure}): {self._averaged(self.verdict, mine, count)}."
            )
        if self.best_arm == self.verdict.arm:
            return f"{trial} stands: averaged over {count} trials its arm is the answer."
        return (
            f"{trial} is not what averages say: {self.verdict.arm} is. Its own arm is right with a "
            f"chance of {percent(self.doubt.right)}."
        )

    def _averaged(self, verdict: Verdict, arm: ArmVerdict, count: int) -> str:
        """Return which limits an arm breaks, and what the best trial itself had read."""
        past = (
            f"looks {outside(arm, verdict, chance=False)}"
            if arm.blocked_by
            else "breaks a limit more often than not"
        )
        readings = [
            f"{name} = {self.best.metrics[name]:.4g}"
            for name in dict.fromkeys(
                metric
                for one in self.study.desk.plan.problem.constraints
                for metric in one.attribute.metrics
            )
            if self.best is not None
        ]
        return (
            f"over {count} trials it {past}; {verdict.objective} is "
            f"{shown(arm.estimates[verdict.objective])}; the trial itself had {', '.join(readings)}"
        )

    @cached_property
    def _counts(self) -> Counter[str]:
        return Counter(self.observations["arm"])


def _objective(found: Trials) -> str:
    if len(found.value_names) != 1 or len(found.directions) != 1:
        raise InputError(
            "objective = None: the trials have several values, or no direction. Give an objective, "
            f"such as 'maximize mean({found.value_names[0]})'."
        )
    return f"{found.directions[0]} mean('{found.value_names[0]}')"


def _constraints(found: Trials) -> list[str]:
    if not found.constraints:
        raise InputError(
            "constraints = None: the trials have none of their own. Give some, such as "
            "'mean(latency) <= 0.2' on a user attribute."
        )
    return [f"mean('{name}') <= 0" for name in found.constraints]


def _has(trial: Trial, metrics: Sequence[str]) -> bool:
    return all(math.isfinite(trial.metrics.get(metric, math.nan)) for metric in metrics)


def _study_name(name: str) -> str:
    cleaned = re.sub(r"[^\w .-]", "-", name).lstrip(" .-")[:100]
    return cleaned or LABEL
