"""The house: which room may import and name what, and the tools that watch it.

Each guard is itself tested on something that must trip it.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests import house
from tests.house import CHECKOUT, ORDER, Module


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run this interpreter in the checkout."""
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module", autouse=True)
def parsed() -> None:
    """Parse the package once: it takes longer than most tests of this file."""
    house.graph(house.modules())


# -- rooms ---------------------------------------------------------------------------------


def test_every_room_keeps_to_itself() -> None:
    assert [fault for module in house.modules() for fault in house.faults(module)] == []


def test_what_computes_reaches_nothing_that_reads_or_stores() -> None:
    for folder, rooms in house.PURE.items():
        assert house.reached(folder) <= rooms, folder
    assert {"counts", "storage"} <= house.reached("history")


def test_no_file_leads_back_to_itself() -> None:
    TopologicalSorter(house.graph(house.modules())).prepare()


def test_a_circle_is_found() -> None:
    files = (
        snippet("audit/a", "from tracker.audit.b import x"),
        snippet("audit/b", "if TYPE_CHECKING:\n    from tracker.audit import a"),
    )
    with pytest.raises(CycleError):
        TopologicalSorter(house.graph(files)).prepare()


def test_only_what_is_shown_looks_for_the_room_that_shows_it() -> None:
    """A module is looked for by its name in few places: names in texts are no imports."""
    looking = {path for path, text in house.texts().items() if "import_module" in text}
    assert looking == {f"tracker/{name}.py" for name in (
        "cli/app", "core/results", "render/formats")}  # fmt: skip


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
        ("core/tallies", "from tracker.measures import MEASURES", "core imports measures"),
        ("projects", "from tracker.imports.loader import load", "projects imports imports"),
        ("projects", "from tracker import ledger", "projects imports ledger"),
        ("render", "import tracker.projects.items", "render imports projects"),
        ("counts", "def f():\n    from tracker.agreement import assess", "counts imports agree"),
        ("history", "if TYPE_CHECKING:\n    import tracker.ledger", "history imports ledger"),
        ("render", "import tracker", "render imports tracker"),
        ("render", "from tracker.cli.app import app", "render imports cli"),
        ("simulate", "from tracker.counts import Tally", "simulate imports counts"),
        ("measures", "from tracker.monitoring import slope", "measures imports monitoring"),
        ("__init__", "from tracker.storage.schema import Base", "__init__ imports storage"),
        ("cli", "from . import project", "relative import of ."),
        ("attic", "", "the room 'attic' has no place in the order"),
        ("measures", "import sqlalchemy.orm", "measures imports sqlalchemy"),
        ("cli", "from sqlalchemy import select", "cli imports sqlalchemy"),
        (
            "storage/schema/labels",
            "from tracker.storage import backends",
            "schema imports storage.backends",
        ),
        ("counts", "import pandas as pd", "counts imports pandas"),
        ("ledger", "import pandas as pd", "pandas is imported as the module is loaded"),
        ("ledger", "from tracker.counts import choose", "tracker.counts.choose is imported as"),
        ("measures", "from scipy.special import x", "scipy.special is imported as the module is"),
        (
            "storage/database",
            "try:\n    import alembic\nexcept E:\n    pass",
            "alembic is imported as",
        ),
        ("cli", "from rich.table import Table", "rich.table is imported as the module is loaded"),
        ("cli", "from tracker.ledger import Ledger", "tracker.ledger.Ledger is imported as"),
        ("ledger", "from rich.table import Table", "ledger imports rich"),
        ("projects", "import sqlite3", "'sqlite3' names a database"),
        ("storage/database", "if name == 'postgresql': pass", "'postgresql' names a database"),
        ("counts", "x = f'{y} SQLite'", "' SQLite' names a database"),
        (
            "storage/schema/labels",
            "Table(sqlite_with_rowid=False)",
            "'sqlite_with_rowid' names a database",
        ),
        ("storage/schema/labels", "def for_postgres(): pass", "'for_postgres' names a database"),
        ("cli", "from sqlalchemy.dialects import sqlite", "'sqlite' names a database"),
        ("storage/backends/postgres", "import psycopg", "storage imports psycopg"),
        ("storage/backends/backend", "import sqlite3", "'sqlite3' names a database"),
        ("ledger", "import os\nx = os.environ['HOME']", "environ outside the commands"),
        ("cli", "def f():\n    from tracker.counts import votes", "from below the ledger"),
        ("ledger", "from os import getenv", "getenv outside the commands"),
        ("cli", "import typer\ntyper.echo('done')", "say it by cli.terminal"),
        ("render", "from rich.text import Text", "made visible in render.cells"),
        ("imports", "print('done')", "output outside the commands"),
        ("imports", "import sys\nsys.stdout.write('done')", "output outside the commands"),
    ],
)
def test_each_guard_trips(room: str, code: str, fault: str) -> None:
    found = house.faults(snippet(room, code))
    assert any(fault in line for line in found), found


@pytest.mark.parametrize(
    ("room", "code"),
    [
        ("cli", "from tracker.core.errors import Refused\nimport os\nprint(os.environ)"),
        ("cli", "if TYPE_CHECKING:\n    from tracker.ledger import Ledger"),
        ("cli", "def f():\n    from tracker.ledger import Ledger\n    import rich.console"),
        ("cli", "default = 'sqlite:///tracker.db'"),
        ("cli", "if TYPE_CHECKING:\n    from tracker.counts import Selecting"),
        ("cli", "def f():\n    from tracker.ledger import Ledger"),
        ("ledger/transactions", "import os\nx = os.environ['HOME']"),
        ("ledger", "def f():\n    import pandas as pd"),
        ("ledger", '"""On SQLite."""\nx = 1\n"""Or Postgres."""'),
        ("storage/backends/sqlite", "import sqlite3"),
        ("storage/backends/__init__", "BACKENDS = (Sqlite(), Postgres())"),
        ("measures", "import numpy as np\nimport math"),
    ],
)
def test_what_is_allowed_passes(room: str, code: str) -> None:
    assert house.faults(snippet(room, code)) == []


# -- sizes ---------------------------------------------------------------------------------


def test_no_file_is_two_files() -> None:
    # A migration is exempt: what it did when it was released is never rewritten.
    paths = (path for name in ("tracker", "tests", "benchmarks", "docs")
             for path in sorted((CHECKOUT / name).rglob("*.py")))  # fmt: skip
    texts = {str(path.relative_to(CHECKOUT)): path.read_text("utf-8") for path in paths}
    assert len(texts) > 100
    assert house.too_long(texts) == []


def test_the_guard_of_sizes_trips() -> None:
    assert house.too_long({"a": "x\n" * house.MOST_LINES}) == []
    assert house.too_long({"a": "x\n" * (house.MOST_LINES + 1)}) == ["a: 701 lines"]


# -- tools ---------------------------------------------------------------------------------


def test_the_linter_is_content() -> None:
    done = python("-m", "ruff", "check", ".")
    assert done.returncode == 0, done.stdout


def test_the_formatter_has_nothing_to_do() -> None:
    done = python("-m", "ruff", "format", "--check", ".")
    assert done.returncode == 0, done.stdout


def test_the_type_checker_is_content() -> None:
    done = python("-m", "mypy", "--strict")
    assert done.returncode == 0, done.stdout


def test_the_tools_trip(tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text('"""Bad."""\nimport os\nx = eval( "1" )\n\n\ndef f(y):\n    return y\n')
    config = ["--config", str(CHECKOUT / "pyproject.toml")]
    linted = python("-m", "ruff", "check", *config, "--no-cache", str(bad)).stdout
    assert {"F401", "S307"} <= set(re.findall(r"\b[A-Z]+\d{3}\b", linted))
    assert python("-m", "ruff", "format", "--check", *config, "--no-cache", str(bad)).returncode
    cache = ["--cache-dir", str(tmp_path)]
    typed = python("-m", "mypy", "--strict", "--config-file=", *cache, str(bad)).stdout
    assert "[no-untyped-def]" in typed


# -- what is loaded ------------------------------------------------------------------------

HEAVY = ("alembic", "numpy", "pandas", "psycopg", "rich", "scipy", "sqlalchemy", "typer")


def loaded(code: str) -> set[str]:
    """The heavy libraries that are loaded once code has run."""
    report = f"import sys; sys.stderr.write(' '.join(m for m in {HEAVY} if m in sys.modules))"
    done = python("-c", f"{code}\n{report}")
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split())


def commanded(*words: str) -> str:
    """Code that runs the command and lives on."""
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
    calls = [commanded("--database", url, *words) for words in listings]
    assert not loaded("\n".join(calls)) & {"alembic", "pandas", "scipy"}


def test_the_guard_of_loading_trips() -> None:
    assert "sqlalchemy" in loaded("import sqlalchemy")
