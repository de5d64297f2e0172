"""A filter bound to a project: names become ids, and unknown names raise an error."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sqlalchemy import Connection, select

from tracker.core import clock
from tracker.core.errors import InvalidOption
from tracker.projects.annotators import (
    AnnotatorInfo,
    find_annotators,
    find_flagged_annotators,
    list_annotators,
)
from tracker.projects.items import check_item_values
from tracker.projects.notes import find_guideline_period
from tracker.projects.project import ProjectInfo
from tracker.projects.question import QuestionInfo
from tracker.queries.filter import EVERYTHING, AnswerFilter
from tracker.queries.selection import Selection
from tracker.storage.schema import Annotator


def select_answers(
    connection: Connection, question: QuestionInfo, choice: AnswerFilter = EVERYTHING
) -> Selection:
    """Return the selection of all human annotators' answers, or of those that the filter chooses.

    Other annotators stay out of agreement unless the filter names them. Raises NotFound for an
    annotator, InvalidOption for an attribute or a value that the project does not have.
    """
    rows = connection.execute(
        select(Annotator.id, Annotator.kind).where(
            Annotator.project_id == question.project_id, Annotator.kind != "human"
        )
    ).all()
    every = Selection(
        question,
        frozenset(row.id for row in rows),
        frozenset(row.id for row in rows if row.kind == "reference"),
    )
    return _narrowed(connection, every, choice)


def select_labels(
    connection: Connection, question: QuestionInfo, choice: AnswerFilter
) -> Selection:
    """Return the selection of all labels, of every kind of annotator, or of those chosen."""
    return _narrowed(connection, Selection(question), choice)


def _narrowed(connection: Connection, every: Selection, choice: AnswerFilter) -> Selection:
    """Return the selection narrowed by a filter; names and aliases are resolved."""
    if choice == EVERYTHING:
        return every
    project = every.question.project
    choice = within_guideline(connection, project, choice)
    check_item_values(connection, project, dict(choice.where))
    named = find_annotators(connection, project, [*choice.annotators, *choice.excluded])
    included, excluded = named[: len(choice.annotators)], named[len(choice.annotators) :]
    only = frozenset(one.id for one in included) if included else None
    if choice.exclude_flagged:
        flagged = find_flagged_annotators(connection, every.question)
        flagged = flagged if only is None else flagged & only
        excluded += [one for one in list_annotators(connection, project) if one.id in flagged]
    out = frozenset(one.id for one in excluded)
    said = replace(choice, annotators=_names(included), excluded=_names(excluded))
    return replace(
        every,
        left_out=every.left_out | out if only is None else frozenset(),
        references=every.references - out,
        only=None if only is None else only - out,
        since=choice.since,
        until=choice.until,
        where=choice.where,
        told=said.to_dict(),
    )


def within_guideline(
    connection: Connection, project: ProjectInfo, choice: AnswerFilter
) -> AnswerFilter:
    """Return a filter with the project's days, limited to the time in which its guideline held.

    Raises NotFound for a guideline that the project does not have, InvalidOption if it held at
    no time that is asked for.
    """
    choice = choice.in_zone(project.timezone)
    if choice.guideline is None:
        return choice
    first, last = find_guideline_period(connection, project, choice.guideline, choice.known_at)
    since = first if choice.since is None else max(first, choice.since)
    ends = [end for end in (last, choice.until) if end is not None]
    until = min(ends, default=None)
    if until is not None and since > until:
        raise InvalidOption(
            f"the guideline {choice.guideline!r} held from {clock.iso(first)}"
            + ("" if last is None else f" to {clock.iso(last)}"),
            "no answer lies between that and the times chosen",
        )
    return replace(choice, since=since, until=until)


def _names(annotators: Iterable[AnnotatorInfo]) -> tuple[str, ...]:
    return tuple(sorted({one.name for one in annotators}))
