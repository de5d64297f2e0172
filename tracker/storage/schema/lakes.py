"""Labels that lie in files: where, which files, and what their texts stand for."""

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
)

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


class Lake(Base):
    """Where the labels of a project's question are, if not in this database."""

    __tablename__ = "lakes"
    project_id: Mapped[int] = key_column(Integer, ForeignKey("projects.id"))
    address: Mapped[str] = column(Text, comment="a file, a folder, a pattern or a URL")
    roles: Mapped[str] = column(Text, comment="a JSON object: the column of each role")
    engine: Mapped[str] = column(Text, comment="duckdb, or the master of a Spark cluster")


class LakeFile(Base):
    """A file of labels, from the change that found it to the one that found it no longer as it was.

    Files of one ``part`` are counted together; no item has answers in two parts.
    """

    __tablename__ = "lake_files"
    __table_args__ = (
        reference("changes", "from_change"),
        reference("changes", "to_change"),
        CheckConstraint("to_change > from_change", "order"),
    )
    project_id: Mapped[int] = key_column(Integer, ForeignKey("projects.id"))
    number: Mapped[int] = key_column(Integer)
    path: Mapped[str] = column(Text)
    size: Mapped[int] = column(BigInteger, comment="bytes")
    modified_at: Mapped[int] = column(BigInteger, comment=MOMENT)
    identity: Mapped[str | None] = optional(Text, comment="inode and time of the last write")
    digest: Mapped[str] = column(Text, comment="SHA-256, hexadecimal")
    labels: Mapped[int] = column(BigInteger)
    part: Mapped[int] = column(Integer)
    from_change: Mapped[int] = column(Integer)
    source: Mapped[int] = column(SmallInteger, comment="of the import of that change")
    to_change: Mapped[int | None] = optional(Integer)


class LakeName(Base):
    """What a text of a column of the files stands for."""

    __tablename__ = "lake_names"
    __table_args__ = (
        ForeignKeyConstraint(["project_id"], ["lakes.project_id"]),
        CheckConstraint(one_of("role", ("annotator", "category")), "role"),
    )
    project_id: Mapped[int] = key_column(Integer)
    role: Mapped[str] = key_column(Text)
    text: Mapped[str] = key_column(Text)
    number: Mapped[int] = column(Integer, comment="of the annotator's name, or the category")
