"""``tracker simulate`` and ``tracker demo``."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.cli.commands import parse
from tests.cli.conftest import Run
from tests.report.pages import read_page


def test_to_a_file_and_on(run: Run, folder: Path) -> None:
    done = run("simulate", "crowd", "--items", 40, "--seed", 3, "-o", "crowd.csv")
    assert done.out == ""
    assert done.err == "next: tracker import crowd.csv --project NAME\n"
    with Path("crowd.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 200
    assert list(rows[0]) == ["item", "annotator", "category", "gold"]
    assert "200 inserted" in run("import", "crowd.csv", "-p", "c").out
    assert run("agreement", "c", "--json").json()["gold"]["items"] == 40


def test_to_standard_output(run: Run, folder: Path) -> None:
    done = run("simulate", "low", "--items", 2, "-o", "-")
    assert len(done.out.splitlines()) == 7
    assert done.err == ""
    assert list(folder.iterdir()) == []


def test_straight_into_a_project(run: Run, folder: Path) -> None:
    done = run("simulate", "mixed", "--items", 100, "-p", "m")
    assert done.out == "import 1: 300 rows into m\n"
    assert done.err == "next: tracker agreement m\n"
    assert (
        "300 unchanged"
        in run(
            "import", "-", "-p", "m", stdin=run("simulate", "mixed", "--items", 100, "-o", "-").out
        ).out
    )


def test_the_same_seed_gives_the_same_rows(run: Run, folder: Path) -> None:
    def rows(seed: int) -> str:
        return run("simulate", "high", "--items", 50, "--seed", seed, "-o", "-").out

    assert rows(1) == rows(1) != rows(2)


def test_planted_annotators_by_kind(run: Run, folder: Path) -> None:
    roster = "honest=3,lazy=1,constant=1"
    run("simulate", "crowd", "--annotators", roster, "--answers-per-item", 3, "-p", "c")
    rows = run("annotator", "list", "c", "--json").json()["annotators"]
    names = [row["annotator"] for row in rows if row["kind"] == "human"]
    assert sorted(names) == ["annotator 01", "annotator 02", "annotator 03", "constant 1", "lazy 1"]


@pytest.fixture
def toured(run: Run, folder: Path) -> Run:
    """The command, after the tour."""
    run("demo", env={"COLUMNS": "140"})
    return run


def test_the_tour(run: Run, folder: Path) -> None:
    shown = run("demo", env={"COLUMNS": "140"}).out
    for told in (
        "Weakest category: 0  0.727",
        "400         550",
        "450         600",
        "published",
        "mixed",
        "0.555",
        "Cohen's kappa 0.467, moderate",
        "73.3% right, 50.0% expected by chance",
        "rebuilt to be consistent with every published figure",
        "insufficient constant_category  Q gave",
        "constant_category",
        "week 4",
    ):
        assert told in shown
    assert "insufficient constant_category  J gave" in shown
    assert "flagged      Q" not in shown
    head, _, rest = shown.partition("All of this is in tracker-demo.db.")
    assert head
    commands = [line.strip() for line in rest.splitlines() if line.startswith("  tracker ")]
    assert len(commands) > 4
    for command in commands:
        parse(command)
    files = ["tracker-demo.db", "tracker-demo.html"]
    assert sorted(path.name for path in folder.iterdir()) == files
    assert "open it: " in rest
    read_page(Path("tracker-demo.html").read_bytes())

    # The tour is a file to look around in, by the commands it ends with.
    import shlex

    for command in commands:
        if "tracker-demo.db" in command:
            run(*shlex.split(command)[1:])
    at = ("--database", "tracker-demo.db")
    turk = run(*at, "agreement", "turk", "--json").json()["gold"]
    assert (turk["answers"], turk["observed"], turk["expected"]) == (30, 22 / 30, 0.5)
    assert turk["cohen_kappa"] == pytest.approx(7 / 15)
    pairs = run(*at, "agreement", "turk", "--by", "pair", "--json").json()["pairs"]
    (pair,) = [one for one in pairs if one["annotators"] == ["P", "Q"]]
    assert (pair["items"], pair["observed"], pair["expected"]) == (4, 0.25, 0.25)
    assert pair["cohen_kappa"] == 0
    # It ends in the same folder as often as it is run, and overwrites nothing.
    before = Path("tracker-demo.db").read_bytes()
    assert "All of this is in tracker-demo-2.db" in run("demo").out
    assert Path("tracker-demo.db").read_bytes() == before
    assert Path("tracker-demo-2.html").exists()


def test_the_tour_in_a_file_of_ones_own(run: Run, folder: Path) -> None:
    failed = run("demo", "-o", "nowhere/x.db", code=5)
    assert "nowhere" in failed.err
    Path("mine.csv").write_text("dear to somebody")
    run("demo", "-o", "mine.csv", code=5)
    assert Path("mine.csv").read_text() == "dear to somebody"


@pytest.mark.parametrize("year", [[], ["--year"]])
def test_the_tour_adds_to_a_database_only_if_asked(
    run: Run, furnished: Path, year: list[str]
) -> None:
    before = furnished.read_bytes()
    refused = run("demo", *year, "-o", "tracker.db", code=2)
    assert refused.err.splitlines()[0] == "tracker: tracker.db is a database already"
    assert furnished.read_bytes() == before


def test_the_tour_goes_to_the_database_that_is_named(run: Run, folder: Path) -> None:
    at = ("--database", "sqlite:///mine.db")
    assert "All of this is in sqlite:///mine.db." in run(*at, "demo").out
    assert sorted(path.name for path in folder.iterdir()) == ["mine.db", "mine.html"]
    for year in ([], ["--year"]):
        refused = run(*at, "demo", *year, code=2).err.splitlines()
        assert refused[0] == "tracker: sqlite:///mine.db holds projects already"
    run("--database", "sqlite://", "demo", code=5)


def test_the_tour_in_a_database_that_is_there(run: Run, furnished: Path) -> None:
    run("demo", "-o", "tracker.db", "--force", env={"COLUMNS": "140"})
    names = {one["project"] for one in run("project", "list", "--json").json()["projects"]}
    assert {"reviews", "sandwich", "mixed", "turk", "crowd"} <= names
