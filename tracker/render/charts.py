"""A chart, drawn without a browser, and its text alternative."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
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
        drawn: dict[str, Any] = _changed(self.drawing.to_dict(validate=False), _drawable)
        short = _shortened(drawn.get("datasets", {}))
        return {**_changed(drawn, lambda text: short.get(text, text)), "config": _CONFIG}

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
        sentence = f"<title>{title}</title><desc>{description}</desc>"
        drawn = _VALUE.sub(r'<\1 class="value"\3><title>\2</title></\1>', drawn)
        head, _, rest = _TAG.sub(lambda tag: _ROLE.sub("", tag[0]), drawn).partition(">")
        return f'{head} role="img">{sentence}{rest}'

    def png(self, scale: float = 2) -> bytes:
        """Return the chart as PNG, ``scale`` times as large as its SVG."""
        import vl_convert

        return vl_convert.vegalite_to_png(self.spec, scale=scale)


_TAG = re.compile("<[^<>]*>")
_ROLE = re.compile(' (role|aria-[a-z]+)="[^"]*"')  # of parts: the whole is one picture
_VALUE = re.compile(r'<(\w+) aria-label="([^"]*)" role="graphics-symbol"([^<>]*)/>')
"""A mark with words for who points at it."""
_BROKEN = re.compile("[\ufffe\uffff]")  # what XML has not
_BEYOND = re.compile("[\U00010000-\U0010ffff]")  # signs of two halves, such as pictures
_NAMES = frozenset({"annotator", "other", "category", "question", "model"})
_LONGEST = 24  # signs of a name; they fit beside a chart
_SURE = 8  # signs of a text that is never cut: a cut between two halves is an error


def _drawable(text: str) -> str:
    """Return a text that can be drawn, whatever is in it."""
    shown = _BROKEN.sub(_written, escaped_line(text))
    return shown if len(shown) <= _SURE else _BEYOND.sub(_written, shown)


def _written(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode()


def _shortened(datasets: Mapping[str, Any]) -> dict[str, str]:
    """Return a short form, each another, of every long name in the rows of a chart.

    Vega cuts them, too, but measures each cut, and what it leaves of two names may be the same.
    """
    texts = (text for rows in datasets.values() for row in rows
             for name, text in row.items() if name in _NAMES and isinstance(text, str))  # fmt: skip
    short: dict[str, str] = {}
    for text in dict.fromkeys(texts):
        if len(text) > _LONGEST:
            start = text[:_LONGEST]
            again = sum(other.startswith(start) for other in short)
            short[text] = f"{start}… {again + 1}" if again else f"{start}…"
    return short


def _changed(value: Any, change: Callable[[str], str]) -> Any:
    """Return a part of a chart, every text in it changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_changed(element, change) for element in value]
    if isinstance(value, dict):
        return {key: _changed(element, change) for key, element in value.items()}
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
        "labelLimit": 220,
    },
    "header": {"labelColor": INK, "titleColor": FAINT, "labelFontSize": 12, "labelLimit": 220},
    "legend": {"labelColor": INK, "titleColor": FAINT, "titleFontWeight": "normal"},
}  # fmt: skip
