"""What became of an import's rows: those that contradict others, and the others by question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection, Table, select

from tracker.core.errors import Refused
from tracker.formats.batch import place_of
from tracker.imports.held_rows import Held
from tracker.imports.normalize import Counted, Intake
from tracker.imports.questions import question_numbers_of
from tracker.imports.repeated_rows import Files, with_columns_apart
from tracker.imports.staging import FATES, Fates
from tracker.imports.validate import (
    Contradiction,
    remove_contradicting_rows,
    remove_overlong_span_rows,
    remove_staged_rows,
    repeated_answers,
)
from tracker.projects.questions import QuestionInfo
from tracker.storage.current import forget_annotator_facts, forget_category_facts


def examine_staged_rows(
    connection: Connection,
    answered: Sequence[QuestionInfo],
    incoming: Table,
    intake: Intake,
    files: Files,
    *,
    repeats: bool,
) -> None:
    """Reject the staged rows that contradict others, or what is known of their item."""
    contradictory: list[Contradiction] = []
    project, names = intake.questions.project.id, files.parts.names
    singles = question_numbers_of(answered, "one")
    if repeats:
        others = {question.id for question in answered} - singles
        for which, single in ((singles, True), (others, False)):
            contradictory += remove_contradicting_rows(
                connection, incoming, project, which, intake.units, single=single
            )
            if single and which:
                again = repeated_answers(
                    connection, incoming, project, which, intake.units, intake.gold
                )
                contradictory, again = with_columns_apart(
                    contradictory, again, files, alone=len(intake.annotators.met) == 1
                )
                remove_staged_rows(connection, incoming, again)
                contradictory += again
    if question_numbers_of(answered, "spans"):
        contradictory += remove_overlong_span_rows(connection, incoming, project)
    rejected: set[tuple[int, int, int]] = set()  # a row that answers several questions once
    for row in contradictory:
        unit = intake.units.get(row.source, "line")
        if row.annotator_id == intake.gold:
            raise Refused(
                f"{place_of(names[row.source - 1], row.line, unit)}: {row.reason}",
                "correct the gold column",
            )
        intake.counted[row.question_id].answers -= 1
        place = (row.source, row.line, row.annotator_id)
        if place not in rejected or not intake.questions.several:
            intake.rejections.add(names[row.source - 1], row.line, row.reason, unit, row.item)
        rejected.add(place)


def forget_rejected_names(
    connection: Connection, incoming: Table, intake: Intake, at_once: Held | None
) -> None:
    """Take back what the import said of categories and annotators that only rejected rows name.

    ``at_once`` are the staged rows, if they are not in the table. What other changes said stays.
    """
    if at_once is None:
        columns = [incoming.c[name] for name in _NAMING]
        rows = [tuple(row) for row in connection.execute(select(*columns).distinct())]
    else:
        rows = []
        for part in at_once.in_order():
            number = len(part["line"])
            staged = [np.broadcast_to(part[name], number) for name in _NAMING]
            rows += map(tuple, np.unique(np.column_stack(staged), axis=0).tolist())
    questions = intake.questions
    people = intake.annotators.met - {number for _, _, *names in rows for number in names}
    forget_annotator_facts(connection, questions.project.id, intake.change, people)
    for ids in questions.answered.values():
        named = {category for question, category, *_ in rows if question == ids.question.id}
        forget_category_facts(connection, ids.question.key, intake.change, ids.met - named)


_NAMING = ("question_id", "category_id", "annotator_id", "given_as")


def outcomes_by_question(
    answered: Sequence[QuestionInfo], counted: Mapping[int, Counted], fates: Mapping[int, Fates]
) -> Iterator[dict[str, Any]]:
    for question in answered:
        count = counted[question.id]
        numbers = dict.fromkeys(FATES, 0)
        numbers |= fates[question.id].answers if question.id in fates else {}
        # What is not staged any more only repeated another row of its file.
        numbers["unchanged"] += count.answers - sum(numbers.values())
        yield {
            "question": question.name,
            "answers": count.answers,
            "skipped": count.skipped,
            **numbers,
            "unit": "answer" if question.answers == "one" else "label",
        }
