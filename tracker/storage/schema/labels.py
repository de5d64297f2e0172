"""Labels: those that stand, and those that do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Double,
    ForeignKeyConstraint,
    Integer,
    SmallInteger,
    Text,
)

from tracker.storage.schema.base import (
    MOMENT,
    Base,
    category_reference,
    column,
    one_of,
    optional,
    question_reference,
)

if TYPE_CHECKING:
    from sqlalchemy.orm import Mapped


def _label_constraints() -> tuple[CheckConstraint | ForeignKeyConstraint, ...]:
    return (
        ForeignKeyConstraint(["project_id", "item_id"], ["items.project_id", "items.id"]),
        ForeignKeyConstraint(
            ["project_id", "annotator_id"], ["annotators.project_id", "annotators.id"]
        ),
        ForeignKeyConstraint(
            ["project_id", "given_as"], ["annotators.project_id", "annotators.id"]
        ),
        category_reference(),
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

    The answer is (question, item, annotator, pass). An answer without a label has one row of a
    reserved category. ``labeled_at`` is when it was recorded if the source did not say (not
    ``has_own_time``). ``given_as`` is the name under which the answer was given, ``source`` the
    import's file. If that file had been imported before, ``first_change_id`` is the change that
    recorded it first: of records of one moment, the one recorded last stands.
    """

    __tablename__ = "labels"
    __table_args__ = (*_label_constraints(), {"info": {"clustered": True, "bulk": True}})
    project_id: Mapped[int] = column(Integer, primary_key=True)
    question_id: Mapped[int] = column(SmallInteger, primary_key=True, autoincrement=False)
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
    labeled_at: Mapped[int] = column(BigInteger, comment=MOMENT)
    has_own_time: Mapped[bool] = column(Boolean)
    first_change_id: Mapped[int | None] = optional(Integer)
    change_id: Mapped[int] = column(Integer)
    source: Mapped[int] = column(SmallInteger)
    given_as: Mapped[int] = column(Integer)
    spent_ms: Mapped[int | None] = optional(Integer, comment="milliseconds")


class PastLabel(Base):
    """A label of an answer that does not stand: superseded, older when it came, or taken back.

    ``taken_back_by`` is the change after which the ledger no longer holds it: an undo, or a sync
    whose source had it no longer (see `Withdrawal`).
    """

    __tablename__ = "past_labels"
    __table_args__ = (
        *_label_constraints(),
        ForeignKeyConstraint(["project_id", "taken_back_by"], ["changes.project_id", "changes.id"]),
        {"info": {"clustered": True, "bulk": True}},
    )
    project_id: Mapped[int] = column(Integer, primary_key=True)
    question_id: Mapped[int] = column(SmallInteger, primary_key=True, autoincrement=False)
    item_id: Mapped[int] = column(Integer, primary_key=True)
    annotator_id: Mapped[int] = column(Integer, primary_key=True)
    pass_: Mapped[int] = column("pass", SmallInteger, primary_key=True, autoincrement=False)
    labeled_at: Mapped[int] = column(BigInteger, primary_key=True, comment=MOMENT)
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
    has_own_time: Mapped[bool] = column(Boolean)
    first_change_id: Mapped[int | None] = optional(Integer)
    spent_ms: Mapped[int | None] = optional(Integer, comment="milliseconds")
    taken_back_by: Mapped[int | None] = optional(Integer)


class AnswerDetail(Base):
    """More of an answer than its labels: how sure the annotator was, and a comment.

    The key is that of the record, in ``labels`` or ``past_labels``, without whose it counts as.
    """

    __tablename__ = "answer_details"
    __table_args__ = (
        question_reference(),
        ForeignKeyConstraint(["project_id", "item_id"], ["items.project_id", "items.id"]),
        ForeignKeyConstraint(
            ["project_id", "given_as"], ["annotators.project_id", "annotators.id"]
        ),
        ForeignKeyConstraint(["project_id", "change_id"], ["changes.project_id", "changes.id"]),
        CheckConstraint("confidence BETWEEN 0 AND 1", "confidence"),
        CheckConstraint("confidence IS NOT NULL OR comment IS NOT NULL", "any"),
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
    confidence: Mapped[float | None] = optional(Double, comment="from 0 to 1")
    comment: Mapped[str | None] = optional(Text)


ITEM_ROLES = ("item", "text", "length", "attribute")
ANNOTATOR_ROLES = ("annotator", "kind", "presence")
CATEGORY_ROLES = ("category", "position")


def _of_change() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(["project_id", "change_id"], ["changes.project_id", "changes.id"])


class ItemFact(Base):
    """What a change said of an item: that there is one, its text, length or an attribute.

    ``name`` is the attribute's, else empty. A value that an earlier change had given is not
    stored again: ``same_as`` is that change.
    """

    __tablename__ = "item_facts"
    __table_args__ = (
        ForeignKeyConstraint(["project_id", "item_id"], ["items.project_id", "items.id"]),
        _of_change(),
        CheckConstraint(one_of("role", ITEM_ROLES), "role"),
        CheckConstraint("same_as < change_id", "same_as"),
        {"info": {"clustered": True}},
    )
    project_id: Mapped[int] = column(Integer, primary_key=True)
    item_id: Mapped[int] = column(Integer, primary_key=True)
    role: Mapped[str] = column(Text, primary_key=True)
    name: Mapped[str] = column(Text, primary_key=True)
    change_id: Mapped[int] = column(Integer, primary_key=True)
    value: Mapped[str | None] = optional(Text)
    same_as: Mapped[int | None] = optional(Integer)


class AnnotatorFact(Base):
    """What a change said of an annotator: that there is one, its kind, or whether they left.

    Presence is a word and the moment from which on it holds.
    """

    __tablename__ = "annotator_facts"
    __table_args__ = (
        ForeignKeyConstraint(
            ["project_id", "annotator_id"], ["annotators.project_id", "annotators.id"]
        ),
        _of_change(),
        CheckConstraint(one_of("role", ANNOTATOR_ROLES), "role"),
        {"info": {"clustered": True}},
    )
    project_id: Mapped[int] = column(Integer, primary_key=True)
    annotator_id: Mapped[int] = column(Integer, primary_key=True)
    role: Mapped[str] = column(Text, primary_key=True)
    change_id: Mapped[int] = column(Integer, primary_key=True)
    value: Mapped[str] = column(Text)


class AnnotatorAttribute(Base):
    """What a change said of the annotator of a name: an attribute, such as the team.

    What the last change said holds.
    """

    __tablename__ = "annotator_attributes"
    __table_args__ = (
        ForeignKeyConstraint(
            ["project_id", "annotator_id"], ["annotators.project_id", "annotators.id"]
        ),
        _of_change(),
        {"info": {"clustered": True}},
    )
    project_id: Mapped[int] = column(Integer, primary_key=True)
    annotator_id: Mapped[int] = column(Integer, primary_key=True)
    name: Mapped[str] = column(Text, primary_key=True)
    change_id: Mapped[int] = column(Integer, primary_key=True)
    value: Mapped[str] = column(Text)


class CategoryFact(Base):
    """What a change said of a category: that there is one, or its place (``value``) in the order.

    The last change that gave places gave them to all categories that have an order.
    """

    __tablename__ = "category_facts"
    __table_args__ = (
        category_reference(),
        _of_change(),
        CheckConstraint(one_of("role", CATEGORY_ROLES), "role"),
        {"info": {"clustered": True}},
    )
    project_id: Mapped[int] = column(Integer, primary_key=True)
    question_id: Mapped[int] = column(SmallInteger, primary_key=True, autoincrement=False)
    category_id: Mapped[int] = column(Integer, primary_key=True)
    role: Mapped[str] = column(Text, primary_key=True)
    change_id: Mapped[int] = column(Integer, primary_key=True)
    value: Mapped[int] = column(Integer)


class CategoryMerge(Base):
    """From one change to another, answers of one category were answers of another."""

    __tablename__ = "category_merges"
    __table_args__ = (
        category_reference(),
        category_reference("into_id"),
        ForeignKeyConstraint(["project_id", "from_change"], ["changes.project_id", "changes.id"]),
        ForeignKeyConstraint(["project_id", "to_change"], ["changes.project_id", "changes.id"]),
        CheckConstraint("category_id <> into_id", "another"),
        CheckConstraint("to_change > from_change", "order"),
    )
    project_id: Mapped[int] = column(Integer, primary_key=True)
    from_change: Mapped[int] = column(Integer, primary_key=True, autoincrement=False)
    question_id: Mapped[int] = column(SmallInteger)
    category_id: Mapped[int] = column(Integer)
    into_id: Mapped[int] = column(Integer)
    to_change: Mapped[int | None] = optional(Integer)


class MergedLabel(Base):
    """A label that was given as a category that ``merge`` made another.

    The rest of the key is the record's, in ``labels`` or ``past_labels``. ``beside`` says that
    the record held the other category, too: without the merge it has both labels.
    """

    __tablename__ = "merged_labels"
    __table_args__ = (
        ForeignKeyConstraint(
            ["project_id", "merge_id"],
            ["category_merges.project_id", "category_merges.from_change"],
        ),
        {"info": {"clustered": True}},
    )
    project_id: Mapped[int] = column(Integer, primary_key=True)
    merge_id: Mapped[int] = column(Integer, primary_key=True)
    item_id: Mapped[int] = column(Integer, primary_key=True, autoincrement=False)
    given_as: Mapped[int] = column(Integer, primary_key=True, autoincrement=False)
    pass_: Mapped[int] = column("pass", SmallInteger, primary_key=True, autoincrement=False)
    change_id: Mapped[int] = column(Integer, primary_key=True, autoincrement=False)
    source: Mapped[int] = column(SmallInteger, primary_key=True, autoincrement=False)
    labeled_at: Mapped[int] = column(
        BigInteger, primary_key=True, autoincrement=False, comment=MOMENT
    )
    span_start: Mapped[int] = column(Integer, primary_key=True, autoincrement=False)
    span_end: Mapped[int] = column(Integer, primary_key=True, autoincrement=False)
    beside: Mapped[bool] = column(Boolean)
