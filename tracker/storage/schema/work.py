"""Work on items: who is to answer which, and what was decided where answers differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import BigInteger, CheckConstraint, Integer, SmallInteger, Text, UniqueConstraint
from sqlalchemy.schema import ForeignKeyConstraint

from tracker.storage.schema.base import (
    MOMENT,
    Base,
    column,
    key_column,
    one_of,
    optional,
    reference,
)

if TYPE_CHECKING:
    from sqlalchemy.orm import Mapped


FRESH, GOLD, REPEAT = "fresh", "gold", "repeat"
WHY = (FRESH, GOLD, REPEAT)
"""Why an item is assigned: for its answers, to check the annotator by gold or by themselves."""
REASONS = ("ambiguous", "guideline gap", "annotator error", "not in the scheme")
"""Why the answers to an item differed, as the person saw it who decided."""


class Batch(Base, append_only=True):
    """One act of assigning items. One with a name is a round: all have the same items."""

    __tablename__ = "batches"
    __table_args__ = (
        reference("changes", "change_id"),
        reference("questions", "question_id"),
        UniqueConstraint("project_id", "round"),
        CheckConstraint("round <> ''", "round"),
    )
    project_id: Mapped[int] = key_column(Integer)
    change_id: Mapped[int] = key_column(Integer)
    question_id: Mapped[int | None] = optional(SmallInteger, comment="NULL: all questions")
    until: Mapped[int | None] = optional(BigInteger, comment=MOMENT)
    round: Mapped[str | None] = optional(Text, comment="its name")


class Assignment(Base, clustered=True):
    """An item that somebody is to answer; ``place`` is its place in their list of the batch.

    Whether it is done is not stored: it is, once they gave an answer after the batch.
    """

    __tablename__ = "assignments"
    __table_args__ = (
        ForeignKeyConstraint(
            ["project_id", "change_id"], ["batches.project_id", "batches.change_id"]
        ),
        reference("annotators", "annotator_id"),
        reference("items", "item_id"),
        reference("changes", "withdrawn_by"),
        CheckConstraint(one_of("why", WHY), "why"),
        CheckConstraint("place > 0", "place"),
    )
    project_id: Mapped[int] = key_column(Integer)
    annotator_id: Mapped[int] = key_column(Integer)
    change_id: Mapped[int] = key_column(Integer)
    place: Mapped[int] = key_column(Integer)
    item_id: Mapped[int] = column(Integer)
    why: Mapped[str] = column(Text)
    withdrawn_by: Mapped[int | None] = optional(Integer)


_ASSIGNMENT = ("project_id", "annotator_id", "change_id", "place")


class Draft(Base):
    """An answer that somebody gave to an assigned item here, and that is not imported yet.

    ``given`` is a JSON object: the labels (a text, or a text, its begin and its end), ``null`` if
    it was skipped; how sure they were, and a comment.
    """

    __tablename__ = "drafts"
    __table_args__ = (
        ForeignKeyConstraint(_ASSIGNMENT, [f"assignments.{name}" for name in _ASSIGNMENT]),
        reference("questions", "question_id"),
    )
    project_id: Mapped[int] = key_column(Integer)
    annotator_id: Mapped[int] = key_column(Integer)
    change_id: Mapped[int] = key_column(Integer)
    place: Mapped[int] = key_column(Integer)
    question_id: Mapped[int] = key_column(SmallInteger)
    given: Mapped[str] = column(Text)
    given_at: Mapped[int] = column(BigInteger, comment=MOMENT)
    spent_ms: Mapped[int | None] = optional(Integer, comment="milliseconds")


class Decision(Base, append_only=True, erasable=("made_by",), changeable=("settled_by",)):
    """Why somebody decided what the right answer to an item is; the answer itself is a label.

    It holds as long as its change does, which recorded the answer, and no later one is about the
    item. ``settled_by`` is the note of the guideline that closed the gap it names.
    """

    __tablename__ = "decisions"
    __table_args__ = (
        reference("questions", "question_id"),
        reference("items", "item_id"),
        reference("changes", "change_id"),
        CheckConstraint(one_of("reason", REASONS), "reason"),
    )
    project_id: Mapped[int] = key_column(Integer)
    question_id: Mapped[int] = key_column(SmallInteger)
    item_id: Mapped[int] = key_column(Integer)
    change_id: Mapped[int] = key_column(Integer)
    reason: Mapped[str] = column(Text)
    note: Mapped[str | None] = optional(Text)
    made_by: Mapped[str | None] = optional(Text, comment="the user's name; NULL: by a command")
    settled_by: Mapped[int | None] = optional(Integer, comment="the number of a note")
