"""Scorers and expressions of a search brought together: which scores there are, and by what name.

May touch core and scikit-learn.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sklearn.metrics import check_scoring

from ringfence.core.errors import InputError, nearest
from ringfence.core.problem import Problem
from ringfence.interfaces.bridges.fitting import TIMES

SCORE = "score"


@dataclass(frozen=True)
class Scoring:
    """What a search scores by.

    `scorer` gives all scores of a fitted estimator at once, `scorers` is what users see of it;
    `names` are the scores in expressions, `objective` the one that was given or follows.
    """

    scorer: Any
    scorers: Any
    names: tuple[str, ...]
    objective: str
    is_multimetric: bool

    @classmethod
    def of(
        cls, estimator: Any, scoring: Any, objective: str | None, constraints: str | Sequence[str]
    ) -> "Scoring":
        """Read what was given; an expression on a metric that nobody measures is refused."""
        several = isinstance(scoring, Mapping | list | tuple | set)
        if isinstance(scoring, set):
            scoring = sorted(scoring)
        scorer = scorers = check_scoring(estimator, scoring)
        names: tuple[str, ...] = (scoring if isinstance(scoring, str) else SCORE,)
        if several:
            by_name = (
                dict(scoring) if isinstance(scoring, Mapping) else {one: one for one in scoring}
            )
            scorers = {key: check_scoring(estimator, value) for key, value in by_name.items()}
            names = tuple(by_name)
        if objective is None:
            if len(names) > 1:
                raise InputError(
                    f"objective = None leaves open which of {', '.join(names)} counts. Give it, "
                    f"such as objective='maximize mean({names[0]})'."
                )
            objective = f"maximize mean({_written(names[0])})"
        used = Problem.parse(objective, constraints).metrics
        if callable(scoring):  # only a call would tell; what it does not give fails the fit
            found = tuple(metric for metric in used if metric not in TIMES) or names
            return cls(scorer, scorers, found, objective, is_multimetric=found != names)
        _require_measured(used, names)
        return cls(scorer, scorers, names, objective, is_multimetric=several)

    @property
    def single(self) -> str:
        """The name of a score that comes as a number."""
        return self.names[0] if len(self.names) == 1 else SCORE

    @property
    def metrics(self) -> tuple[str, ...]:
        """All that is recorded of a fit."""
        return (*self.names, *TIMES)

    @property
    def written(self) -> dict[str, str]:
        """The scores, and what `cv_results_` calls them: the only one is `score`, as usual."""
        if not self.is_multimetric:
            return {self.names[0]: SCORE}
        return {name: name for name in self.names}

    def score_of(self, metrics: Sequence[str]) -> str | None:
        """Return the score among an objective's metrics, or the only one there is."""
        found = [metric for metric in metrics if metric in self.names]
        if found:
            return found[0]
        return self.names[0] if len(self.names) == 1 else None


def _require_measured(used: Sequence[str], names: Sequence[str]) -> None:
    known = (*names, *TIMES)
    for name in names:
        if name in TIMES:
            raise InputError(f"scoring: {name!r} is the name of a time. Rename the scorer.")
    for metric in used:
        if metric not in known:
            raise InputError(
                f"metric {metric!r} is not measured by this search: it has {', '.join(known)}. "
                f"Add a scorer, or change the expression.{nearest(metric, known)}"
            )


def _written(metric: str) -> str:
    return metric if metric.isidentifier() else f"'{metric}'"
