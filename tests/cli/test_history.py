"""``tracker history`` as it is typed: the record, the rebuilt curve, the trend and the alarms."""

from __future__ import annotations

import shutil
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.cli.weeks import FIRST, LAST, WORSE, furnish
from tracker.core import clock
from tracker.ledger import Ledger

ALPHA, RAW = "krippendorff_alpha", "percent_agreement"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("weeks") / "tracker.db"
    furnish(f"sqlite:///{path}")
    return path


@pytest.fixture(autouse=True)
def weeks(template: Path, folder: Path) -> Path:
    """Half a year of answers; two notes; five snapshots."""
    return Path(shutil.copy(template, folder / "tracker.db"))


def value(one: dict[str, Any], measure: str = ALPHA) -> float:
    """A figure of an element of ``snapshots``."""
    (found,) = (row["value"] for row in one["measures"] if row["measure"] == measure)
    return float(found)


# -- the record ----------------------------------------------------------------------------


def test_only_the_rows_shown_are_made(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of ten thousand snapshots a page takes a fraction of a second."""
    made = []
    monkeypatch.setattr(
        "tracker.history.snapshot.snapshot_record_of", lambda row, _: made.append(row) or 1 / 0
    )
    ledger = Ledger("sqlite:///tracker.db")
    with ledger.asking("reviews") as (connection, question):
        from tracker.history.overview import snapshots_overview

        found = snapshots_overview(connection, question, last=2)
    assert len(found.shown) == 2
    assert len(found.moments) == 4
    assert made == []


def test_a_note_is_told_unless_the_snapshots_beside_it_are_not(run: Run) -> None:
    run("project", "note", "reviews", "long before", "--at", "2025-09-01")
    for last, times in ((0, 2), (2, 1)):  # below the curve, and among the rows
        assert run("history", "reviews", "--last", last).out.count("long before") == times


# -- the rebuilt curve ---------------------------------------------------------------------


def test_the_rebuilt_curve_is_the_agreement_of_its_moments(run: Run) -> None:
    told = run("history", "reviews", "--every", "month", "--json").json()
    assert (told["every"], told["window"]) == ("month", "all")
    assert [one["as_of"][:7] for one in told["snapshots"]] == [
        "2025-09", "2025-10", "2025-11", "2025-12", "2026-01", "2026-02", "2026-03"
    ]  # fmt: skip
    assert {one["snapshot"] for one in told["snapshots"]} == {None}
    assert len(told["notes"]) == 2
    for one in told["snapshots"][1:3]:
        then = run("agreement", "reviews", "--as-of", one["as_of"], "--json").json()
        assert one["counts"] == then["counts"]
        assert value(one) == value(then)


def test_windows_and_choices(run: Run) -> None:
    words = ("history", "reviews", "--every", "week", "--window", "7d", "--where", "lang=nl")
    told = run(*words, "--since", "2025-11-10", "--until", "2025-11-23", "--json").json()
    assert [one["as_of"][:10] for one in told["snapshots"]] == ["2025-11-16", "2025-11-23"]
    assert told["notes"] == [], "of that time"
    there = ("--since", "2025-11-17", "--until", "2025-11-23", "--where", "lang=nl", "--json")
    week = run("agreement", "reviews", *there).json()
    assert value(told["snapshots"][1]) == value(week)
    items = run("history", "reviews", "--every", "week", "--window", "last-50-items", "--json")
    assert items.json()["snapshots"][-1]["counts"]["items"] == 50


# -- trend and alarms ----------------------------------------------------------------------


def test_the_trend_is_of_the_weeks_own_answers(run: Run) -> None:
    told = run("history", "reviews", "--trend", "--watch-for", "drop", "--json").json()
    assert {"project", "snapshots", "notes", "periods", "trend", "changes", "watch"} <= set(told)
    assert len(told["snapshots"]) == 5
    ends = [FIRST + timedelta(days=7 * n + 6) for n in range(26)]
    assert [one["at"] for one in told["periods"]] == [f"{end}T23:59:59.999999Z" for end in ends]
    for place in (0, 20):
        begin = ends[place] - timedelta(days=6)
        words = ("--since", str(begin), "--until", str(ends[place]), "--json")
        week = run("agreement", "reviews", *words).json()
        assert told["periods"][place]["value"] == value(week)
        (error,) = (m["standard_error"] for m in week["measures"] if m["measure"] == ALPHA)
        assert told["periods"][place]["standard_error"] == error


def test_a_note_a_while_away_is_not_the_changes(run: Run) -> None:
    run("project", "unnote", "reviews", 2)
    run("project", "note", "reviews", "long before", "--at", "2025-12-20")
    told = run("history", "reviews", "--trend", "--watch-for", "drop", "--json").json()
    assert told["changes"]["changes"][0]["note"] is None
    assert told["watch"]["alarms"][0]["note"] is None
    assert "noted" not in run("history", "reviews", "--trend").out
    run("project", "note", "reviews", "just before", "--at", "2025-12-22T12:00")
    told = run("history", "reviews", "--trend", "--json").json()
    assert told["changes"]["changes"][0]["note"]["text"] == "just before"


def test_a_steady_time_has_nothing_to_tell(run: Run) -> None:
    words = ("history", "reviews", "--every", "week", "--until", "2025-12-28", "--trend")
    told = " ".join(run(*words, "--watch-for", "drop").out.split())
    assert "no more than chance" in told
    assert "Its level stayed the same." in told
    assert "Too few periods for an alarm: 17 of 20." in told
    few = run(*words[:-1], "--watch-for", "drop", "--json").json()
    assert (few["watch"]["too_few"], few["watch"]["needed"]) == (True, 20)
    assert few["changes"]["changes"] == []  # told unasked: an alarm could hardly be raised
    assert "compare" not in run(*words, "--watch-for", "drop").err


def ends(run: Run, *words: str) -> list[str]:
    told = run("history", "reviews", "--every", "week", "--trend", *words, "--json").json()
    return [one["at"][:10] for one in told["periods"]]


def test_a_week_that_is_not_over_is_left_out(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ends(run)[-1] == str(LAST)
    assert ends(run, "--until", "2026-02-20")[-1] == "2026-02-15", "it ends on no Sunday"
    assert ends(run, "--until", "2026-02-22")[-1] == "2026-02-22"
    assert ends(run, "--as-of", "2026-02-20")[-1] == "2026-02-15", "nobody knew the rest"
    friday = clock.parse_human_time("2026-02-27T12:00", now=0, end_of_day=False)
    monkeypatch.setattr(clock, "now", lambda: friday)
    assert ends(run)[-1] == "2026-02-22", "it is Friday"


def test_weeks_without_a_figure_are_left_out(run: Run) -> None:
    one = "item,annotator,category,labeled_at\nlate,ada,pos,2026-03-10T12:00\n"
    both = "item,annotator,category,labeled_at\nn,ada,pos,2026-04-01\nn,bo,pos,2026-04-01\n"
    run("import", "-", "-p", "reviews", stdin=one)
    run("import", "-", "-p", "reviews", stdin=both)
    shown = run("history", "reviews", "--trend").out
    weeks = (date(2026, 4, 5) - LAST).days // 7
    assert f"26 weeks, each of its own answers, {weeks} more without a figure" in shown
    assert str(WORSE - timedelta(days=1)) in shown
