"""Projects and what they know by name; the change log and the imports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Double,
    ForeignKey,
    Integer,
    SmallInteger,
    Text,
    UniqueConstraint,
)

from tracker.storage.schema.base import (
    ANSWERS,
    KINDS,
    MOMENT,
    OFFSETS,
    SCALES,
    Base,
    column,
    key_column,
    one_of,
    optional,
    reference,
)

if TYPE_CHECKING:
    from sqlalchemy.orm import Mapped


class Project(Base, never_renumbered=True):
    """A labelling task. One row is one project."""

    __tablename__ = "projects"
    __table_args__ = (CheckConstraint("name <> ''", "name"),)
    id: Mapped[int] = column(Integer, primary_key=True)
    name: Mapped[str] = column(Text, unique=True)
    created_at: Mapped[int] = column(BigInteger, comment=MOMENT)
    archived_at: Mapped[int | None] = optional(BigInteger, comment=MOMENT)
    timezone: Mapped[str | None] = optional(
        Text, comment="the zone in which its days begin, such as Europe/Berlin; NULL for UTC"
    )
    tentative_from: Mapped[float | None] = optional(
        Double, comment="least agreement for tentative conclusions; NULL for the customary one"
    )
    good_from: Mapped[float | None] = optional(
        Double, comment="least agreement to rely on; NULL for the customary one"
    )
    item_link: Mapped[str | None] = optional(
        Text, comment="address of an item in another program, with {item} or {attribute}"
    )
    media_hosts: Mapped[str | None] = optional(
        Text, comment="origins of pictures, sound and films that pages show, a blank between them"
    )


class SavedView(Base):
    """A list of a project's items that somebody named: what the page of items is asked for."""

    __tablename__ = "saved_views"
    __table_args__ = (CheckConstraint("name <> ''", "name"),)
    project_id: Mapped[int] = key_column(Integer, ForeignKey("projects.id"))
    name: Mapped[str] = key_column(Text)
    query: Mapped[str] = column(Text, comment="a JSON object: the fields of the page's form")


class Question(Base):
    """What a project asks of its items; one row is one question, the first of them number 1."""

    __tablename__ = "questions"
    __table_args__ = (
        UniqueConstraint("project_id", "name"),
        CheckConstraint(one_of("answers", ANSWERS), "answers"),
        CheckConstraint(one_of("scale", SCALES), "scale"),
        CheckConstraint(one_of("offsets", OFFSETS), "offsets"),
        CheckConstraint("target_answers > 0", "target_answers"),
        CheckConstraint("name <> ''", "name"),
        CheckConstraint("id > 0", "id"),
    )
    project_id: Mapped[int] = key_column(Integer, ForeignKey("projects.id"))
    id: Mapped[int] = key_column(SmallInteger)
    name: Mapped[str] = column(Text)
    answers: Mapped[str] = column(Text, comment="what an answer holds")
    scale: Mapped[str] = column(Text)
    offsets: Mapped[str] = column(Text)
    categories_fixed: Mapped[bool] = column(
        Boolean, comment="the categories were declared, and no other is accepted"
    )
    target_answers: Mapped[int | None] = optional(
        Integer, comment="answers that each item should get"
    )
    goal: Mapped[str | None] = optional(Text, comment="a figure, and how well it is to be known")
    deadline: Mapped[str | None] = optional(Text, comment="the day by which it is to be")
    instructions: Mapped[str | None] = optional(
        Text, comment="what annotators are told who answer it on their page"
    )
    also_asks: Mapped[str | None] = optional(
        Text, comment="confidence, comment: what an answer has besides, a blank between them"
    )
    preference: Mapped[bool | None] = optional(
        Boolean, comment="the category says which of two is better; NULL for no"
    )


class Purge(Base):
    """The tombstone of a purged project, without which nothing append-only may be deleted."""

    __tablename__ = "purges"
    project_id: Mapped[int] = key_column(Integer)
    purged_at: Mapped[int] = column(BigInteger, comment=MOMENT)


class Change(Base, append_only=True):
    """One mutation of a project's ledger, in the order in which they were made."""

    __tablename__ = "changes"
    project_id: Mapped[int] = key_column(Integer, ForeignKey("projects.id"))
    id: Mapped[int] = key_column(Integer)
    kind: Mapped[str] = column(Text)
    recorded_at: Mapped[int] = column(
        BigInteger, comment=f"{MOMENT}; never before the change before it"
    )
    detail: Mapped[str] = column(Text, comment="a JSON object: what was changed, from and to")


class Touched(Base, clustered=True):
    """Items whose answers to a question a change may have changed, by number: first to last."""

    __tablename__ = "touched"
    __table_args__ = (
        reference("questions", "question_id"),
        reference("changes", "change_id"),
        CheckConstraint("first_item <= last_item", "order"),
    )
    project_id: Mapped[int] = key_column(Integer)
    question_id: Mapped[int] = key_column(SmallInteger)
    change_id: Mapped[int] = key_column(Integer)
    first_item: Mapped[int] = key_column(Integer)
    last_item: Mapped[int] = column(Integer)


class Import(Base, never_renumbered=True):
    """One unit of recording: the files of one `tracker import`, and what became of the rows.

    ``reading`` says how the files were read and what was left out (`reading_record`), as JSON;
    NULL for labels that stay in files (see `Lake`).
    """

    __tablename__ = "imports"
    __table_args__ = (
        UniqueConstraint("project_id", "change_id"),
        reference("changes", "change_id"),
        reference("changes", "undone_by"),
        CheckConstraint(
            "rows = inserted + changed + unchanged + older + rejected", "every_row_has_a_fate"
        ),
    )
    id: Mapped[int] = column(Integer, primary_key=True)
    project_id: Mapped[int] = column(Integer)
    change_id: Mapped[int] = column(Integer)
    rows: Mapped[int] = column(Integer)
    inserted: Mapped[int] = column(Integer)
    changed: Mapped[int] = column(Integer)
    unchanged: Mapped[int] = column(Integer)
    older: Mapped[int] = column(Integer)
    rejected: Mapped[int] = column(Integer)
    undone_by: Mapped[int | None] = optional(Integer)
    reading: Mapped[str | None] = optional(Text)


class Source(Base):
    """One file of an import, by the name it was given and the digest of its bytes."""

    __tablename__ = "sources"
    import_id: Mapped[int] = key_column(Integer, ForeignKey("imports.id"))
    number: Mapped[int] = key_column(SmallInteger)
    name: Mapped[str] = column(Text)
    digest: Mapped[str] = column(Text, comment="SHA-256, hexadecimal")


class Item(Base, clustered=True):
    """A thing to be labelled, known by the project's own key (``name``)."""

    __tablename__ = "items"
    __table_args__ = (
        UniqueConstraint("project_id", "name"),
        CheckConstraint("length >= 0", "length"),
    )
    project_id: Mapped[int] = key_column(Integer, ForeignKey("projects.id"))
    id: Mapped[int] = key_column(Integer)
    name: Mapped[str] = column(Text)
    text: Mapped[str | None] = optional(Text)
    length: Mapped[int | None] = optional(
        Integer, comment="of a document, in the project's offsets"
    )


class ItemAttribute(Base, clustered=True):
    """A further column of an item, kept on request."""

    __tablename__ = "item_attributes"
    __table_args__ = (reference("items", "item_id"),)
    project_id: Mapped[int] = key_column(Integer)
    item_id: Mapped[int] = key_column(Integer)
    name: Mapped[str] = key_column(Text)
    value: Mapped[str] = column(Text)


class ItemAlias(Base, clustered=True):
    """From one change to another, answers under a key were recorded as about an item of another.

    An item may have that key, too, if all that was said of it is undone.
    """

    __tablename__ = "item_aliases"
    __table_args__ = (
        reference("items", "item_id"),
        reference("changes", "from_change"),
        reference("changes", "to_change"),
        CheckConstraint("to_change > from_change", "order"),
    )
    project_id: Mapped[int] = key_column(Integer)
    name: Mapped[str] = key_column(Text)
    from_change: Mapped[int] = key_column(Integer)
    item_id: Mapped[int] = column(Integer)
    to_change: Mapped[int | None] = optional(Integer)


class Annotator(Base):
    """A name under which answers were given. One row is one name; see `Alias`."""

    __tablename__ = "annotators"
    __table_args__ = (
        UniqueConstraint("project_id", "name"),
        CheckConstraint(one_of("kind", KINDS), "kind"),
    )
    project_id: Mapped[int] = key_column(Integer, ForeignKey("projects.id"))
    id: Mapped[int] = key_column(Integer)
    name: Mapped[str] = column(Text)
    kind: Mapped[str] = column(Text)


class Alias(Base):
    """From one change to another, answers given under one name were another annotator's."""

    __tablename__ = "aliases"
    __table_args__ = (
        reference("annotators", "alias_id"),
        reference("annotators", "annotator_id"),
        reference("changes", "from_change"),
        reference("changes", "to_change"),
        CheckConstraint("alias_id <> annotator_id", "another"),
        CheckConstraint("to_change > from_change", "order"),
    )
    project_id: Mapped[int] = key_column(Integer)
    alias_id: Mapped[int] = key_column(Integer)
    from_change: Mapped[int] = key_column(Integer)
    annotator_id: Mapped[int] = column(Integer)
    to_change: Mapped[int | None] = optional(Integer)


class Category(Base):
    """A category of a question; the ids of declared ones ascend in the declared order.

    Every question also has the two reserved rows, `NONE_APPLIES` and `SKIPPED`, without name.
    """

    __tablename__ = "categories"
    __table_args__ = (
        UniqueConstraint("project_id", "question_id", "name"),
        reference("questions", "question_id"),
        CheckConstraint("(id > 0) = (name IS NOT NULL)", "reserved"),
    )
    project_id: Mapped[int] = key_column(Integer)
    question_id: Mapped[int] = key_column(SmallInteger)
    id: Mapped[int] = key_column(Integer)
    name: Mapped[str | None] = optional(Text)
