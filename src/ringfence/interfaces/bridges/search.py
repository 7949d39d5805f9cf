"""A search over parameter settings in scikit-learn's conventions, with limits and a budget of fits.

Every setting is an arm, every fit on a random split a pull of a `Study`; the settings that are
still in doubt are fitted more often. May touch every room, and scikit-learn.
"""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ringfence.core.errors import InfeasibleWarning, InputError, MissingExtraError
from ringfence.interfaces.studies import Study
from ringfence.reports.verdict import findings, sentence
from ringfence.storage.memory import MemoryStorage

try:
    import joblib
    from sklearn.base import BaseEstimator, MetaEstimatorMixin, is_classifier
    from sklearn.exceptions import FitFailedWarning
    from sklearn.model_selection import ParameterGrid
    from sklearn.utils import check_random_state, get_tags, indexable
    from sklearn.utils.validation import check_is_fitted
except ImportError:
    raise MissingExtraError("ConstrainedSearchCV", "sklearn") from None

from ringfence.interfaces.bridges.cv_results import cv_results
from ringfence.interfaces.bridges.delegating import Delegating, found_in
from ringfence.interfaces.bridges.fitting import Bench, fit_with, prepared, seeded
from ringfence.interfaces.bridges.scoring import Scoring
from ringfence.interfaces.bridges.settings import arms_of_settings
from ringfence.interfaces.bridges.spending import spend
from ringfence.interfaces.bridges.splitting import Splits

FITS_A_SETTING = 10  # of a budget that was not given
BATCHES = 25  # in which a budget is spent at least, where no batch was given
ALWAYS = "always"


class ConstrainedSearchCV(Delegating, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Finds the setting with the best score among those that respect limits.

    A fit of one setting on one random split into training and test rows is a pull; `budget` of
    them are spent (by default ten for each setting), most on the settings that are in doubt.

    `objective` and `constraints` are ringfence's expressions on the names of the scorers and on
    `fit_time`, `score_time` and `score_time_per_row`, in seconds: "maximize mean(accuracy)",
    "mean(score_time_per_row) <= 2e-5", "p95(score_time) <= 0.1". With one scorer the objective may
    be left out. A scorer given by a string has that name; one given by a function is `score`; a
    function may also return several scores by name.

    `cv` is the share of test rows (0.2), a number k of folds (1/k of the rows), or a splitter. Each
    fit has a split of its own; the k-th fits of two settings have the same split, unless `paired`
    is false. `batch` is how many fits are decided at once; more workers than that have no work.
    Neither it nor the result depends on `n_jobs`, unless times matter. Where the estimator's own
    `random_state` is None, each fit has one drawn for it.

    `refit=True` fits the answer on all rows if it is feasible; `refit="always"` also the nearest
    one where none is. A fit that fails is a failed pull, and a setting that fails three times in a
    row is withdrawn; `error_score="raise"` stops at the first.

    With `storage`, a URL, the search survives a killed process: the same search on the same data
    goes on where it was, also with a larger budget. Its study is named after a hash of data and
    settings, or by `study_name`.

    >>> import ringfence as rf
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> search = rf.ConstrainedSearchCV(
    ...     DecisionTreeClassifier(),
    ...     {"max_depth": [1, 3]},
    ...     scoring="accuracy",
    ...     constraints="mean(score_time) <= 1.0",
    ...     budget=20,
    ...     random_state=0,
    ... ).fit(X, y)
    >>> search.best_params_, search.feasible_
    ({'max_depth': 3}, True)
    """

    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
        *,
        constraints: str | Sequence[str],
        objective: str | None = None,
        scoring: Any = None,
        budget: int | None = None,
        policy: str = "top-two",
        cv: Any = None,
        paired: bool = True,
        batch: int | None = None,
        refit: bool | str = True,
        n_jobs: int | None = None,
        random_state: Any = None,
        error_score: Any = np.nan,
        storage: str | None = None,
        study_name: str | None = None,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.constraints = constraints
        self.objective = objective
        self.scoring = scoring
        self.budget = budget
        self.policy = policy
        self.cv = cv
        self.paired = paired
        self.batch = batch
        self.refit = refit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.error_score = error_score
        self.storage = storage
        self.study_name = study_name

    def fit(self, X: Any, y: Any = None, **params: Any) -> "ConstrainedSearchCV":
        """Spend the budget, and fit the answer on all rows.

        `groups` go to the splitter, all else to the estimator's `fit`; what has an entry for every
        row is split like the rows.
        """
        self._require_sound()
        if y is None and get_tags(self.estimator).target_tags.required:
            raise InputError(
                f"{type(self.estimator).__name__} requires y to be passed, but the target y is "
                "None. Give fit the targets as well."
            )
        X, y, groups = indexable(X, y, params.pop("groups", None))
        settings = list(ParameterGrid(self.param_grid))
        scoring = Scoring.of(self.estimator, self.scoring, self.objective, self.constraints)
        splits = Splits(self.cv, X, y, groups, is_classifier=is_classifier(self.estimator))
        bench = Bench(
            self.estimator, X, y, scoring.scorer, scoring.single, params,
            raises=self.error_score == "raise",
        )  # fmt: skip
        study = self._opened(settings, scoring, X, y)
        errors = spend(study, settings, splits, bench, n_jobs=self.n_jobs, paired=self.paired)
        self._conclude(study, settings, scoring, errors)
        self._refit(X, y, params)
        return self

    def _require_sound(self) -> None:
        raises = isinstance(self.error_score, str) and self.error_score == "raise"
        if not raises and not (isinstance(self.error_score, float) and np.isnan(self.error_score)):
            raise InputError(
                f"error_score = {self.error_score!r} must be 'raise' or NaN: a fit that fails is a "
                "failed pull, and has no score. Use one of these."
            )
        if not isinstance(self.refit, bool) and self.refit != ALWAYS:
            raise InputError(
                f"refit = {self.refit!r} must be True, False or {ALWAYS!r}. The objective says "
                "which score counts."
            )

    def _opened(
        self, settings: Sequence[Mapping[str, Any]], scoring: Scoring, X: Any, y: Any
    ) -> Study:
        """Return the study: a new one in memory, or the one in the storage that this search has."""
        budget = FITS_A_SETTING * len(settings) if self.budget is None else self.budget
        seed = None
        if self.random_state is not None:
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self._name = self.study_name or "search"
        if self.storage is not None and self.study_name is None:
            self._name = f"search-{self._fingerprint(settings, X, y)}"
        return Study.create(
            self._name,
            arms=arms_of_settings(settings),
            objective=scoring.objective,
            constraints=self.constraints,
            budget=budget,
            policy=self.policy,
            storage=MemoryStorage() if self.storage is None else self.storage,
            seed=seed,
            batch=max(1, budget // BATCHES) if self.batch is None else self.batch,
            metrics=scoring.metrics,
            load_if_exists=self.storage is not None,
        )

    def _fingerprint(self, settings: Sequence[Mapping[str, Any]], X: Any, y: Any) -> str:
        """Return a word for data and settings; the budget may rise, and is no part of it."""
        kept = {
            key: value
            for key, value in self.get_params(deep=False).items()
            if key not in ("budget", "n_jobs", "refit", "storage", "param_grid", "batch")
        }
        try:
            return str(joblib.hash((X, y, settings, sorted(kept.items()))))[:16]
        except Exception as error:
            raise InputError(
                f"storage = {self.storage!r}: data and parameters cannot be recognised again "
                f"({error}). Name the study: study_name='...'."
            ) from error

    def _conclude(
        self,
        study: Study,
        settings: Sequence[Mapping[str, Any]],
        scoring: Scoring,
        errors: Sequence[str],
    ) -> None:
        """Set all that the search has found, except an estimator."""
        observations = study.observations()
        if errors and not observations["pull"]:
            raise InputError(
                f"all {len(errors)} fits failed, the first with {errors[0]}. Correct the estimator "
                "or the grid; error_score='raise' shows where it happens."
            )
        verdict = study.recommend()
        self._study: Study | None = study
        self.verdict_ = verdict
        self.feasible_ = verdict.feasible
        self.multimetric_ = scoring.is_multimetric
        self.scorer_ = scoring.scorers
        self.n_splits_ = max(arm.pulls for arm in verdict.arms)
        self.cv_results_ = cv_results(settings, verdict, observations, scoring.written)
        self.best_index_ = [arm.name for arm in verdict.arms].index(verdict.answer[0])
        self.best_params_ = dict(settings[self.best_index_])
        attribute = str(study.desk.plan.problem.objective.attribute)
        self.best_score_ = verdict.arms[self.best_index_].estimates[attribute].value
        self._score_name = scoring.score_of(study.desk.plan.problem.objective.attribute.metrics)
        if errors:
            warnings.warn(
                f"{len(errors)} fits failed, the first with {errors[0]}. They are charged; "
                "cv_results_['reason'] tells which settings were withdrawn.",
                FitFailedWarning,
                stacklevel=3,
            )
        if not verdict.feasible:
            kept = "" if self.refit == ALWAYS else " There is no best_estimator_."
            warnings.warn(
                " ".join([sentence(verdict), *findings(verdict)]) + kept,
                InfeasibleWarning,
                stacklevel=3,
            )

    def _refit(self, X: Any, y: Any, fit_params: Mapping[str, Any]) -> None:
        for left in ("best_estimator_", "feature_names_in_"):
            self.__dict__.pop(left, None)
        if self.refit is False or not (self.feasible_ or self.refit == ALWAYS):
            return
        self.best_estimator_ = prepared(self.estimator, self.best_params_)
        if self.random_state is not None:
            seeded(self.best_estimator_, self.study_.definition.seed % 2**32)
        fit_with(self.best_estimator_, X, y, fit_params)
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_

    @property
    def study_(self) -> Study:
        """The study, with all observations; one in a storage is opened when asked for."""
        check_is_fitted(self, "verdict_")
        if self._study is None:
            self._study = Study.load(self._name, storage=self.storage)
        return self._study

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: a study that has a storage stays there."""
        state: dict[str, Any] = super().__getstate__()
        if self.storage is not None and "_study" in state:
            state = {**state, "_study": None}
        return state

    def score(self, X: Any, y: Any = None) -> float:
        """Return the score of the estimator that was found: the one in the objective."""
        check_is_fitted(self)
        found_in(self, "fit")
        if self._score_name is None:
            raise InputError(
                "score: the objective is no score, and there are several. Call one of scorer_."
            )
        given = () if y is None else (y,)
        if isinstance(self.scorer_, Mapping):
            return float(self.scorer_[self._score_name](self.best_estimator_, X, *given))
        found = self.scorer_(self.best_estimator_, X, *given)
        return float(found[self._score_name] if isinstance(found, Mapping) else found)
