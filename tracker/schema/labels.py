"""Labels: those that stand, and those that do not."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    ForeignKeyConstraint,
    SmallInteger,
)
from sqlalchemy.orm import Mapped, mapped_column

from tracker.schema.base import Base


class _LabelColumns:
    """What a label is, whether it stands or is past."""

    project_id: Mapped[int] = mapped_column(primary_key=True, sort_order=-9)
    item_id: Mapped[int] = mapped_column(primary_key=True, sort_order=-8)
    annotator_id: Mapped[int] = mapped_column(primary_key=True, sort_order=-7)
    pass_: Mapped[int] = mapped_column(
        "pass", SmallInteger, primary_key=True, autoincrement=False, sort_order=-6
    )
    category_id: Mapped[int] = mapped_column(primary_key=True, sort_order=-1)
    span_start: Mapped[int] = mapped_column(primary_key=True, autoincrement=False, sort_order=-1)
    span_end: Mapped[int] = mapped_column(primary_key=True, autoincrement=False, sort_order=-1)


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


class Label(_LabelColumns, Base):
    """A label of an answer that stands now; one row is one category (and span) of an answer.

    The answer is (item, annotator, pass). An answer without a label has one row of a reserved
    category. ``labelled_at`` is when it was recorded where the source did not say (``timed``).
    ``given_as`` is the name under which the answer was given, ``source`` the import's file.
    """

    __tablename__ = "labels"
    __table_args__ = (*_label_constraints(), {"info": {"clustered": True}})
    labelled_at: Mapped[int] = mapped_column(BigInteger)
    timed: Mapped[bool]
    change_id: Mapped[int]
    source: Mapped[int] = mapped_column(SmallInteger)
    given_as: Mapped[int]
    spent_ms: Mapped[int | None]


class PastLabel(_LabelColumns, Base):
    """A label of an answer that does not stand: superseded, older when it came, or taken back.

    ``taken_back_by`` is the change (an undo) after which the ledger no longer holds it.
    """

    __tablename__ = "past_labels"
    __table_args__ = (
        *_label_constraints(),
        ForeignKeyConstraint(["project_id", "taken_back_by"], ["changes.project_id", "changes.id"]),
        {"info": {"clustered": True}},
    )
    labelled_at: Mapped[int] = mapped_column(BigInteger, primary_key=True, sort_order=-5)
    change_id: Mapped[int] = mapped_column(primary_key=True, sort_order=-4)
    source: Mapped[int] = mapped_column(
        SmallInteger, primary_key=True, autoincrement=False, sort_order=-3
    )
    given_as: Mapped[int] = mapped_column(primary_key=True, autoincrement=False, sort_order=-2)
    timed: Mapped[bool]
    spent_ms: Mapped[int | None]
    taken_back_by: Mapped[int | None]
