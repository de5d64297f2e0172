"""A chart, drawn without a browser, and its text alternative."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    import altair as alt

INK, FAINT, MARK, ALARM = "#1f2328", "#6e7781", "#0b5cad", "#b3450a"
"""Colors of texts, of what is in the background, of a figure, and of one to look at; on white each
has the contrast of WCAG AA."""
WIDTH = 480
ROW = 22
MOST = 40  # rows, so that a chart fits on a page


@dataclass(frozen=True)
class Chart:
    """A chart of some figures.

    Attributes:
        title: what it shows.
        description: the same in a sentence or two, for those who do not see it.
        drawing: the chart, for Altair and notebooks.
        rows: the figures in it, a row for each mark.
    """

    title: str
    description: str
    drawing: alt.TopLevelMixin
    rows: Sequence[Mapping[str, Any]]

    @property
    def spec(self) -> dict[str, Any]:
        """Return the chart as Vega-Lite has it."""
        return {**self.drawing.to_dict(), "config": _CONFIG}

    def svg(self) -> str:
        """Return the chart as SVG, with its title and description for programs that read aloud."""
        import vl_convert

        drawn = vl_convert.vegalite_to_svg(self.spec)
        told = f"<title>{escape(self.title)}</title><desc>{escape(self.description)}</desc>"
        head, _, rest = drawn.partition(">")
        return f'{head} role="img">{told}{rest}'

    def png(self, scale: float = 2) -> bytes:
        """Return the chart as PNG, ``scale`` times as large as its SVG."""
        import vl_convert

        return vl_convert.vegalite_to_png(self.spec, scale=scale)


_CONFIG = {
    "font": "DejaVu Sans, Verdana, Arial, sans-serif",
    "background": "white",
    "view": {"stroke": None},
    "title": {"color": INK, "fontSize": 14, "anchor": "start", "subtitleColor": FAINT},
    "axis": {
        "labelColor": INK, "titleColor": FAINT, "titleFontWeight": "normal", "labelFontSize": 12,
        "titleFontSize": 11, "domain": False, "ticks": False, "gridColor": "#e3e6ea",
        "labelLimit": 180,
    },
    "header": {"labelColor": INK, "titleColor": FAINT, "labelFontSize": 12, "labelLimit": 180},
    "legend": {"labelColor": INK, "titleColor": FAINT, "titleFontWeight": "normal"},
}  # fmt: skip
