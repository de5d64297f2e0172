"""How it was measured, for a paper, and with which settings."""

from __future__ import annotations

from collections.abc import Iterator

from tracker.render.filter import selection_in_words
from tracker.render.messages import report_figures as figures
from tracker.report.commands import command
from tracker.report.document import (
    Block,
    Bullets,
    Code,
    Group,
    Paragraph,
    Section,
    Table,
    Why,
    line,
)
from tracker.report.gather import Gathered, OfQuestion


def methods_section(found: Gathered) -> Section:
    """Return the methods paragraph of each question, its citations, and the settings."""
    blocks: list[Block] = []
    for place, one in enumerate(found.questions):
        parts = [*_of(found, one)]
        blocks += [Group(one.name, parts, place > 0)] if found.several else parts
    blocks += [_settings(found), *_choice(found)]
    return Section("methods", "Methods and settings", blocks)


def _of(found: Gathered, one: OfQuestion) -> Iterator[Block]:
    if one.methods is None:
        yield Paragraph(line(figures.NO_METHODS))
        return
    yield Paragraph(line(one.methods["in_words"]))
    entries = [line(Code(entry)) for entry in one.methods["bibtex"].strip().split("\n\n")]
    yield Group("BibTeX", [Bullets(entries)], True)
    yield Why([], command(found, "agreement", "--methods", "--bibtex", question=one.name))


def _settings(found: Gathered) -> Table:
    return Table(
        "Settings",
        ["question", "answers", "scale", "categories", "wanted"],
        [
            [
                one.name,
                one.settings["answers"],
                one.settings["scale"],
                figures.categories_listed(one.settings["categories"]),
                "-" if one.settings["wanted"] is None else str(one.settings["wanted"]),
            ]
            for one in found.questions
        ],
    )


def _choice(found: Gathered) -> Iterator[Block]:
    selection = found.questions[0].agreement["selection"]
    lines = []
    if selection is not None:
        lines.append(line(figures.chosen(selection_in_words(selection))))
    if found.asked.pseudonyms:
        lines.append(line(figures.PSEUDONYMS))
        lines += [line(figures.NOTES)] if found.notes else []
    if found.asked.pseudonyms or not found.asked.texts:
        lines.append(line(figures.TEXTS if found.asked.texts else figures.NO_TEXTS))
    if found.asked.suppress_below:
        lines.append(line(figures.suppressed(found.asked.suppress_below)))
    if lines:
        yield Bullets(lines)
