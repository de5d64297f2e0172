"""Which categories are confused, with items that show it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from tracker.render.cells import count_cell
from tracker.render.messages import report as words
from tracker.render.messages import report_figures as figures
from tracker.report.commands import command, python_call
from tracker.report.document import (
    Block,
    Example,
    Examples,
    Group,
    Paragraph,
    Said,
    Section,
    Table,
    Why,
    line,
)
from tracker.report.gather import Gathered, OfQuestion
from tracker.report.sections.each import each_question

_OPEN = 1  # confusions whose items are seen at once
_LONGEST = 600  # characters of an item's text


def confusions_section(found: Gathered) -> Section:
    """Return the categories that stand in for each other, question by question."""
    title = "What is confused"
    counted = found.questions[0].confusions is not None
    code = python_call(found, "confusions", one=True) if counted else ""
    return Section("confusions", title, each_question(found, _of), code)


def _of(found: Gathered, one: OfQuestion) -> Iterator[Block]:
    told = one.confusions
    if told is None:
        yield Paragraph(line(words.NO_CONFUSIONS_COUNTED))
        return
    if not told["confusions"]:
        yield Paragraph(line(_nothing(found, one, left_out=told.get("left_out", False))))
        return
    if one.without is not None and one.without.confusions is not None:
        of = f"{words.without_flagged(one.without.annotators)}: "
        if one.without.confusions["confusions"]:
            yield _table(f"{of}{figures.CONFUSIONS}", one.without.confusions)
        else:
            left_out = one.without.confusions.get("left_out", False)
            yield Paragraph(line(of, _nothing(found, one, left_out=left_out)))
        yield _table(f"{words.WITH_FLAGGED}: {figures.CONFUSIONS}", told)
        told = one.without.confusions
    else:
        yield _table(figures.CONFUSIONS, told)
    shown = [
        Examples(
            figures.confusion_title(row["categories"]),
            [_example(found, e) for e in row["examples"]],
        )
        for row in told["confusions"]
        if row["examples"]
    ]
    yield from shown[:_OPEN]
    yield from (Group(one.title, [replace(one, title="")], True) for one in shown[_OPEN:])
    yield Why(
        [line(words.WHY_WHICH)],
        command(found, "agreement", "--by", "confusion", question=one.name),
    )


def _table(caption: str, told: Mapping[str, Any]) -> Table:
    return Table(
        caption,
        ["categories", "disagreements", "share", "items"],
        [
            [
                " / ".join(row["categories"]),
                count_cell(row["disagreements"]),
                words.percent(row["share"]),
                count_cell(row["items"]),
            ]
            for row in told["confusions"]
        ],
        frozenset({1, 2, 3}),
    )


def _nothing(found: Gathered, one: OfQuestion, *, left_out: bool) -> str:
    """Return why no confusion is shown."""
    if left_out:
        return words.confusions_left_out(found.asked.suppress_below)
    compared = one.agreement["counts"]["items_compared"]
    return figures.NO_CONFUSIONS if compared else figures.NOTHING_TO_CONFUSE


def _example(found: Gathered, item: Mapping[str, Any]) -> Example:
    said: dict[str, list[str]] = {}
    for row in item["answers"]:
        said.setdefault(row["answer"], []).append(row["annotator"])
    text = (item["text"] or "") if found.asked.texts else ""
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]} …"
    return Example(item["item"], text, [Said(answer, people) for answer, people in said.items()])
