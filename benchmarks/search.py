"""How often a search names the right model on digits under a latency limit, fits being equal.

    python benchmarks/search.py [--seeds 200] [--json]
    python benchmarks/search.py --measure     # fits everything anew and writes digits.csv

Needs scikit-learn. Twelve models were fitted on 200 random splits of scikit-learn's digits;
accuracy and the time of `predict`, in microseconds a row by two clocks, are in digits.csv beside
this file: processor time, and time by the wall, which on a shared machine is far noisier. That
table is the truth: a fit draws one of its splits, and the right model is the one with the best mean
accuracy among those whose mean latency is within the limit. So thousands of searches cost no fit at
all:

    GridSearchCV, then the best mean accuracy among those whose mean latency is within the limit
    ConstrainedSearchCV with its defaults

Both are the real classes, over some hundred seeds. Two further rows say nearly the same to two
digits: the grid search as a resampling of the table, and the rule of the constrained search in the
simulator, at a disadvantage, because there settings share no splits (`paired=False`).
"""

import argparse
import csv
import json
import os
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import GridSearchCV, ShuffleSplit

import ringfence as rf
from ringfence.core.intervals import binomial_interval

TABLE = Path(__file__).with_name("digits.csv")
PLACES = (4, 6, 8)  # how many of the models are within each limit
FITS_A_MODEL = (5, 10, 20)
CLOCKS = {"wall": time.perf_counter, "processor": time.process_time}
SPLITS = 200
REPLICATIONS = 80_000


class Logged(BaseEstimator):  # type: ignore[misc]
    """A model whose fits were logged; a row of X is the number of a split."""

    def __init__(self, model: str = "") -> None:
        self.model = model

    def fit(self, X: Any, y: Any = None) -> "Logged":
        """Return itself: it was fitted long ago."""
        self.fitted_ = True
        return self


@cache
def table(clock: str) -> dict[str, Any]:
    """Return accuracy and latency [split, metric] of each model, by one of the clocks."""
    found: dict[str, list[tuple[float, float]]] = {}
    with TABLE.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            numbers = (float(row["accuracy"]), float(row[clock]))
            found.setdefault(row["model"], []).append(numbers)
    return {model: np.array(rows) for model, rows in found.items()}


def read_off(clock: str, estimator: Logged, X: Any, y: Any = None) -> dict[str, float]:
    """Return what was logged of the split in the only test row."""
    accuracy, latency = table(clock)[estimator.model][int(X[0, 0])]
    return {"accuracy": float(accuracy), "latency": float(latency)}


def limit_at(clock: str, place: int) -> float:
    """Return the limit that so many models are within: halfway to the next, on a log scale."""
    means = sorted(float(rows[:, 1].mean()) for rows in table(clock).values())
    return float(f"{(means[place - 1] * means[place]) ** 0.5:.3g}")


def right_model(clock: str, limit: float) -> str:
    """Return the model that the whole table says is right."""
    means = {model: rows.mean(axis=0) for model, rows in table(clock).items()}
    passing = {model: one[0] for model, one in means.items() if one[1] <= limit}
    return max(passing, key=lambda model: float(passing[model]))


def split_numbers() -> Any:
    """Return the numbers of all splits, as a column."""
    return np.arange(SPLITS).reshape(-1, 1)


def grid_search(clock: str, limit: float, fits: int, seed: int) -> str | None:
    """Return what a grid search and a filter name; None if no model passes the filter."""
    search = GridSearchCV(
        Logged(),
        {"model": list(table(clock))},
        scoring=partial(read_off, clock),
        refit=False,
        cv=ShuffleSplit(fits, test_size=1, random_state=seed),
    ).fit(split_numbers())
    found = search.cv_results_
    passing = np.flatnonzero(found["mean_test_latency"] <= limit)
    if not len(passing):
        return None
    best = passing[int(np.argmax(found["mean_test_accuracy"][passing]))]
    return str(found["params"][best]["model"])


def constrained_search(
    clock: str, limit: float, fits: int, seed: int, **choices: Any
) -> str | None:
    """Return what a constrained search names; None if it says that no model is feasible."""
    search = rf.ConstrainedSearchCV(
        Logged(),
        {"model": list(table(clock))},
        scoring=partial(read_off, clock),
        objective="maximize mean(accuracy)",
        constraints=f"mean(latency) <= {limit:g}",
        budget=fits * len(table(clock)),
        refit=False,
        cv=ShuffleSplit(1, test_size=1),
        random_state=seed,
        **choices,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rf.InfeasibleWarning)
        search.fit(split_numbers())
    return str(search.best_params_["model"]) if search.feasible_ else None


WAYS: Mapping[str, Callable[[str, float, int, int], str | None]] = {
    "GridSearchCV, then filtered": grid_search,
    "ConstrainedSearchCV": constrained_search,
}


def resampled_grid(clock: str, limit: float, fits: int) -> tuple[int, int]:
    """Return how many of many grid searches are right: means of the same splits, then a filter."""
    truth, models = right_model(clock, limit), list(table(clock))
    chosen = np.random.default_rng(fits).integers(SPLITS, size=(REPLICATIONS, fits))
    means = np.stack([table(clock)[model][chosen].mean(axis=1) for model in models])
    passes = means[:, :, 1] <= limit
    named = np.where(passes, means[:, :, 0], -1.0).argmax(axis=0)
    right = (named == models.index(truth)) & passes.any(axis=0)
    return int(right.sum()), REPLICATIONS


def simulated(clock: str, limit: float, fits: int) -> tuple[int, int]:
    """Return how many of many simulated searches are right, without pairs."""
    rows = [(model, *one) for model, found in table(clock).items() for one in found.tolist()]
    columns = dict(zip(("model", "accuracy", "latency"), zip(*rows, strict=True), strict=True))
    instance = rf.Instance.from_frame(
        rf.to_frame(columns, backend="pyarrow"),
        arm="model",
        objective="maximize mean(accuracy)",
        constraints=[f"mean(latency) <= {limit:g}"],
    )
    budget = fits * len(table(clock))
    result = rf.simulate(
        instance, "top-two", budget=budget, replications=REPLICATIONS // 4, scales="estimated",
        batch=max(1, budget // 25), threads=1,
    )  # fmt: skip
    return result.replications - result.errors, result.replications


EXACTLY = {
    "GridSearchCV, then filtered; resampled": resampled_grid,
    "ConstrainedSearchCV, paired=False; simulated": simulated,
}


def share_right(way: str, clock: str, place: int, fits: int, seeds: int) -> dict[str, Any]:
    """Return how often a way names the right model."""
    limit = limit_at(clock, place)
    started, truth = time.perf_counter(), right_model(clock, limit)
    if way in EXACTLY:
        right, seeds = EXACTLY[way](clock, limit, fits)
    else:
        right = sum(WAYS[way](clock, limit, fits, seed) == truth for seed in range(seeds))
    low, high = binomial_interval(right, seeds)
    return {
        "way": way,
        "clock": clock,
        "limit": limit,
        "right_model": truth,
        "fits": fits * len(table(clock)),
        "right": right / seeds,
        "ci_low": low,
        "ci_high": high,
        "seeds": seeds,
        "seconds_a_search": (time.perf_counter() - started) / seeds,
    }


def measure() -> None:
    """Fit all models on all splits and write the table."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import StratifiedShuffleSplit

    X, y = load_digits(return_X_y=True)
    models = _models()
    with TABLE.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["model", "split", "accuracy", *CLOCKS])
        splits = StratifiedShuffleSplit(SPLITS, test_size=0.25, random_state=0).split(X, y)
        for number, (train, test) in enumerate(splits):
            for name, model in models.items():
                model.fit(X[train], y[train])
                started = [clock() for clock in CLOCKS.values()]
                predicted = model.predict(X[test])
                spent = [clock() - one for clock, one in zip(CLOCKS.values(), started, strict=True)]
                latencies = [float(f"{1e6 * one / len(test):.4g}") for one in spent]
                accuracy = round(float((predicted == y[test]).mean()), 5)
                writer.writerow([name, number, accuracy, *latencies])


def _models() -> dict[str, Any]:
    from sklearn.decomposition import PCA
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    def nystroem(parts: int) -> Any:
        kernel = Nystroem(gamma=0.001, n_components=parts, random_state=0)
        return make_pipeline(kernel, LogisticRegression(C=10, max_iter=200))

    return {
        "knn3": KNeighborsClassifier(3),
        "svc C=1": SVC(C=1, gamma=0.001),
        "svc C=10": SVC(C=10, gamma=0.001),
        "poly": SVC(kernel="poly", degree=3, gamma=0.01),
        "pca20+svc": make_pipeline(PCA(20, random_state=0), SVC(C=10, gamma=0.001)),
        "logistic": make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=200)),
        "lda": LinearDiscriminantAnalysis(),
        "rf50": RandomForestClassifier(50),
        "et50": ExtraTreesClassifier(50),
        "et100": ExtraTreesClassifier(100),
        "nys100+log": nystroem(100),
        "nys300+log": nystroem(300),
    }


def main() -> None:
    """Print the shares, as a table or as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--measure", action="store_true")
    chosen = parser.parse_args()
    if chosen.measure:
        measure()
    jobs = list(product([*EXACTLY, *WAYS], CLOCKS, PLACES, FITS_A_MODEL))
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(share_right, *zip(*jobs, strict=True), [chosen.seeds] * len(jobs))
        show(found, as_json=chosen.json)


def show(found: Iterable[Mapping[str, Any]], *, as_json: bool) -> None:
    """Print the shares as they come: lines of JSON, or a table."""
    if as_json:
        for one in found:
            print(json.dumps(one), flush=True)
        return
    print("| clock | limit | right model | how | fits | right |")
    print("| --- | --- | --- | --- | --- | --- |")
    for one in found:
        print(
            f"| {one['clock']} | {one['limit']:g} µs | {one['right_model']} | {one['way']} | "
            f"{one['fits']} | {one['right']:.3f} ({one['ci_low']:.3f} to {one['ci_high']:.3f}) |"
        )


if __name__ == "__main__":
    main()
