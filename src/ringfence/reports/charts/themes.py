"""How charts look: three themes of colours, which a chart takes on at the end. Touches nothing.

A chart names no colour: it names styles ("limit", "note") and leaves categories to the theme, so
that one chart serves paper, a dark page and a record that follows its reader. Categories keep
apart for colour-blind readers (Okabe and Ito's, darkened or lightened until they can be read as
text); what they tell is told by shape, dash or label too.
"""

from dataclasses import dataclass
from typing import Any

from ringfence.core.errors import one_of


@dataclass(frozen=True)
class Theme:
    """The colours of a chart. No two of a theme are the same, so that one can be told for another.

    `categories` go to what is named first, second, ...: every chart's order is its own.
    """

    name: str
    background: str
    text: str
    muted: str
    grid: str
    frame: str
    categories: tuple[str, ...]

    @property
    def colours(self) -> tuple[str, ...]:
        """All colours but the background, in the same order for every theme."""
        return (self.text, self.muted, self.grid, self.frame, *self.categories)

    def config(self) -> dict[str, Any]:
        """Return what Vega-Lite calls a config."""
        first, second = self.categories[:2]
        quiet = {"labelColor": self.muted, "titleColor": self.text}
        return {
            "axis": {
                **quiet,
                "labelFontSize": 11,
                "titleFontSize": 12,
                "titleFontWeight": "normal",
                "titlePadding": 8,
                "gridColor": self.grid,
                "domainColor": self.frame,
                "tickColor": self.frame,
                "labelLimit": LABEL_LIMIT,
            },
            "legend": {
                **quiet,
                "labelColor": self.text,
                "labelFontSize": 12,
                "titleFontSize": 12,
                "titleFontWeight": "normal",
                "symbolSize": 90,
                "labelLimit": 2 * LABEL_LIMIT,
                "symbolOpacity": 1,
            },
            "title": {
                "color": self.text,
                "subtitleColor": self.muted,
                "anchor": "start",
                "frame": "group",
                "fontSize": 15,
                "subtitleFontSize": 12,
                "subtitlePadding": 5,
                "offset": 14,
            },
            "view": {"stroke": self.frame},
            "text": {"color": self.text, "fontSize": 11},
            "rule": {"color": self.muted},
            "point": {"opacity": 1},
            "range": {"category": list(self.categories)},
            "style": {
                "limit": {"color": self.muted, "strokeDash": [5, 4]},
                "note": {"color": self.muted},
                "outline": {"color": self.text},
                "first": {"color": first},
                "second": {"color": second},
                "third": {"color": self.categories[2]},
                "quiet": {"color": self.categories[5]},
            },
        }


LABEL_LIMIT = 150

LIGHT = Theme(
    name="light",
    background="#ffffff",
    text="#1b1b1f",
    muted="#5c5c66",
    grid="#e8e8ec",
    frame="#b4b4bc",
    categories=(
        "#0072b2", "#b84a00", "#00795a", "#a23b72", "#7a5c00", "#55555f", "#6a4fb3", "#0b7285",
        "#8a1c1c",
    ),
)  # fmt: skip
DARK = Theme(
    name="dark",
    background="#17171a",
    text="#e8e8ec",
    muted="#a8a8b4",
    grid="#2c2c31",
    frame="#55555e",
    categories=(
        "#56b4e9", "#f0883e", "#3fc99a", "#e69bc3", "#e3b341", "#a0a0ae", "#b39dff", "#4fd1d9",
        "#ff8f8f",
    ),
)  # fmt: skip
PRINT = Theme(
    name="print",
    background="#ffffff",
    text="#000000",
    muted="#3d3d3d",
    grid="#e2e2e2",
    frame="#8c8c8c",
    categories=(
        "#111111", "#6b6b6b", "#4a4a4a", "#757575", "#222222", "#696969", "#333333", "#5e5e5e",
        "#444444",
    ),
)  # fmt: skip
THEMES = {theme.name: theme for theme in (LIGHT, DARK, PRINT)}


def find_theme(theme: str | Theme) -> Theme:
    """Return a theme by its name, or refuse the name."""
    if isinstance(theme, Theme):
        return theme
    if theme not in THEMES:
        raise one_of("theme", theme, THEMES)
    return THEMES[theme]


def themed(chart: Any, theme: str | Theme = LIGHT, *, transparent: bool = False) -> Any:
    """Return the chart in the colours of a theme, on its background or on the page's own."""
    chosen = find_theme(theme)
    background = "transparent" if transparent else chosen.background
    return chart.properties(background=background, config=chosen.config())
