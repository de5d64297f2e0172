"""What a kind of database does in its own way: one class of each, its methods described here."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from sqlalchemy import (
    Boolean,
    ColumnElement,
    Connection,
    Engine,
    ForeignKeyConstraint,
    SQLColumnExpression,
    Table,
)
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from tracker.core.errors import WAIT_LONGER
from tracker.storage.schema import Base

Cells = Sequence[Any]
"""The cells of some rows: for each column a list, a NumPy or an Arrow array; or a whole number or
None, which every row has."""


class Fix(NamedTuple):
    """What an error means, and how to fix it."""

    message: str
    mend: str


AGAIN = "run the command again"
STILL_THERE = Fix(
    "what was deleted is still in the files, because others are reading",
    "when they are done: tracker database vacuum",
)
POOL = {"pool_size": 10, "max_overflow": -1}
"""How many connections an engine keeps at most; more are made if they are needed, and closed."""
DAMAGED = Fix("the database file is damaged", "restore a backup; see: tracker database check")
MISSING_TABLE = Fix("a table of the schema is missing", "see: tracker database check")
MISSING_COLUMN = Fix("a column of the schema is missing", "see: tracker database check")
WAIT_OPTION = "tracker_wait"  # of a connection: seconds to wait for a lock
LOCKED = Fix("the database is locked by another program", WAIT_LONGER)
NO_SCHEMA = Fix(
    "the role may use no schema of its search path",
    "grant it the right: GRANT USAGE ON SCHEMA public TO ROLE",
)
TOO_LARGE = Fix("a number is larger than the database can hold", "give a smaller one")
NO_CHARACTER = Fix("a text holds what is no character", "leave it out")
UNFIT = (TOO_LARGE, NO_CHARACTER)
"""Errors of a value that no database can take."""

OF_PURGED = "EXISTS (SELECT 1 FROM purges WHERE project_id = OLD.project_id)"
OF_THINNED = (
    "EXISTS (SELECT 1 FROM tombstones WHERE project_id = OLD.project_id "
    "AND question_id = OLD.question_id AND snapshot_id = OLD.snapshot_id)"
)
"""SQL conditions on which a row of an append-only table may be deleted."""


class Seldom(FunctionElement[bool]):
    """A condition that few rows come to, in two ways that mean the same.

    One searches for each row, the other looks into a list, which is made once, at the first row.
    """

    type = Boolean()
    inherit_cache = True

    def __init__(self, searched: ColumnElement[bool], listed: ColumnElement[bool]) -> None:
        super().__init__(searched, listed)


@compiles(Seldom)
def _searched(element: Seldom, compiler: Any, **options: Any) -> str:
    return str(compiler.process(next(iter(element.clauses)), **options))


class Backend(ABC):
    """A kind of database. It has no state: a connection or URL says which database is meant.

    Attributes:
        name: SQLAlchemy's name of the dialect.
        schemes: how URLs of such databases begin, up to a ``+`` or ``:``.
        prefix: how a URL is written, up to the first part that the user chooses.
        example: the rest of such a URL.
        temporary_schema: the name under which temporary tables are told from the stored ones
            they hide.
        counts_in_parallel: whether several processes count for one statement, unless it is read as
            a stream.
        fixes: by the beginning of an error's code, the longest that fits, what it means.
        signs: likewise by a part of the text of an error whose code says nothing.
    """

    name: ClassVar[str]
    schemes: ClassVar[frozenset[str]]
    prefix: ClassVar[str]
    example: ClassVar[str]
    temporary_schema: ClassVar[str]
    counts_in_parallel: ClassVar[bool] = False
    fixes: ClassVar[Mapping[str, Fix]]
    signs: ClassVar[Sequence[tuple[str, Fix]]]

    # -- URLs and engines ------------------------------------------------------------------

    @abstractmethod
    def checked(self, url: URL) -> URL | None:
        """Return a URL of one of the schemes with its driver; None if it cannot be read."""

    @abstractmethod
    def in_schema(self, url: URL, name: str) -> URL:
        """Return the URL of the ledger in a schema; raises InvalidOption if there are none."""

    def file_of(self, url: URL) -> Path | None:
        """Return the file that a URL names; None for a server or a database in memory."""
        return None

    def is_in_memory(self, url: URL) -> bool:
        """Return whether a URL names a database that is gone with its process."""
        return False

    @abstractmethod
    def engine(self, url: URL, wait: float | None = None, *, keep: bool = False) -> Engine:
        """Return an engine whose transactions are real ones.

        A connection is closed after its use, or with ``keep`` used again, as if it were new, and
        others can read while it writes; one database in memory is one connection's. A lock that
        others hold is waited for ``wait`` seconds; None for the usual time.
        """

    # -- transactions and schemas ----------------------------------------------------------

    @abstractmethod
    def writing(self, connection: Connection, *, bulk: bool, wait: float | None) -> Connection:
        """Return the connection, set to write: it is alone, or sees what others commit.

        ``bulk`` is the loader's, which proves all rows' references at once: the database need
        not look up each, if that takes it long. Locks are awaited ``wait`` seconds, as `engine`.
        """

    @abstractmethod
    def only_reading(self, connection: Connection) -> Connection:
        """Return the connection, set so that no statement can change the database."""

    def hold_migrations(self, connection: Connection) -> None:  # noqa: B027
        """Hold off every other migration until the transaction ends, if a writer is not alone."""

    def make_schema(self, connection: Connection) -> None:  # noqa: B027
        """Make the schema that the URL names, if there is none."""

    def has_schema(self, connection: Connection) -> bool:
        """Return whether unqualified names mean anything.

        A role without rights on its schema sees no table, as if the database were empty. A
        schema that the URL names and that is not there yet can be made.
        """
        return True

    # -- rows ------------------------------------------------------------------------------

    def bulk_insert(self, connection: Connection, table: Table, columns: Mapping[str, Any]) -> None:
        """Insert many rows, given column by column, the fastest way there is.

        A column is a list, a NumPy or an Arrow array; or a whole number or None, which every
        row has. Raises DBAPIError, as every statement does.
        """
        quote = connection.dialect.identifier_preparer.quote
        # In the order of the table, or some databases would copy every row once more.
        names = sorted(columns, key=table.columns.keys().index)
        into = f"{quote(table.name)} ({', '.join(map(quote, names))})"
        cursor: Any = connection.connection.cursor()
        try:
            for cells in _in_parts([columns[name] for name in names]):
                self.insert(cursor, into, cells)
        except connection.dialect.loaded_dbapi.Error as error:
            raise DBAPIError(f"INSERT INTO {into}", None, error) from error
        finally:
            cursor.close()

    @abstractmethod
    def insert(self, cursor: Any, into: str, cells: Cells) -> None:
        """Insert some thousand rows by a driver's cursor into a table with its columns."""

    @abstractmethod
    def json_text(self, column: SQLColumnExpression[str], key: str) -> ColumnElement[Any]:
        """Return the text that the JSON objects of a column have under a key, NULL for none."""

    def refresh_statistics(self, connection: Connection, *tables: Table) -> None:  # noqa: B027
        """Let a planner that goes by the size of tables know that of tables just filled."""

    def rows_added(  # noqa: B027
        self,
        connection: Connection,
        project_id: int,
        rows: int,
        tables: Sequence[Table],
        held: int = 0,
    ) -> None:
        """Likewise of a project's new rows of the last table, and of what they refer to.

        ``held`` is how many rows it has now, if that is known.
        """

    @abstractmethod
    def highest_number(self, connection: Connection, table: Table) -> int:
        """Return the highest number that a table ever gave to a row; 0 if it gave none."""

    @abstractmethod
    def go_on_from(self, connection: Connection, table: Table, highest: int) -> None:
        """Let a table number its next row after the highest number that was ever given."""

    # -- triggers and errors ---------------------------------------------------------------

    def triggers(self) -> dict[str, str]:
        """Return what each trigger is made of, by its name, as `stored_triggers` reads it.

        They refuse UPDATE, DELETE and a replacing INSERT on append-only tables. A DELETE passes
        once the project has its tombstone in ``purges``, or the snapshot its own in
        ``tombstones``, an UPDATE if it only erases a text that may be. They also hold the
        references that are not declared.
        """
        tables = Base.metadata.sorted_tables
        return {name: text for table in tables for name, text in self.triggers_of(table).items()}

    @abstractmethod
    def triggers_of(self, table: Table) -> dict[str, str]: ...

    def is_declared(self, reference: ForeignKeyConstraint) -> bool:
        """Return whether a reference of the models is a foreign key of the database.

        One that is not is held by triggers.
        """
        return True

    @abstractmethod
    def stored_triggers(self, connection: Connection) -> dict[str, str]:
        """Return what the triggers that the database has and heeds are made of, by name."""

    def integrity_errors(self, connection: Connection) -> list[str]:
        """Return what the database itself finds wrong with its pages and foreign keys.

        A sentence each; nothing if it holds them without exception as it reads and writes.
        """
        return []

    @abstractmethod
    def forget_deleted(
        self, connection: Connection, tables: Sequence[Table], texts: Sequence[str]
    ) -> None:
        """Take what was deleted from tables out of the files; if there are texts, and they are.

        Raises DatabaseUnusable if others use the database so that it cannot be done now.
        """

    @abstractmethod
    def backup(self, connection: Connection, target: Path) -> None:
        """Copy the database into a file while others go on using it, and check the copy.

        Raises DatabaseUnusable if the copy fails, or if a tool of the database has to do it.
        """

    @abstractmethod
    def code_of(self, error: BaseException | None) -> str | None:
        """Return the code of a driver's error; empty if it has none, None for another's."""

    def fix_of(self, error: BaseException | None) -> Fix | None:
        """Return what a driver's error means; None if that is unknown, or it is another's."""
        code = self.code_of(error)
        if code is None:
            return None
        by_sign = (fix for sign, fix in self.signs if sign in str(error))
        return self.fixes.get(code) or self.fixes.get(code[:2]) or next(by_sign, None)


def is_backend_column(values: object) -> bool:
    """Return whether these are the cells of a column, not what every row has."""
    return isinstance(values, list) or hasattr(values, "tolist")


def _in_parts(cells: Cells) -> Iterator[Cells]:
    """Yield the cells of some rows at a time; columns that are one array stay one in each part."""
    columns = {id(column): column for column in cells if is_backend_column(column)}
    rows = len(next(iter(columns.values())))
    at_once = 50_000  # as objects, on their way from arrays to the driver
    for start in range(0, rows, at_once):
        part = {n: column[start : start + at_once] for n, column in columns.items()}
        yield [part.get(id(cell), cell) for cell in cells]
