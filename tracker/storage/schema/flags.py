"""Findings about annotators that audits recorded: what, each time it was seen, each change.

Nothing here is updated: a flag's state is that of its last change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    ForeignKey,
    ForeignKeyConstraint,
    Integer,
    SmallInteger,
    Text,
    UniqueConstraint,
)

from tracker.storage.schema.base import MOMENT, Base, category_reference, column, one_of, optional

if TYPE_CHECKING:
    from sqlalchemy.orm import Mapped


FLAG_STATES = ("open", "acknowledged", "dismissed", "resolved")
STANDING = ("open", "acknowledged")
"""The states of a flag that somebody still has to do something about."""

_BY_THE_PROGRAM = ("found", "reopened", "no longer found")
_BY_PEOPLE = ("acknowledged", "dismissed", "resolved", "appealed", "upheld", "rejected")
KEEPING = ("appealed", "rejected")
"""The acts that leave a flag in its state."""


class FlagRow(Base):
    """A finding, once however often it is seen; one about a pair stands with the lower id first.

    One about a definition, some of the items or the design names no annotator.
    """

    __tablename__ = "flags"
    __table_args__ = (
        ForeignKeyConstraint(
            ["project_id", "annotator_id"], ["annotators.project_id", "annotators.id"]
        ),
        ForeignKeyConstraint(
            ["project_id", "other_id"], ["annotators.project_id", "annotators.id"]
        ),
        category_reference(),
        UniqueConstraint(
            "project_id", "question_id", "annotator_id", "other_id", "kind", "category_id"
        ),
        CheckConstraint("annotator_id <= other_id", "a_pair_stands_once"),
        CheckConstraint("(annotator_id IS NULL) = (other_id IS NULL)", "one_or_two_or_nobody"),
        {"info": {"append_only": True}},
    )
    project_id: Mapped[int] = column(Integer, ForeignKey("projects.id"), primary_key=True)
    id: Mapped[int] = column(Integer, primary_key=True, autoincrement=False)
    question_id: Mapped[int] = column(SmallInteger)
    annotator_id: Mapped[int | None] = optional(Integer, comment="NULL if it is about nobody")
    other_id: Mapped[int | None] = optional(
        Integer, comment="annotator_id if it is not about a pair"
    )
    kind: Mapped[str] = column(Text)
    category_id: Mapped[int] = column(Integer, comment="0 if it is about none")
    found_at: Mapped[int] = column(BigInteger, comment=MOMENT)
    subject: Mapped[str | None] = optional(Text, comment="attribute=value of a slice of the items")


def _of_flag() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(["project_id", "flag_id"], ["flags.project_id", "flags.id"])


class FlagSighting(Base):
    """A recorded audit that found the flag, with its figures then; numbered within the flag."""

    __tablename__ = "flag_sightings"
    __table_args__ = (
        _of_flag(),
        CheckConstraint("number > 0", "number"),
        CheckConstraint("informative >= 0", "informative"),
        {"info": {"append_only": True}},
    )
    project_id: Mapped[int] = column(Integer, primary_key=True)
    flag_id: Mapped[int] = column(Integer, primary_key=True)
    number: Mapped[int] = column(Integer, primary_key=True, autoincrement=False)
    seen_at: Mapped[int] = column(BigInteger, comment=MOMENT)
    severity: Mapped[str] = column(Text)
    informative: Mapped[int] = column(Integer, comment="how much evidence there was")
    evidence: Mapped[str] = column(Text, comment="a JSON object: the finding's figures")


class FlagChange(Base):
    """What was done about a flag, by whom and why; numbered within the flag."""

    __tablename__ = "flag_changes"
    __table_args__ = (
        _of_flag(),
        CheckConstraint("number > 0", "number"),
        CheckConstraint("informative >= 0", "informative"),
        CheckConstraint(one_of("state", FLAG_STATES), "state"),
        CheckConstraint(one_of("action", _BY_THE_PROGRAM + _BY_PEOPLE), "action"),
        CheckConstraint("(number = 1) = (action = 'found')", "found_first"),
        CheckConstraint(
            f"made_by IS NOT NULL OR {one_of('action', _BY_THE_PROGRAM)}", "people_have_names"
        ),
        CheckConstraint("action <> 'appealed' OR note IS NOT NULL", "appeals_say_why"),
        {"info": {"append_only": True, "erasable": ("made_by", "note")}},
    )
    project_id: Mapped[int] = column(Integer, primary_key=True)
    flag_id: Mapped[int] = column(Integer, primary_key=True)
    number: Mapped[int] = column(Integer, primary_key=True, autoincrement=False)
    state: Mapped[str] = column(Text, comment="from then on; an appeal and its rejection keep it")
    action: Mapped[str] = column(Text)
    made_at: Mapped[int] = column(BigInteger, comment=MOMENT)
    made_by: Mapped[str | None] = optional(Text, comment="NULL for the program itself")
    note: Mapped[str | None] = optional(Text)
    informative: Mapped[int] = column(Integer, comment="how much evidence there was then")
