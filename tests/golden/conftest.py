"""Fixtures of the goldens: copies of the ledgers, on each database, at one moment."""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
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
    """Everything is asked at one moment."""
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


@pytest.fixture
def copy(request: pytest.FixtureRequest, backend: str, built: Built, folder: Path) -> Copy:
    """``copy(name)``: the URL of a ledger that is as it was built, in place of the one before."""
    value = request.getfixturevalue
    if backend == "sqlite":
        made, template = value("tmp_path_factory").mktemp("golden"), value("sqlite_template")
        return partial(_on_sqlite, built.files, folder, made, template)
    held: Held = value("on_postgres")
    return held.copy


def _on_sqlite(files: dict[str, Path], folder: Path, made: Path, template: Path, name: str) -> str:
    if name not in files:
        files[name] = Path(shutil.copy(template, made / f"{name}.db"))
        with shared_work():
            build(name, f"sqlite:///{files[name]}")
    for old in folder.glob("tracker.db*"):
        old.unlink()
    shutil.copy(files[name], folder / "tracker.db")
    return "sqlite:///tracker.db"


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
        """The URL of the ledger."""
        return self.ledger.database.url.render_as_string(hide_password=False)
