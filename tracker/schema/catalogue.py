"""Projects and what they know by name; the change log and the imports."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    ForeignKey,
    ForeignKeyConstraint,
    SmallInteger,
    Text,
    UniqueConstraint,
)
from sqlalchemy.orm import Mapped, mapped_column

from tracker.schema.base import ANSWERS, KINDS, OFFSETS, SCALES, Base, one_of


class Project(Base):
    """A labelling task. One row is one project."""

    __tablename__ = "projects"
    __table_args__ = (
        CheckConstraint(one_of("answers", ANSWERS), "answers"),
        CheckConstraint(one_of("scale", SCALES), "scale"),
        CheckConstraint(one_of("offsets", OFFSETS), "offsets"),
        CheckConstraint("wanted > 0", "wanted"),
        CheckConstraint("name <> ''", "name"),
        {"info": {"never_renumbered": True}},
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


class Touched(Base):
    """Items whose answers a change may have changed: all from the first to the last by number."""

    __tablename__ = "touched"
    __table_args__ = (
        ForeignKeyConstraint(["project_id", "change_id"], ["changes.project_id", "changes.id"]),
        CheckConstraint("first_item <= last_item", "order"),
        {"info": {"clustered": True}},
    )
    project_id: Mapped[int] = mapped_column(primary_key=True)
    change_id: Mapped[int] = mapped_column(primary_key=True)
    first_item: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    last_item: Mapped[int]


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
        CheckConstraint(one_of("kind", KINDS), "kind"),
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
