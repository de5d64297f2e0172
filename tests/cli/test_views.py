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


def test_the_view_leads_with_the_weakest_category(run: Run, furnished: Path) -> None:
    shown = lines(run("agreement", "sandwich").out)
    assert shown[0].startswith("sandwich  1,000 of 1,000 items compared, 2 annotators")
    assert shown[1].startswith("Weakest category: 0  0.727 (")
    assert "in 72.7% of 550 pairs" in shown[1]
    assert any("400         550" in line and "0.842" in line for line in shown)
    kappa = next(line for line in shown if line.startswith("Cohen's kappa"))
    assert "0.700   0.023   0.652 to 0.741" in kappa
    assert "substantial; tentative" in kappa
    assert shown[-1].startswith("Verbal labels after Landis and Koch (1977)")


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


def test_pairs_and_items_that_disagree_come_first(run: Run, furnished: Path) -> None:
    items = lines(run("agreement", "sandwich", "--by", "item", "--limit", "0").out)
    assert "0 1, 1 1" in items[2]
    assert "1 2" in items[-1]
    run("agreement", "reviews", "--by", "pair")


def test_a_curve_is_drawn_from_two_snapshots_on(run: Run, furnished: Path) -> None:
    assert "→" not in run("history", "reviews").out
    run("snapshot", "reviews", "--name", "second")
    shown = run("history", "reviews").out
    assert "alpha" in shown
    assert "→" in shown
    assert "second" in shown
    assert "tracker snapshot sandwich" in run("history", "sandwich").err


def test_a_finding_is_a_sentence_with_its_evidence(run: Run, furnished: Path) -> None:
    shown = " ".join(run("audit", "reviews").out.split())
    assert "1 of 9 annotators has at least one flagged finding" in shown
    assert "flagged constant_category, high constant 1 gave “positive” in" in shown
    assert "on the same items the others gave it" in shown
    assert "constant_category" in run("flags", "list", "reviews").out
    assert "constant 1 gave" in " ".join(
        run("annotator", "show", "constant 1", "-p", "reviews").out.split()
    )


def test_what_a_project_still_wants(run: Run, folder: Path) -> None:
    rows = "item,annotator,category\n1,A,x\n1,B,x\n2,A,x\n"
    run("import", "-", "-p", "p", "--wanted", 2, stdin=rows)
    told = run("status", "p", "--json").json()
    assert (told["items"], told["answers"], told["items_complete"]) == (2, 3, 1)
    assert (told["coverage"], told["answers_missing"]) == (0.5, 1)
    assert "50" in run("status", "p").out


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


@pytest.mark.parametrize("project", ["[red]p[/red]", "--p"])
def test_names_appear_as_they_are(strange: Run, project: str) -> None:
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
