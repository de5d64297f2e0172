"""A chart, drawn without a browser, and its text alternative."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

from tracker.render.escape import escaped_line

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
        """Return the chart as Vega-Lite has it.

        What would act on a reader's screen is escaped in every text. Some of it, such as signs that
        turn the direction of writing, would end the program that draws.
        """
        drawn: dict[str, Any] = _escaped(self.drawing.to_dict())
        return {**drawn, "config": _CONFIG}

    def svg(self, *, titled: bool = True) -> str:
        """Return the chart as SVG, with its title and description for programs that read aloud.

        Unless ``titled`` the title is not drawn: a page has it as a heading.
        """
        import vl_convert

        spec = self.spec
        if not titled:
            spec.pop("title", None)
        drawn = vl_convert.vegalite_to_svg(spec)
        title, description = escape(_drawable(self.title)), escape(_drawable(self.description))
        told = f"<title>{title}</title><desc>{description}</desc>"
        head, _, rest = _TAG.sub(lambda tag: _ROLE.sub("", tag[0]), drawn).partition(">")
        return f'{head} role="img">{told}{rest}'

    def png(self, scale: float = 2) -> bytes:
        """Return the chart as PNG, ``scale`` times as large as its SVG."""
        import vl_convert

        return vl_convert.vegalite_to_png(self.spec, scale=scale)


_TAG = re.compile("<[^<>]*>")
_ROLE = re.compile(' (role|aria-[a-z]+)="[^"]*"')  # of parts: the whole is one picture
_BROKEN = re.compile("[\ufffe\uffff]")  # what XML has not
_BEYOND = re.compile("[\U00010000-\U0010ffff]")  # signs of two halves, such as pictures
_SURE = 8  # signs of a text that is never cut: a cut between two halves is an error


def _drawable(text: str) -> str:
    """Return a text that can be drawn, whatever is in it."""
    shown = _BROKEN.sub(_written, escaped_line(text))
    return shown if len(shown) <= _SURE else _BEYOND.sub(_written, shown)


def _written(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()


def _escaped(value: Any) -> Any:
    if isinstance(value, str):
        return _drawable(value)
    if isinstance(value, list):
        return [_escaped(one) for one in value]
    if isinstance(value, dict):
        return {key: _escaped(one) for key, one in value.items()}
    return value


_CONFIG = {
    "aria": False,  # the picture has a description, and its rows are said beside it
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
