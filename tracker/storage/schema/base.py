"""The one registry of tables, and the words and numbers that stand in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import (
    CheckConstraint,
    Column,
    ForeignKeyConstraint,
    FromClause,
    Integer,
    MetaData,
    Table,
    Text,
)

if TYPE_CHECKING:
    from sqlalchemy.orm import Mapped


ANSWERS = ("one", "several", "spans")
SCALES = ("nominal", "ordinal", "interval", "ratio")
OFFSETS = ("characters", "tokens")
KINDS = ("human", "model", "reference")

NONE_APPLIES = 0
"""The reserved category of an answer that holds no label: seen, and nothing applied."""
SKIPPED = -1
"""The reserved category of a skipped answer; it enters no tally."""
ERASED = "(erased)"
"""What stands for a text that was erased for good."""
NO_SPAN = -1
"""``span_start`` and ``span_end`` of a label that is not a span."""
MOMENT = "microseconds since 1970, UTC"
"""The comment of a column that holds a moment."""


def one_of(column: str, values: tuple[str, ...]) -> str:
    """A CHECK that a column holds one of some words."""
    return f"{column} IN ({', '.join(repr(value) for value in values)})"


def reference(table: str, number: str) -> ForeignKeyConstraint:
    """Return the reference to a numbered row of a table, of the same project."""
    return ForeignKeyConstraint(["project_id", number], [f"{table}.project_id", f"{table}.id"])


def reference_in_question(table: str, number: str) -> ForeignKeyConstraint:
    """Return the reference to a numbered row of a table, of the same question."""
    return ForeignKeyConstraint(
        ["project_id", "question_id", number],
        [f"{table}.project_id", f"{table}.question_id", f"{table}.id"],
    )


def key_column(*arguments: Any, **options: Any) -> Any:
    """Return a column of the primary key, which the database does not number by itself."""
    return column(*arguments, primary_key=True, autoincrement=False, **options)


def column(*arguments: Any, **options: Any) -> Any:
    """Return a column that has a value in every row; arguments as of `sqlalchemy.Column`."""
    return Column(*arguments, nullable=False, **options)


def optional(*arguments: Any, **options: Any) -> Any:
    """Return a column that may be NULL; arguments as of `sqlalchemy.Column`."""
    return Column(*arguments, nullable=True, **options)


def _columns_in_name(constraint: Any, _table: Table) -> str:
    """Return a constraint's columns for its name, short enough for Postgres.

    The question is left out if more columns tell what it is about.
    """
    names = [str(getattr(column, "name", column)) for column in constraint.columns]
    return "_".join(name for name in names if name != "question_id" or len(names) == 2)


class _AsTable(type):
    """Lets a statement take the class for its table: ``select(...).select_from(Label)``."""

    __table__: Table

    def __clause_element__(cls) -> FromClause:
        return cls.__table__


class Base(metaclass=_AsTable):
    """A table declared as a class of its columns; objects are never made of its rows.

    SQLAlchemy's own mapper would do it, too, and take half as long again to import as the rest.
    """

    metadata: ClassVar = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "columns": _columns_in_name,
            "uq": "uq_%(table_name)s_%(columns)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(columns)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    __tablename__: ClassVar[str]
    __table_args__: ClassVar[tuple[Any, ...]] = ()

    def __init_subclass__(cls, **info: Any) -> None:
        """Make the table: columns in order, named as the class names them; its text the comment."""
        columns = {name: value for name, value in vars(cls).items() if isinstance(value, Column)}
        for name, value in columns.items():
            if not value.name:
                value.name = value.key = name
        cls.__table__ = Table(
            cls.__tablename__,
            cls.metadata,
            *columns.values(),
            *cls.__table_args__,
            comment=" ".join((cls.__doc__ or "").replace("`", "").split()),
            info=info,
        )


class PseudonymKey(Base):
    """The key that pseudonyms of annotators are made with: one row, made with the tables."""

    __tablename__ = "pseudonym_keys"
    __table_args__ = (CheckConstraint("id = 1", "one"),)
    id: Mapped[int] = key_column(Integer)
    key: Mapped[str] = column(Text, comment="32 random bytes, hexadecimal")
