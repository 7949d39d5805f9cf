"""`ConstrainedSearchCV` in scikit-learn's conventions: its own checks, shapes, failures, resuming.

Nothing here depends on the clock: limits are on scores, except where a time is the subject and its
limit is out of reach.
"""

import pickle
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.cluster import KMeans
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import make_scorer, recall_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupShuffleSplit,
    KFold,
    LeaveOneGroupOut,
    ShuffleSplit,
    cross_val_score,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import ringfence as rf
from ringfence.interfaces.bridges.splitting import Splits

X, y = make_classification(
    200, 6, n_informative=3, n_redundant=0, flip_y=0.1, class_sep=1.0, random_state=0
)
GRID = {"max_depth": [1, 2, 3, 5, 8]}
ANY = "mean(score) >= -1e9"


def worst_recall(truth: Any, found: Any) -> float:
    return float(recall_score(truth, found, average=None, zero_division=0.0).min())


SCORING = {"accuracy": "accuracy", "worst_recall": make_scorer(worst_recall)}


def make(**changes: Any) -> Any:
    plain: dict[str, Any] = {
        "estimator": DecisionTreeClassifier(),
        "param_grid": GRID,
        "scoring": SCORING,
        "objective": "maximize mean(accuracy)",
        "constraints": ["mean(worst_recall) >= 0.6"],
        "budget": 50,
        "random_state": 0,
    }
    return rf.ConstrainedSearchCV(**{**plain, **changes})


def checked(estimator: Any, grid: Any) -> Any:
    return rf.ConstrainedSearchCV(
        estimator, grid, constraints=ANY, budget=6, cv=2, error_score="raise"
    )


@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [
        checked(Ridge(), {"alpha": [0.1, 1.0]}),
        checked(LogisticRegression(), {"C": [0.1, 1.0]}),
        checked(Pipeline([("pca", PCA()), ("ridge", Ridge())]), {"ridge__alpha": [0.1, 1.0]}),
    ]
)
def test_scikit_learns_own_checks(estimator: Any, check: Any) -> None:
    """All that apply, with none expected to fail."""
    check(estimator)


def test_the_results_have_the_usual_shape() -> None:
    search = make().fit(X, y)
    other = GridSearchCV(DecisionTreeClassifier(), GRID, scoring=SCORING, refit=False, cv=3).fit(
        X, y
    )
    found = search.cv_results_
    usual = {key for key in other.cv_results_ if not key.startswith("split")}
    assert usual <= set(found)
    further = {"mean_score_time_per_row", "std_score_time_per_row"}
    further |= {"pulls", "status", "reason", "kind", "feasible", "margin"}
    assert set(found) - usual == further
    assert {len(values) for values in found.values()} == {5}
    assert found["params"] == other.cv_results_["params"]
    assert found["param_max_depth"].tolist() == [1, 2, 3, 5, 8]
    assert found["param_max_depth"].dtype == other.cv_results_["param_max_depth"].dtype
    assert found["pulls"].sum() == 50 == search.verdict_.pulls_used
    best = search.best_index_
    assert search.best_params_ == found["params"][best]
    assert search.best_score_ == pytest.approx(found["mean_test_accuracy"][best], rel=1e-12)
    assert search.verdict_.arm == f"max_depth={search.best_params_['max_depth']}"
    assert search.n_splits_ == found["pulls"].max()
    assert search.multimetric_
    assert set(search.scorer_) == {"accuracy", "worst_recall"}
    assert (found["feasible"] == (found["mean_test_worst_recall"] >= 0.6)).all()
    by_hand = 1 + (found["mean_test_accuracy"][:, None] < found["mean_test_accuracy"]).sum(axis=1)
    assert found["rank_test_accuracy"].tolist() == by_hand.tolist()
    assert (found["mean_fit_time"] > 0.0).all()
    told = search.study_.observations()
    mine = np.array(told["accuracy"])[np.array(told["arm"]) == search.verdict_.arm]
    assert found["mean_test_accuracy"][best] == pytest.approx(mine.mean())
    assert found["std_test_accuracy"][best] == pytest.approx(mine.std())


def test_one_scorer_needs_no_objective_and_is_called_score() -> None:
    search = make(scoring="accuracy", objective=None, constraints="mean(accuracy) >= 0.5").fit(X, y)
    assert search.study_.definition.objective == "maximize mean(accuracy)"
    assert "mean_test_score" in search.cv_results_
    assert not search.multimetric_
    assert search.score(X, y) == pytest.approx((search.predict(X) == y).mean())
    assert make(scoring=None, objective=None, constraints=ANY).fit(X, y).best_score_ > 0.5


def test_a_function_may_give_several_scores() -> None:
    def both(estimator: Any, rows: Any, truth: Any) -> dict[str, float]:
        found = estimator.predict(rows)
        right = float((found == truth).mean())
        return {"right": right, "worst": worst_recall(truth, found), "unasked": 0.0}

    search = make(
        scoring=both, objective="maximize mean(right)", constraints="mean(worst) >= 0.6"
    ).fit(X, y)
    assert search.multimetric_
    assert {"mean_test_right", "mean_test_worst"} <= set(search.cv_results_)
    assert search.score(X, y) == pytest.approx((search.predict(X) == y).mean())
    one = make(scoring=lambda *_: 0.5, objective=None, constraints=ANY).fit(X, y)
    assert one.score(X, y) == one.best_score_ == 0.5


def test_limits_on_times() -> None:
    search = make(
        constraints=[
            "mean(fit_time) <= 1e6", "p90(score_time) <= 1e6", "mean(score_time_per_row) <= 1e6"
        ],
    ).fit(X, y)  # fmt: skip
    assert search.feasible_
    told = search.study_.observations()
    ratio = np.array(told["score_time"]) / np.array(told["score_time_per_row"])
    assert ratio == pytest.approx(np.full(50, 40.0))  # a fifth of the rows


def same(one: Any, other: Any) -> bool:
    mine, theirs = one.study_.observations(), other.study_.observations()
    is_same = [mine[key] == theirs[key] for key in ("arm", "seed", "accuracy", "worst_recall")]
    return all(is_same) and one.best_params_ == other.best_params_


def test_the_same_whatever_the_number_of_jobs() -> None:
    alone = make(batch=4).fit(X, y)
    assert same(alone, make(batch=4).fit(X, y))
    assert same(alone, make(batch=4, n_jobs=2).fit(X, y))
    assert not same(alone, make(batch=4, random_state=1).fit(X, y))
    easy = {"constraints": "mean(worst_recall) >= 0.2"}
    other = make(batch=4, estimator=ExtraTreeClassifier(), **easy)
    assert (other.fit(X, y).predict(X[:, ::-1]) == clone(other).fit(X, y).predict(X[:, ::-1])).all()


def test_paired_fits_have_the_same_split() -> None:
    rows = np.arange(40.0).reshape(-1, 1)

    def first_row(estimator: Any, tested: Any, truth: Any) -> float:
        return float(tested[0, 0])

    def seen(search: Any) -> list[list[float]]:
        told = search.fit(rows, np.arange(40) % 2).study_.observations()
        score, arm = np.array(told["score"]), np.array(told["arm"])
        return [score[arm == name].tolist() for name in search.study_.definition.arm_names]

    plain: dict[str, Any] = {
        "scoring": first_row, "objective": None, "constraints": ANY, "policy": "uniform"
    }  # fmt: skip
    paired, alone = seen(make(**plain)), seen(make(**plain, paired=False))
    assert len(set(paired[0])) > 3
    assert all(one == paired[0] for one in paired)
    assert alone[0] == paired[0]
    assert all(one != alone[0] for one in alone[1:])


def test_nothing_feasible() -> None:
    impossible = {"constraints": ["mean(worst_recall) >= 1.5"]}
    with pytest.warns(rf.InfeasibleWarning, match=r"No arm is feasible.*blocks it.*no best_est"):
        search = make(**impossible).fit(X, y)
    assert not search.feasible_
    assert search.verdict_.verdict == "infeasible"
    assert not search.cv_results_["feasible"].any()
    assert search.best_params_ == search.cv_results_["params"][search.best_index_]
    assert not hasattr(search, "best_estimator_")
    with pytest.raises(AttributeError, match="no attribute 'predict'") as caught:
        search.predict(X)
    assert "no setting is feasible" in str(caught.value.__cause__)
    with pytest.raises(AttributeError, match="refit='always'"):
        search.score(X, y)
    with pytest.warns(rf.InfeasibleWarning):
        search = make(**impossible, refit="always").fit(X, y)
    assert not search.feasible_
    assert search.predict(X).shape == y.shape
    with pytest.warns(rf.InfeasibleWarning):
        search.set_params(refit=True).fit(X, y)
    assert not hasattr(search, "best_estimator_")


class Fragile(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Fails always, now and then, or never."""

    def __init__(self, how: str = "never", random_state: int | None = None) -> None:
        self.how = how
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> "Fragile":
        seed = 1 if self.random_state is None else self.random_state
        if self.how == "always" or (self.how == "sometimes" and seed % 4 == 0):
            raise RuntimeError("it broke")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.classes_[0])


def test_a_fit_that_fails_is_a_failed_pull() -> None:
    fragile: dict[str, Any] = {
        "estimator": Fragile(), "scoring": "accuracy", "objective": None,
        "constraints": "mean(accuracy) >= 0.0", "budget": 40, "refit": False,
    }  # fmt: skip
    grid = {"how": ["never", "sometimes", "always"]}
    with pytest.warns(FitFailedWarning, match="fits failed, the first with RuntimeError: it broke"):
        search = make(**fragile, param_grid=grid).fit(X, y)
    found = search.cv_results_
    assert (found["status"][2], found["status"][0]) == ("withdrawn", "in the running")
    assert "3" in found["reason"][2]
    assert np.isnan(found["mean_test_score"][2])
    assert found["rank_test_score"][2] == 3
    assert found["pulls"][2] == 0
    assert search.best_params_["how"] != "always"
    assert search.study_.status().failed > 3
    with pytest.raises(RuntimeError, match="it broke"):
        make(**fragile, param_grid=grid, error_score="raise").fit(X, y)
    with pytest.raises(rf.InputError, match=r"all 6 fits failed.*RuntimeError: it broke"):
        make(**fragile, param_grid={"how": ["always"], "random_state": [3, 5]}).fit(X, y)


def test_a_score_that_is_no_number_is_a_failed_pull() -> None:
    odd: dict[str, Any] = {
        "scoring": lambda e, *_: 0.5 if e.max_depth > 1 else np.nan,
        "objective": None,
        "constraints": ANY,
    }
    with pytest.warns(FitFailedWarning, match="metric 'score' = nan must be a finite number"):
        search = make(**odd).fit(X, y)
    assert search.cv_results_["status"][0] == "withdrawn"
    with pytest.raises(rf.InputError, match="must be a finite number"):
        make(**odd, error_score="raise").fit(X, y)


def test_pickling_and_cloning() -> None:
    search = make()
    with pytest.raises(NotFittedError):
        search.predict(X)
    with pytest.raises(NotFittedError):
        _ = search.study_
    search.fit(X, y)
    assert search.n_features_in_ == 6
    again = pickle.loads(pickle.dumps(search))
    assert (again.predict_proba(X) == search.predict_proba(X)).all()
    assert again.verdict_ == search.verdict_
    assert again.study_.recommend() == search.study_.recommend()
    again.study_.raise_budget(60)  # the copy lives on its own
    assert (again.study_.status().budget, search.study_.status().budget) == (60, 50)
    fresh = clone(search)
    assert not hasattr(fresh, "verdict_")
    assert fresh.get_params()["budget"] == 50
    assert same(fresh.fit(X, y), search)


def test_inside_of_other_things_and_around_them() -> None:
    easy = {"constraints": "mean(worst_recall) >= 0.2"}
    inner = make(**easy, budget=20, param_grid={"max_depth": [1, 4]})
    scores = cross_val_score(Pipeline([("scale", StandardScaler()), ("search", inner)]), X, y, cv=3)
    assert scores.shape == (3,)
    assert scores.mean() > 0.7
    around = make(
        estimator=Pipeline([("scale", StandardScaler()), ("model", DecisionTreeClassifier())]),
        param_grid=[
            {"model__max_depth": [2, 4]},
            {"model": [KNeighborsClassifier(3), KNeighborsClassifier(9)], "scale": ["passthrough"]},
        ],
        budget=40,
        **easy,
    ).fit(X, y)
    masks = around.cv_results_["param_model__max_depth"].mask.tolist()
    assert masks == [False, False, True, True]
    assert around.predict(X).shape == y.shape
    assert around.classes_.tolist() == [0, 1]


def test_no_target_and_sample_weights() -> None:
    search = make(
        estimator=KMeans(n_init=1), param_grid={"n_clusters": [2, 4]}, scoring=None,
        objective=None, constraints=ANY, budget=12,
    ).fit(X)  # fmt: skip
    assert search.best_params_ == {"n_clusters": 4}
    assert search.transform(X).shape == (200, 4)
    weights = np.where(y == 1, 1e-9, 1.0)
    weighted = make(constraints="mean(worst_recall) >= 0.0").fit(X, y, sample_weight=weights)
    plain = make(constraints="mean(worst_recall) >= 0.0").fit(X, y)
    assert (plain.predict(X) == 0).mean() < 0.6
    assert (weighted.predict(X) == 0).mean() > 0.8


SPLITTERS = [None, 0.25, 4, ShuffleSplit(7, test_size=0.3), KFold(4, shuffle=True)]


@pytest.mark.parametrize("cv", SPLITTERS, ids=str)
def test_a_split_belongs_to_its_seed(cv: Any) -> None:
    splits = Splits(cv, X, y, None, is_classifier=True)
    for seed in (0, 1, 2**31 - 1):
        train, test = splits.draw(seed)
        assert sorted([*train, *test]) == list(range(200))
        assert splits.draw(seed)[1].tolist() == test.tolist()
    assert splits.draw(0)[1].tolist() != splits.draw(1)[1].tolist()


def test_splits_by_class_by_group_and_from_a_list() -> None:
    _, test = Splits(0.25, X, y, None, is_classifier=True).draw(3)
    assert abs(y[test].mean() - y.mean()) < 0.02
    groups = np.arange(200) % 10
    for cv in (0.2, GroupShuffleSplit(2, test_size=2)):
        train, test = Splits(cv, X, y, groups, is_classifier=True).draw(5)
        assert not set(groups[train]) & set(groups[test])
    listed = Splits(LeaveOneGroupOut(), X, y, groups, is_classifier=True)
    assert {int(groups[listed.draw(seed)[1]][0]) for seed in range(10)} == set(range(10))
    few = [(np.arange(100), np.arange(100, 200))]
    assert Splits(few, X, y, None, is_classifier=True).draw(9)[1][0] == 100
    rare = np.array([0] * 9 + [1])  # one of a class cannot be on both sides
    assert len(Splits(0.2, rare, rare, None, is_classifier=True).draw(0)[1]) == 2
    search = make(cv=LeaveOneGroupOut()).fit(X, y, groups=groups)
    assert search.feasible_


def test_a_search_in_a_storage_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"sqlite:///{tmp_path / 'searches.db'}"
    whole = make(batch=4).fit(X, y)
    stopped, fits = make(batch=4, storage=url), 0

    def dies(self: Any, *given: Any, _fit: Any = DecisionTreeClassifier.fit) -> Any:
        nonlocal fits
        fits += 1
        if fits == 30:
            raise KeyboardInterrupt
        return _fit(self, *given)

    with monkeypatch.context() as patched:
        patched.setattr(DecisionTreeClassifier, "fit", dies)
        with pytest.raises(KeyboardInterrupt):
            stopped.fit(X, y)
        assert not hasattr(stopped, "verdict_")
        fits = 100
        resumed = make(batch=4, storage=url).fit(X, y)
        assert fits == 100 + 21 + 1  # what was left, and the last on all rows
        assert same(resumed, whole)
        assert clone(resumed).fit(X, y).verdict_ == resumed.verdict_
        assert fits == 100 + 21 + 2
        more = make(batch=4, storage=url, budget=60).fit(X, y)
    assert more.verdict_.pulls_used == 60
    assert more.study_.name == resumed.study_.name
    assert make(batch=4, storage=url).set_params(cv=0.5).fit(X, y).study_.name != more.study_.name
    assert make(batch=4, storage=url).fit(X[:150], y[:150]).study_.name != more.study_.name
    kept = pickle.loads(pickle.dumps(more))
    assert kept.study_.observations() == more.study_.observations()
    (tmp_path / "searches.db").unlink()
    assert pickle.loads(pickle.dumps(more)).predict(X).shape == y.shape  # needs no database


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"objective": None}, "objective = None leaves open which of accuracy, worst_recall"),
        ({"constraints": ["mean(recal) >= 0.5"]}, "metric 'recal' is not measured.*Add a scorer"),
        ({"scoring": {"fit_time": "accuracy"}, "objective": None, "constraints": "mean(fit_time) "
          ">= 0"}, "'fit_time' is the name of a time"),
        ({"budget": 3}, "budget = 3 is too small for 5 arms"),
        ({"error_score": 0.0}, "error_score = 0.0 must be 'raise' or NaN"),
        ({"refit": "accuracy"}, "refit = 'accuracy' must be True, False or 'always'"),
        ({"cv": 1.5}, "cv = 1.5 must be a share"),
        ({"cv": []}, r"cv = \[\] holds no split"),
        ({"cv": "five"}, "cv = 'five' gives no splits"),
        ({"policy": "top-tow"}, "Did you mean 'top-two'"),
        ({"storage": "sqlite:///x.db", "scoring": lambda *_: 1.0, "objective": None,
          "constraints": ANY}, "Name the study: study_name"),
    ],
)  # fmt: skip
def test_refusals(
    changes: dict[str, Any], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(rf.InputError, match=words):
        make(**changes).fit(X, y)
    assert list(tmp_path.iterdir()) == []


def test_settings_have_readable_names() -> None:
    from ringfence.interfaces.bridges.settings import arms_of_settings

    named = arms_of_settings([{"C": 0.1, "kernel": "rbf"}, {"C": np.float64(1.0)}, {}])
    assert list(named) == ["C=0.1, kernel=rbf", "C=1", "as it is"]
    assert named["C=1"] == {"C": 1.0}
    models = [{"m": Pipeline([("a", PCA(k)), ("b", LogisticRegression(C=0.123))])} for k in (1, 2)]
    assert list(arms_of_settings(models)) == ["0: m=Pipeline", "1: m=Pipeline"]
    lengthy = arms_of_settings([{f"parameter_{k}": "x" * 50 for k in range(9)}])
    assert max(map(len, lengthy)) < 200
    odd = arms_of_settings([{"f": make_scorer, "w": "a\nb", "n": float("inf")}])
    assert list(odd) == ["f=<function make_scorer>, w=a b, n=inf"]


def test_without_scikit_learn_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "ringfence.interfaces.bridges.search")
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    with pytest.raises(rf.MissingExtraError, match=r"pip install 'ringfence\[sklearn\]'"):
        import_module("ringfence.interfaces.bridges.search")
