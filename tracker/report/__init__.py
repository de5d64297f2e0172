"""A page about a project, made to be sent: one document, in several formats."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from tracker.core import clock
from tracker.core.version import VERSION
from tracker.render.cells import minute_cell
from tracker.render.messages import report_figures
from tracker.report.commands import python_opening
from tracker.report.document import Document, line
from tracker.report.gather import Asked, Gathered, gather_report
from tracker.report.html import html_page
from tracker.report.markdown import markdown_text
from tracker.report.notebook import notebook_file
from tracker.report.own import own_document
from tracker.report.pdf import pdf_file
from tracker.report.sections import SECTIONS

if TYPE_CHECKING:
    from tracker.ledger import Ledger

__all__ = [
    "FORMATS",
    "Asked",
    "Document",
    "Gathered",
    "gather_report",
    "made_document",
    "own_document",
    "report_document",
]

FORMATS: Final[Mapping[str, Callable[[Document], bytes]]] = {
    "html": html_page,
    "md": markdown_text,
    "pdf": pdf_file,
    "ipynb": notebook_file,
}
"""By the ending of a file: what writes a document."""


def report_document(
    ledger: Ledger, asked: Asked, step: Callable[[str], None] = lambda _: None
) -> Document:
    """Return the report of a project as a document; all of it is of one state of the ledger.

    ``step`` is called with what is counted, or drawn, next. Raises NotFound for what there is
    not, InvalidOption for a choice that fits no question.
    """
    return made_document(gather_report(ledger, asked, step), step)


def made_document(found: Gathered, step: Callable[[str], None] = lambda _: None) -> Document:
    """Return what was gathered as a document."""
    step("page")
    made = minute_cell(clock.now())
    told = report_figures.state_lines(*found.state, VERSION, made)
    return Document(
        found.asked.project,
        report_figures.ABOUT,
        [make(found) for make in SECTIONS.values()],
        [line(text) for text in told],
        python_opening(found),
    )
