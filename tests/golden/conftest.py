"""Fixtures of the goldens: copies of the ledgers, on each database, at one moment."""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.ceiling import shared_work
from tests.cli.conftest import folder, run
from tests.filled import Marks, Rows, empty_postgres, marks_of, rows_of
from tests.golden.frozen import ASKED, Known, at
from tests.golden.kept import Kept
from tests.golden.ledgers import build
from tracker.ledger import Ledger

__all__ = ["folder", "run"]

Copy = Callable[[str], str]
Memory = dict[tuple[str, str], Known]


class Built(NamedTuple):
    """Ledgers that were built, by name."""

    files: dict[str, Path]
    rows: dict[str, Rows]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that writes the goldens anew."""
    parser.addoption("--update", action="store_true", help="write the goldens anew")


@pytest.fixture(scope="session")
def kept(request: pytest.FixtureRequest) -> Iterator[Kept]:
    """The goldens, which are compared with today's output or written anew."""
    goldens = Kept(update=bool(request.config.getoption("--update", default=False)))
    yield goldens
    goldens.write()


@pytest.fixture(autouse=True)
def moment() -> Iterator[None]:
    with at(ASKED):
        yield


@pytest.fixture(scope="session")
def memory() -> Memory:
    """Answers so far of the ledgers that no call changes, by database and ledger."""
    return defaultdict(dict)


@pytest.fixture(scope="session")
def built() -> Built:
    """The ledgers that were built so far: the file of each on SQLite, its rows on Postgres."""
    return Built({}, {})


@pytest.fixture(scope="module")
def on_postgres(built: Built, postgres_ledger: Ledger) -> Iterator[Held]:
    """The ledger on Postgres that the calls of a file share, emptied afterwards."""
    yield Held(built.rows, postgres_ledger)
    empty_postgres(postgres_ledger)


@pytest.fixture(scope="module")
def on_sqlite(built: Built, shared_sqlite_ledger: Ledger, sqlite_template: Path) -> HeldFile:
    """The file on SQLite that the calls of a module share."""
    return HeldFile(built.files, shared_sqlite_ledger, sqlite_template)


@pytest.fixture
def copy(request: pytest.FixtureRequest, backend: str) -> Copy:
    """``copy(name)``: the URL of a ledger that is as it was built, in place of the one before."""
    held: HeldFile | Held = request.getfixturevalue(
        "on_sqlite" if backend == "sqlite" else "on_postgres"
    )
    return held.copy


class HeldFile:
    """The ledger on SQLite, what was put there, and the head of its file then."""

    def __init__(self, files: dict[str, Path], ledger: Ledger, empty: Path) -> None:
        self.files, self.ledger, self.empty = files, ledger, empty
        self.name, self.head = "", b""

    def copy(self, name: str) -> str:
        """Put a ledger there; what nobody wrote to since is left, open as it is."""
        file, url = Path(str(self.ledger.database.url.database)), str(self.ledger.database)
        if self.name != name or _head(file) != self.head:
            self.ledger.database.engine.dispose()
            for beside in file.parent.glob(f"{file.name}-*"):
                beside.unlink()
            if name not in self.files:
                shutil.copy(self.empty, file)
                with shared_work():
                    build(name, url)
                self.files[name] = shutil.copy(file, self.empty.with_name(f"{name}.db"))
            shutil.copy(self.files[name], file)
            self.name, self.head = name, _head(file)
        return url


def _head(file: Path) -> bytes:
    """Return how a file is written, and the number of its last change."""
    with file.open("rb") as opened:
        return opened.read(28)[18:]


class Held:
    """The ledger on Postgres, what was put there, and what its tables were then."""

    def __init__(self, rows: dict[str, Rows], ledger: Ledger) -> None:
        self.rows, self.ledger = rows, ledger
        self.name, self.marks = "", Marks()

    def copy(self, name: str) -> str:
        """Put a ledger there; what nobody wrote to since is left."""
        now = marks_of(self.ledger)
        if name not in self.rows:
            with shared_work():
                empty_postgres(self.ledger)
                build(name, self.url)
                self.rows[name] = rows_of(self.ledger)
        elif self.name != name:
            empty_postgres(self.ledger)
            self.rows[name].put_back(self.ledger, self.rows[name].tables)
        elif now == self.marks:
            return self.url
        else:
            tables = self.rows[name].tables
            changed = [one for one in tables if now[one] != self.marks[one]]
            self.rows[name].put_back(self.ledger, changed)
        self.name, self.marks = name, marks_of(self.ledger)
        return self.url

    @property
    def url(self) -> str:
        return self.ledger.database.url.render_as_string(hide_password=False)
