"""What a fitted search passes on to the estimator that it found. May touch scikit-learn."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted


def found_in(search: Any, name: str) -> Any:
    """Return an attribute of the estimator that was found, or before of the one that is searched.

    Where there is none, the error says why.
    """
    found = getattr(search, "best_estimator_", None)
    if found is None and hasattr(search, "verdict_"):
        why = "no setting is feasible, and refit='always' was not given"
        if search.refit is False:
            why = "refit=False"
        raise AttributeError(f"{name!r} needs best_estimator_, which there is not: {why}.")
    return getattr(search.estimator if found is None else found, name)


def _passed_on(method: str) -> Any:
    def check(search: Any) -> bool:
        found_in(search, method)
        return True

    def call(self: Any, X: Any) -> Any:
        check_is_fitted(self)
        return getattr(self.best_estimator_, method)(X)

    call.__name__ = method
    call.__qualname__ = f"Delegating.{method}"
    call.__doc__ = f"Return what `{method}` of the estimator that was found gives."
    decorate: Callable[[Any], Any] = available_if(check)
    return decorate(call)


class Delegating:
    """The methods of the estimator that was found, each only where it has it."""

    predict = _passed_on("predict")
    predict_proba = _passed_on("predict_proba")
    predict_log_proba = _passed_on("predict_log_proba")
    decision_function = _passed_on("decision_function")
    score_samples = _passed_on("score_samples")
    transform = _passed_on("transform")
    inverse_transform = _passed_on("inverse_transform")

    @property
    def classes_(self) -> Any:
        """The classes, of a classifier."""
        return found_in(self, "classes_")

    @property
    def n_features_in_(self) -> Any:
        """The number of features seen by `fit`."""
        return found_in(self, "n_features_in_")

    def __sklearn_tags__(self) -> Any:
        """Return the tags: those of the estimator that is searched, where they are about data."""
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        mine = get_tags(self.estimator)  # type: ignore[attr-defined]
        tags.estimator_type = mine.estimator_type
        tags.classifier_tags = deepcopy(mine.classifier_tags)
        tags.regressor_tags = deepcopy(mine.regressor_tags)
        tags.target_tags = deepcopy(mine.target_tags)
        tags.input_tags.pairwise = mine.input_tags.pairwise
        tags.input_tags.sparse = mine.input_tags.sparse
        return tags
