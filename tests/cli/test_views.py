"""What a person reads: the weakest category first, the lazy pair at a glance, names as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tracker.ledger import Ledger
from tracker.simulate.crowds import Group, simulate_crowd


def lines(text: str) -> list[str]:
    """The lines that hold something."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def test_a_lazy_pair_is_told_at_a_glance(run: Run, folder: Path) -> None:
    rows = simulate_crowd(
        1000, 1, [Group("lazy", 2)], answers_per_item=2,
        categories=("harmless", "harmful"), shares=(0.9, 0.1),
    )  # fmt: skip
    Ledger("sqlite:///tracker.db").import_rows(rows, "lazy")
    first = lines(run("agreement", "lazy").out)[:4]
    told = " ".join(first)
    assert first[1].startswith("Weakest category: harmful  0.0")
    assert "! Raw agreement of 98" in told or "! Raw agreement of 97" in told
    assert "'harmless'" in told
    assert "On 'harmful' they hardly agree at all." in told


def test_an_honest_pair_gets_no_such_warning(run: Run, folder: Path) -> None:
    rows = simulate_crowd(
        1000, 1, [Group("honest", 2)], answers_per_item=2, accuracy=0.97, shares=(0.9, 0.1)
    )
    Ledger("sqlite:///tracker.db").import_rows(rows, "honest")
    assert "!" not in run("agreement", "honest").out


STRANGE = [
    "[bold]loud[/bold]",
    "[/]",
    "👩‍🚀 emoji",
    "שלום עולם",
    "مرحبا",
    "=1+1",
    "--help",
    "-p",
    "*",
    'it\'s "quoted"',
    "; DROP TABLE labels; --",
    "a\\b",
    "%s %(x)s {0}",
    ":name",
]


@pytest.fixture
def strange(run: Run, folder: Path) -> Run:
    """The command, with a project whose every name is strange."""
    rows = [f"{quoted(name)},{quoted(who)},{quoted(name)}" for name in STRANGE for who in STRANGE]
    text = "item,annotator,category\n" + "\n".join(rows) + "\n"
    for project in ("[red]p[/red]", "--p"):
        run("import", "-", f"--project={project}", stdin=text)
    return run


def quoted(name: str) -> str:
    """A name as a cell."""
    return '"' + name.replace('"', '""') + '"'


def test_names_appear_as_they_are(strange: Run) -> None:
    project = "[red]p[/red]"
    for words in (["agreement"], ["audit"], ["category", "list"], ["item", "list"],
                  ["annotator", "list"], ["agreement", "--by", "item"]):  # fmt: skip
        shown = strange(*words, "--", project, env={"COLUMNS": "400"}).out
        for name in STRANGE:
            assert name in shown, (words, name)
    assert project in strange("agreement", "--", project).out
    assert project in strange("status", "--", project).out


def test_strange_names_can_be_asked_for(strange: Run) -> None:
    for name in STRANGE:
        told = strange("item", "show", "--json", "-p", "[red]p[/red]", "--", name).json()
        assert told["item"] == name
        assert {label["category"] for label in told["labels"]} == {name}
        assert name in strange("item", "show", "-p", "[red]p[/red]", "--", name).out
    told = strange("annotator", "show", "--json", "--project=--p", "--", "--help").json()
    assert told["annotator"] == "--help"


def test_strange_names_survive_csv(strange: Run) -> None:
    import csv
    import io

    text = strange("item", "list", "--csv", "--", "--p").out
    found = [row["item"] for row in csv.DictReader(io.StringIO(text))]
    # A spreadsheet is kept from taking a name for a formula.
    assert found == [
        f"'{name}" if name.startswith(("=", "-", "+", "@")) else name for name in STRANGE
    ]


def test_strange_names_in_errors(strange: Run) -> None:
    failed = strange("agreement", "[red]q[/red]", code=4)
    assert "'[red]q[/red]'" in failed.err
    failed = strange("item", "show", "[nope]", "-p", "[red]p[/red]", code=4)
    assert "'[nope]'" in failed.err
