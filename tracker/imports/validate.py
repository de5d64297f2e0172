"""What must be true of staged rows before they enter the ledger, and what became of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
import sqlalchemy as sa

from tracker.core.errors import Refused
from tracker.formats.batch import Unit, place_of
from tracker.imports.normalize import Counted, Intake
from tracker.imports.questions import question_numbers_of
from tracker.imports.repeated_rows import ROW, Contradiction, Files, with_columns_apart
from tracker.imports.staging import FATES, Fates, Held
from tracker.projects.questions import QuestionInfo
from tracker.storage.current import forget_annotator_facts, forget_category_facts
from tracker.storage.schema import Annotator, Category, Item
from tracker.storage.schema.labels import (
    ASSERTION,
    QuestionKey,
    of_question,
    own_name_key,
    same_answer_key,
)

_MOST_REPEATED = 500_000
"""Rows of answers with several rows that are looked at, so that memory is bounded."""
_NAMED: Mapping[str, type[Item | Annotator | Category]]
_NAMED = {"item": Item, "annotator": Annotator, "category": Category}


class StagedRows(NamedTuple):
    """The staged rows of an import; ``units`` says what a place is by the source's number."""

    connection: sa.Connection
    incoming: sa.Table
    project_id: int
    units: Mapping[int, Unit]

    def remove_contradictory(self, questions: set[int], *, single: bool) -> list[Contradiction]:
        """Remove and return the answers to questions that contradict others of the same file.

        If an answer is one category (``single``), these are different categories at the same time;
        else "none applies" beside a label.
        """
        if not questions:
            return []
        category = self.incoming.c.category_id
        lowest, highest = sa.func.min(category), sa.func.max(category)
        mixed = lowest < highest if single else sa.and_(lowest < 1, highest > 0)
        of_questions = self.incoming.c.question_id.in_(sorted(questions))
        pairs = self._pairs(of_questions, mixed, single=single)
        rows = self.connection.execute(pairs).all()
        key = attrgetter("question_id", "source", "annotator_id", "line")
        named = {
            key(row): "nothing" if row.category is None else repr(row.category) for row in rows
        }
        contradictory = [
            Contradiction.of(
                row,
                f"{row.annotator!r} has two different answers for item {row.item!r}: "
                f"{named[key(row)]} here, {named[*key(row)[:-1], row.other]} "
                f"on {self._other_place(row)}",
            )
            for row in rows
        ]
        self.remove(contradictory)
        return contradictory

    def repeated(self, questions: set[int], gold: int | None) -> list[Contradiction]:
        """Return the answers to questions that have several rows of the same time in their file.

        Truths, by the annotator ``gold``, stand beside answers and may come again on each row.
        """
        if not questions:
            return []
        rows = self.incoming.c
        where = rows.question_id.in_(sorted(questions)) & (rows.annotator_id != (gold or 0))
        pairs = self._pairs(where, sa.func.min(rows.line) < sa.func.max(rows.line))
        return [
            Contradiction.of(
                row,
                f"{row.annotator!r} answers item {row.item!r} again on {self._other_place(row)}",
            )
            for row in self.connection.execute(pairs.limit(_MOST_REPEATED))
        ]

    def remove(self, rows: Sequence[Contradiction]) -> None:
        these = [self.incoming.c[name] == sa.bindparam(name) for name in ROW]
        if rows:
            removed = [row._asdict() for row in rows]
            self.connection.execute(sa.delete(self.incoming).where(*these), removed)

    def remove_overlong_spans(self) -> list[Contradiction]:
        """Remove spans that end past their document, whichever row or import gave its length."""
        incoming = self.incoming
        of_item = (Item.project_id == self.project_id) & (Item.id == incoming.c.item_id)
        too_far = of_item & (incoming.c.span_end > Item.length)
        rows = self.connection.execute(
            sa.select(*incoming.c[*ROW, "span_end"], Item.name.label("item"), Item.length)
            .join(Item, too_far)
            .order_by(incoming.c.source, incoming.c.line)
        ).all()
        if rows:
            gone = sa.exists().where(too_far).correlate(incoming)
            self.connection.execute(sa.delete(incoming).where(gone))
        return [
            Contradiction.of(
                row, f"the span ends at {row.span_end}, past the document's end at {row.length}"
            )
            for row in rows
        ]

    def _pairs(
        self, where: sa.ColumnElement[bool], having: sa.ColumnElement[bool], *, single: bool = True
    ) -> sa.Select[Any]:
        """Return rows of answers that fulfill a condition, with names and the line of another row.

        That is the answer's first or last; or, unless ``single``, the first of the other kind:
        "none applies" or a label.
        """
        incoming, line = self.incoming, self.incoming.c.line
        is_none = incoming.c.category_id < 1
        kinds = (line, line) if single else (sa.case((is_none, line)), sa.case((~is_none, line)))
        first = sa.func.min(kinds[0]).label("one")
        other = (sa.func.max if single else sa.func.min)(kinds[1]).label("other")
        key = incoming.c[ASSERTION]
        of_answer = sa.select(*key, first, other).where(where)
        groups = of_answer.group_by(*key).having(having).subquery()
        is_one = line == groups.c.one if single else is_none
        return (
            sa.select(
                sa.case((is_one, groups.c.other), else_=groups.c.one).label("other"),
                *incoming.c[ROW],
                *(table.name.label(name) for name, table in _NAMED.items()),
            )
            .join_from(incoming, groups, same_answer_key(ASSERTION, incoming, groups))
            .join(Item, Item.id == incoming.c.item_id)
            .join(Annotator, Annotator.id == own_name_key(incoming))
            .join(Category, Category.id == incoming.c.category_id)
            .where(
                Category.question_id == incoming.c.question_id,
                *(table.project_id == self.project_id for table in _NAMED.values()),
            )
            .order_by(incoming.c.source, line)
        )

    def _other_place(self, row: Any) -> str:
        place = place_of("", row.other, self.units.get(row.source, "line"))
        line = f"{place.unit} {place.number}" if place.number else ""
        return " of ".join(filter(None, (line, place.source)))


def validate_staged_references(
    connection: sa.Connection, extremes: Mapping[str, tuple[int, int]], question: QuestionKey
) -> None:
    """Check that every staged row refers to an item and annotator of the project, and a category.

    Their numbers have no gaps: from the least to the greatest of each column there is every one.
    Raises RuntimeError, because a row that fails is a fault of the program.
    """
    for column, (least, greatest) in extremes.items():
        entity = _NAMED["annotator" if column == "given_as" else column.removesuffix("_id")]
        scope = entity.project_id == question.project_id
        if entity is Category:
            scope = of_question(Category, question)
        within = sa.select(sa.func.count()).where(scope, entity.id.between(least, greatest))
        number = connection.scalar(within)
        if number != greatest - least + 1:
            raise RuntimeError(f"{column} from {least} to {greatest}: there are but {number}")


def examine_staged_rows(intake: Intake, files: Files, *, repeats: bool) -> None:
    """Reject the staged rows that contradict others, or what is known of their item."""
    contradictory: list[Contradiction] = []
    project, names = intake.questions.project.id, files.parts.names
    staged = StagedRows(intake.connection, intake.staging.table, project, intake.units)
    answered = [ids.question for ids in intake.questions.answered.values()]
    singles = question_numbers_of(answered, "one")
    if repeats:
        contradictory, repeating = with_columns_apart(
            staged.remove_contradictory(singles, single=True),
            staged.repeated(singles, intake.gold),
            files,
            alone=len(intake.annotators.met) == 1,
        )
        staged.remove(repeating)
        others = {question.id for question in answered} - singles
        contradictory += [*repeating, *staged.remove_contradictory(others, single=False)]
    if question_numbers_of(answered, "spans"):
        contradictory += staged.remove_overlong_spans()
    rejected: set[tuple[int, int, int]] = set()  # a row that answers several questions once
    for row in contradictory:
        unit = intake.units.get(row.source, "line")
        if row.annotator_id == intake.gold:
            place = place_of(names[row.source - 1], row.line, unit)
            raise Refused(f"{place}: {row.reason}", "correct the gold column")
        intake.counted[row.question_id].answers -= 1
        key = (row.source, row.line, row.annotator_id)
        if key not in rejected or not intake.questions.several:
            intake.rejections.add(names[row.source - 1], row.line, row.reason, unit, row.item)
        rejected.add(key)


def forget_rejected_names(intake: Intake, at_once: Held | None) -> None:
    """Take back what the import said of categories and annotators that only rejected rows name.

    ``at_once`` are the staged rows, if they are not in the table. What other changes said stays.
    """
    connection, questions = intake.connection, intake.questions
    names = ("question_id", "category_id", "annotator_id", "given_as")
    rows: list[Any] = []
    if at_once is None:
        rows += connection.execute(sa.select(*intake.staging.table.c[names]).distinct())
    for part in () if at_once is None else at_once.in_order():
        staged = [np.broadcast_to(part[name], len(part["line"])) for name in names]
        rows += map(tuple, np.unique(np.column_stack(staged), axis=0).tolist())
    people = intake.annotators.met - {number for _, _, *numbers in rows for number in numbers}
    forget_annotator_facts(connection, questions.project.id, intake.change, people)
    for ids in questions.answered.values():
        named = {category for question, category, *_ in rows if question == ids.question.id}
        forget_category_facts(connection, ids.question.key, intake.change, ids.met - named)


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
