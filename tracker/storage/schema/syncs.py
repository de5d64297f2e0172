"""What was read of other programs, and which answers they had no longer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    ForeignKeyConstraint,
    Integer,
    SmallInteger,
    Text,
)

from tracker.storage.schema.base import MOMENT, Base, column, optional, question_reference

if TYPE_CHECKING:
    from sqlalchemy.orm import Mapped


class Sync(Base):
    """What an import by `tracker sync` read: from which source, between which of its updates.

    That of an event which the source sent by itself has read nothing: its ``until`` is 0.
    ``asked`` are the source's questions so far, by name: a JSON object. A sync that finds nothing
    moves the last one's ``until``.
    """

    __tablename__ = "syncs"
    __table_args__ = (
        ForeignKeyConstraint(["project_id", "change_id"], ["changes.project_id", "changes.id"]),
        CheckConstraint("since <= until", "order"),
    )
    project_id: Mapped[int] = column(Integer, primary_key=True, autoincrement=False)
    change_id: Mapped[int] = column(Integer, primary_key=True, autoincrement=False)
    tool: Mapped[str] = column(Text)
    source: Mapped[str] = column(Text, comment="the address of what was read, without secrets")
    since: Mapped[int | None] = optional(BigInteger, comment=f"{MOMENT}; NULL: everything was read")
    until: Mapped[int] = column(BigInteger, comment=MOMENT)
    asked: Mapped[str] = column(Text)


class Withdrawal(Base):
    """From one change to another, the ledger did not hold a record: its source had it no longer.

    Kept of withdrawals that ended because their sync was undone; of one that holds,
    `PastLabel.taken_back_by` tells. The key is that of the record, as in `AnswerDetail`.
    """

    __tablename__ = "withdrawals"
    __table_args__ = (
        question_reference(),
        ForeignKeyConstraint(["project_id", "item_id"], ["items.project_id", "items.id"]),
        ForeignKeyConstraint(
            ["project_id", "given_as"], ["annotators.project_id", "annotators.id"]
        ),
        ForeignKeyConstraint(["project_id", "change_id"], ["changes.project_id", "changes.id"]),
        ForeignKeyConstraint(["project_id", "from_change"], ["changes.project_id", "changes.id"]),
        ForeignKeyConstraint(["project_id", "to_change"], ["changes.project_id", "changes.id"]),
        CheckConstraint("to_change > from_change", "order"),
        {"info": {"clustered": True}},
    )
    project_id: Mapped[int] = column(Integer, primary_key=True, autoincrement=False)
    question_id: Mapped[int] = column(SmallInteger, primary_key=True, autoincrement=False)
    item_id: Mapped[int] = column(Integer, primary_key=True, autoincrement=False)
    given_as: Mapped[int] = column(Integer, primary_key=True, autoincrement=False)
    pass_: Mapped[int] = column("pass", SmallInteger, primary_key=True, autoincrement=False)
    labeled_at: Mapped[int] = column(
        BigInteger, primary_key=True, autoincrement=False, comment=MOMENT
    )
    change_id: Mapped[int] = column(Integer, primary_key=True, autoincrement=False)
    source: Mapped[int] = column(SmallInteger, primary_key=True, autoincrement=False)
    from_change: Mapped[int] = column(Integer, primary_key=True, autoincrement=False)
    to_change: Mapped[int] = column(Integer)
