"""What a script reads: one JSON document, rows as CSV, and nothing else on standard output."""

from __future__ import annotations

import re
from pathlib import Path

from tests.cli.commands import leaves, options
from tests.cli.conftest import Run

# These read another program, which is there in the tests of tests/sync.
LIVE = {"sync label-studio", "sync mlflow"}


def commands_with(option: str) -> list[str]:
    """The commands that have the option."""
    return sorted(name for name, command in leaves() if option in options(command))


def test_two_formats_exclude_each_other(run: Run, furnished: Path) -> None:
    for words_ in (["--json", "--csv"], ["--format", "latex", "--json"]):
        assert "cannot be combined" in run("status", *words_, code=2).err
    assert run("status", "--format", "json", "--json").json()["projects"]
    assert "table, json" in run("status", "--format", "yaml", code=2).err


def test_a_table_is_also_json_or_csv(run: Run, furnished: Path) -> None:
    """Whatever takes --csv takes --json."""
    assert set(commands_with("--csv")) <= set(commands_with("--json"))


def test_a_snapshot_is_an_element_of_the_history(run: Run, furnished: Path) -> None:
    taken = run("snapshot", "reviews", "--name", "second", "--note", "why", "--json").json()
    told = run("history", "reviews", "--json").json()
    assert told["project"] == "reviews"
    assert [one["name"] for one in told["snapshots"]] == ["first", "second"]
    assert told["snapshots"][-1] == taken
    assert taken["taken_at"].endswith("Z")
    assert {"snapshot", "counts", "measures", "categories", "summary"} <= set(taken)


def test_a_snapshot_prints_its_number(run: Run, furnished: Path) -> None:
    told = run("snapshot", "reviews").out
    alpha = r"alpha [0-9.]{5}"
    assert re.fullmatch(rf"snapshot 2: {alpha}\n", told)
    assert re.fullmatch(r"snapshot 2: nothing .*\n", run("snapshot", "reviews", "--if-changed").out)
    number = run("--quiet", "snapshot", "reviews").out.strip()
    assert number == str(run("history", "reviews", "--json").json()["snapshots"][-1]["snapshot"])
