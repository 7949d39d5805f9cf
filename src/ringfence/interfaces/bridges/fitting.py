"""One pull of a search: fit a setting on some rows, score it on others, look at the clock.

May touch scikit-learn; runs wherever joblib sends it.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import _num_samples

TIMES = ("fit_time", "score_time", "score_time_per_row")


@dataclass(frozen=True)
class Outcome:
    """What a pull gave: metrics, or what went wrong."""

    metrics: Mapping[str, Any] | None
    error: str = ""


@dataclass(frozen=True)
class Bench:
    """What every pull of a search has in common."""

    estimator: Any
    X: Any
    y: Any
    scorer: Any
    score_name: str
    fit_params: Mapping[str, Any]
    raises: bool

    def pull(self, setting: Mapping[str, Any], seed: int, train: Any, test: Any) -> Outcome:
        """Return the scores and times of a setting on one split."""
        try:
            return Outcome(self._measured(setting, seed, train, test))
        except Exception as error:
            if self.raises:
                raise
            return Outcome(None, f"{type(error).__name__}: {error}")

    def _measured(
        self, setting: Mapping[str, Any], seed: int, train: Any, test: Any
    ) -> dict[str, Any]:
        estimator = seeded(prepared(self.estimator, setting), seed)
        X_train, y_train = _safe_split(estimator, self.X, self.y, train)
        X_test, y_test = _safe_split(estimator, self.X, self.y, test, train)
        fit_params = {
            key: _safe_indexing(value, train) if _is_by_row(value, self.X) else value
            for key, value in self.fit_params.items()
        }
        started = time.perf_counter()
        fit_with(estimator, X_train, y_train, fit_params)
        fitted = time.perf_counter()
        scores = self.scorer(estimator, X_test, *(() if y_test is None else (y_test,)))
        scored = time.perf_counter()
        found = dict(scores) if isinstance(scores, Mapping) else {self.score_name: scores}
        spent = scored - fitted
        times = (fitted - started, spent, spent / max(1, _num_samples(X_test)))
        return found | dict(zip(TIMES, times, strict=True))


def prepared(estimator: Any, setting: Mapping[str, Any]) -> Any:
    """Return a fresh estimator with a setting; estimators among its values are fresh as well."""
    values = {key: clone(value, safe=False) for key, value in setting.items()}
    return clone(estimator).set_params(**values)


def seeded(estimator: Any, seed: int) -> Any:
    """Return the estimator with every `random_state` that is None set: a pull can be repeated."""
    unset = {
        key: seed
        for key, value in sorted(estimator.get_params(deep=True).items())
        if value is None and (key == "random_state" or key.endswith("__random_state"))
    }
    return estimator.set_params(**unset) if unset else estimator


def fit_with(estimator: Any, X: Any, y: Any, fit_params: Mapping[str, Any]) -> None:
    """Fit, with a target where there is one."""
    if y is None:
        estimator.fit(X, **fit_params)
    else:
        estimator.fit(X, y, **fit_params)


def _is_by_row(value: Any, X: Any) -> bool:
    """Tell whether a parameter of `fit` has an entry for every row, such as sample weights."""
    if isinstance(value, str | Mapping) or not hasattr(value, "__len__"):
        return False
    return bool(_num_samples(value) == _num_samples(X))
