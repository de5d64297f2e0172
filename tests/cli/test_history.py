"""``tracker history``, ``snapshots`` and notes as they are typed."""

from __future__ import annotations

import shutil
from datetime import date, timedelta
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.test_exit_codes import change
from tests.cli.weeks import LAST, WORSE, furnish
from tracker.core import clock


@pytest.fixture(scope="module")
def weeks_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("weeks") / "tracker.db"
    furnish(f"sqlite:///{path}")
    return path


@pytest.fixture
def weeks(weeks_template: Path, folder: Path) -> Path:
    return Path(shutil.copy(weeks_template, folder / "tracker.db"))


def test_note_is_a_changes_only_if_it_is_close(run: Run, weeks: Path) -> None:
    run("project", "note", "reviews", "first day", "--at", "2025-09-01")
    for last, times in ((0, 2), (2, 1)):  # below the curve, and among the rows
        assert run("history", "reviews", "--last", last).out.count("first day") == times
    run("project", "unnote", "reviews", 2)
    run("project", "note", "reviews", "long before", "--at", "2025-12-20")
    told = run("history", "reviews", "--trend", "--watch-for", "drop", "--json").json()
    assert told["changes"]["changes"][0]["note"] is None
    assert told["watch"]["alarms"][0]["note"] is None
    assert "noted" not in run("history", "reviews", "--trend").out
    run("project", "note", "reviews", "just before", "--at", "2025-12-22T12:00")
    told = run("history", "reviews", "--trend", "--json").json()
    assert told["changes"]["changes"][0]["note"]["text"] == "just before"


def test_week_that_is_not_over_or_has_no_figure_is_left_out(
    run: Run, weeks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def last_week(*words: str) -> str:
        trend = ("--every", "week", "--since", "2026-01-26", "--trend", "--json")
        return str(run("history", "reviews", *trend, *words).json()["periods"][-1]["at"][:10])

    assert last_week() == str(LAST)
    assert last_week("--until", "2026-02-20") == "2026-02-15", "it ends on no Sunday"
    assert last_week("--until", "2026-02-22") == "2026-02-22"
    assert last_week("--as-of", "2026-02-20") == "2026-02-15", "the rest was not known"
    with monkeypatch.context() as patch:
        friday = clock.parse_human_time("2026-02-27T12:00", now=0, end_of_day=False)
        patch.setattr(clock, "now", lambda: friday)
        assert last_week() == "2026-02-22", "it is Friday"
    head = "item,annotator,category,labeled_at\n"
    run("import", "-", "-p", "reviews", stdin=f"{head}late,ada,pos,2026-03-10T12:00\n")
    both = f"{head}n,ada,pos,2026-04-01\nn,bo,pos,2026-04-01\n"
    run("import", "-", "-p", "reviews", stdin=both)
    shown = run("history", "reviews", "--trend").out
    number = (date(2026, 4, 5) - LAST).days // 7
    assert f"26 weeks, each of its own answers, {number} more without a figure" in shown
    assert str(WORSE - timedelta(days=1)) in shown


def test_sound_record_passes_and_a_changed_label_is_1(run: Run, furnished: Path) -> None:
    digest = run("snapshots", "verify", "reviews", "--json").json()["digest"]
    verify = ("snapshots", "verify", "reviews")
    run(*verify, "--chain-only", "--expect", digest)
    assert "nothing has the digest" in run(*verify, "--expect", digest[::-1], code=1).out
    change(furnished, "UPDATE labels SET category_id = 1 WHERE item_id = 3")
    failed = run(*verify, code=1)
    assert "snapshot 1: its " in failed.out
    assert "the first bad snapshot is 1; see: tracker snapshots show" in failed.err
    run(*verify, "--chain-only")  # the ledger is not looked at
