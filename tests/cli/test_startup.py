"""What a command imports: it starts no slower than what it needs."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.cli.commands import ROOT, leaves
from tests.cli.conftest import Run

RUN = """
import json, sys
from tracker.cli.app import main
for words in json.loads(sys.argv[1]):
    sys.argv = ["tracker", *words.split()]
    try:
        main()
    except SystemExit:
        pass
print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""
COUNTING = {"numpy", "scipy", "pandas", "pyarrow", "tracker.measures", "tracker.counts.filter",
            "tracker.audit.run", "tracker.imports.loader"}  # fmt: skip
HEAVY = COUNTING | {"alembic", "psycopg", "rich.markdown", "rich.progress"}


def imported(process: Run, *calls: str) -> tuple[set[str], str]:
    """The modules that calls leave imported, one after another, and what they print."""
    ran = process(RUN, json.dumps(calls), command=(sys.executable, "-c"), env={"COLUMNS": "200"})
    return set(json.loads(ran.err.splitlines()[-1])), ran.out


def test_a_list_imports_nothing_that_counts_and_for_a_program_no_tables(
    process: Run, furnished: Path
) -> None:
    modules, _ = imported(process, "project list --json", "project notes reviews --json")
    assert not {name for name in modules if "rich" in name}
    modules, _ = imported(process, "project list", "imports list", "flags list reviews")
    assert not modules & (HEAVY | {"tracker.cli.figures", "tracker.cli.demo"})


def test_no_help_needs_a_database(process: Run) -> None:
    groups = {name.split()[0] for name, _ in leaves() if " " in name}
    modules, shown = imported(process, "--help", *(f"{name} --help" for name in sorted(groups)))
    assert not modules & {"sqlalchemy", *COUNTING}
    for name, command in ROOT.commands.items():
        assert any(
            name in line.split() and command.get_short_help_str(200)[:20] in line
            for line in shown.splitlines()
        ), name


def test_the_shell_completes_commands_that_are_not_imported_yet(process: Run) -> None:
    env = {"_TRACKER_COMPLETE": "complete_bash", "COMP_WORDS": "tracker project re"}
    assert process(env=env | {"COMP_CWORD": "2"}).out.split() == ["read-labels", "rename"]


def test_a_list_of_no_database_makes_none(process: Run, folder: Path) -> None:
    modules, _ = imported(process, "project list", "imports list", "status")
    assert "alembic" not in modules
    assert list(folder.iterdir()) == []


def test_an_import_of_text_needs_neither_pandas_nor_what_draws_tables(
    process: Run, furnished: Path
) -> None:
    Path("more.csv").write_text("item,annotator,label\nz,Q,positive\nz,P,positive\n", "utf-8")
    modules, _ = imported(process, "import more.csv -p reviews")
    assert not modules & {"pandas", "scipy", "rich.table", "tracker.render.tables"}


def test_duckdb_counts_without_pandas(process: Run, furnished: Path) -> None:
    calls = (f"--engine duckdb {words} reviews" for words in ("audit", "agreement --by pair"))
    modules, shown = imported(process, *calls)
    assert "duckdb" in modules, shown
    assert "pandas" not in modules
