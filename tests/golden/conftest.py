"""Fixtures of the goldens: copies of the ledgers, on each database, at one moment."""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from tests import postgres
from tests.cli.conftest import folder, run
from tests.golden.frozen import ASKED, Known, at
from tests.golden.kept import Kept
from tests.golden.ledgers import build

__all__ = ["folder", "run"]

Copy = Callable[[str], str]
Answers = dict[tuple[str, str], Known]
_numbers = count(1)


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
def built() -> dict[tuple[str, str], str]:
    """Where the ledgers are that were built so far, by database and name."""
    return {}


@pytest.fixture(scope="session")
def known() -> Answers:
    """What the ledgers that nobody changes answered so far, by database and name."""
    return defaultdict(dict)


@pytest.fixture
def copy(
    request: pytest.FixtureRequest,
    backend: str,
    built: dict[tuple[str, str], str],
    folder: Path,
) -> Iterator[Copy]:
    """``copy(name)``: the URL of a new copy of a ledger, the one of before being gone."""
    if backend == "sqlite":
        yield partial(_file, built, request, folder)
    else:
        admin, worker = request.getfixturevalue("admin_url"), request.getfixturevalue("worker")
        template, used = request.getfixturevalue("postgres_template"), list[str]()

        def database(name: str) -> str:
            if ("postgresql", name) not in built:
                built["postgresql", name] = f"golden {name} {worker}"
                build(name, postgres.create_database(admin, built["postgresql", name], template))
            while used:
                postgres.drop_database(admin, used.pop())
            used.append(f"asked {next(_numbers)} {worker}")
            return postgres.create_database(admin, used[0], built["postgresql", name])

        yield database
        while used:
            postgres.drop_database(admin, used.pop())


def _file(
    built: dict[tuple[str, str], str], request: pytest.FixtureRequest, folder: Path, name: str
) -> str:
    if ("sqlite", name) not in built:
        made = request.getfixturevalue("tmp_path_factory").mktemp("golden") / f"{name}.db"
        shutil.copy(request.getfixturevalue("sqlite_template"), made)
        build(name, f"sqlite:///{made}")
        built["sqlite", name] = str(made)
    for old in folder.glob("tracker.db*"):
        old.unlink()
    shutil.copy(built["sqlite", name], folder / "tracker.db")
    return "sqlite:///tracker.db"
