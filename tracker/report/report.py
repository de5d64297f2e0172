"""A page about a project, made to be sent: one document, in several formats."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from tracker.agreement.sentences import reason
from tracker.core import clock
from tracker.core.version import VERSION
from tracker.measures.registry import MEASURES
from tracker.render.blocks import Column
from tracker.render.cells import minute_cell
from tracker.render.filter import selection_in_words
from tracker.render.nouns import listed, quoted
from tracker.report import words
from tracker.report.agreement import agreement_section, confusions_section, pairs_section
from tracker.report.annotators import annotators_section
from tracker.report.document import (
    Block,
    Bullets,
    Code,
    Document,
    Group,
    Line,
    Paragraph,
    Section,
    Table,
    Why,
    line,
    listing,
)
from tracker.report.gather import command, gather_report, python_opening
from tracker.report.gathered import Asked, Gathered, OfQuestion
from tracker.report.history import history_section, progress_section
from tracker.report.html import html_page
from tracker.report.judges import judges_section
from tracker.report.markdown import markdown_text
from tracker.report.notebook import notebook_file
from tracker.report.pdf import pdf_file
from tracker.report.verdict import verdict_section

if TYPE_CHECKING:
    from tracker.ledger import Ledger


# -- How it was measured, for a paper, and with which settings ------------------------------------


def methods_section(gathered: Gathered) -> Section:
    """Return the methods paragraph of each question, its citations, and the settings."""
    blocks: list[Block] = []
    for place, question in enumerate(gathered.questions):
        parts = [*_methods_of_question(gathered, question)]
        blocks += [Group(question.name, parts, place > 0)] if gathered.several else parts
    blocks += [_settings(gathered), *_choice(gathered)]
    return Section("methods", "Methods and settings", blocks)


def _methods_of_question(gathered: Gathered, question: OfQuestion) -> Iterator[Block]:
    if question.methods is None:
        yield Paragraph(line(words.NO_METHODS))
        return
    yield Paragraph(line(question.methods["in_words"]))
    entries = [line(Code(entry)) for entry in question.methods["bibtex"].strip().split("\n\n")]
    yield Group("BibTeX", [Bullets(entries)], True)
    yield Why([], command(gathered, "agreement", "--methods", "--bibtex", question=question.name))


_SETTINGS: Final = (
    Column("question"), Column("answers"), Column("scale"),
    Column("categories", kind=words.categories_listed), Column("wanted", kind="known"),
)  # fmt: skip


def _settings(gathered: Gathered) -> Table:
    rows = [{"question": question.name, **question.settings} for question in gathered.questions]
    return listing("Settings", _SETTINGS, rows)


def _choice(gathered: Gathered) -> Iterator[Block]:
    selection = gathered.questions[0].agreement["selection"]
    lines = []
    if selection is not None:
        lines.append(line(words.chosen(selection_in_words(selection))))
    if gathered.asked.pseudonyms:
        lines.append(line(words.PSEUDONYMS))
        lines += [line(words.NOTES)] if gathered.notes else []
    if gathered.asked.pseudonyms or not gathered.asked.texts:
        lines.append(line(words.TEXTS if gathered.asked.texts else words.NO_TEXTS))
    if gathered.asked.suppress_below:
        lines.append(line(words.suppressed(gathered.asked.suppress_below)))
    if lines:
        yield Bullets(lines)


# -- What has no figure, and why ------------------------------------------------------------------


def undefined_section(gathered: Gathered) -> Section:
    """Return the figures that cannot be had, each with its reason; once if it is that of all."""
    title = "What is undefined, and why"
    by_name = {question.name: list(_undefined_lines(question)) for question in gathered.questions}
    first, *others = by_name.values()
    common = [sentence for sentence in first if all(sentence in lines for lines in others)]
    unfit = [line(words.undefined_line(row["question"], row["why"])) for row in gathered.unfit]
    blocks: list[Block] = [Bullets([*common, *unfit])] if common or unfit else []
    for name, lines in by_name.items():
        own = [sentence for sentence in lines if sentence not in common]
        blocks += [Group(name, [Bullets(own)])] if own else []
    return Section("undefined", title, blocks or [Paragraph(line(words.ALL_DEFINED))])


def _undefined_lines(question: OfQuestion) -> Iterator[Line]:
    for row in question.agreement["measures"]:
        if row["value"] is None:
            yield line(words.undefined_line(MEASURES[row["measure"]].title, reason(row)))
    without: dict[str, list[str]] = {}
    for row in question.categories:
        if row["rate"] is None:
            without.setdefault(reason(row), []).append(quoted(row["category"]))
    for why, names in without.items():
        yield line(words.undefined_line(listed(names, 10), why))
    lacking: dict[str, list[str]] = {}
    kinds: list[Mapping[str, str]] = question.audit["not_applicable"]
    for row in kinds:
        lacking.setdefault(row["why"], []).append(row["kind"].replace("_", " "))
    for why, names in lacking.items():
        yield line(words.undefined_line(listed(names, 20), why))


# -- The sections of a report, one a file: what was gathered in, a part of a page out -------------


SECTIONS: Final[Mapping[str, Callable[[Gathered], Section]]] = {
    "verdict": verdict_section,
    "agreement": agreement_section,
    "judges": judges_section,
    "history": history_section,
    "pairs": pairs_section,
    "confusions": confusions_section,
    "annotators": annotators_section,
    "progress": progress_section,
    "undefined": undefined_section,
    "methods": methods_section,
}
"""In the order of reading; a section's name is that by which it is found on the page."""


FORMATS: Final[Mapping[str, Callable[[Document], bytes]]] = {
    "html": html_page,
    "md": markdown_text,
    "pdf": pdf_file,
    "ipynb": notebook_file,
}
"""By the ending of a file: what writes a document."""


def report_file(
    ledger: Ledger, asked: Asked, kind: str, step: Callable[[str], None] = lambda _: None
) -> bytes:
    """Return the report of a project in a format; see `report_document`."""
    with ledger.one_state():
        return stored_report(ledger, gather_report(ledger, asked, step), kind, step)


def stored_report(
    ledger: Ledger, gathered: Gathered, kind: str, step: Callable[[str], None] = lambda _: None
) -> bytes:
    """Return a report in a format, the same bytes until the gathered figures change."""
    return ledger.stored_page(
        gathered.asked.project,
        f"report {kind} {gathered.asked}",
        gathered,
        lambda: FORMATS[kind](made_document(gathered, step)),
    )


def report_document(
    ledger: Ledger, asked: Asked, step: Callable[[str], None] = lambda _: None
) -> Document:
    """Return the report of a project as a document; all of it is of one state of the ledger.

    ``step`` is called with what is counted, or drawn, next. Raises NotFound for what there is
    not, InvalidOption for a choice that fits no question.
    """
    return made_document(gather_report(ledger, asked, step), step)


def made_document(gathered: Gathered, step: Callable[[str], None] = lambda _: None) -> Document:
    step("page")
    minute = minute_cell(clock.now())
    sections = [make(gathered) for make in SECTIONS.values()]
    sentences = words.state_lines(*gathered.state, VERSION, minute)
    return Document(
        gathered.asked.project,
        words.ABOUT,
        [section for section in sections if section.blocks],
        [line(text) for text in sentences],
        python_opening(gathered),
    )
