"""Decisions: which answer is right where answers differ, why they did, and who said so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from sqlalchemy import ColumnElement, Connection, Select, Table, and_, func, or_, select, update

from tracker.core.results import Hidden, Json, Record, Time
from tracker.projects.annotators import decider_of
from tracker.projects.categories import every_category_name
from tracker.projects.items import item_texts_of
from tracker.projects.questions import QuestionInfo
from tracker.storage.current import fact_not_undone
from tracker.storage.schema import REASONS, Change, Decision, Label, Note
from tracker.storage.schema.labels import of_question, same_answer_key

AMBIGUOUS, GAP, ERROR, NOT_IN_SCHEME = REASONS
_decisions: Final[Table] = Decision.__table__
_labels = Label.__table__


@dataclass(frozen=True)
class DecisionInfo(Record):
    """What was decided about an item.

    Attributes:
        id: the number of its change, by which it is known.
        categories: the right answer; none if no answer is claimed to be right.
        made_by: the user who decided; None if it was done by a command.
        settled_by: the note of the guideline that closed the gap.
    """

    id: Annotated[int, Json("decision")]
    item_id: Annotated[int, Hidden]
    item: str
    text: str | None
    categories: tuple[str, ...]
    reason: str
    note: str | None
    made_by: str | None
    at: Time
    settled_by: Annotated[int | None, Json(rare=True)] = None

    @property
    def answer(self) -> str:
        """The answer in words."""
        return " + ".join(self.categories) or "no answer"

    @property
    def sentence(self) -> str:
        """Who decided what, and why: "decided by ada: positive (annotator error)"."""
        by = "" if self.made_by is None else f" by {self.made_by}"
        return f"decided{by}: {self.answer} ({self.reason})"


def standing_decisions(question: QuestionInfo) -> Select[tuple[int, int]]:
    """Return the last decision about each item that was not undone: ``item_id``, ``change_id``."""
    last = func.max(_decisions.c.change_id).label("change_id")
    rows = select(_decisions.c.item_id, last).where(fact_not_undone(_decisions, question.key))
    return rows.group_by(_decisions.c.item_id)


def list_decisions(
    connection: Connection,
    question: QuestionInfo,
    *which: ColumnElement[bool],
    most: int | None = None,
) -> list[DecisionInfo]:
    """Return the standing decisions for which the conditions hold, the last one first."""
    standing = standing_decisions(question).subquery("standing")
    rows = connection.execute(
        select(_decisions, Change.recorded_at)
        .join(standing, same_answer_key(("item_id", "change_id"), standing, _decisions))
        .join(Change, and_(Change.project_id == question.project_id,
                           Change.id == _decisions.c.change_id))
        .where(of_question(_decisions, question.key), *which)
        .order_by(_decisions.c.change_id.desc())
        .limit(most)
    ).all()  # fmt: skip
    items = sorted(row.item_id for row in rows)
    texts = item_texts_of(connection, question.project, items)
    answers = decided_answers(connection, question, items)
    return [
        DecisionInfo(row.change_id, row.item_id, *texts[row.item_id],
                     answers.get(row.item_id, ()), row.reason, row.note, row.made_by,
                     row.recorded_at, row.settled_by)
        for row in rows
    ]  # fmt: skip


def decided_answers(
    connection: Connection, question: QuestionInfo, items: Sequence[int]
) -> dict[int, tuple[str, ...]]:
    """Return the categories that were decided of some items, each item's in their order."""
    names = every_category_name(connection, question)
    rows = connection.execute(
        select(_labels.c.item_id, _labels.c.category_id).where(
            of_question(_labels, question.key),
            _labels.c.annotator_id == (decider_of(connection, question.project_id) or 0),
            _labels.c.item_id.in_(items),
        )
    )
    given: dict[int, set[int]] = {}
    for item, category in rows:
        given.setdefault(item, set()).add(category)
    return {
        item: tuple(name for number, name in names.items() if number in numbers and number > 0)
        for item, numbers in given.items()
    }


# -- What the guideline must say: decisions for a gap, until a version of it says so --------------


def is_open_gap(project_id: int) -> ColumnElement[bool]:
    """Return the condition that no version of the guideline closed the gap that a decision named.

    A note that was removed closes nothing.
    """
    removed = select(Note.id).where(Note.project_id == project_id, Note.removed_by.is_not(None))
    settled_by = _decisions.c.settled_by
    return (_decisions.c.reason == GAP) & or_(settled_by.is_(None), settled_by.in_(removed))


def count_open_gaps(connection: Connection, question: QuestionInfo) -> int:
    """Return how many standing decisions name a gap that no version of the guideline closed."""
    standing = standing_decisions(question).subquery("standing")
    number = select(func.count()).join_from(
        _decisions, standing, same_answer_key(("item_id", "change_id"), standing, _decisions)
    )
    ours = of_question(_decisions, question.key), is_open_gap(question.project_id)
    return connection.scalar(number.where(*ours)) or 0


def settle_gaps(connection: Connection, project_id: int, note: int) -> int:
    """Let a note of the guideline close the open gaps of a project; returns how many."""
    gaps = update(_decisions).where(
        fact_not_undone(_decisions, project_id), is_open_gap(project_id)
    )
    return connection.execute(gaps.values(settled_by=note)).rowcount
