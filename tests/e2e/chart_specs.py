"""Charts to draw: every one that ringfence makes, and small ones for what Vega-Lite can express."""

import math
from typing import Any

from ringfence.reports.charts import paper_figure, plan_figure, scene_figure, tournament_figure
from ringfence.reports.scenes import NEAR_MISS, TIE_RULE
from ringfence.reports.tournament import tournament_report
from ringfence.simulation.cells import Cell
from tests.unit.test_paper_report import decaying, report

Spec = dict[str, Any]

# What an arm may be called: nothing of it may be read as markup, code or a path to a field.
# Vega itself cannot stack by a field of which one value is "constructor": bars by arm do not stack.
RUDE_NAMES = (
    "<img src=x onerror=document.title='run'>",
    'it\'s "quoted" \\ [0].x',
    "constructor",
    "${datum} & more",
)
ARMS: list[Spec] = [
    {
        "arm": name,
        "place": place,
        "latency": 90.0 + 37.5 * place,
        "low": 80.0 + 37.5 * place,
        "high": 105.0 + 37.5 * place,
        "error": 10.0 ** (-place - 1),
        "alive": place % 2 == 0,
        "phase": 1 + place % 3,
        "pulls": 20 + 15 * place,
        "told": f"2025-03-0{1 + place}T0{place}:30:00Z",
        "nested": {"a.b": place, "list": [place, place + 1]},
    }
    for place, name in enumerate((*RUDE_NAMES, "plain", "warm"))
]
DATA = {"values": ARMS}
LATENCY = {"field": "latency", "type": "quantitative"}
ARM = {"field": "arm", "type": "nominal"}

HANDMADE: dict[str, Spec] = {
    "map with a limit": {
        "width": "container",
        "data": DATA,
        "layer": [
            {
                "mark": {"type": "rect", "opacity": 0.2, "color": "#D55E00"},
                "data": {"values": [{"limit": 200}]},
                "encoding": {
                    "y": {"field": "limit", "type": "quantitative"},
                    "y2": {"value": 0},
                },
            },
            {
                "mark": {"type": "rule", "strokeDash": [4, 4]},
                "encoding": {"y": {"datum": 200}},
            },
            {
                "mark": {"type": "text", "align": "right", "dy": -6, "x": "width"},
                "encoding": {"y": {"datum": 200}, "text": {"value": "limit: at most 200 ms"}},
            },
            {
                "mark": {"type": "rule"},
                "encoding": {
                    "x": {"field": "place", "type": "quantitative"},
                    "y": {"field": "low", "type": "quantitative", "title": "latency, ms"},
                    "y2": {"field": "high"},
                },
            },
            {
                "mark": {"type": "point", "filled": True, "size": 90, "tooltip": True},
                "encoding": {
                    "x": {"field": "place", "type": "quantitative"},
                    "y": LATENCY,
                    "color": {
                        "condition": {"test": "datum.latency > 200", "value": "#D55E00"},
                        "value": "#0072B2",
                    },
                    "shape": {
                        "condition": [
                            {"test": "!datum.alive && datum['latency'] > 150", "value": "cross"},
                            {"test": {"field": "alive", "equal": True}, "value": "circle"},
                        ],
                        "value": "square",
                    },
                    "tooltip": [
                        {"field": "arm", "title": "arm"},
                        {"field": "latency", "format": ".1f", "title": "<b>latency</b>"},
                        {"field": "told", "type": "temporal", "format": "%d %b %Y %H:%M"},
                        {"field": "nested\\.none", "title": "nothing"},
                    ],
                },
            },
        ],
    },
    "log scale": {
        "data": DATA,
        "mark": {"type": "line", "point": True, "interpolate": "monotone"},
        "encoding": {
            "x": {"field": "pulls", "type": "quantitative", "scale": {"zero": False}},
            "y": {
                "field": "error",
                "type": "quantitative",
                "scale": {"type": "log"},
                "axis": {"format": "~e", "labelExpr": "datum.value < 1e-4 ? '' : datum.label"},
            },
        },
    },
    "symlog, power and reversed": {
        "data": DATA,
        "mark": "square",
        "encoding": {
            "x": {"field": "error", "type": "quantitative", "scale": {"type": "symlog"}},
            "y": {**LATENCY, "scale": {"type": "sqrt", "reverse": True, "nice": 4}},
            "size": {"field": "pulls", "type": "quantitative"},
            "opacity": {"field": "phase", "type": "ordinal"},
        },
    },
    "stacked bars": {
        "width": "container",
        "data": DATA,
        "mark": {"type": "bar", "cornerRadiusEnd": 3},
        "encoding": {
            "y": {"field": "phase", "type": "ordinal"},
            "x": {"field": "pulls", "type": "quantitative", "aggregate": "sum"},
            "color": {**ARM, "legend": {"orient": "bottom", "columns": 2, "labelLimit": 120}},
            "order": {"field": "place", "type": "quantitative"},
        },
    },
    "shares and grouped bars": {
        "data": DATA,
        "hconcat": [
            {
                "mark": "bar",
                "encoding": {
                    "x": {"field": "phase", "type": "ordinal", "axis": {"labelAngle": 0}},
                    "y": {"field": "pulls", "type": "quantitative", "stack": "normalize"},
                    "color": {"field": "alive", "type": "nominal"},
                },
            },
            {
                "mark": "bar",
                "encoding": {
                    "x": {"field": "phase", "type": "ordinal"},
                    "xOffset": {"field": "alive", "type": "nominal"},
                    "y": {"field": "pulls", "type": "quantitative"},
                    "color": {"field": "alive", "type": "nominal"},
                },
            },
        ],
    },
    "transforms": {
        "data": DATA,
        "transform": [
            {"calculate": "datum.latency / 1000", "as": "seconds"},
            {"calculate": "format(datum.seconds, '.3f') + ' s, ' + upper('ok')", "as": "note"},
            {"filter": "isValid(datum.seconds) && datum.seconds >= 0.09"},
            {"filter": {"field": "place", "oneOf": [0, 1, 2, 4, 5]}},
            {
                "window": [{"op": "sum", "field": "pulls", "as": "spent"}],
                "sort": [{"field": "place"}],
            },
            {"joinaggregate": [{"op": "mean", "field": "latency", "as": "mean"}]},
            {"calculate": "datum.latency - datum.mean", "as": "above"},
        ],
        "layer": [
            {
                "mark": {"type": "area", "opacity": 0.4, "line": True},
                "encoding": {
                    "x": {"field": "spent", "type": "quantitative"},
                    "y": {"field": "above", "type": "quantitative", "impute": {"value": 0}},
                },
            },
            {
                "mark": {"type": "text", "limit": 60, "angle": 20, "align": "left"},
                "encoding": {
                    "x": {"field": "spent", "type": "quantitative"},
                    "y": {"field": "above", "type": "quantitative"},
                    "text": {"field": "note"},
                },
            },
        ],
    },
    "folded and aggregated": {
        "data": DATA,
        "transform": [
            {"fold": ["low", "latency", "high"], "as": ["end", "ms"]},
            {
                "aggregate": [{"op": "median", "field": "ms", "as": "middle"}],
                "groupby": ["end", "alive"],
            },
            {
                "stack": "middle",
                "groupby": ["alive"],
                "as": ["from", "to"],
                "sort": [{"field": "end"}],
            },
        ],
        "mark": {"type": "bar"},
        "encoding": {
            "x": {"field": "from", "type": "quantitative"},
            "x2": {"field": "to"},
            "y": {"field": "alive", "type": "nominal"},
            "color": {"field": "end", "type": "nominal", "sort": ["low", "latency", "high"]},
        },
    },
    "binned": {
        "data": {"values": [{"x": math.sin(i) * i} for i in range(60)]},
        "mark": "bar",
        "encoding": {
            "x": {"bin": {"maxbins": 12}, "field": "x", "type": "quantitative"},
            "y": {"aggregate": "count"},
        },
    },
    "density, quantiles, regression": {
        "data": {"values": [{"x": math.sin(i) * i, "y": math.cos(i) + i / 9} for i in range(60)]},
        "vconcat": [
            {
                "transform": [{"density": "x", "bandwidth": 8}],
                "mark": "area",
                "encoding": {
                    "x": {"field": "value", "type": "quantitative"},
                    "y": {"field": "density", "type": "quantitative"},
                },
            },
            {
                "transform": [{"quantile": "x", "step": 0.05}],
                "mark": "trail",
                "encoding": {
                    "x": {"field": "prob", "type": "quantitative"},
                    "y": {"field": "value", "type": "quantitative"},
                },
            },
            {
                "transform": [{"loess": "y", "on": "x"}],
                "mark": "line",
                "encoding": {
                    "x": {"field": "x", "type": "quantitative"},
                    "y": {"field": "y", "type": "quantitative"},
                },
            },
        ],
    },
    "times": {
        "data": DATA,
        "mark": {"type": "tick", "thickness": 3},
        "encoding": {
            "x": {
                "field": "told",
                "timeUnit": "utcyearmonthdatehours",
                "type": "temporal",
                "axis": {"format": "%d %b, %Hh", "labelAngle": -30, "labelOverlap": True},
            },
            "y": {"field": "told", "timeUnit": "utchours", "type": "ordinal", "title": "hour"},
            "color": {"timeUnit": "utcday", "field": "told", "type": "ordinal"},
        },
    },
    "boxes and error bands": {
        "data": DATA,
        "vconcat": [
            {
                "mark": {"type": "boxplot", "extent": "min-max"},
                "encoding": {"x": LATENCY, "y": {"field": "alive", "type": "nominal"}},
            },
            {
                "mark": {"type": "errorband", "borders": True},
                "encoding": {
                    "x": {"field": "phase", "type": "quantitative"},
                    "y": {**LATENCY, "title": None},
                },
            },
        ],
    },
    "facets and repeats": {
        "data": DATA,
        "facet": {"row": {"field": "alive", "type": "nominal"}},
        "spec": {
            "width": 240,
            "height": 80,
            "mark": {"type": "bar", "width": {"band": 0.5}},
            "encoding": {
                "x": {**ARM, "sort": "-y", "axis": {"labelLimit": 50}},
                "y": {"field": "pulls", "type": "quantitative", "stack": None},
                "color": {"field": "latency", "type": "quantitative", "scale": {"scheme": "blues"}},
            },
        },
        "resolve": {"scale": {"x": "independent"}},
    },
    "heat and numbers": {
        "data": DATA,
        "layer": [
            {"mark": "rect", "encoding": {"color": {**LATENCY, "bin": True}}},
            {
                "mark": {"type": "text", "baseline": "middle"},
                "encoding": {
                    "text": {**LATENCY, "format": "d"},
                    "color": {
                        "condition": {"test": "datum.latency>200", "value": "white"},
                        "value": "black",
                    },
                },
            },
        ],
        "encoding": {
            "x": {"field": "phase", "type": "ordinal"},
            "y": {"field": "place", "type": "ordinal"},
        },
        "config": {"axis": {"grid": True, "tickBand": "extent"}},
    },
    "slices and gradients": {
        "data": DATA,
        "mark": {
            "type": "arc",
            "innerRadius": 40,
            "stroke": {
                "gradient": "linear",
                "stops": [{"offset": 0, "color": "white"}, {"offset": 1, "color": "#009E73"}],
            },
        },
        "encoding": {
            "theta": {"field": "pulls", "type": "quantitative", "stack": True},
            "color": {**ARM, "legend": {"labelExpr": "truncate(datum.label, 12)"}},
        },
    },
    "parameters": {
        "width": 300,
        "data": DATA,
        "params": [
            {
                "name": "limit",
                "value": 190,
                "bind": {"input": "range", "min": 50, "max": 300, "step": 10},
            },
            {"name": "half", "expr": "limit / 2 + (limit > 1e3 ? NaN : 0)"},
        ],
        "layer": [
            {
                "mark": {"type": "bar", "color": {"expr": "limit < 100 ? 'orange' : 'steelblue'"}},
                "transform": [{"filter": "datum.latency <= limit"}],
                "encoding": {"x": ARM, "y": {**LATENCY, "stack": None}},
            },
            {
                "mark": "rule",
                "encoding": {"y": {"datum": {"expr": "half"}, "type": "quantitative"}},
            },
        ],
    },
    "hover": {
        "width": 300,
        "data": DATA,
        "params": [
            {"name": "hover", "select": {"type": "point", "on": "pointerover", "nearest": True}},
            {"name": "picked", "select": {"type": "point", "fields": ["alive"]}, "bind": "legend"},
        ],
        "mark": {"type": "point", "filled": True, "size": 120, "tooltip": {"content": "data"}},
        "encoding": {
            "x": {"field": "place", "type": "quantitative"},
            "y": LATENCY,
            "color": {"field": "alive", "type": "nominal"},
            "stroke": {
                "condition": {"param": "hover", "empty": False, "value": "black"},
                "value": None,
            },
            "opacity": {"condition": {"param": "picked", "value": 1}, "value": 0.2},
        },
    },
    "brush": {
        "width": 300,
        "data": DATA,
        "params": [{"name": "brush", "select": {"type": "interval", "encodings": ["x"]}}],
        "mark": "bar",
        "encoding": {
            "x": {"field": "place", "type": "quantitative"},
            "y": LATENCY,
            "color": {"condition": {"param": "brush", "value": "#0072B2"}, "value": "#bbbbbb"},
        },
    },
    "zoom": {
        "width": 300,
        "data": DATA,
        "params": [{"name": "grid", "select": "interval", "bind": "scales"}],
        "mark": {"type": "circle", "clip": True},
        "encoding": {"x": {"field": "place", "type": "quantitative"}, "y": LATENCY},
    },
}


def ringfence_charts() -> dict[str, Spec]:
    """Return every chart that ringfence draws, on made-up numbers."""
    curve = [
        {
            "budget": budget,
            "error_rate": math.exp(-budget / 400),
            "std_error": 0.02 * math.exp(-budget / 400),
            "upper_bound": min(1.0, 9 * math.exp(-budget / 900)),
        }
        for budget in (500, 1000, 2000, 3500)
    ]
    plan = {
        "policy": "constrained-sr",
        "instance": "paper-3",
        "budget": 3_684,
        "unit": "pulls",
        "target_error": 1e-4,
        "oracle_rate": 0.004,
        "curve": curve,
    }
    cells = [
        Cell(f"{arms}-{place}", arms, policy, 100, 1, 40 + 13 * place + 9 * number, 1000)
        for arms in (3, 8)
        for place in range(5)
        for number, policy in enumerate(("base", "other", "third"))
    ]
    tournament = tournament_report(
        cells, family="uniform", seed=0, target_error=0.05, scales="known"
    )
    charts = {
        "plan": plan_figure(plan),
        "tournament": tournament_figure(tournament),
        "paper": paper_figure(report(decaying(3e-4, 2e-4, 1000), 1000)),
        "scenes": scene_figure([TIE_RULE, NEAR_MISS]),
    }
    return {name: chart.to_dict() for name, chart in charts.items()}
