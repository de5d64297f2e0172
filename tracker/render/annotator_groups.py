"""Agreement within and between groups of annotators, in the terminal and as flat rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import RenderableType

from tracker.agreement.groups import AnnotatorGroups, BetweenGroups, WithinGroup
from tracker.core.results import ByQuestion
from tracker.measures.intervals import Coefficient
from tracker.render.agreement import unfit_questions_view
from tracker.render.cells import Text, count_cell, figure_cell, interval_cell
from tracker.render.filter import selection_view, selections_view
from tracker.render.nouns import count_noun
from tracker.render.tables import table
from tracker.render.words import figure_reading_words, undefined_in_words


def annotator_group_csv_rows(found: AnnotatorGroups) -> list[dict[str, Any]]:
    """Return groups, then pairs of groups, as flat rows; a group has no ``second``."""
    rows: list[tuple[str | None, str | None, int | None, Coefficient]] = [
        (one.value, None, one.annotators, one.alpha) for one in found.groups
    ]
    rows += [(one.first, one.second, None, one.reliability) for one in found.pairs]
    return [
        {"first": first, "second": second, "annotators": number, **figure.to_dict()}
        for first, second, number, figure in rows
    ]


def annotator_group_by_question_csv_rows(
    found: ByQuestion[AnnotatorGroups],
) -> list[dict[str, Any]]:
    """Return the rows of each question, then a row for each that has none and why."""
    rows = [
        {"question": name, **row}
        for name, one in found.questions.items()
        for row in annotator_group_csv_rows(one)
    ]
    return rows + [one.to_dict() for one in found.unfit]


def annotator_groups_view(found: AnnotatorGroups) -> Iterator[RenderableType]:
    """Yield the groups with alpha within each, then the agreement between every two."""
    yield Text.assemble(
        (found.project, "bold"),
        f"  {count_noun(len(found.groups), 'group')} of annotators by {found.attribute}",
    )
    yield from selection_view(found.selection)
    yield from _tables(found.attribute, {None: found})


def annotator_group_by_question_view(
    found: ByQuestion[AnnotatorGroups],
) -> Iterator[RenderableType]:
    """Yield likewise, the groups of each question in turn."""
    first = next(iter(found.questions.values()))
    yield Text.assemble(
        (found.project, "bold"),
        f"  groups of annotators by {first.attribute}, question by question",
    )
    yield from selections_view({name: one.selection for name, one in found.questions.items()})
    yield from _tables(first.attribute, found.questions)
    yield from unfit_questions_view(found.unfit)


def _tables(
    attribute: str, found: Mapping[str, AnnotatorGroups] | Mapping[None, AnnotatorGroups]
) -> Iterator[RenderableType]:
    """Yield both tables, with the question in front unless there is but one, without a name."""
    about = ("question",) if None not in found else ()
    groups: list[tuple[str | Text, ...]] = []
    pairs: list[tuple[str | Text, ...]] = []
    for question, of_question in found.items():
        before = () if question is None else (question,)
        groups += [(*before, *_group_cells(one)) for one in of_question.groups]
        pairs += [(*before, *_pair_cells(one)) for one in of_question.pairs]
    yield table(
        (*about, attribute, "annotators", "items", "alpha within", "interval", "reading "),
        groups,
        names=1 + len(about),
    )
    if pairs:
        yield table(
            (*about, attribute, "and", "items", "agreement between", "interval", " "),
            pairs,
            names=2 + len(about),
        )
        yield Text(
            "Between groups: cross-replication reliability, over pairs of one answer of each.",
            style="dim",
        )


def _group_cells(one: WithinGroup) -> tuple[str | Text, ...]:
    return (
        _name(one.value),
        count_cell(one.annotators),
        count_cell(one.items),
        *_figure(one.alpha),
        figure_reading_words(one.alpha),
    )


def _pair_cells(one: BetweenGroups) -> tuple[str | Text, ...]:
    return (
        _name(one.first),
        _name(one.second),
        count_cell(one.reliability.items),
        *_figure(one.reliability),
        undefined_in_words(one.reliability.undefined),
    )


def _name(value: str | None) -> str | Text:
    return Text("without", style="dim") if value is None else value


def _figure(one: Coefficient) -> tuple[str, str]:
    return figure_cell(one.value), interval_cell(one.ci_low, one.ci_high)
