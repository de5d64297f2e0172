"""``tracker demo``: published figures, and a year in which what happened is found."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.commands import parse
from tests.cli.conftest import Run
from tests.profiles import EXHAUSTIVE, exhaustive
from tests.report.pages import read_page

HAPPENED = (("2025-05-05", "rise"), ("2025-08-25", "drop"), ("2025-11-24", "drop"))
"""The guideline; rico joins; everybody hurries."""
WRONG = {
    "constant_category",
    "copying",
    "divided_definition",
    "low_agreement",
    "odd_import",
    "recent",
    "same_text",
    "weak_slice",
}


def test_the_tour(run: Run, furnished: Path, folder: Path) -> None:
    Path("tracker.html").write_text("dear to somebody")
    shown = run("demo", "-o", "tracker.db", "--force", env={"COLUMNS": "140"}).out
    for words in (
        "Weakest category: 0  0.727",
        "400        550",
        "450        600",
        "Cohen's kappa 0.467, moderate",
        "73.3% right, 50.0% expected by chance",
        "rebuilt to be consistent with every published figure",
        "insufficient constant_category  Q gave",
        "insufficient constant_category  J gave",
        "eva's answers of 2025-06-16.csv agree with the others'",
        "11 counted again from the labels as they were known: 0 faults.",
    ):
        assert words in shown
    assert "flagged      Q" not in shown
    assert Path("tracker.html").read_text() == "dear to somebody"
    assert "open it: tracker-2.html" in shown
    assert "rico" in read_page(Path("tracker-2.html").read_bytes()).text

    # The commands that it names are such that run on what it made.
    at = ("--database", "tracker.db")
    planted = re.findall(r"  tracker (\w.*year.*)", shown.split("All that went wrong")[1])
    named = re.findall(r"^  tracker --database tracker.db (.*)", shown, re.MULTILINE)
    assert len(planted) > 7
    assert len(named) > 4
    for command in {*planted, *named}:
        parse(f"tracker {command}")
        if EXHAUSTIVE or command in named:
            run(*at, *shlex.split(command))
    names = {
        project["project"] for project in run(*at, "project", "list", "--json").json()["projects"]
    }
    assert {"reviews", "sandwich", "turk", "year"} <= names

    # The Turk experiment, as it was published.
    turk = run(*at, "agreement", "turk", "--json").json()["gold"]
    assert (turk["answers"], turk["observed"], turk["expected"]) == (30, 22 / 30, 0.5)
    assert turk["cohen_kappa"] == pytest.approx(7 / 15)
    pairs = run(*at, "agreement", "turk", "--by", "pair", "--json").json()["pairs"]
    (pair,) = [pair for pair in pairs if pair["annotators"] == ["P", "Q"]]
    assert (pair["items"], pair["observed"], pair["expected"]) == (4, 0.25, 0.25)
    assert pair["cohen_kappa"] == 0

    # The year.
    verdict = run(*at, "status", "year", "--json").json()["verdict"]
    assert {concern["kind"] for concern in verdict} == WRONG
    watched = run(*at, "history", "year", "--watch-for", "change", "--trend", "--json").json()
    alarms = watched["watch"]["alarms"]
    assert [alarm["direction"] for alarm in alarms] == [direction for _, direction in HAPPENED]
    for alarm, (day, _) in zip(alarms, HAPPENED, strict=True):
        assert day < alarm["since"] < alarm["at"]
    changes = watched["changes"]["changes"]
    days = [change["from_at"][:10] for change in changes]
    assert days == ["2025-05-11", "2025-08-31", "2025-09-28", "2025-11-30"]

    def because(a: str, b: str) -> dict:
        return run(*at, "compare", "year", a, b, "--json").json()["because"]

    guideline = because("..guideline v2", "guideline v2..2025-07-31")
    assert guideline["categories"][0]["category"] == "neutral"
    august = because("2025-07", "2025-09")
    assert august["annotators"][0]["annotator"] == "rico"
    assert august["annotators"][0]["contribution"] < 0
    october = because("2025-09", "2025-10")
    kinds = ("new_items", "new_answers", "revised_answers", "removed_answers")
    assert max(kinds, key=lambda kind: october[kind]) == "revised_answers"


@exhaustive
def test_the_tour_on_a_server_has_the_same_record(
    run: Run, folder: Path, empty_postgres_url: str
) -> None:
    at = ("--database", empty_postgres_url)
    assert "0 faults.\nThe digest of the last" in run(*at, "demo").out
    assert [path.name for path in folder.iterdir()] == ["tracker-demo.html"]
    refused = run(*at, "demo", code=2).err.splitlines()
    assert refused[0].endswith(" holds projects already")


def test_the_tour_overwrites_nothing(run: Run, furnished: Path) -> None:
    before = furnished.read_bytes()
    refused = run("demo", "-o", "tracker.db", code=2)
    assert refused.err.splitlines()[0] == "tracker: tracker.db is a database already"
    assert furnished.read_bytes() == before
    failed = run("demo", "-o", "nowhere/x.db", code=5)
    assert "nowhere" in failed.err
    Path("mine.csv").write_text("dear to somebody")
    run("demo", "-o", "mine.csv", code=5)
    assert Path("mine.csv").read_text() == "dear to somebody"
    run("--database", "sqlite://", "demo", code=5)
