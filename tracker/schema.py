"""The tables: what the ledger stores, and the constraints that keep it sound. No queries.

Rows that belong to a project are numbered within it, so that two databases given the same
changes hold the same numbers, and every key that spans items carries project and item.
Moments are microseconds since 1970 (see `clock`).

A table whose ``info`` says ``clustered`` is stored in the order of its primary key where the
database can; ``append_only`` tables refuse UPDATE and DELETE other than a project's purge.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    ForeignKey,
    ForeignKeyConstraint,
    MetaData,
    SmallInteger,
    Text,
    UniqueConstraint,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

__all__ = [
    "ANSWERS",
    "KINDS",
    "NONE_APPLIES",
    "NO_SPAN",
    "OFFSETS",
    "SCALES",
    "SKIPPED",
    "Alias",
    "Annotator",
    "Base",
    "Category",
    "Change",
    "FlagRow",
    "Import",
    "Item",
    "ItemAttribute",
    "Label",
    "PastLabel",
    "Project",
    "Purge",
    "Snapshot",
    "SnapshotCategory",
    "SnapshotMeasure",
    "SnapshotPattern",
    "Source",
]

ANSWERS = ("one", "several", "spans")
SCALES = ("nominal", "ordinal", "interval", "ratio")
OFFSETS = ("characters", "tokens")
KINDS = ("human", "model", "reference")

NONE_APPLIES = 0
"""The reserved category of an answer that holds no label: seen, and nothing applied."""
SKIPPED = -1
"""The reserved category of a skipped answer; it enters no tally."""
NO_SPAN = -1
"""``span_start`` and ``span_end`` of a label that is not a span."""


def _one_of(column: str, values: tuple[str, ...]) -> str:
    return f"{column} IN ({', '.join(repr(value) for value in values)})"


class Base(DeclarativeBase):
    """The one registry; its naming convention names every constraint on every database."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


class Project(Base):
    """A labelling task. One row is one project."""

    __tablename__ = "projects"
    __table_args__ = (
        CheckConstraint(_one_of("answers", ANSWERS), "answers"),
        CheckConstraint(_one_of("scale", SCALES), "scale"),
        CheckConstraint(_one_of("offsets", OFFSETS), "offsets"),
        CheckConstraint("wanted > 0", "wanted"),
        CheckConstraint("name <> ''", "name"),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(Text, unique=True)
    answers: Mapped[str] = mapped_column(Text)
    scale: Mapped[str] = mapped_column(Text)
    offsets: Mapped[str] = mapped_column(Text)
    closed: Mapped[bool]  # the categories were declared, and no other is accepted
    wanted: Mapped[int | None]  # answers that each item should get
    created_at: Mapped[int] = mapped_column(BigInteger)
    archived_at: Mapped[int | None] = mapped_column(BigInteger)


class Purge(Base):
    """The tombstone of a purged project, without which nothing append-only may be deleted."""

    __tablename__ = "purges"
    project_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    purged_at: Mapped[int] = mapped_column(BigInteger)


class Change(Base):
    """One mutation of a project's ledger, in the order in which they were made."""

    __tablename__ = "changes"
    __table_args__ = ({"info": {"append_only": True}},)
    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    kind: Mapped[str] = mapped_column(Text)
    recorded_at: Mapped[int] = mapped_column(BigInteger)  # never before the change before it
    detail: Mapped[str] = mapped_column(Text)  # a JSON object: what was changed, from and to


class Import(Base):
    """One unit of recording: the files of one `tracker import`, and what became of the rows."""

    __tablename__ = "imports"
    __table_args__ = (
        UniqueConstraint("project_id", "change_id"),
        ForeignKeyConstraint(["project_id", "change_id"], ["changes.project_id", "changes.id"]),
        ForeignKeyConstraint(["project_id", "undone_by"], ["changes.project_id", "changes.id"]),
        CheckConstraint(
            "rows = inserted + changed + unchanged + older + rejected", "every_row_has_a_fate"
        ),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int]
    change_id: Mapped[int]
    rows: Mapped[int]
    inserted: Mapped[int]
    changed: Mapped[int]
    unchanged: Mapped[int]
    older: Mapped[int]
    rejected: Mapped[int]
    undone_by: Mapped[int | None]


class Source(Base):
    """One file of an import, by the name it was given and the digest of its bytes."""

    __tablename__ = "sources"
    import_id: Mapped[int] = mapped_column(ForeignKey("imports.id"), primary_key=True)
    number: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    name: Mapped[str] = mapped_column(Text)
    digest: Mapped[str] = mapped_column(Text)  # SHA-256, hexadecimal


class Item(Base):
    """A thing to be labelled, known by the project's own key (``name``)."""

    __tablename__ = "items"
    __table_args__ = (
        UniqueConstraint("project_id", "name"),
        CheckConstraint("length >= 0", "length"),
        {"info": {"clustered": True}},
    )
    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    name: Mapped[str] = mapped_column(Text)
    text: Mapped[str | None] = mapped_column(Text)
    length: Mapped[int | None]  # of a document, in the project's offsets


class ItemAttribute(Base):
    """A further column of an item, kept on request."""

    __tablename__ = "item_attributes"
    __table_args__ = (
        ForeignKeyConstraint(["project_id", "item_id"], ["items.project_id", "items.id"]),
        {"info": {"clustered": True}},
    )
    project_id: Mapped[int] = mapped_column(primary_key=True)
    item_id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(Text, primary_key=True)
    value: Mapped[str] = mapped_column(Text)


class Annotator(Base):
    """A name under which answers were given. One row is one name; see `Alias`."""

    __tablename__ = "annotators"
    __table_args__ = (
        UniqueConstraint("project_id", "name"),
        CheckConstraint(_one_of("kind", KINDS), "kind"),
    )
    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    name: Mapped[str] = mapped_column(Text)
    kind: Mapped[str] = mapped_column(Text)


class Alias(Base):
    """From one change to another, answers given under one name were another annotator's."""

    __tablename__ = "aliases"
    __table_args__ = (
        ForeignKeyConstraint(
            ["project_id", "alias_id"], ["annotators.project_id", "annotators.id"]
        ),
        ForeignKeyConstraint(
            ["project_id", "annotator_id"], ["annotators.project_id", "annotators.id"]
        ),
        ForeignKeyConstraint(["project_id", "from_change"], ["changes.project_id", "changes.id"]),
        ForeignKeyConstraint(["project_id", "to_change"], ["changes.project_id", "changes.id"]),
        CheckConstraint("alias_id <> annotator_id", "another"),
        CheckConstraint("to_change > from_change", "order"),
    )
    project_id: Mapped[int] = mapped_column(primary_key=True)
    alias_id: Mapped[int] = mapped_column(primary_key=True)
    from_change: Mapped[int] = mapped_column(primary_key=True)
    annotator_id: Mapped[int]
    to_change: Mapped[int | None]


class Category(Base):
    """A category of a project; the ids of declared ones ascend in the declared order.

    Every project also has the two reserved rows, `NONE_APPLIES` and `SKIPPED`, without name.
    """

    __tablename__ = "categories"
    __table_args__ = (
        UniqueConstraint("project_id", "name"),
        CheckConstraint("(id > 0) = (name IS NOT NULL)", "reserved"),
    )
    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    name: Mapped[str | None] = mapped_column(Text)


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


class Snapshot(Base):
    """An immutable record of a project's figures and of the tallies they follow from."""

    __tablename__ = "snapshots"
    __table_args__ = (
        UniqueConstraint("project_id", "name"),
        ForeignKeyConstraint(
            ["project_id", "through_change"], ["changes.project_id", "changes.id"]
        ),
        {"info": {"append_only": True}},
    )
    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    name: Mapped[str | None] = mapped_column(Text)
    note: Mapped[str | None] = mapped_column(Text)
    taken_at: Mapped[int] = mapped_column(BigInteger)
    through_change: Mapped[int | None]
    version: Mapped[str] = mapped_column(Text)  # of the program that computed the figures
    scale: Mapped[str] = mapped_column(Text)
    items: Mapped[int]
    items_compared: Mapped[int]
    annotators: Mapped[int]
    answers: Mapped[int]
    labels: Mapped[int]


def _of_snapshot() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(
        ["project_id", "snapshot_id"], ["snapshots.project_id", "snapshots.id"]
    )


class SnapshotMeasure(Base):
    """One coefficient of a snapshot, with its parts, error and interval."""

    __tablename__ = "snapshot_measures"
    __table_args__ = (
        _of_snapshot(),
        CheckConstraint("(value IS NULL) = (undefined IS NOT NULL)", "a_value_or_a_reason"),
        {"info": {"append_only": True}},
    )
    project_id: Mapped[int] = mapped_column(primary_key=True)
    snapshot_id: Mapped[int] = mapped_column(primary_key=True)
    measure: Mapped[str] = mapped_column(Text, primary_key=True)
    position: Mapped[int] = mapped_column(SmallInteger)
    value: Mapped[float | None]
    undefined: Mapped[str | None] = mapped_column(Text)
    observed: Mapped[float | None]
    expected: Mapped[float | None]
    standard_error: Mapped[float | None]
    ci_low: Mapped[float | None]
    ci_high: Mapped[float | None]
    confidence: Mapped[float]
    items: Mapped[int]


class SnapshotCategory(Base):
    """The counts and the agreement rate of one category in a snapshot."""

    __tablename__ = "snapshot_categories"
    __table_args__ = (
        _of_snapshot(),
        ForeignKeyConstraint(
            ["project_id", "category_id"], ["categories.project_id", "categories.id"]
        ),
        CheckConstraint("(rate IS NULL) = (undefined IS NOT NULL)", "a_rate_or_a_reason"),
        CheckConstraint("0 <= agreements AND agreements <= potential_agreements", "agreements"),
        {"info": {"append_only": True}},
    )
    project_id: Mapped[int] = mapped_column(primary_key=True)
    snapshot_id: Mapped[int] = mapped_column(primary_key=True)
    category_id: Mapped[int] = mapped_column(primary_key=True)
    position: Mapped[int] = mapped_column(SmallInteger)
    labels: Mapped[int]
    agreements: Mapped[int] = mapped_column(BigInteger)
    potential_agreements: Mapped[int] = mapped_column(BigInteger)
    rate: Mapped[float | None]
    undefined: Mapped[str | None] = mapped_column(Text)
    standard_error: Mapped[float | None]
    ci_low: Mapped[float | None]
    ci_high: Mapped[float | None]
    specific_agreement: Mapped[float | None]


class SnapshotPattern(Base):
    """One item pattern of a snapshot: how many items had it."""

    __tablename__ = "snapshot_patterns"
    __table_args__ = (
        _of_snapshot(),
        CheckConstraint("items > 0", "items"),
        {"info": {"append_only": True, "clustered": True}},
    )
    project_id: Mapped[int] = mapped_column(primary_key=True)
    snapshot_id: Mapped[int] = mapped_column(primary_key=True)
    pattern: Mapped[str] = mapped_column(Text, primary_key=True)  # JSON, canonical
    items: Mapped[int]


class FlagRow(Base):
    """A finding about an annotator's answers that an audit recorded, as it was last seen."""

    __tablename__ = "flags"
    __table_args__ = (
        ForeignKeyConstraint(
            ["project_id", "annotator_id"], ["annotators.project_id", "annotators.id"]
        ),
        ForeignKeyConstraint(
            ["project_id", "category_id"], ["categories.project_id", "categories.id"]
        ),
        UniqueConstraint("project_id", "annotator_id", "kind", "category_id"),
        CheckConstraint("last_seen_at >= found_at", "order"),
    )
    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    annotator_id: Mapped[int]
    kind: Mapped[str] = mapped_column(Text)
    category_id: Mapped[int]  # NONE_APPLIES where the finding is not about a category
    severity: Mapped[str] = mapped_column(Text)
    found_at: Mapped[int] = mapped_column(BigInteger)
    last_seen_at: Mapped[int] = mapped_column(BigInteger)
    evidence: Mapped[str] = mapped_column(Text)  # a JSON object: the finding's figures
