"""Fixtures of the goldens: copies of the ledgers, on each database, at one moment."""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cli.conftest import folder, run
from tests.filled import Restore, empty_postgres, keep
from tests.golden.frozen import ASKED, Known, at
from tests.golden.kept import Kept
from tests.golden.ledgers import build
from tracker.ledger import Ledger

__all__ = ["folder", "run"]

Copy = Callable[[str], str]
Answers = dict[tuple[str, str], Known]


class Built(NamedTuple):
    """Ledgers that were built, by name."""

    files: dict[str, Path]
    rows: dict[str, Restore]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that writes the goldens anew."""
    parser.addoption("--update", action="store_true", help="write the goldens anew")


@pytest.fixture
def kept(request: pytest.FixtureRequest) -> Kept:
    """The texts that are kept, which are compared with those of now, or written anew."""
    return Kept(update=bool(request.config.getoption("--update", default=False)))


@pytest.fixture(autouse=True)
def moment() -> Iterator[None]:
    """Everything is asked at one moment."""
    with at(ASKED):
        yield


@pytest.fixture(scope="session")
def known() -> Answers:
    """What the ledgers that nobody changes answered so far, by database and name."""
    return defaultdict(dict)


@pytest.fixture(scope="session")
def built() -> Built:
    """The ledgers that were built so far: the file of each on SQLite, its rows on Postgres."""
    return Built({}, {})


@pytest.fixture
def copy(request: pytest.FixtureRequest, backend: str, built: Built, folder: Path) -> Copy:
    """``copy(name)``: the URL of a ledger that is as it was built, in place of the one before."""
    value = request.getfixturevalue
    if backend == "sqlite":
        made, template = value("tmp_path_factory").mktemp("golden"), value("sqlite_template")
        return partial(_on_sqlite, built.files, folder, made, template)
    return partial(_on_postgres, built.rows, value("emptied_postgres_ledger"), {})


def _on_sqlite(files: dict[str, Path], folder: Path, made: Path, template: Path, name: str) -> str:
    if name not in files:
        files[name] = Path(shutil.copy(template, made / f"{name}.db"))
        build(name, f"sqlite:///{files[name]}")
    for old in folder.glob("tracker.db*"):
        old.unlink()
    shutil.copy(files[name], folder / "tracker.db")
    return "sqlite:///tracker.db"


def _on_postgres(rows: dict[str, Restore], ledger: Ledger, held: dict[str, int], name: str) -> str:
    url = ledger.database.url.render_as_string(hide_password=False)
    if held.get(name) != _changes(ledger):  # else nothing was written since
        held.clear()
        empty_postgres(ledger)
        if name in rows:
            rows[name](ledger)
        else:
            build(name, url)
            rows[name] = keep(ledger)
        held[name] = _changes(ledger)
    return url


def _changes(ledger: Ledger) -> int:
    """Return the number that the next transaction will have that writes."""
    with ledger.database.engine.connect() as connection:
        number = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text"
        return int(connection.exec_driver_sql(number).scalar_one())
