"""A document as one HTML file that asks nothing of anybody: no script, no request."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from tracker.core.errors import escaped_text
from tracker.render.charts import ALARM, FAINT, INK, MARK
from tracker.report.document import Document

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

    from tracker.render.charts import Chart


# -- The words of a report's page itself, for every format ----------------------------------------


WORDS: Final = {
    "skip": "Skip to the report",
    "contents": "On this page",
    "why": "Why these numbers",
    "why_this": "Why this",
    "rows": "The same as a table",
    "command": "Printed by",
    "nothing": "Nothing to do",
    "todo": "To do",
    "no_text": "This page has no text of the item.",
    "more": "more rows are not shown",
    "sideways": "a table that can be moved sideways",
    "chart_sideways": "a chart that can be moved sideways",
    "report": "Report",
    "opening": "Opens the ledger; the cells below count what stands before them again.",
    "state": "What this page shows",
}


_COLORS: Final = {
    INK: "var(--ink)",
    FAINT: "var(--faint)",
    MARK: "var(--mark)",
    ALARM: "var(--alarm)",
    "#e3e6ea": "var(--line)",
    "white": "var(--paper)",
}
_TAG = re.compile(r"<[^<>]*>")
_COLOR = re.compile(r'\b(fill|stroke)="([^"]*)"')
_NAME = re.compile(r'\bid="([^"]*)"|url\(#([^)]*)\)')
_FONT = re.compile(r' font-family="[^"]*"')
_NEEDLESS = re.compile(
    r' (class="(mark|role)-[^"]*"|pointer-events="none"|(opacity|stroke-width)="1")'
)
_HUE = re.compile(r"rgb\((\d+), (\d+), (\d+)\)")
_CIRCLE = re.compile(
    r'<path (transform="[^"]*") d="M([\d.]+),0A\2,\2,0,1,1,-\2,0A\2,\2,0,1,1,\2,0"'
)
_STROKE = re.compile(r' stroke-[a-z]+="[^"]*"')
_DIGITS = re.compile(r"(\.\d\d)\d+")
_IDLE = re.compile(r'<path class="(foreground|background)"(?![^<>]*fill=)[^<>]*/>')
_ALIKE = re.compile(r'<path d="[^"]*"( fill="#\w+")/>(?:<path d="[^"]*"\1/>)+')
_OUTLINE = re.compile(r' d="([^"]*)"')
_EMPTY = re.compile(r"<g( [^<>]*)?(/>|(?<!/)></g>)")


def html_page(document: Document) -> bytes:
    page = page_environment().get_template("report.html")
    return page.render(document=document).encode()


@cache
def page_environment() -> Environment:
    """Return the templates, for a report and for other pages made of the same sections.

    A page includes ``section.html`` with the name ``section``, and ``style.css`` in its head.
    Everything that is put in is text, and is escaped.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("tracker.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_visible,
    )
    environment.filters |= {"kind": lambda block: type(block).__name__, "anchor": anchor}
    environment.globals |= {"picture": picture, "words": WORDS}
    return environment


def _visible(value: Any) -> Any:
    """Return a text without what acts on a reader's screen; markup as it is."""
    return escaped_text(value) if type(value) is str else value


def anchor(name: str) -> str:
    """Return a name as it stands in a page's address."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def picture(chart: Chart, name: str, *, titled: bool = False) -> Markup:
    """Return a chart as a part of a page, in the page's colors.

    Args:
        chart: the chart.
        name: unique within the page: what the chart names inside begins with it.
        titled: whether its title is drawn; else the page has it as a heading.
    """
    from markupsafe import Markup

    drawn = _EMPTY.sub("", _IDLE.sub("", chart.svg(titled=titled)))
    drawn = _TAG.sub(lambda tag: _own(tag[0], name), drawn)
    drawn = _ALIKE.sub(
        lambda run: f'<path d="{"".join(_OUTLINE.findall(run[0]))}"{run[1]}/>', drawn
    )
    # The drawing escapes the names in it, as XML has it.
    return Markup(drawn)  # noqa: S704


def _own(tag: str, name: str) -> str:
    """Return a tag of a chart with the page's colors and font, and with names of its own."""
    tag = _COLOR.sub(lambda hit: f'{hit[1]}="{_COLORS.get(hit[2], hit[2])}"', tag)
    tag = _NAME.sub(lambda hit: hit[0].replace(hit[1] or hit[2], f"{name}-{hit[1] or hit[2]}"), tag)
    tag = _DIGITS.sub(r"\1", _CIRCLE.sub(r'<circle \1 r="\2"', tag))
    tag = tag if ' stroke="' in tag else _STROKE.sub("", tag)
    tag = _HUE.sub(lambda hue: "#{:02x}{:02x}{:02x}".format(*map(int, hue.groups())), tag)
    return _NEEDLESS.sub("", _FONT.sub("", tag))
