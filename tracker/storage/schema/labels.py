"""Labels: those that stand, and those that do not."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    ColumnElement,
    Double,
    ForeignKeyConstraint,
    Integer,
    Select,
    SmallInteger,
    Table,
    Text,
    and_,
    case,
    func,
    select,
)
from sqlalchemy.sql.selectable import FromClause

from tracker.storage.schema.base import (
    MOMENT,
    Base,
    column,
    key_column,
    one_of,
    optional,
    reference,
    reference_in_question,
)
from tracker.storage.schema.projects import Question

if TYPE_CHECKING:
    from sqlalchemy.orm import Mapped


def _label_constraints() -> tuple[CheckConstraint | ForeignKeyConstraint, ...]:
    return (
        reference("items", "item_id"),
        reference("annotators", "annotator_id"),
        reference("annotators", "given_as"),
        reference_in_question("categories", "category_id"),
        reference("changes", "change_id"),
        CheckConstraint("pass >= 1", "pass"),
        CheckConstraint(
            "(span_start = -1 AND span_end = -1) OR (0 <= span_start AND span_start < span_end)",
            "span",
        ),
        CheckConstraint("category_id > 0 OR span_start = -1", "reserved_has_no_span"),
        CheckConstraint("spent_ms >= 0", "spent"),
    )


class Label(Base, clustered=True, bulk=True):
    """A label of an answer that stands now; one row is one category (and span) of an answer.

    The answer is (question, item, annotator, pass). An answer without a label has one row of a
    reserved category. ``labeled_at`` is when it was recorded if the source did not say (not
    ``has_own_time``). ``given_as`` is the name under which the answer was given, ``source`` the
    import's file. If that file had been imported before, ``first_change_id`` is the change that
    recorded it first: of records of one moment, the one recorded last stands.
    """

    __tablename__ = "labels"
    __table_args__ = _label_constraints()
    project_id: Mapped[int] = key_column(Integer)
    question_id: Mapped[int] = key_column(SmallInteger)
    item_id: Mapped[int] = key_column(Integer)
    annotator_id: Mapped[int] = key_column(Integer)
    pass_: Mapped[int] = key_column("pass", SmallInteger)
    category_id: Mapped[int] = key_column(Integer, comment="0: none applies; -1: skipped")
    span_start: Mapped[int] = key_column(Integer, comment="-1 if it is no span")
    span_end: Mapped[int] = key_column(Integer, comment="-1 if it is no span")
    labeled_at: Mapped[int] = column(BigInteger, comment=MOMENT)
    has_own_time: Mapped[bool] = column(Boolean)
    first_change_id: Mapped[int | None] = optional(Integer)
    change_id: Mapped[int] = column(Integer)
    source: Mapped[int] = column(SmallInteger)
    given_as: Mapped[int] = column(Integer)
    spent_ms: Mapped[int | None] = optional(Integer, comment="milliseconds")


class PastLabel(Base, clustered=True, bulk=True):
    """A label of an answer that does not stand: superseded, older when it came, or taken back.

    ``taken_back_by`` is the change after which the ledger no longer holds it: an undo, or a sync
    whose source had it no longer (see `Withdrawal`).
    """

    __tablename__ = "past_labels"
    __table_args__ = (*_label_constraints(), reference("changes", "taken_back_by"))
    project_id: Mapped[int] = key_column(Integer)
    question_id: Mapped[int] = key_column(SmallInteger)
    item_id: Mapped[int] = key_column(Integer)
    annotator_id: Mapped[int] = key_column(Integer)
    pass_: Mapped[int] = key_column("pass", SmallInteger)
    labeled_at: Mapped[int] = key_column(BigInteger, comment=MOMENT)
    change_id: Mapped[int] = key_column(Integer)
    source: Mapped[int] = key_column(SmallInteger)
    given_as: Mapped[int] = key_column(Integer)
    category_id: Mapped[int] = key_column(Integer, comment="0: none applies; -1: skipped")
    span_start: Mapped[int] = key_column(Integer, comment="-1 if it is no span")
    span_end: Mapped[int] = key_column(Integer, comment="-1 if it is no span")
    has_own_time: Mapped[bool] = column(Boolean)
    first_change_id: Mapped[int | None] = optional(Integer)
    spent_ms: Mapped[int | None] = optional(Integer, comment="milliseconds")
    taken_back_by: Mapped[int | None] = optional(Integer)


class AnswerDetail(Base, clustered=True):
    """More of an answer than its labels: how sure the annotator was, and a comment.

    The key is that of the record, in ``labels`` or ``past_labels``, without whose it counts as.
    """

    __tablename__ = "answer_details"
    __table_args__ = (
        reference("questions", "question_id"),
        reference("items", "item_id"),
        reference("annotators", "given_as"),
        reference("changes", "change_id"),
        CheckConstraint("confidence BETWEEN 0 AND 1", "confidence"),
        CheckConstraint("confidence IS NOT NULL OR comment IS NOT NULL", "any"),
    )
    project_id: Mapped[int] = key_column(Integer)
    question_id: Mapped[int] = key_column(SmallInteger)
    item_id: Mapped[int] = key_column(Integer)
    given_as: Mapped[int] = key_column(Integer)
    pass_: Mapped[int] = key_column("pass", SmallInteger)
    labeled_at: Mapped[int] = key_column(BigInteger, comment=MOMENT)
    change_id: Mapped[int] = key_column(Integer)
    source: Mapped[int] = key_column(SmallInteger)
    confidence: Mapped[float | None] = optional(Double, comment="from 0 to 1")
    comment: Mapped[str | None] = optional(Text)


class ItemFact(Base, clustered=True):
    """What a change said of an item: that there is one, its text, length or an attribute.

    ``name`` is the attribute's, else empty. A value that an earlier change had given is not
    stored again: ``same_as`` is that change.
    """

    __tablename__ = "item_facts"
    __table_args__ = (
        reference("items", "item_id"),
        reference("changes", "change_id"),
        CheckConstraint(one_of("role", ("item", "text", "length", "attribute")), "role"),
        CheckConstraint("same_as < change_id", "same_as"),
    )
    project_id: Mapped[int] = key_column(Integer)
    item_id: Mapped[int] = key_column(Integer)
    role: Mapped[str] = key_column(Text)
    name: Mapped[str] = key_column(Text)
    change_id: Mapped[int] = key_column(Integer)
    value: Mapped[str | None] = optional(Text)
    same_as: Mapped[int | None] = optional(Integer)


class AnnotatorFact(Base, clustered=True):
    """What a change said of an annotator: that there is one, its kind, or whether they left.

    Presence is a word and the moment from which on it holds.
    """

    __tablename__ = "annotator_facts"
    __table_args__ = (
        reference("annotators", "annotator_id"),
        reference("changes", "change_id"),
        CheckConstraint(one_of("role", ("annotator", "kind", "presence")), "role"),
    )
    project_id: Mapped[int] = key_column(Integer)
    annotator_id: Mapped[int] = key_column(Integer)
    role: Mapped[str] = key_column(Text)
    change_id: Mapped[int] = key_column(Integer)
    value: Mapped[str] = column(Text)


class AnnotatorAttribute(Base, clustered=True):
    """What a change said of the annotator of a name: an attribute, such as the team.

    What the last change said holds.
    """

    __tablename__ = "annotator_attributes"
    __table_args__ = (reference("annotators", "annotator_id"), reference("changes", "change_id"))
    project_id: Mapped[int] = key_column(Integer)
    annotator_id: Mapped[int] = key_column(Integer)
    name: Mapped[str] = key_column(Text)
    change_id: Mapped[int] = key_column(Integer)
    value: Mapped[str] = column(Text)


class CategoryFact(Base, clustered=True):
    """What a change said of a category: that there is one, or its place (``value``) in the order.

    The last change that gave places gave them to all categories that have an order.
    """

    __tablename__ = "category_facts"
    __table_args__ = (
        reference_in_question("categories", "category_id"),
        reference("changes", "change_id"),
        CheckConstraint(one_of("role", ("category", "position")), "role"),
    )
    project_id: Mapped[int] = key_column(Integer)
    question_id: Mapped[int] = key_column(SmallInteger)
    category_id: Mapped[int] = key_column(Integer)
    role: Mapped[str] = key_column(Text)
    change_id: Mapped[int] = key_column(Integer)
    value: Mapped[int] = column(Integer)


class CategoryMerge(Base):
    """From one change to another, answers of one category were answers of another."""

    __tablename__ = "category_merges"
    __table_args__ = (
        reference_in_question("categories", "category_id"),
        reference_in_question("categories", "into_id"),
        reference("changes", "from_change"),
        reference("changes", "to_change"),
        CheckConstraint("category_id <> into_id", "another"),
        CheckConstraint("to_change > from_change", "order"),
    )
    project_id: Mapped[int] = key_column(Integer)
    from_change: Mapped[int] = key_column(Integer)
    question_id: Mapped[int] = column(SmallInteger)
    category_id: Mapped[int] = column(Integer)
    into_id: Mapped[int] = column(Integer)
    to_change: Mapped[int | None] = optional(Integer)


class MergedLabel(Base, clustered=True):
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
    )
    project_id: Mapped[int] = key_column(Integer)
    merge_id: Mapped[int] = key_column(Integer)
    item_id: Mapped[int] = key_column(Integer)
    given_as: Mapped[int] = key_column(Integer)
    pass_: Mapped[int] = key_column("pass", SmallInteger)
    change_id: Mapped[int] = key_column(Integer)
    source: Mapped[int] = key_column(SmallInteger)
    labeled_at: Mapped[int] = key_column(BigInteger, comment=MOMENT)
    span_start: Mapped[int] = key_column(Integer)
    span_end: Mapped[int] = key_column(Integer)
    beside: Mapped[bool] = column(Boolean)


# -- The columns that answers, and the records of them, are told apart by -------------------------


class QuestionKey(NamedTuple):
    """The numbers that stand for a question: its project's, and its own within the project."""

    project_id: int
    question_id: int


ANSWER = ("question_id", "item_id", "annotator_id", "pass")
"""The columns that say which answer of a project a label belongs to."""
ASSERTION = (*ANSWER, "labeled_at", "source")
"""The columns of an answer, and which time a file gave it: one answer, under whatever names."""
RECORD = (*ASSERTION, "given_as")
"""… and which of the records of that answer; names may turn out to be another's."""
ORDER = ("labeled_at", "first_change_id", "change_id", "source", "given_as")
"""The columns by which it is decided which of several records of an answer stands."""
LABEL = ("category_id", "span_start", "span_end")
"""The columns that say what was answered."""
DETAIL = ("question_id", "item_id", "given_as", "pass", "labeled_at", "change_id", "source")
"""The columns of a record, whosever it counts as, by which more is known of the answer."""
OWN_NAME = 0
"""Stands in a staged answer for the annotator's own name; ids begin at 1."""


@lru_cache(maxsize=256)
def of_question(rows: Any, key: QuestionKey) -> ColumnElement[bool]:
    """Return the condition that rows of a table, or of an alias of one, are a question's."""
    columns = getattr(rows, "c", rows)
    return and_(columns.project_id == key.project_id, columns.question_id == key.question_id)


def detail_of(details: FromClause, rows: FromClause) -> ColumnElement[bool]:
    """Return the condition that details are those of a label's record."""
    return and_(details.c.project_id == rows.c.project_id, same_answer_key(DETAIL, details, rows))


def question_numbers(project_id: int) -> Select[Any]:
    """Return the numbers of a project's questions.

    A statement about an item names them, whichever they are: the key of labels leads from a
    question to its items.
    """
    return select(Question.id).where(Question.project_id == project_id)


def same_answer_key(
    columns: tuple[str, ...], left: FromClause, right: FromClause
) -> ColumnElement[bool]:
    """Return whether two sources of rows are equal in these columns."""
    return and_(*(left.c[column] == right.c[column] for column in columns))


def select_with(table: Table, **values: ColumnElement[Any]) -> Select[Any]:
    """Return the statement of a table's rows with other values in some columns."""
    return select(*(values[c.name].label(c.name) if c.name in values else c for c in table.columns))


def recorded_by(rows: FromClause) -> ColumnElement[int]:
    """Return the change that recorded each record, or recorded its file first."""
    return func.coalesce(rows.c.first_change_id, rows.c.change_id)


def standing_order(rows: FromClause) -> list[ColumnElement[int]]:
    """Return what records of an answer are ordered by: the greatest stands."""
    moment, _, *others = (rows.c[name] for name in ORDER)
    return [moment, recorded_by(rows), *others]


def own_name_key(rows: FromClause) -> ColumnElement[int]:
    """Return the name under which staged answers were given."""
    return case((rows.c.given_as == OWN_NAME, rows.c.annotator_id), else_=rows.c.given_as)


# -- What was read of other programs, and which answers they had no longer ------------------------


class Sync(Base):
    """What an import by `tracker sync` read: from which source, between which of its updates.

    That of an event which the source sent by itself has read nothing: its ``until`` is 0.
    ``asked`` are the source's questions so far, by name: a JSON object. A sync that finds nothing
    moves the last one's ``until``.
    """

    __tablename__ = "syncs"
    __table_args__ = (reference("changes", "change_id"), CheckConstraint("since <= until", "order"))
    project_id: Mapped[int] = key_column(Integer)
    change_id: Mapped[int] = key_column(Integer)
    tool: Mapped[str] = column(Text)
    source: Mapped[str] = column(Text, comment="the address of what was read, without secrets")
    since: Mapped[int | None] = optional(BigInteger, comment=f"{MOMENT}; NULL: everything was read")
    until: Mapped[int] = column(BigInteger, comment=MOMENT)
    asked: Mapped[str] = column(Text)


class Withdrawal(Base, clustered=True):
    """From one change to another, the ledger did not hold a record: its source had it no longer.

    Kept of withdrawals that ended because their sync was undone; of one that holds,
    `PastLabel.taken_back_by` tells. The key is that of the record, as in `AnswerDetail`.
    """

    __tablename__ = "withdrawals"
    __table_args__ = (
        reference("questions", "question_id"),
        reference("items", "item_id"),
        reference("annotators", "given_as"),
        reference("changes", "change_id"),
        reference("changes", "from_change"),
        reference("changes", "to_change"),
        CheckConstraint("to_change > from_change", "order"),
    )
    project_id: Mapped[int] = key_column(Integer)
    question_id: Mapped[int] = key_column(SmallInteger)
    item_id: Mapped[int] = key_column(Integer)
    given_as: Mapped[int] = key_column(Integer)
    pass_: Mapped[int] = key_column("pass", SmallInteger)
    labeled_at: Mapped[int] = key_column(BigInteger, comment=MOMENT)
    change_id: Mapped[int] = key_column(Integer)
    source: Mapped[int] = key_column(SmallInteger)
    from_change: Mapped[int] = key_column(Integer)
    to_change: Mapped[int] = column(Integer)
