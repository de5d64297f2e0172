"""What a command imports: it starts no slower than what it needs."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.cli.commands import ROOT, leaves
from tests.cli.conftest import Run

RUN = """
import json, sys
sys.argv = ["tracker", *sys.argv[1:]]
from tracker.cli.app import main
try:
    main()
except SystemExit:
    pass
print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""
COUNTING = {"numpy", "scipy", "pandas", "pyarrow", "tracker.measures", "tracker.counts.filter",
            "tracker.audit.run", "tracker.imports.loader"}  # fmt: skip
HEAVY = COUNTING | {"alembic", "psycopg", "rich.markdown", "rich.progress"}


def imported(process: Run, *words: str) -> set[str]:
    """The modules that a command leaves imported."""
    ran = process(RUN, *words, command=(sys.executable, "-c"))
    return set(json.loads(ran.err.splitlines()[-1]))


@pytest.mark.parametrize("words", ["project list", "imports list", "flags list reviews"])
def test_a_list_imports_nothing_that_counts(process: Run, furnished: Path, words: str) -> None:
    found = imported(process, *words.split())
    assert not found & HEAVY
    noun = words.split(maxsplit=1)[0]
    others = {name for name in found if name.startswith("tracker.cli.")}
    assert f"tracker.cli.{noun}" in others
    assert not others & {"tracker.cli.figures", "tracker.cli.demo"}


@pytest.mark.parametrize(
    "command",
    [
        "",
        "agreement",
        "category",
        "flags",
        "imports",
        "project",
        "snapshot",
        "snapshots",
        "token",
        "user",
        "webhook",
    ],
)
def test_no_help_needs_a_database(process: Run, command: str) -> None:
    assert not imported(process, *command.split(), "--help") & {"sqlalchemy", *COUNTING}


@pytest.mark.parametrize("words", ["project list", "project notes reviews"])
def test_a_list_for_a_program_imports_no_tables(process: Run, furnished: Path, words: str) -> None:
    assert not {one for one in imported(process, *words.split(), "--json") if "rich" in one}


def test_the_help_lists_every_command_with_its_line(process: Run) -> None:
    shown = process("--help", env={"COLUMNS": "200"}).out
    for name, command in ROOT.commands.items():
        assert any(
            name in line.split() and command.get_short_help_str(200)[:20] in line
            for line in shown.splitlines()
        ), name


def test_the_shell_completes_commands_that_are_not_imported_yet(process: Run) -> None:
    env = {"_TRACKER_COMPLETE": "complete_bash", "COMP_WORDS": "tracker pro", "COMP_CWORD": "1"}
    assert process(env=env).out.split() == ["project"]
    env |= {"COMP_WORDS": "tracker project re", "COMP_CWORD": "2"}
    assert process(env=env).out.split() == ["rename"]
    assert len(list(leaves())) > 40


@pytest.mark.parametrize("words", ["project list", "imports list", "status"])
def test_a_list_of_no_database_makes_none(process: Run, folder: Path, words: str) -> None:
    assert "alembic" not in imported(process, *words.split())
    assert list(folder.iterdir()) == []


def test_an_import_of_text_needs_neither_pandas_nor_what_draws_tables(
    process: Run, furnished: Path
) -> None:
    Path("more.csv").write_text("item,annotator,label\nz,Q,positive\nz,P,positive\n", "utf-8")
    found = imported(process, "import", "more.csv", "-p", "reviews")
    assert not found & {"pandas", "scipy", "rich.table", "tracker.render.tables"}
