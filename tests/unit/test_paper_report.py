"""The paper's report: published points, z-scores, fitted rates, statements, and the chart data."""

import math
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from ringfence.core.errors import InputError, MissingExtraError
from ringfence.reports.charts import (
    paper_figure,
    paper_rows,
    require_chart_path,
    save_chart,
    scene_figure,
)
from ringfence.reports.paper import (
    BUDGETS,
    POLICY_NAMES,
    UNPUBLISHED_BUDGETS,
    PaperPoint,
    PaperReport,
    PublishedPoint,
    Statement,
    fit_decay,
    paper_report,
    published_points,
)
from ringfence.reports.scenes import NEAR_MISS, TIE_RULE
from ringfence.simulation.instance import PAPER_INSTANCES, Instance
from ringfence.simulation.rare.results import RareResult
from ringfence.simulation.results import SimulationResult

INSTANCES = [Instance.load(name) for name in PAPER_INSTANCES]
OURS, BASELINE = POLICY_NAMES
MANY = 10**8

Errors = Callable[[int, str, int], int]


def result(instance: int, policy: str, budget: int, errors: int, n: int) -> SimulationResult:
    return SimulationResult(
        instance=f"paper-{instance}",
        policy=policy,
        budget=budget,
        pulls_used=budget,
        replications=n,
        errors=errors,
        wrong_arm=errors,
        wrong_flag=0,
        lost_in_phase=(errors,),
        mean_pulls={},
        chosen={},
        seed=0,
        scales="known",
        batch=1,
        engine="cpu",
        seconds=1.0,
    )


def rare(instance: int, policy: str, budget: int, rate: float) -> RareResult:
    return RareResult(
        instance=f"paper-{instance}",
        policy=policy,
        budget=budget,
        pulls_used=budget,
        replications=1000,
        errors=500 if rate > 0.0 else 0,
        error_rate=rate,
        std_error=0.01 * rate,
        interval=(0.98 * rate, 1.02 * rate) if rate > 0.0 else (0.0, 1.0),
        wrong_flag_rate=0.0,
        mean_pulls={},
        modes=(),
        checks=(),
        seed=0,
        scales="known",
        batch=1,
        method="importance",
        seconds=1.0,
    )


def report(errors: Errors, n: int, *, beyond: int = 3) -> PaperReport:
    """Return the report of made-up error counts: errors(instance, policy, budget) of n."""
    results = [
        result(instance, policy, budget, errors(instance, policy, budget), n)
        for instance in (1, 2, 3, 4)
        for budget in BUDGETS
        for policy in POLICY_NAMES
    ]
    unpublished = [
        rare(4, policy, budget, beyond / (10 * n))
        for budget in UNPUBLISHED_BUDGETS
        for policy in POLICY_NAMES
    ]
    return paper_report(results, unpublished, INSTANCES)


def decaying(ours: float, baseline: float, n: int, *, ratio: float = 1.0) -> Errors:
    """Return counts that fall like exp(-rate T); ours are `ratio` times the baseline's at T = 0."""

    def errors(instance: int, policy: str, budget: int) -> int:
        if policy == OURS:
            return round(0.3 * n * ratio * math.exp(-ours * budget))
        return round(0.3 * n * math.exp(-baseline * budget))

    return errors


def statements(instance: int, errors: Errors, n: int) -> list[Statement]:
    return [s for s in report(errors, n).statements if s.instance == instance]


# ------------------------------------------------------------------ published points


def test_there_are_eighty_published_points_and_four_are_minus_infinity() -> None:
    points = published_points()
    assert set(points) == {(i, p, t) for i in (1, 2, 3, 4) for p in POLICY_NAMES for t in BUDGETS}
    infinite = {key for key, point in points.items() if point.log_error_rate is None}
    assert infinite == {(4, policy, budget) for policy in POLICY_NAMES for budget in (9000, 10_000)}
    assert {points[key].errors for key in infinite} == {0}


def test_published_rates_are_counts() -> None:
    """Each rate is a whole number of errors: the replications that we assume are the paper's."""
    for (instance, _, _), point in published_points().items():
        assert point.replications == (10_000 if instance == 4 else 100_000)
        if point.log_error_rate is not None:
            count = math.exp(point.log_error_rate) * point.replications
            assert isinstance(point.errors, int)
            assert count == pytest.approx(point.errors, abs=1e-6)
            assert 0 < point.errors < point.replications


def test_some_published_points_by_hand() -> None:
    points = published_points()
    assert points[1, OURS, 1000].log_error_rate == -1.78958184198028
    assert points[1, OURS, 1000].errors == 16_703
    assert points[2, BASELINE, 1000].errors == 52_387
    assert points[4, OURS, 8000].errors == 2


# ------------------------------------------------------------------ z


@pytest.mark.parametrize(
    ("errors", "n", "published", "m"),
    [(30, 1000, 2000, 100_000), (0, 1000, 5, 10_000), (7, 50, 0, 10_000), (400, 1000, 3, 9)],
)
def test_z_is_that_of_two_shares_with_a_pooled_rate(
    errors: int, n: int, published: int, m: int
) -> None:
    logged = math.log(published / m) if published else None
    point = PaperPoint(1, result(1, OURS, 1000, errors, n), PublishedPoint(logged, m))
    pooled = (errors + published) / (n + m)
    by_hand = (errors / n - published / m) / math.sqrt(pooled * (1 - pooled) * (1 / n + 1 / m))
    assert point.z == pytest.approx(by_hand, rel=1e-12)
    table = [[errors, n - errors], [published, m - published]]
    assert point.z**2 == pytest.approx(chi2_contingency(table, correction=False)[0], rel=1e-9)


def test_z_is_zero_where_nobody_erred() -> None:
    assert PaperPoint(4, result(4, OURS, 9000, 0, 1000), PublishedPoint(None, 10_000)).z == 0.0


@pytest.mark.parametrize("n", [1, 2, 20])
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_a_report_of_any_size_is_complete(n: int, share: float) -> None:
    made = report(lambda *_: round(share * n), n)
    document = made.to_dict()
    assert len(document["points"]) == 80
    assert all(math.isfinite(point["z"]) for point in document["points"])
    assert len(document["curves"]) == 8
    assert [s["instance"] for s in document["statements"]] == [1, 2, 2, 3, 4]
    assert all(s["text"] for s in document["statements"])
    assert len(document["unpublished"]) == 4


def test_points_carry_the_keys_that_programs_rely_on() -> None:
    points = report(decaying(3e-4, 2e-4, 1000), 1000).to_dict()["points"]
    for point in points:
        assert set(point) >= {
            "instance",
            "policy",
            "budget",
            "replications",
            "errors",
            "error_rate",
            "published_log_error_rate",
            "published_errors",
            "z",
        }
    assert [point["published_log_error_rate"] for point in points].count(None) == 4


def test_the_sum_of_squares_is_over_ten_points() -> None:
    made = report(decaying(3e-4, 2e-4, 1000), 1000)
    for curve in made.curves:
        own = [
            point.z**2
            for point in made.points
            if (point.instance, point.result.policy) == (curve.instance, curve.policy)
        ]
        assert len(own) == 10
        assert curve.chi_square == pytest.approx(sum(own), rel=1e-12)


# ------------------------------------------------------------------ decay


def test_an_exact_exponential_is_recovered() -> None:
    n = 2**40
    rate, error = fit_decay([(1000 * k, n >> k, n) for k in range(1, 11)])
    assert rate == pytest.approx(math.log(2) / 1000, rel=1e-12)
    assert 0 < error < 1e-8


def test_the_standard_error_of_two_points_is_by_hand() -> None:
    """Var ln(e/n) is (1 - p)/(n p), and the rate is a difference over 3,000 pulls."""
    rate, error = fit_decay([(1000, 400, 1000), (4000, 50, 2000)])
    assert rate == pytest.approx(math.log(0.4 / 0.025) / 3000, rel=1e-12)
    variance = 0.6 / (1000 * 0.4) + 0.975 / (2000 * 0.025)
    assert error == pytest.approx(math.sqrt(variance) / 3000, rel=1e-12)


def test_the_fit_is_weighted_least_squares() -> None:
    counts = [(1000, 300, 1000), (2000, 210, 1000), (3000, 95, 800), (5000, 12, 1000)]
    design = np.array([[1.0, -t] for t, _, _ in counts])
    weights = np.diag([e * n / (n - e) for _, e, n in counts])
    logs = np.array([math.log(e / n) for _, e, n in counts])
    covariance = np.linalg.inv(design.T @ weights @ design)
    fitted = covariance @ design.T @ weights @ logs
    rate, error = fit_decay(counts)
    assert rate == pytest.approx(fitted[1], rel=1e-9)
    assert error == pytest.approx(math.sqrt(covariance[1, 1]), rel=1e-9)


def test_points_without_errors_carry_no_weight() -> None:
    counts = [(1000, 300, 1000), (2000, 200, 1000), (3000, 100, 1000)]
    assert fit_decay([*counts, (4000, 0, 1000)]) == fit_decay(counts)
    assert fit_decay([(500, 1000, 1000), *counts]) == fit_decay(counts)


@pytest.mark.parametrize("counts", [[], [(1000, 3, 10)], [(1000, 0, 10), (2000, 10, 10)]])
def test_fewer_than_two_points_give_no_rate(counts: list[tuple[int, int, int]]) -> None:
    rate, error = fit_decay(counts)
    assert math.isnan(rate)
    assert error == math.inf


def test_curves_stand_beside_the_bounds() -> None:
    made = report(decaying(3e-4, 2e-4, MANY), MANY)
    curves = {(curve.instance, curve.policy): curve for curve in made.curves}
    for (_, policy), curve in curves.items():
        assert curve.rate == pytest.approx(3e-4 if policy == OURS else 2e-4, rel=1e-3)
    # H1 = 1600 and H2 = 2400 on the first instance (Delta^2 = 0.05^2 / 2), logbar(3) = 4/3.
    assert curves[1, OURS].conjectured_rate == pytest.approx(1 / 1600, rel=1e-9)
    assert curves[1, OURS].upper_bound_rate == pytest.approx(1 / (9 * 4 / 3 * 2400), rel=1e-9)
    assert curves[1, OURS].published_rate == pytest.approx(5.9e-4, rel=0.02)


# ------------------------------------------------------------------ statements


def test_faster_on_the_first_instance() -> None:
    (statement,) = statements(1, decaying(6e-4, 4e-4, MANY), MANY)
    assert statement.holds is True
    assert statement.low <= statement.ratio <= statement.high
    assert statement.ratio == pytest.approx(1.5, rel=1e-3)


def test_slower_on_the_first_instance() -> None:
    (statement,) = statements(1, decaying(4e-4, 6e-4, MANY), MANY)
    assert statement.holds is False


def test_too_few_replications_to_tell_on_the_first_instance() -> None:
    (statement,) = statements(1, decaying(6e-4, 5e-4, 100), 100)
    assert statement.holds is None


@pytest.mark.parametrize("instance", [2, 3, 4])
@pytest.mark.parametrize(
    ("ours", "n", "holds"),
    [(3.0e-4, MANY, True), (3.1e-4, MANY, True), (6e-4, MANY, False), (1e-4, MANY, False)],
)
def test_the_same_rate_on_the_others(instance: int, ours: float, n: int, holds: bool) -> None:
    same = statements(instance, decaying(ours, 3e-4, n), n)[0]
    assert same.holds is holds
    assert same.low <= same.ratio <= same.high


@pytest.mark.parametrize("instance", [2, 3, 4])
def test_too_few_replications_to_tell_on_the_others(instance: int) -> None:
    assert statements(instance, decaying(3e-4, 3e-4, 100), 100)[0].holds is None


@pytest.mark.parametrize(("ratio", "holds"), [(0.5, True), (2.0, False), (1.0, None)])
def test_smaller_by_a_factor_on_the_second(ratio: float, holds: bool | None) -> None:
    factor = statements(2, decaying(3e-4, 3e-4, 10**6, ratio=ratio), 10**6)[1]
    assert factor.holds is holds
    assert factor.ratio == pytest.approx(ratio, rel=1e-2)
    assert factor.low <= factor.ratio <= factor.high


def test_without_errors_nothing_is_decided() -> None:
    assert [s.holds for s in report(lambda *_: 0, 100).statements] == [None] * 5


@pytest.mark.parametrize("n", [2, 20, 100])
def test_flat_curves_decide_nothing(n: int) -> None:
    """A rate of exactly zero must not divide anything."""
    made = report(lambda *_: n // 2, n)
    assert [s.holds for s in made.statements] == [None] * 5


@pytest.mark.parametrize(("ours", "baseline"), [(1e-4, -1e-4), (-1e-4, 1e-4), (-5e-5, -1e-4)])
def test_a_rising_curve_turns_no_statement_around(ours: float, baseline: float) -> None:
    """Few replications make curves rise: an interval, if there is one, has its low end below."""
    first, second, _, third, fourth = report(decaying(ours, baseline, MANY), MANY).statements
    assert first.holds is not (ours < baseline)
    for statement in (first, second, third, fourth):
        assert not statement.low > statement.ratio
        assert not statement.ratio > statement.high
    for statement in (second, third, fourth):
        assert statement.holds is not True


# ------------------------------------------------------------------ chart data


def test_a_panel_has_our_points_with_intervals_and_the_published_ones() -> None:
    made = report(decaying(3e-4, 2e-4, 1000), 1000)
    rows = paper_rows(made, 1)
    ours = [row for row in rows if row["source"] == "ours"]
    published = [row for row in rows if row["source"] == "published"]
    assert len(ours) == len(published) == 20
    for row in ours:
        errors = decaying(3e-4, 2e-4, 1000)(1, row["policy"], row["budget"])
        assert row["log_error"] == pytest.approx(math.log(errors / 1000))
        assert row["log_low"] < row["log_error"] < row["log_high"]
        assert row["bound"] is False
    for row in published:
        key = (1, row["policy"], row["budget"])
        assert row["log_error"] == published_points()[key].log_error_rate


def test_a_point_without_errors_is_drawn_as_a_bound() -> None:
    rows = paper_rows(report(lambda *_: 0, 1000), 3)
    ours = [row for row in rows if row["source"] == "ours"]
    assert len(ours) == 20
    # Clopper-Pearson's upper end for no error in n: (1 - p)^n = 0.025.
    upper = math.log(1 - 0.025 ** (1 / 1000))
    for row in ours:
        assert row["bound"] is True
        assert row["log_error"] == row["log_high"] == pytest.approx(upper, rel=1e-9)
        assert math.isfinite(row["log_low"])
        assert row["log_low"] < row["log_high"]


def test_the_last_panel_takes_the_long_runs_where_nothing_was_published() -> None:
    rows = paper_rows(report(decaying(3e-4, 2e-4, 1000), 1000, beyond=7), 4)
    ours = {(row["policy"], row["budget"]): row for row in rows if row["source"] == "ours"}
    assert len(ours) == 20 == sum(row["source"] == "ours" for row in rows)
    for policy in POLICY_NAMES:
        for budget in UNPUBLISHED_BUDGETS:
            assert ours[policy, budget]["log_error"] == pytest.approx(math.log(7 / 10_000))
    published = [row for row in rows if row["source"] == "published"]
    assert len(published) == 16
    assert all(math.isfinite(row["log_error"]) for row in published)


# ------------------------------------------------------------------ charts


@pytest.mark.parametrize(
    ("name", "magic"),
    [
        ("figure.png", b"\x89PNG\r\n\x1a\n"),
        ("figure.svg", b"<svg"),
        ("figure.pdf", b"%PDF-"),
        ("FIGURE.PNG", b"\x89PNG\r\n\x1a\n"),
    ],
    ids=["png", "svg", "pdf", "PNG"],
)
def test_a_chart_is_saved_by_its_suffix(name: str, magic: bytes, tmp_path: Path) -> None:
    chart = paper_figure(report(decaying(3e-4, 2e-4, 1000), 1000))
    assert save_chart(chart, tmp_path / name) == tmp_path / name
    assert (tmp_path / name).read_bytes().startswith(magic)


def test_a_chart_of_nothing_but_bounds_is_drawn(tmp_path: Path) -> None:
    target = save_chart(paper_figure(report(lambda *_: 0, 10, beyond=0)), str(tmp_path / "f.svg"))
    assert "NaN" not in target.read_text(encoding="utf-8")


def test_the_scenes_are_drawn(tmp_path: Path) -> None:
    target = save_chart(scene_figure([TIE_RULE, NEAR_MISS]), tmp_path / "scenes.svg")
    assert "dropped by constrained-sr" in target.read_text(encoding="utf-8")


def test_the_scenes_show_what_the_paper_says() -> None:
    """Figure 2: in (a) Constrained-SR drops arm 2, in (b) arm 3 and Infeasible First arm 1."""
    assert TIE_RULE.rejected_by(OURS) == TIE_RULE.rejected_by(BASELINE) == 1
    assert NEAR_MISS.rejected_by(OURS) == 2
    assert NEAR_MISS.rejected_by(BASELINE) == 0


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("figure.gif", ["figure", ".gif", ".png, .svg, .pdf"]),
        ("figure", ["figure", ".png, .svg, .pdf"]),
        ("no/such/folder/figure.png", ["figure = ", "figure.png", "cannot be written", "folder"]),
        ("folder.png", ["figure = ", "folder.png", "cannot be written"]),
        ("file/figure.png", ["figure = ", "figure.png", "cannot be written"]),
    ],
)
def test_a_place_that_cannot_be_written_is_refused(
    path: str, words: list[str], tmp_path: Path
) -> None:
    (tmp_path / "folder.png").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(InputError) as caught:
        require_chart_path(tmp_path / path)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("library", ["altair", "vl_convert"])
def test_without_the_libraries_the_extra_is_named(
    library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtraError, match=r"figure.*pip install 'ringfence\[plots\]'"):
        require_chart_path(tmp_path / "figure.png")
    with pytest.raises(MissingExtraError, match=r"ringfence\[plots\]"):
        paper_figure(report(lambda *_: 1, 10))
