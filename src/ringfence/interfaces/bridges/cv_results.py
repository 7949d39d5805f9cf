"""The results of a search in scikit-learn's shape: arrays with an entry for each setting. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy import ma

from ringfence.core.arrays import Floats
from ringfence.interfaces.bridges.fitting import TIMES
from ringfence.reports.verdict import reason
from ringfence.study.verdict import Verdict


def cv_results(
    settings: Sequence[Mapping[str, Any]],
    verdict: Verdict,
    observations: Mapping[str, Sequence[Any]],
    scores: Mapping[str, str],
) -> dict[str, Any]:
    """Return the table; `scores` maps the metrics that are scores to their names in it.

    Settings have been fitted a different number of times (`pulls`). Means and deviations are of
    the fits that succeeded, NaN where none did; `status` says whether a setting left, `reason` why,
    `margin` is its worst violation in units of the noise, `feasible` whether that is 0 or less.
    """
    names = [arm.name for arm in verdict.arms]
    of_arm = _places(names, observations["arm"])
    table: dict[str, Any] = {}
    for metric in TIMES:
        table |= _moments(metric, observations[metric], of_arm)
    table |= _parameters(settings)
    table["params"] = [dict(setting) for setting in settings]
    for metric, written in scores.items():
        table |= _moments(f"test_{written}", observations[metric], of_arm)
        table[f"rank_test_{written}"] = ranks(table[f"mean_test_{written}"])
    margins = [np.nan if arm.margin is None else arm.margin for arm in verdict.arms]
    return table | {
        "pulls": np.array([arm.pulls for arm in verdict.arms]),
        "status": np.array([arm.status.value for arm in verdict.arms], dtype=object),
        "reason": np.array([reason(arm, verdict) for arm in verdict.arms], dtype=object),
        "kind": np.array([arm.kind or "" for arm in verdict.arms], dtype=object),
        "feasible": np.array([margin <= 0.0 for margin in margins]),
        "margin": np.array(margins),
    }


def ranks(means: Floats) -> Any:
    """Return ranks from 1, the highest mean first; ties share one, undefined ones come last."""
    lowered = np.where(np.isnan(means), -np.inf, means)
    return np.array([1 + int((lowered > one).sum()) for one in lowered], dtype=np.int32)


def _places(names: Sequence[str], arms: Sequence[str]) -> list[Any]:
    place = {name: i for i, name in enumerate(names)}
    owner = np.array([place[arm] for arm in arms], dtype=np.int64)
    return [np.flatnonzero(owner == i) for i in range(len(names))]


def _moments(key: str, values: Sequence[float], of_arm: Sequence[Any]) -> dict[str, Any]:
    found = np.asarray(values, dtype=np.float64)
    parts = [found[mine] for mine in of_arm]
    return {
        f"mean_{key}": np.array([part.mean() if len(part) else np.nan for part in parts]),
        f"std_{key}": np.array([part.std() if len(part) else np.nan for part in parts]),
    }


def _parameters(settings: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a masked array for each parameter; masked where a setting does not have it."""
    keys = sorted({key for setting in settings for key in setting})
    found = {}
    for key in keys:
        kind = _kind([setting[key] for setting in settings if key in setting])
        values = ma.MaskedArray(np.empty(len(settings), dtype=kind), mask=True)
        for place, setting in enumerate(settings):
            if key in setting:
                values[place] = setting[key]
        found[f"param_{key}"] = values
    return found


def _kind(values: Sequence[Any]) -> Any:
    """Return the type of a parameter's array: numbers as numbers, anything else as it is."""
    if not all(isinstance(value, bool | int | float | np.number) for value in values):
        return object
    if len({isinstance(value, bool) for value in values}) > 1:
        return object
    found = np.asarray(values)
    return found.dtype if found.ndim == 1 and found.dtype.kind in "bif" else object
