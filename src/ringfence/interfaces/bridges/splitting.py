"""One split into training and test rows for each pull, from the pull's seed.

May touch scikit-learn.
"""

import copy
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.model_selection import (
    GroupShuffleSplit,
    ShuffleSplit,
    StratifiedShuffleSplit,
)
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _num_samples

from ringfence.core.errors import InputError

_TEST_SHARE = 0.2
_REMEDY = (
    "Give the share of test rows, such as 0.2, a number of folds, a splitter, or a list of splits."
)


class Splits:
    """Where splits come from: a random one for each seed, or one of a fixed list.

    A splitter with a `random_state` gives a fresh split for every seed, whatever number of splits
    it was made for. One without, and a list, are a fixed set from which each pull draws one.
    """

    def __init__(self, cv: Any, X: Any, y: Any, groups: Any, *, is_classifier: bool) -> None:
        self._data = (X, y, groups)
        self._listed: list[Any] | None = None
        self._splitter = cv
        if cv is None or (isinstance(cv, Real) and not isinstance(cv, bool)):
            share = _test_share(cv)
            self._splitter = _shuffled(share, X, y, groups, is_classifier=is_classifier)
        elif hasattr(cv, "split") and not isinstance(cv, str):
            if not _is_random(cv):
                self._listed = list(cv.split(X, y, groups))
        elif isinstance(cv, Iterable) and not isinstance(cv, str):
            self._listed = list(cv)
        else:
            raise InputError(f"cv = {cv!r} gives no splits. {_REMEDY}")
        if self._listed is not None and not self._listed:
            raise InputError(f"cv = {cv!r} holds no split. {_REMEDY}")

    def draw(self, seed: int) -> tuple[Any, Any]:
        """Return the training and test rows of a pull."""
        if self._listed is not None:
            train, test = self._listed[seed % len(self._listed)]
            return train, test
        splitter = copy.deepcopy(self._splitter)
        splitter.random_state = seed
        train, test = next(iter(splitter.split(*self._data)))
        return train, test


def _is_random(splitter: Any) -> bool:
    return "random_state" in vars(splitter) and bool(getattr(splitter, "shuffle", True))


def _test_share(cv: Any) -> float:
    if cv is None:
        return _TEST_SHARE
    share = 1.0 / int(cv) if isinstance(cv, Integral) and int(cv) >= 2 else float(cv)
    if not 0.0 < share < 1.0:
        raise InputError(f"cv = {cv!r} must be a share between 0 and 1, or 2 or more. {_REMEDY}")
    return share


def _shuffled(share: float, X: Any, y: Any, groups: Any, *, is_classifier: bool) -> Any:
    """Return random splits; of classes in their proportions, where each has rows for both sides."""
    if groups is not None:
        return GroupShuffleSplit(1, test_size=share)
    if is_classifier and y is not None and _has_classes(y):
        counts = np.unique(np.asarray(y), return_counts=True)[1]
        rows = _num_samples(X)
        tested = int(np.ceil(share * rows))
        if counts.min() >= 2 and min(tested, rows - tested) >= len(counts):
            return StratifiedShuffleSplit(1, test_size=share)
    return ShuffleSplit(1, test_size=share)


def _has_classes(y: Any) -> bool:
    with np.errstate(invalid="ignore"):  # what is infinite is refused in words
        kind = type_of_target(y, input_name="y")
    return kind in ("binary", "multiclass")
