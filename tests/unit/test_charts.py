"""Charts: drawn in every theme without a word of complaint; names are data, and stay text."""

import json
import re
import sys
from collections.abc import Iterator, Sequence
from html import escape
from itertools import cycle, product
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import vl_convert

import ringfence as rf
from ringfence.core.errors import InputError, MissingExtraError, NoAnswerError
from ringfence.reports.charts import (
    LIGHT,
    STUDY_CHARTS,
    THEMES,
    Theme,
    chart_bytes,
    find_theme,
    plan_figure,
    scene_figure,
    study_chart,
    themed,
)
from ringfence.reports.figures.map import map_rows
from ringfence.reports.figures.map_places import placed
from ringfence.reports.pictures import dark_rules, inline_svg
from ringfence.reports.plain import plain_pictures
from ringfence.reports.record import record_html
from ringfence.reports.scenes import NEAR_MISS, TIE_RULE
from ringfence.study.facts import Round
from ringfence.study.plan import Plan
from ringfence.study.verdict import Verdict
from tests.choosing import few_of
from tests.unit.drawing import (
    HOSTILE,
    four_kinds,
    make_arm,
    make_plan,
    make_rounds,
    make_verdict,
)

Case = tuple[Plan, Verdict, Sequence[Round]]
PHASES = [[5, 5, 5, 5, 3], [0, 5, 5, 5, 0], [0, 10, 5, 0, 0], [0, 0, 0, 0, 0]]


def known(arms: int, count: int) -> dict[str, Any]:
    estimates = [[0.3 * k, 0.4 * k - 0.5] for k in range(arms)]
    return {"estimates": estimates, "counts": [count] * arms, "scales": [0.5, 0.8]}


def phase_case() -> Case:
    verdict = four_kinds()
    seen = [{}, *(known(5, 5 * k) for k in range(1, 4))]
    return make_plan([arm.name for arm in verdict.arms]), verdict, make_rounds(PHASES, seen)


def hostile_case(policy: str = "top-two") -> Case:
    kinds: list[Any] = ["optimal", "deceiver", "feasible-suboptimal", "infeasible-suboptimal"]
    arms = [
        make_arm(name, kinds[min(k, 1 + k % 3)], -0.5 + 0.4 * (k % 3), 1.0 + k,
                 phase=k or None, rival=HOSTILE[k - 1] if k else None)
        for k, name in enumerate(HOSTILE)
    ]  # fmt: skip
    count = len(arms)
    rounds = make_rounds(
        [[4] * count, [2] * count, [0] * count], [{}, known(count, 4), known(count, 6)]
    )
    return make_plan(HOSTILE, policy, budget=200), make_verdict(arms), rounds


def cases() -> dict[str, Case]:
    lone = make_verdict([make_arm("only", "optimal", -0.3, 1.0)])
    none = make_verdict(
        [make_arm("near", "optimal", 0.4, 1.0), make_arm("off", "infeasible", 2.0, 1.0)]
    )
    names = ["near", "off"]
    return {
        "phases": phase_case(),
        "one arm": (make_plan(["only"]), lone, make_rounds([[40], [0]], [{}, known(1, 40)])),
        "infeasible": (
            make_plan(names, "top-two"), none,
            make_rounds([[4, 4], [2, 1], [0, 0]], [{}, known(2, 4), known(2, 6)]),
        ),
        "no rounds": (make_plan(names, "top-two"), none, []),
        "first round": (make_plan(names, "uniform"), none, make_rounds([[50, 50]])),
        "hostile": hostile_case(),
    }  # fmt: skip


def luminance(colour: str) -> float:
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of the web content accessibility guidelines."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def colours_of(svg: str) -> set[str]:
    found = set(re.findall(r'(?:fill|stroke)="([^"]*)"', svg))
    return found - {"none", "transparent"}


# ------------------------------------------------------------------ themes


def test_the_contrast_ratio_is_the_standards() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("theme", THEMES.values(), ids=lambda theme: theme.name)
def test_text_and_categories_can_be_read_on_their_background(theme: Theme) -> None:
    for colour in (theme.text, theme.muted, *theme.categories):
        assert contrast(colour, theme.background) >= 4.5
    assert len(set(theme.colours)) == len(theme.colours)
    assert len(theme.categories) == 9


def test_categories_of_a_map_differ_for_readers_without_colour() -> None:
    """In print, where greys are all there is, the answer is the darkest."""
    first, *others = (luminance(colour) for colour in THEMES["print"].categories)
    assert first == min([first, *others])


def test_an_unknown_theme_is_refused() -> None:
    with pytest.raises(InputError, match=r"theme = 'drak' must be one of .* Did you mean 'dark'"):
        find_theme("drak")


# ------------------------------------------------------------------ drawing


DRAWN = list(product(STUDY_CHARTS, THEMES.values()))


# Each time every chart, and every theme.
@pytest.mark.parametrize(
    ("kind", "theme"),
    few_of(DRAWN, *zip(STUDY_CHARTS, cycle(THEMES.values()), strict=False)),
    ids=lambda one: getattr(one, "name", one),
)
def test_every_chart_is_drawn_in_the_theme_and_nothing_else(kind: str, theme: Theme) -> None:
    for name, case in cases().items():
        svg = chart_bytes(study_chart(kind, *case, theme=theme), ".svg").decode()
        assert colours_of(svg) <= {*theme.colours, theme.background}, name
        for word in ("NaN", "undefined", "Infinity", "[object"):
            assert word not in svg, (name, word)
        assert f'fill="{theme.background}"' in svg


@pytest.mark.parametrize("kind", STUDY_CHARTS)
def test_the_drawing_library_has_nothing_to_complain_of(
    kind: str, capfd: pytest.CaptureFixture[str]
) -> None:
    for case in cases().values():
        for fluid in (False, True):
            chart = study_chart(kind, *case, fluid=fluid).to_dict()
            vl_convert.vegalite_to_vega(chart, vl_version="6.4", show_warnings=True)
    said = capfd.readouterr()
    assert said.out + said.err == ""


@pytest.mark.parametrize("theme", THEMES)
def test_other_charts_follow_the_theme_too(theme: str) -> None:
    document = {
        "policy": "top-two", "instance": "paper-3", "budget": 900, "target_error": 0.01,
        "oracle_rate": 0.005,
        "unit": "pulls",
        "curve": [
            {"budget": budget, "error_rate": 3.0 / budget, "std_error": 0.1 / budget,
             "upper_bound": 0.9}
            for budget in (300, 600, 900)
        ],
    }  # fmt: skip
    allowed = {*THEMES[theme].colours, THEMES[theme].background}
    for chart in (
        plan_figure(document, theme=theme),
        scene_figure([TIE_RULE, NEAR_MISS], theme=theme),
    ):
        assert colours_of(chart_bytes(chart, ".svg").decode()) <= allowed


@pytest.mark.parametrize("kind", STUDY_CHARTS)
def test_a_fluid_chart_fills_its_place_and_is_transparent(kind: str) -> None:
    chart = study_chart(kind, *phase_case(), fluid=True).to_dict()
    fixed = study_chart(kind, *phase_case()).to_dict()
    assert chart["background"] == "transparent"
    if "concat" in chart:  # the page lays out panels itself, in what is left beside their names
        assert chart["usermeta"]["panels"]["room"] > 0
        assert all(panel["width"] > 0 for panel in fixed["concat"])
    else:
        assert chart["width"] == "container"
        assert fixed["width"] > 0
    assert fixed["background"] == THEMES["light"].background


@pytest.mark.parametrize("kind", STUDY_CHARTS)
def test_a_chart_describes_itself_and_its_finding(kind: str) -> None:
    chart = study_chart(kind, *phase_case()).to_dict()
    assert len(chart["description"]) > 20
    assert len(chart["title"]["text"]) > 10


def test_feasible_and_infeasible_differ_by_shape_and_side() -> None:
    chart = study_chart("map", *phase_case()).to_dict()
    (shape,) = [
        layer["encoding"]["shape"] for layer in chart["layer"] if "shape" in layer["encoding"]
    ]
    by_kind = dict(zip(shape["scale"]["domain"], shape["scale"]["range"], strict=True))
    inside = {by_kind["best feasible"], by_kind["feasible suboptimal"]}
    outside = {by_kind[kind] for kind in by_kind if kind not in
               ("best feasible", "feasible suboptimal")}  # fmt: skip
    assert len(inside) == 2
    assert not inside & outside
    svg = chart_bytes(study_chart("map", *phase_case()), ".svg").decode()
    assert "← feasible" in svg
    assert "infeasible →" in svg


@pytest.mark.parametrize(("margin", "side"), [(-3.0, "right"), (-0.1, "left")])
def test_words_on_the_level_of_the_answer_leave_its_own_name_alone(
    margin: float, side: str
) -> None:
    arms = [
        make_arm("safe", "optimal", margin, 1.0),
        make_arm("sound", "feasible-suboptimal", -2.9, 1.4),
        make_arm("tempting", "deceiver", 3.0, 0.5),
    ]
    names = [arm.name for arm in arms]
    chart = study_chart("map", make_plan(names), make_verdict(arms), []).to_dict()
    (words,) = [
        layer["mark"]
        for layer in chart["layer"]
        if layer["encoding"].get("text", {}).get("field") == "label" and "x" in layer["encoding"]
        and "value" in layer["encoding"]["x"]
    ]  # fmt: skip
    assert words["align"] == side


def test_the_map_names_kinds_and_phases() -> None:
    svg = chart_bytes(study_chart("map", *phase_case()), ".svg").decode()
    for words in ("best feasible", "deceiver", "feasible suboptimal", "infeasible suboptimal"):
        assert f">{words}<" in svg
    assert ">far, phase 1<" in svg
    assert ">best<" in svg


def far_case() -> Case:
    """Return a study in which one arm lies far beyond the others."""
    arms = [
        make_arm("best", "optimal", -0.3, 2.0),
        *(make_arm(f"near {k}", "feasible-suboptimal", -0.2 - 0.1 * k, 2.5 + k) for k in range(3)),
        make_arm("awry", "infeasible-suboptimal", 600.0, 90.0),
    ]
    return (
        make_plan([arm.name for arm in arms]),
        make_verdict(arms),
        make_rounds([[20] * 5, [0] * 5]),
    )


def test_a_far_arm_is_named_at_the_border_and_squeezes_nobody() -> None:
    chart = study_chart("map", *far_case()).to_dict()
    svg = chart_bytes(study_chart("map", *far_case()), ".svg").decode()
    assert ">awry: 600 →, 90 ↑<" in svg
    assert "1 arm beyond the border, named with how far" in svg
    for axis, least in (("x", 0.5), ("y", 3.0)):
        low, high = next(
            one["encoding"][axis]["scale"]["domain"]
            for one in chart["layer"]
            if "scale" in one["encoding"].get(axis, {})
        )
        assert least < high - low < 4.0 * least, axis
    differences = chart_bytes(study_chart("differences", *far_case()), ".svg").decode()
    assert ">+90 →<" in differences


def test_unknown_kinds_are_refused_before_anything_is_drawn() -> None:
    with pytest.raises(InputError, match=r"kind = 'mop' must be one of .* Did you mean 'map'"):
        study_chart("mop", *phase_case())


# ------------------------------------------------------------------ names


def walk(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every entry of a specification outside its data."""
    yield key, value
    if isinstance(value, dict):
        for name, entry in value.items():
            if name not in ("values", "datasets", "data"):
                yield from walk(entry, name)
    elif isinstance(value, list):
        for entry in value:
            yield from walk(entry, key)


@pytest.mark.parametrize("policy", ["top-two", "constrained-sr"])
@pytest.mark.parametrize("kind", STUDY_CHARTS)
def test_names_are_data_and_never_fields_or_expressions(kind: str, policy: str) -> None:
    """Outside the data a name may stand in titles and descriptions, which are literal text."""
    chart = study_chart(kind, *hostile_case(policy)).to_dict()
    for key, entry in walk(chart):
        assert key not in ("expr", "signal", "calculate", "filter", "labelExpr", "test")
        if key == "field":
            assert re.fullmatch(r"[a-z_]+", entry)
        if isinstance(entry, str) and key not in ("text", "description", "title"):
            assert not any(name in entry for name in HOSTILE)
    data = json.dumps(chart.get("datasets", chart), ensure_ascii=False)
    assert "x" * 200 in data  # whole, for the tooltip


@pytest.mark.parametrize("policy", ["top-two", "constrained-sr"])
@pytest.mark.parametrize("kind", STUDY_CHARTS)
def test_hostile_names_are_inert_in_a_picture(kind: str, policy: str) -> None:
    svg = inline_svg(STUDY_CHARTS[kind](*hostile_case(policy)), kind)
    tags = {element.tag.rsplit("}", 1)[-1] for element in ET.fromstring(svg).iter()}
    assert tags <= {"svg", "g", "path", "text", "line", "rect", "defs", "clipPath"}
    assert "<script" not in svg
    assert "<img" not in svg
    assert "http" not in svg
    texts = [element.text or "" for element in ET.fromstring(svg).iter("text")]
    assert any("datum.pulls" in text for text in texts)
    assert max(map(len, texts)) < 130


# ------------------------------------------------------------------ in the record


def test_ids_of_pictures_on_one_page_do_not_clash() -> None:
    import altair as alt

    data = alt.Data(values=[{"a": 1, "n": 'url(#clip0) id="clip0"'}])
    clipped = alt.Chart(data, description="d").mark_point(clip=True).encode(x="a:Q")
    chart = clipped + alt.Chart(data).mark_text().encode(text="n:N")
    one, two = (inline_svg(chart.properties(description="d"), name) for name in ("one", "two"))
    ids = [[e.get("id") for e in ET.fromstring(svg).iter() if e.get("id")] for svg in (one, two)]
    assert ids[0]
    assert not set(ids[0]) & set(ids[1])
    for svg, mine in zip((one, two), ids, strict=True):
        used = re.findall(r'clip-path="url\(#([^)]*)\)"', svg)
        assert used
        assert set(used) <= set(mine)
        (text,) = [e.text for e in ET.fromstring(svg).iter("text") if "clip0" in (e.text or "")]
        assert text == 'url(#clip0) id="clip0"'


def test_the_record_has_pictures_that_follow_the_reader() -> None:
    page = record_html(*hostile_case(), {"pull": [1]})
    assert page.count("<svg") == page.count("</svg>") == 4
    assert "<script" not in page
    assert "<img" not in page
    light, dark = THEMES["light"], THEMES["dark"]
    body = page.split("</style>")[1]
    assert colours_of(body) <= set(light.colours)
    for ours, theirs in zip(light.colours, dark.colours, strict=True):
        assert f'svg [fill="{ours}"]{{fill:{theirs}}}' in dark_rules()
    assert dark_rules() in page.split("</style>")[0]
    assert not any(name in body for name in HOSTILE if "<" in name)


def test_without_the_extra_the_record_is_made_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    page = record_html(*phase_case(), {"pull": [1]})
    assert page.count("<svg") == 2
    assert "pip install &#x27;ringfence[plots]&#x27;" in page
    assert "tempting" in page
    with pytest.raises(MissingExtraError):
        study_chart("map", *phase_case())


@pytest.mark.parametrize("name", [*cases(), "far"])
def test_simple_pictures_show_what_the_drawn_ones_do(name: str) -> None:
    """Every arm of the map by name, each point and interval inside its picture."""
    plan, verdict, _ = far_case() if name == "far" else cases()[name]
    found = plain_pictures(plan, verdict)
    for kind, svg in found.items():
        root = ET.fromstring(svg)
        assert colours_of(svg) <= set(LIGHT.colours), kind
        width, height = map(float, root.attrib["viewBox"].split()[2:])
        for one in root.iter():
            for key in ("x", "x1", "x2"):
                assert 0.0 <= float(one.get(key, 0.0)) <= width, (kind, one.attrib)
            for key in ("y", "y1", "y2"):
                assert 0.0 <= float(one.get(key, 0.0)) <= height, (kind, one.attrib)
    texts = [one.text or "" for one in ET.fromstring(found["map"]).iter("text")]
    drawn = chart_bytes(study_chart("map", plan, verdict, []), ".svg").decode()
    rows = [row["label"] for row in placed(map_rows(verdict))[1] if row["label"]]
    assert rows
    for label in rows:
        assert label in texts
        assert escape(label, quote=False) in drawn
    if name == "far":
        assert "awry: 600 →, 90 ↑" in texts
        assert "+90 →" in found["differences"]


# ------------------------------------------------------------------ from a study


def test_a_study_draws_itself(tmp_path: Any) -> None:
    study = rf.Study.create(
        "drawn", arms=["a", "b"], objective="minimize mean(loss)", constraints="mean(risk) <= 1",
        budget=30, policy="top-two", storage="memory://", seed=3,
    )  # fmt: skip
    with pytest.raises(NoAnswerError, match="Tell some pulls first"):
        study.figure()
    for pull in study.pulls(4):
        noise = 0.01 * (pull.seed % 17)
        study.tell(pull, {"loss": noise + (pull.arm == "a"), "risk": noise})
    for kind in STUDY_CHARTS:
        chart = study.figure(kind, theme="dark")
        assert chart.to_dict()["background"] == THEMES["dark"].background
        target = rf.save_chart(chart, tmp_path / f"{kind}.svg")
        assert target.read_text("utf-8").startswith("<svg")
    assert "_repr_mimebundle_" in dir(study.figure())
    for wrong in ({"kind": "pie"}, {"theme": "neon"}):
        with pytest.raises(InputError, match="must be one of"):
            study.figure(**wrong)


def test_a_theme_can_be_put_on_any_chart() -> None:
    chart = STUDY_CHARTS["map"](*phase_case())
    assert themed(chart, "print").to_dict()["background"] == THEMES["print"].background


def test_a_record_has_no_need_of_the_simulator() -> None:
    """Fresh, for what other tests loaded: neither a compiler nor a drawing library comes along."""
    import subprocess

    heavy = {"numba", "llvmlite", "scipy", "altair", "vl_convert"}
    code = (
        "import sys, ringfence.reports.record as r; print(*{m.split('.')[0] for m in sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not heavy & set(done.stdout.split())


def test_every_public_chart_name_is_there() -> None:
    import ringfence.reports.charts as charts

    assert sorted(charts._HOMES) == sorted(charts.__all__)
    for name in charts.__all__:
        assert getattr(charts, name) is not None
    with pytest.raises(AttributeError, match="no_such_chart"):
        charts.no_such_chart  # type: ignore[attr-defined]  # noqa: B018
