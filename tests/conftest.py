"""Fixtures of all tests: an empty ledger on either database, files to import, loud absences.

Only migrations make tables: each worker migrates one SQLite file and one Postgres database,
and tests get copies.
"""

from __future__ import annotations

import gc
import itertools
import os
import re
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partialmethod
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from argon2 import PasswordHasher
from hypothesis import HealthCheck, is_hypothesis_test, settings
from sqlalchemy import URL, Engine, create_engine, event
from sqlalchemy.pool import QueuePool
from xdist.scheduler import LoadScopeScheduling

from tests import ceiling, postgres, profiles
from tests.filled import Fill, FillOnce, Restore, empty_postgres, keep
from tests.helpers import Write, write_file
from tests.profiles import ON_BOTH
from tracker.ledger import Ledger
from tracker.projects import kept as kept_figures
from tracker.storage.backends import BACKENDS, Backend
from tracker.storage.backends.postgres import Postgres
from tracker.storage.backends.sqlite import Sqlite
from tracker.storage.database import Database

NO_POSTGRES = "NO POSTGRES"
STARTED = {"label_studio", "mlflow", "browser"}
"""The fixtures that install and start another program."""
_numbers = itertools.count(1)


def pytest_configure(config: pytest.Config) -> None:
    """Choose how many examples are drawn, measure CPU time, and keep compiled files.

    Files are compiled once even if Python is told to write nothing next to the sources: half the
    time of a program that a test starts is spent on compiling its imports.
    """
    profiles.EXHAUSTIVE = config.option.markexpr == "exhaustive"
    # Whether a figure is stored must not depend on the machine: none is, or each.
    kept_figures._WORTH_STORING = 0.0 if profiles.EXHAUSTIVE else 99.0
    # No deadline: the first interval of a process imports scipy. A test that shares one database
    # among its examples makes a new project for each.
    settings.register_profile(
        "tracker",
        max_examples=200 if profiles.EXHAUSTIVE else 15,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
    settings.load_profile("tracker")
    ceiling.register(config)
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):
        os.environ["PYTHONPYCACHEPREFIX"] = str(config.rootpath / ".pytest_cache" / "compiled")
        sys.pycache_prefix, sys.dont_write_bytecode = os.environ["PYTHONPYCACHEPREFIX"], False


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Choose the tests of a run (see `profiles`), the longest first.

    At the end, one worker would wait for them alone. A server named by the environment gets all
    tests that can run on Postgres. Pages ask what other tests ask, and stay on SQLite.
    """
    items.sort(key=lambda item: not _comes_first(item))
    if profiles.EXHAUSTIVE:
        items[:] = [item for item in items if not (_elsewhere(item) and "/web/" in item.nodeid)]
        for item in items:
            if _elsewhere(item) or is_hypothesis_test(getattr(item, "function", None)):
                item.add_marker("exhaustive")
        return
    if os.environ.get(postgres.VARIABLE):
        return
    config.hook.pytest_deselected(items=[item for item in items if _elsewhere(item)])
    items[:] = [item for item in items if not _elsewhere(item)]


class _ByFile(LoadScopeScheduling):
    """Tests of a file go to one worker, which makes once what they share.

    Goldens are divided by database and ledger; the files of the house and its style are read once.
    """

    def _split_scope(self, nodeid: str) -> str:
        group = re.match(r"tests/golden/.*\[((sqlite|postgresql)-\w+)-", nodeid)
        return group[1] if group else nodeid.partition("::")[0].replace("test_style", "test_house")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling:
    """Let tests that share what is made once run in one worker."""
    return _ByFile(config, log)


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over the thousands of tests that were collected."""
    gc.collect()
    gc.freeze()


def _comes_first(item: pytest.Item) -> bool:
    return bool(STARTED & {*getattr(item, "fixturenames", ())}) or ceiling.is_exception(item.nodeid)


def _elsewhere(item: pytest.Item) -> bool:
    call = getattr(item, "callspec", None)
    on_postgres = call is not None and call.params.get("backend") == "postgresql"
    folder = item.nodeid.split("/")[1]
    return on_postgres and not (folder in ON_BOTH or item.get_closest_marker("both"))


@pytest.fixture(scope="session")
def admin_url() -> Iterator[str]:
    """A Postgres whose user may create databases; without one the tests that ask are skipped.

    Where ``CI`` is set they fail instead.
    """
    try:
        with postgres.server() as url:
            yield url
    except postgres.Unavailable as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"{NO_POSTGRES}: {error}")


@pytest.fixture(scope="session", autouse=True)
def compiled_once() -> Iterator[None]:
    """Let the engines of one backend share its dialect, and what statements were compiled to.

    Most tests open a database of their own; compiling the same again took a quarter of the time.
    No file waits for the disk, as the tests' Postgres does not: no test ends with a power cut.
    """
    first: dict[str, Engine] = {}  # that connected: by then it knows its server

    def create(url: URL, **options: Any) -> Engine:
        made = create_engine(url, **options)
        name = made.dialect.name
        if name == "sqlite":
            event.listen(made, "connect", _no_waiting)
        if name in first:
            made.dialect, made._compiled_cache = first[name].dialect, first[name]._compiled_cache
        else:
            event.listen(made, "connect", lambda *_: first.setdefault(name, made))
        return made

    with pytest.MonkeyPatch.context() as patch:
        for backend in BACKENDS:
            patch.setattr(f"{type(backend).__module__}.create_engine", create)
        yield


def _no_waiting(connection: sqlite3.Connection, _record: object) -> None:
    connection.execute("PRAGMA synchronous = OFF")


@pytest.fixture(scope="session", autouse=True)
def passwords_hashed_fast() -> Iterator[None]:
    """Hash passwords fast; how slow it is to guess one has a test of its own."""
    fast = partialmethod(PasswordHasher.__init__, time_cost=1, memory_cost=8, parallelism=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PasswordHasher, "__init__", fast)
        yield


@pytest.fixture(scope="session")
def worker() -> str:
    """A name that no other process uses on the same server."""
    return f"{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}_{os.getpid()}"


@pytest.fixture(scope="session")
def postgres_template(admin_url: str, worker: str) -> Iterator[str]:
    name = f"tracker_template_{worker}"
    url = postgres.create_database(admin_url, name)
    Database(url).upgrade()
    yield name
    postgres.drop_database(admin_url, name)


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("template") / "template.db"
    Database(f"sqlite:///{path}").upgrade()
    return path


@pytest.fixture(scope="session", autouse=True)
def migrated_once(sqlite_template: Path) -> Iterator[None]:
    """Let a new file be a copy of the migrated one: to migrate takes longer than most tests.

    The tests of `storage` and those of processes migrate each file.
    """
    upgrade = Database.upgrade

    def upgraded(database: Database, revision: str = "head") -> None:
        if revision == "head" and database.file is not None and not database.file.exists():
            copy = Path(shutil.copy(sqlite_template, sqlite_template.with_name(uuid4().hex)))
            copy.chmod(0o600)
            with suppress(OSError):  # there it is by now, or to migrate tells why it cannot be
                database.file.hardlink_to(copy)  # unlike a copy it is there at once, and whole
                return
        upgrade(database, revision)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Database, "upgrade", upgraded)
        yield


@pytest.fixture
def sqlite_file(sqlite_template: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(sqlite_template, tmp_path / "100 %.db"))


@pytest.fixture
def empty_postgres_url(admin_url: str, worker: str) -> Iterator[str]:
    name = f"empty_{worker}_{next(_numbers)}"
    yield postgres.create_database(admin_url, name)
    postgres.drop_database(admin_url, name)


@pytest.fixture
def postgres_url(admin_url: str, postgres_template: str, worker: str) -> Iterator[str]:
    """A migrated Postgres database of the test's own; its name has what URLs must escape."""
    name = f"100 % ledger {worker}_{next(_numbers)}"
    yield postgres.create_database(admin_url, name, template=postgres_template)
    postgres.drop_database(admin_url, name)


@contextmanager
def _shared(backend: type[Backend], database: Database) -> Iterator[None]:
    """Let who opens this database anew, as each command does, be given its connections."""
    connect, kept = backend.engine, database.engine

    def engine(self: Any, url: URL, wait: float | None = None, *, keep: bool = False) -> Engine:
        ours = url == database.url and wait is None and not keep
        return kept if ours else connect(self, url, wait, keep=keep)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(backend, "engine", engine)
        yield
    kept.dispose()


@pytest.fixture(scope="session")
def postgres_ledger(admin_url: str, postgres_template: str, worker: str) -> Iterator[Ledger]:
    """A ledger on Postgres that one test uses after another, its statements compiled once."""
    name = f"shared 100 % {worker}"
    shared = Ledger(postgres.create_database(admin_url, name, template=postgres_template))
    with shared.database.keep_connections(), _shared(Postgres, shared.database):
        yield shared
    postgres.drop_database(admin_url, name)


@pytest.fixture
def emptied_postgres_ledger(postgres_ledger: Ledger) -> Iterator[Ledger]:
    """It, emptied afterwards: that takes a fraction of the time of making a database."""
    yield postgres_ledger
    empty_postgres(postgres_ledger)
    postgres_ledger.database.engine_of_counts = None


@pytest.fixture(scope="session")
def shared_sqlite_ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    """A ledger on SQLite that one test uses after another, its statements compiled once.

    The folder's name has what URLs must escape. Its file stays open during a test: to open it and
    read its schema takes longer than most statements.
    """
    shared = Ledger(f"sqlite:///{tmp_path_factory.mktemp('100 % data') / 'ledger.db'}")
    unkept = shared.database.engine.pool
    shared.database.engine.pool = pool = QueuePool(
        unkept._creator, _dispatch=unkept.dispatch, dialect=shared.database.engine.dialect
    )
    event.listen(pool, "checkin", lambda used, _: used and used.execute("PRAGMA query_only = OFF"))
    with _shared(Sqlite, shared.database):
        yield shared


@pytest.fixture
def sqlite_ledger(shared_sqlite_ledger: Ledger, sqlite_template: Path) -> Iterator[Ledger]:
    """An empty ledger on SQLite, for what cannot differ between the databases."""
    database = shared_sqlite_ledger.database
    shutil.copy(sqlite_template, str(database.url.database))
    yield shared_sqlite_ledger
    database.engine.dispose()
    database.engine_of_counts = None


@pytest.fixture(params=["sqlite", "postgresql"])
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def url(request: pytest.FixtureRequest, backend: str) -> str:
    """A migrated database of the test's own, on each backend in turn."""
    if backend == "sqlite":
        return f"sqlite:///{request.getfixturevalue('sqlite_file')}"
    return str(request.getfixturevalue("postgres_url"))


@pytest.fixture
def empty_url(request: pytest.FixtureRequest, backend: str, tmp_path: Path) -> str:
    """A database without tables, on each backend in turn."""
    if backend == "sqlite":
        return f"sqlite:///{tmp_path / 'empty.db'}"
    return str(request.getfixturevalue("empty_postgres_url"))


@pytest.fixture
def ledger(request: pytest.FixtureRequest, backend: str) -> Ledger:
    """An empty ledger, on each backend in turn, whose schema a test must leave alone."""
    name = "sqlite_ledger" if backend == "sqlite" else "emptied_postgres_ledger"
    made: Ledger = request.getfixturevalue(name)
    return made


@pytest.fixture(scope="session")
def fill_once() -> FillOnce:
    """``fill_once(ledger, fill)``: an empty ledger with what ``fill(ledger)`` adds.

    It is called once a session and backend; the next ledgers get a copy of what it added.
    """
    kept: dict[tuple[str, Fill], Restore] = {}

    def filled(ledger: Ledger, fill: Fill) -> Ledger:
        key = (ledger.database.engine.dialect.name, fill)
        if key in kept:
            kept[key](ledger)
        else:
            with ceiling.shared_work():
                fill(ledger)
                kept[key] = keep(ledger)
        return ledger

    return filled


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """``write(text or bytes or rows, name=None)``: a file to import."""

    def written(content: object, name: str | None = None) -> Path:
        return write_file(tmp_path / (name or f"answers {next(_numbers)}.csv"), content)

    return written


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in the last lines that the tests on Postgres did not run."""
    skipped = [str(report.longrepr) for report in terminalreporter.stats.get("skipped", ())]
    without = [reason for reason in skipped if NO_POSTGRES in reason]
    if without:
        terminalreporter.section("THE TESTS ON POSTGRES DID NOT RUN", sep="!", red=True, bold=True)
        reason = without[0].partition(f"{NO_POSTGRES}: ")[2].rstrip("')")
        terminalreporter.line(f"{len(without)} tests were skipped: {reason}")
