"""Opening a database: its transactions, and the revision of its schema."""

from __future__ import annotations

import errno
import os
import signal
import stat
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any
from weakref import finalize

from sqlalchemy import Connection, Engine, Table, delete, func, inspect, select, text
from sqlalchemy.exc import (
    DBAPIError,
    OperationalError,
    ProgrammingError,
    ResourceClosedError,
    SQLAlchemyError,
)

from tracker.core.errors import DatabaseUnusable, InvalidOption, Refused, first_line
from tracker.core.kept import ENGINE, KEPT, READ, KeptResults
from tracker.storage import backends, seals
from tracker.storage.backends import Backend
from tracker.storage.backends.backend import DAMAGED, MISSING_TABLE, NO_SCHEMA
from tracker.storage.kept_tallies import TALLIES, NewTallies, keep_results, keep_tallies
from tracker.storage.schema import Base, Project, PseudonymKey

if TYPE_CHECKING:
    from alembic.config import Config


REVISIONS = ("r1",)
"""Every revision of the schema that this program knows, oldest first."""
HEAD = REVISIONS[-1]
CHANGED_BY = "tracker_changed_by"
"""What a connection is told of who writes; `record_change` reads it."""
_MIGRATING = threading.RLock()  # Alembic has one context for all threads
OWNERS_ONLY = 0o600  # mode of a new file: it holds names, the key of sessions, webhooks' secrets


def migrations_folder() -> Path:
    """Where the migrations are: in the installed package, or beside it in a checkout."""
    package = Path(__file__).parents[1]
    inside = package / "migrations"
    return inside if inside.is_dir() else package.parent / "migrations"


def _check_path(file: Path) -> None:
    """Raise DatabaseUnusable for a path without a file at which none could be made either."""
    if not file.parent.is_dir():
        raise DatabaseUnusable(
            f"the folder {file.parent} does not exist", "make it, or name another --database"
        )
    if file.is_dir():
        raise DatabaseUnusable(f"{file} is a folder", "name a file with --database")
    if file.exists() and not file.is_file():
        raise DatabaseUnusable(f"{file} is no ordinary file", "name one with --database")


class Database:
    """One database by its URL; opens nothing before it is used."""

    head = HEAD
    """The revision of the schema that this program needs."""

    def __init__(self, url: str) -> None:
        self.url = backends.parse_database_url(url)
        self.stored = False
        """Whether a `write` was committed."""
        self.by: str | None = None
        """Who changes something, for the change log; None for the one at the command line."""
        self.wait: float | None = None
        """Seconds to wait for a lock that others hold; None for the usual time."""
        self.engine_of_counts: object | None = None
        """What counts in this database's stead (`engines`); None for itself."""
        self.engine_of_files: str | None = None
        """What counts labels that lie in files (`lake`); None for the project's own."""
        self.kept: KeptResults | None = None
        """The figures that a server keeps; None to keep none."""
        self._held = threading.local()

    def use_schema(self, name: str) -> None:
        """Find the ledger in a schema of the database; raises InvalidOption if it has none."""
        self.url = self.backend.in_schema(self.url, name)

    def __str__(self) -> str:
        return backends.shown_database_url(self.url)

    @property
    def backend(self) -> Backend:
        return backends.backend_of_url(self.url)

    @property
    def file(self) -> Path | None:
        """The file that it is; None for a server or a database in memory."""
        return self.backend.file_of(self.url)

    @property
    def place(self) -> str:
        """Where it is: the whole path of a file, or what `str` returns."""
        return str(self) if self.file is None else str(self.file.resolve())

    @property
    def in_memory(self) -> bool:
        return self.backend.is_in_memory(self.url)

    @cached_property
    def engine(self) -> Engine:
        """The engine; raises DatabaseUnusable if a path cannot be that of a database."""
        if self.file is not None:
            try:
                _check_path(self.file)
            except OSError as error:  # a name that is too long
                raise DatabaseUnusable(
                    f"the database's path cannot be used: {error.strerror}", "name another"
                ) from None
        engine = self.backend.engine(self.url, self.wait)
        if self.in_memory:  # its connection stays open, and the engine is not used elsewhere
            finalize(self, engine.dispose)
        return engine

    @contextmanager
    def keep_connections(self) -> Iterator[None]:
        """Use connections again until the block ends; copies of this database share them.

        It is for a server: opening a file reads its schema, and Postgres begins a process for
        each connection. Many may then read while one writes: the first connection sees to that
        before anybody reads, as readers without a pause would keep a file's writer out. Raises
        DatabaseUnusable if the database cannot be reached.
        """
        self.engine = self.backend.engine(self.url, self.wait, keep=True)
        try:
            with self._explained(), self._there():
                pass
            yield
        finally:
            self.engine.dispose()
            del self.engine

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Yield a connection that sees one state of the database throughout.

        A database without tables reads as an empty one. Raises DatabaseUnusable if the
        database cannot be reached or is not at this program's revision.
        """
        held: Connection | None = getattr(self._held, "connection", None)
        if held is not None:
            yield held
            return
        with self._explained(), ExitStack() as stack:
            connection = stack.enter_context(self._at_head())
            if connection is None:
                connection = stack.enter_context(_empty())
            connection.info[KEPT] = self.kept or KeptResults(most=None)
            tallies = connection.info[TALLIES] = None if self.in_memory else NewTallies()
            connection.info[ENGINE] = self.engine_of_counts
            connection.info[READ] = {}
            stack.callback(connection.info.pop, READ)
            with connection.begin():
                yield connection
        if tallies is not None and (tallies.counted or tallies.results):
            self._keep(tallies)

    def _keep(self, tallies: NewTallies) -> None:
        """Keep what was counted, if nobody else writes now and this user may write at all."""
        engine = self.backend.engine(self.url, 0.0)
        try:
            with suppress(SQLAlchemyError, DatabaseUnusable), engine.connect() as opened:
                connection = self.backend.writing(opened, bulk=False, wait=None)
                with connection.begin():
                    keep_tallies(connection, tallies.counted)
                    keep_results(connection, tallies.results)
        finally:
            engine.dispose()

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Let every `read` of this thread see the same state until the block ends.

        Several figures of one page are then those of one moment, whatever others write meanwhile.
        """
        with self.read() as connection:
            before = getattr(self._held, "connection", None)
            self._held.connection = connection
            try:
                yield
            finally:
                self._held.connection = before

    @contextmanager
    def together(self, *, bulk: bool = False) -> Iterator[None]:
        """Let every `write` of this thread, and every `read`, be of one transaction.

        It is committed at the end of the block, or rolled back as a whole.
        """
        before = getattr(self._held, "connection", None)
        with self.write(bulk=bulk) as connection:
            self._held.connection = self._held.writing = connection
            try:
                yield
            finally:
                self._held.connection, self._held.writing = before, None

    @contextmanager
    def write(
        self, *, keep: bool = True, bulk: bool = False, wait: float | None = None
    ) -> Iterator[Connection]:
        """Yield a connection in one transaction, committed at the end, rolled back on any error.

        What it changed is sealed (see `seals`). Without ``keep`` it is rolled back in any case;
        ``bulk`` is the loader's (see `Backend.writing`), ``wait`` in place of the database's. A
        database without tables is given them first. Raises DatabaseUnusable as `read` does.
        """
        joined: Connection | None = getattr(self._held, "writing", None)
        if joined is not None:
            assert keep, "what is taken back has a transaction of its own"
            yield joined
            return
        with self._explained(), ExitStack() as stack:
            opened = stack.enter_context(self._at_head())
            if opened is None and keep:
                self.upgrade()
            if opened is None:
                opened = stack.enter_context(self.engine.connect() if keep else _empty())
            wait = self.wait if wait is None else wait
            connection = backends.backend_of(opened).writing(opened, bulk=bulk, wait=wait)
            connection.info[CHANGED_BY] = self.by  # of a connection that others had before
            connection.info[KEPT] = connection.info[TALLIES] = None
            connection.info[ENGINE] = None
            with connection.begin() as transaction:
                seals.reset_seals(connection)
                yield connection
                if keep:
                    seals.seal_transaction(connection)
                else:
                    transaction.rollback()
                    return
                with _uninterrupted():
                    transaction.commit()
                    self.stored = True

    def revision(self) -> str | None:
        """Return the revision of the schema; None for a database that has no table at all.

        Raises DatabaseUnusable if the tables are another program's.
        """
        with self._explained(), self._there() as connection:
            return None if connection is None else self._revision(connection)

    def require_known(self) -> str | None:
        """Return the revision; raises DatabaseUnusable if this program does not know it."""
        return self._known(self.revision())

    def make_ledger(self) -> bool:
        """Make the ledger if there is none; return whether it was made.

        Raises DatabaseUnusable as `read` does.
        """
        with self._explained(), self._at_head() as connection:
            missing = connection is None
        if missing:
            self.upgrade()
        return missing

    @contextmanager
    def _at_head(self) -> Iterator[Connection | None]:
        """Yield a connection, the schema being this program's; None for a database without tables.

        Raises DatabaseUnusable if it is another revision's.
        """
        with self._there() as connection:
            revision = None if connection is None else self._known(self._revision(connection))
            if revision not in {None, HEAD}:
                raise DatabaseUnusable(
                    f"{self} is at revision {revision}, this program needs {HEAD}",
                    "run: tracker database upgrade",
                )
            yield None if revision is None else connection

    @contextmanager
    def _there(self) -> Iterator[Connection | None]:
        """Yield a connection; None if there is no file, which connecting would make."""
        engine = self.engine
        if self.file is not None and not self.file.exists():
            yield None
            return
        try:
            opened = engine.connect()
        except UnicodeDecodeError:  # of the names of tables
            raise DatabaseUnusable(f"{self}: {DAMAGED.message}", DAMAGED.mend) from None
        except (TypeError, ValueError, AttributeError):  # of an option of the URL
            raise DatabaseUnusable(
                f"{self}: the URL's options cannot be used", "check the URL"
            ) from None
        with opened as connection:
            yield connection

    def _revision(self, connection: Connection) -> str | None:
        """Return the same as `revision`; no transaction is left open."""
        revision: str | None = None
        try:
            revision = connection.scalar(text("SELECT version_num FROM alembic_version"))
        except (OperationalError, ProgrammingError) as error:
            if self.backend.fix_of(error.orig) is not MISSING_TABLE:
                raise
            connection.rollback()
            if not self.backend.has_schema(connection):
                raise DatabaseUnusable(f"{self}: {NO_SCHEMA.message}", NO_SCHEMA.mend) from None
            tables = inspect(connection).get_table_names()
            if "alembic_version" in tables:  # another program has just migrated it
                connection.rollback()
                return self._revision(connection)
            if tables:
                raise DatabaseUnusable(
                    f"{self} holds the tables of another program",
                    "name another database with --database",
                ) from None
        connection.rollback()
        return revision

    def _known(self, revision: str | None) -> str | None:
        if revision is not None and "0001" <= revision <= "0023":  # no release had these
            mend = "export its labels with that one (tracker export labels), and import them here"
            raise DatabaseUnusable(f"{self} was made by an older, unreleased tracker", mend)
        if revision is not None and revision not in REVISIONS:
            raise DatabaseUnusable(
                f"{self} is at revision {revision}, which this program does not know",
                "it was made by a newer tracker: upgrade the program",
            )
        return revision

    def upgrade(self, revision: str = "head") -> None:
        """Bring the schema to a revision, making the database if there is none."""
        from alembic import command

        if self.file is not None and not self.file.exists():
            with suppress(OSError):  # connecting tells why it cannot be made
                self.file.touch(OWNERS_ONLY)
        with self._explained(), _MIGRATING, self.engine.connect() as connection:
            command.upgrade(_alembic(connection), revision)

    def downgrade(self, revision: str) -> None:
        """Take the schema back to an older revision (``base``: no tables)."""
        from alembic import command

        with self._explained(), _MIGRATING, self.engine.connect() as connection:
            command.downgrade(_alembic(connection), revision)

    def forget_deleted(self, tables: Sequence[Table], texts: Sequence[str] = ()) -> None:
        """Take what was deleted from tables out of the database's files.

        With ``texts`` only if one of them is still in the files. Raises DatabaseUnusable if others
        use the database so that it cannot be done now.
        """
        with self._explained(), self.engine.connect() as connection:
            self.backend.forget_deleted(connection, tables, texts)

    def vacuum(self) -> None:
        """Write the database's files anew, without anything that was deleted.

        Raises DatabaseUnusable as `forget_deleted`, and if there is no ledger.
        """
        with self._ledger():
            pass
        self.forget_deleted(Base.metadata.sorted_tables)

    def check(self) -> list[str]:
        """Return what is wrong, a sentence each: damage, missing parts, rows against the rules.

        Raises DatabaseUnusable if there is no ledger to check.
        """
        from tracker.storage.check import database_problems

        try:
            with self._ledger() as connection:
                return database_problems(connection)
        except DatabaseUnusable as error:
            if error.mend != DAMAGED.mend:
                raise
            return [f"{DAMAGED.message}: restore a backup"]

    def backup(self, target: Path) -> None:
        """Copy the database to a new file while it is in use.

        The file has its name once it is whole, checked and on the disk; else there is none.
        An older program's ledger is copied, too. Raises InvalidOption if the target exists or
        cannot be made, DatabaseUnusable if there is no ledger, the database is not a file, or the
        copy fails.
        """
        with new_file(target, self.file) as path, self._ledger(self._there()) as connection:
            self.backend.backup(connection, path)

    def copy_to(self, target: Database, progress: Callable[[str, int], None]) -> dict[str, int]:
        """Copy the whole ledger into another database, which gets its tables if it has none.

        Its record and its seals are copied, too. Users, their tokens and the key of their sessions
        stay behind: who may ask the one program need not be let into the other. So do counts that
        can be made again. ``progress`` is
        called with a table's name and the number of rows copied so far. Returns the number of rows
        by table. Raises InvalidOption if the target is this database or holds projects,
        DatabaseUnusable if one of them cannot be used.
        """
        if target.url == self.url:
            raise InvalidOption(f"{target} is the database to copy", "name another")
        with self._ledger() as connection, target.write(bulk=True) as into:
            if into.scalar(select(func.count()).select_from(Project)):
                raise InvalidOption("the other database holds projects", "copy into a new one")
            into.execute(delete(PseudonymKey))
            left = {"secret", "droppable"}
            tables = [t for t in Base.metadata.sorted_tables if not t.info.keys() & left]
            copied = {
                table.name: _copy_table(connection, into, table, progress) for table in tables
            }
            filled = [table for table in tables if copied[table.name]]
            backends.backend_of(into).refresh_statistics(into, *filled)
            return copied

    @contextmanager
    def _ledger(
        self, opened: AbstractContextManager[Connection | None] | None = None
    ) -> Iterator[Connection]:
        """Yield a connection as `read` does; raises DatabaseUnusable if there are no tables."""
        with self._explained(), opened or self._at_head() as connection:
            if connection is None or self._revision(connection) is None:
                raise DatabaseUnusable(
                    f"{self} holds no ledger", "name another with --database, or restore a backup"
                )
            with connection.begin():
                yield connection

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            explained = backends.explain_database_error(error, self.url)
            if explained is None:
                raise
            raise explained from None


def _alembic(connection: Connection) -> Config:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(migrations_folder()).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Put off an interrupt to the end of a commit: whether it happened is then known.

    A second one is raised at once, as a server may let us wait.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    interrupts: list[int] = []

    def put_off(number: int, frame: FrameType | None) -> None:
        if interrupts:
            raise KeyboardInterrupt
        interrupts.append(number)

    signal.signal(signal.SIGINT, put_off)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if interrupts:
        before(signal.SIGINT, None)


@contextmanager
def _empty() -> Iterator[Connection]:
    """Yield a connection to a ledger of its own that holds nothing, in memory."""
    with _MIGRATING:
        engine = backends.engine_of_content(_empty_content())
    try:
        with engine.connect() as connection:
            yield connection
    finally:
        engine.dispose()


@cache
def _empty_content() -> bytes:
    """Return the content of a migrated database that holds nothing."""
    database = Database(backends.IN_MEMORY)
    with database.keep_connections(), database.engine.connect() as connection:
        database.upgrade()
        return backends.content_of(connection)


# -- A new file that has its name once it is whole and on the disk --------------------------------


@contextmanager
def new_file(target: Path, like: Path | None, *, replace: bool = False) -> Iterator[Path]:
    """Yield a file beside ``target`` that gets its name if the block ends well.

    Until then only its owner can read it; then it has the mode of the file ``like`` and is on
    the disk. If the block fails, nothing is left. Raises InvalidOption if the target exists, unless
    it is to be replaced, or cannot be made.
    """
    import tempfile  # it draws random numbers, which is slow to start

    path = None
    try:
        if os.path.lexists(target) and not replace:
            raise FileExistsError(errno.EEXIST, "it already exists")
        handle, name = tempfile.mkstemp(prefix=".tracker-backup-", dir=target.parent)
        path = Path(name)
        os.close(handle)
        yield path
        if like is not None:
            path.chmod(stat.S_IMODE(like.stat().st_mode))
        _sync(path)
        if replace:
            path.replace(target)
        else:
            _give_name(path, target)
        _sync(target.parent)
    except (OSError, ValueError) as error:  # a name may hold what no name can
        why = getattr(error, "strerror", None) or str(error)
        raise InvalidOption(f"{target} cannot be made: {why}", "name another file") from None
    finally:
        if path is not None:
            path.unlink(missing_ok=True)


def _give_name(path: Path, target: Path) -> None:
    """Give a file its final name, unless another file has taken it since."""
    try:
        target.hardlink_to(path)
    except FileExistsError:
        raise
    except OSError:  # not all file systems know links
        path.rename(target)


def _sync(path: Path) -> None:
    """Wait until a file, or what a folder lists, is on the disk."""
    if path.is_dir() and os.name != "posix":
        return  # other systems open no folders
    handle = os.open(path, os.O_RDWR if path.is_file() else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _copy_table(
    connection: Connection, into: Connection, table: Table, progress: Callable[[str, int], None]
) -> int:
    """Copy the rows of a table in the order of its key, and its next number."""
    backend, number = backends.backend_of(into), 0
    names = table.columns.keys()
    ordered = select(table).order_by(*table.primary_key.columns)
    rows = connection.execution_options(yield_per=50_000).execute(ordered)
    for part in rows.partitions():
        columns: dict[str, Any] = dict(zip(names, map(list, zip(*part, strict=True)), strict=True))
        backend.bulk_insert(into, table, columns)
        number += len(part)
        progress(table.name, number)
    if table.info.get("never_renumbered"):
        highest = backends.backend_of(connection).highest_number(connection, table)
        backend.go_on_from(into, table, highest)
    return number


# -- A query that a user wrote, on any database that a ledger could be in; nothing is changed -----


@dataclass(frozen=True)
class QueryRows:
    """The columns of a query's result, and its rows as they are asked for."""

    name: str
    columns: Sequence[str]
    rows: Iterator[Sequence[Any]]


@contextmanager
def rows_of_query(url: str, query: str) -> Iterator[QueryRows]:
    """Yield the rows of a query. The name of the result has the URL without its password.

    Raises DatabaseUnusable for a database that cannot be reached, and Refused for a query that
    fails or yields no rows.
    """
    database = Database(url)
    name = str(database)
    if database.file is not None and not database.file.exists():
        raise Refused(f"{name}: there is no such file")
    try:
        connection = database.engine.connect()
    except SQLAlchemyError as error:
        raise (backends.explain_database_error(error, database.url) or error) from None
    with connection:
        streamed = database.backend.only_reading(connection).execution_options(
            stream_results=True, yield_per=5_000, no_parameters=True
        )
        try:
            result = streamed.exec_driver_sql(query)
            columns = list(result.keys())
        except DBAPIError as error:
            raise _query_failed(name, error) from None
        except ResourceClosedError:
            raise Refused(f"{name}: the query yields no rows", "write a SELECT") from None
        yield QueryRows(name, columns, _rows(streamed, result, name))


def _rows(connection: Connection, result: Any, name: str) -> Iterator[Sequence[Any]]:
    try:
        for part in result.partitions():
            yield from part
        connection.rollback()  # or a ledger in the same file would wait for us to end
    except DBAPIError as error:
        raise _query_failed(name, error) from None


def _query_failed(name: str, error: DBAPIError) -> Refused:
    """Return what the driver says of the user's own query, in one line."""
    return Refused(f"{name}: the query failed: {first_line(error.orig)}", "correct --query")
