"""Labels: those that stand, and those that do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    ForeignKeyConstraint,
    Integer,
    SmallInteger,
)

from tracker.storage.schema.base import MOMENT, Base, column, optional

if TYPE_CHECKING:
    from sqlalchemy.orm import Mapped


def _label_constraints() -> tuple[CheckConstraint | ForeignKeyConstraint, ...]:
    return (
        ForeignKeyConstraint(["project_id", "item_id"], ["items.project_id", "items.id"]),
        ForeignKeyConstraint(
            ["project_id", "annotator_id"], ["annotators.project_id", "annotators.id"]
        ),
        ForeignKeyConstraint(
            ["project_id", "category_id"], ["categories.project_id", "categories.id"]
        ),
        ForeignKeyConstraint(["project_id", "change_id"], ["changes.project_id", "changes.id"]),
        CheckConstraint("pass >= 1", "pass"),
        CheckConstraint(
            "(span_start = -1 AND span_end = -1) OR (0 <= span_start AND span_start < span_end)",
            "span",
        ),
        CheckConstraint("category_id > 0 OR span_start = -1", "reserved_has_no_span"),
        CheckConstraint("spent_ms >= 0", "spent"),
    )


class Label(Base):
    """A label of an answer that stands now; one row is one category (and span) of an answer.

    The answer is (item, annotator, pass). An answer without a label has one row of a reserved
    category. ``labelled_at`` is when it was recorded where the source did not say (``timed``).
    ``given_as`` is the name under which the answer was given, ``source`` the import's file.
    """

    __tablename__ = "labels"
    __table_args__ = (*_label_constraints(), {"info": {"clustered": True}})
    project_id: Mapped[int] = column(Integer, primary_key=True)
    item_id: Mapped[int] = column(Integer, primary_key=True)
    annotator_id: Mapped[int] = column(Integer, primary_key=True)
    pass_: Mapped[int] = column("pass", SmallInteger, primary_key=True, autoincrement=False)
    category_id: Mapped[int] = column(
        Integer, primary_key=True, comment="0: none applies; -1: skipped"
    )
    span_start: Mapped[int] = column(
        Integer, primary_key=True, autoincrement=False, comment="-1 if it is no span"
    )
    span_end: Mapped[int] = column(
        Integer, primary_key=True, autoincrement=False, comment="-1 if it is no span"
    )
    labelled_at: Mapped[int] = column(BigInteger, comment=MOMENT)
    timed: Mapped[bool] = column(Boolean)
    change_id: Mapped[int] = column(Integer)
    source: Mapped[int] = column(SmallInteger)
    given_as: Mapped[int] = column(Integer)
    spent_ms: Mapped[int | None] = optional(Integer, comment="milliseconds")


class PastLabel(Base):
    """A label of an answer that does not stand: superseded, older when it came, or taken back.

    ``taken_back_by`` is the change (an undo) after which the ledger no longer holds it.
    """

    __tablename__ = "past_labels"
    __table_args__ = (
        *_label_constraints(),
        ForeignKeyConstraint(["project_id", "taken_back_by"], ["changes.project_id", "changes.id"]),
        {"info": {"clustered": True}},
    )
    project_id: Mapped[int] = column(Integer, primary_key=True)
    item_id: Mapped[int] = column(Integer, primary_key=True)
    annotator_id: Mapped[int] = column(Integer, primary_key=True)
    pass_: Mapped[int] = column("pass", SmallInteger, primary_key=True, autoincrement=False)
    labelled_at: Mapped[int] = column(BigInteger, primary_key=True, comment=MOMENT)
    change_id: Mapped[int] = column(Integer, primary_key=True)
    source: Mapped[int] = column(SmallInteger, primary_key=True, autoincrement=False)
    given_as: Mapped[int] = column(Integer, primary_key=True, autoincrement=False)
    category_id: Mapped[int] = column(
        Integer, primary_key=True, comment="0: none applies; -1: skipped"
    )
    span_start: Mapped[int] = column(
        Integer, primary_key=True, autoincrement=False, comment="-1 if it is no span"
    )
    span_end: Mapped[int] = column(
        Integer, primary_key=True, autoincrement=False, comment="-1 if it is no span"
    )
    timed: Mapped[bool] = column(Boolean)
    spent_ms: Mapped[int | None] = optional(Integer, comment="milliseconds")
    taken_back_by: Mapped[int | None] = optional(Integer)
