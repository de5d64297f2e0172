"""The house: which room may import and name what, and the tools that watch it.

Each guard is itself tested on something that must trip it.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from tests import house
from tests.house import CHECKOUT, ORDER, Module


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module", autouse=True)
def parsed() -> None:
    """Parse the package once: it takes longer than most tests of this file."""
    house.graph(house.modules())


def test_every_room_keeps_to_itself() -> None:
    assert [fault for module in house.modules() for fault in house.faults(module)] == []


def test_what_computes_reaches_nothing_that_reads_or_stores() -> None:
    for folder, rooms in house.PURE.items():
        assert house.reached(folder) <= rooms, folder
    assert {"counts", "storage"} <= house.reached("history")


def test_no_file_leads_back_to_itself() -> None:
    TopologicalSorter(house.graph(house.modules())).prepare()


def test_only_what_is_shown_looks_for_the_room_that_shows_it() -> None:
    """A module is looked for by its name in few places: names in texts are no imports."""
    looking = {path for path, text in house.texts().items() if "import_module" in text}
    assert looking == {f"tracker/{name}.py" for name in (
        "cli/app", "core/result_bytes", "ledger/namespaces", "render/formats")}  # fmt: skip


def test_every_room_of_the_order_is_there() -> None:
    assert {module.room for module in house.modules()} == {*ORDER, *house.DOORS}


def test_the_contributors_picture_shows_the_same_order() -> None:
    text = (CHECKOUT / "CONTRIBUTING.md").read_text("utf-8")
    names = re.findall(r"^  (\w+)(\.py|/) ", text, re.MULTILINE)
    assert tuple(name for name, _ in names) == ORDER
    for name, suffix in names:
        assert (CHECKOUT / "tracker" / f"{name}{suffix}").exists(), f"{name}{suffix}"


def snippet(place: str, code: str) -> Module:
    """A file of these contents at this place of the package."""
    return Module(place.partition("/")[0], f"tracker/{place}.py", ast.parse(code))


@pytest.mark.parametrize(
    ("room", "code", "fault"),
    [
        ("counts", "def f():\n    from tracker.agreement import assess", "counts imports agree"),
        ("history", "if TYPE_CHECKING:\n    import tracker.ledger", "history imports ledger"),
        ("render", "import tracker", "render imports tracker"),
        ("cli", "from . import project", "relative import of ."),
        ("attic", "", "the room 'attic' has no place in the order"),
        ("measures", "import sqlalchemy.orm", "measures imports sqlalchemy"),
        ("storage/schema/labels", "from tracker.storage import backends",
         "schema imports storage.backends"),
        ("ledger", "import pandas as pd", "pandas is imported as the module is loaded"),
        ("storage/database", "try:\n    import alembic\nexcept E:\n    pass",
         "alembic is imported as"),
        ("cli", "from tracker.ledger import Ledger", "tracker.ledger.Ledger is imported as"),
        ("counts", "x = f'{y} SQLite'", "' SQLite' names a database"),
        ("storage/schema/labels", "def for_postgres(): pass", "'for_postgres' names a database"),
        ("ledger", "import os\nx = os.environ['HOME']", "environ outside the commands"),
        ("cli", "def f():\n    from tracker.counts import votes", "from below the ledger"),
        ("cli", "import typer\ntyper.echo('done')", "say it by cli.terminal"),
        ("render", "from rich.text import Text", "made visible in render.cells"),
        ("imports", "print('done')", "output outside the commands"),
    ],
)  # fmt: skip
def test_each_guard_trips(room: str, code: str, fault: str) -> None:
    found = house.faults(snippet(room, code))
    assert any(fault in line for line in found), found


def test_no_file_is_two_files() -> None:
    # A migration is exempt: what it did when it was released is never rewritten.
    paths = (path for name in ("tracker", "tests", "benchmarks", "docs")
             for path in sorted((CHECKOUT / name).rglob("*.py")))  # fmt: skip
    texts = {str(path.relative_to(CHECKOUT)): path.read_text("utf-8") for path in paths}
    assert len(texts) > 100
    assert house.too_long(texts) == []


def test_the_linter_is_content() -> None:
    done = python("-m", "ruff", "check", ".")
    assert done.returncode == 0, done.stdout


def test_the_formatter_has_nothing_to_do() -> None:
    done = python("-m", "ruff", "format", "--check", ".")
    assert done.returncode == 0, done.stdout


def test_the_type_checker_is_content() -> None:
    done = python("-m", "mypy", "--strict")
    assert done.returncode == 0, done.stdout


POSTGRES = "sqlalchemy.dialects.postgresql"
HEAVY = (
    "alembic", "duckdb", "numpy", "pandas", "psycopg", "rich", "scipy", "sqlalchemy", "typer",
    "numpy.testing", "unittest", POSTGRES,
)  # fmt: skip


def loaded(code: str) -> set[str]:
    """The heavy libraries that are loaded once code has run."""
    report = f"import sys; sys.stderr.write(' '.join(m for m in {HEAVY} if m in sys.modules))"
    done = python("-c", f"{code}\n{report}")
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split())


def commanded(*words: str) -> str:
    return (
        f"import sys; sys.argv = {['tracker', *words]}\n"
        "from tracker.cli.app import main\ntry: main()\nexcept SystemExit: pass"
    )


def test_importing_the_package_is_cheap() -> None:
    assert loaded("import tracker; assert tracker.open") == set()


def test_opening_a_ledger_loads_what_it_needs() -> None:
    assert loaded("import tracker; tracker.open('sqlite://')") <= {"sqlalchemy"}


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["import", "--help"]], ids=" ".join)
def test_help_does_not_wait_for_the_database(words: list[str]) -> None:
    assert loaded(commanded(*words)) <= {"typer", "rich"}


def test_a_listing_loads_neither_frames_nor_statistics(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'ledger.db'}"
    python("-m", "tracker", "--database", url, "simulate", "high", "--items", "5", "-p", "p")
    listings = (["status"], ["item", "list", "p"], ["imports", "list"])
    calls = [commanded("--database", url, "--engine", "duckdb", *words) for words in listings]
    refused = {"alembic", "duckdb", "pandas", "scipy", "numpy.testing", "unittest", POSTGRES}
    assert not loaded("\n".join(calls)) & refused
    assert POSTGRES not in loaded(commanded("--database", url, "agreement", "p"))
