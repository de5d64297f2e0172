"""``tracker history`` as it is typed: the record, the rebuilt curve, the trend and the alarms."""

from __future__ import annotations

import csv
import io
import re
import shutil
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import parse
from tests.cli.conftest import Run
from tests.cli.weeks import FIRST, LAST, NOTES, WORSE, furnish
from tracker.core import clock
from tracker.ledger import Ledger

ALPHA, RAW = "krippendorff_alpha", "percent_agreement"


@pytest.fixture(scope="session")
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


def lines(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


# -- the record ----------------------------------------------------------------------------


def test_the_record_as_json(run: Run) -> None:
    told = run("history", "reviews", "--json").json()
    assert set(told) == {"project", "thinned", "snapshots", "notes"}
    assert (told["project"], told["thinned"]) == ("reviews", 0)
    assert [one["snapshot"] for one in told["snapshots"]] == [1, 2, 3, 4, 5]
    assert [note["text"] for note in told["notes"]] == [text for _, text in NOTES]
    assert told["notes"][0] == {"at": "2025-10-15T12:00:00Z", "note": 1, "text": "two joined"}
    assert len(told["snapshots"][0]["measures"]) > 4


def test_the_record_as_rows(run: Run) -> None:
    rows = list(csv.DictReader(io.StringIO(run("history", "reviews", "--csv").out)))
    assert [row["snapshot"] for row in rows] == list("12345")
    assert [row["as_of"][:10] for row in rows[:3]] == ["2025-10-05", "2025-12-28", "2026-02-01"]
    assert (rows[3]["name"], rows[3]["note"]) == ("Dutch", "to see")
    told = run("history", "reviews", "--json").json()["snapshots"]
    assert [float(row[ALPHA]) for row in rows] == [value(one) for one in told]


def test_the_curve_joins_the_moments_of_one_question(run: Run) -> None:
    shown = run("history", "reviews").out
    told = run("history", "reviews", "--json").json()["snapshots"]
    first, last = (f"{value(told[n]['own']):.3f}" for n in (0, 4))
    assert f"{value(told[4]):.3f}" in shown, "the figure of all, and that of what is new"
    assert re.search(rf"^alpha +[▁-█]{{4}}  {first} → {last} \(from ", shown, re.MULTILINE)
    assert re.search(r"^raw agreement  [▁-█]{4} ", shown, re.MULTILINE)
    assert "Not on the curve: 1 snapshot with other settings or answers." in shown
    assert f"{value(told[3]):.3f}" in shown, "it is in the table"
    assert "where lang is 'nl'" in " ".join(shown.split())


def test_notes_stand_under_the_curve_and_between_the_rows(run: Run) -> None:
    # The snapshots were taken today: in the table all notes are before them.
    shown = run("history", "reviews").out.splitlines()
    legend = [line.strip() for line in shown if re.match(r" +2025-\d\d-\d\d ▲", line)]
    assert legend == ["2025-10-15 ▲ two joined", "2025-12-30 ▲ guideline v2"]
    marks = next(line for line in shown if line.strip("▲ ") == "" and "▲" in line)
    curve = next(line for line in shown if line.startswith("alpha"))
    start = curve.index(re.findall("[▁-█]+", curve)[0])
    assert [place - start for place, mark in enumerate(marks) if mark == "▲"] == [1, 2]
    run("project", "note", "reviews", "after all")
    told = lines("\n".join(shown[shown.index(marks) + 3 :]))
    assert [line for line in told if "▲" in line] == [
        "2025-10-15 12:00 ▲ two joined",
        "2025-12-30 09:00 ▲ guideline v2",
    ]
    assert lines(run("history", "reviews").out)[-1].endswith("▲ after all")


def test_the_measures_asked_for(run: Run) -> None:
    words = ("history", "reviews", "--measure", "gwet_ac1", "--measure", RAW)
    told = run(*words, "--json").json()["snapshots"]
    assert [[m["measure"] for m in one["measures"]] for one in told] == [[RAW, "gwet_ac1"]] * 5
    shown = run(*words, "--measure", "gwet_ac1").out
    assert shown.count("Gwet's ") == 2, "a curve and a column"
    assert shown.index("Gwet's AC1 ") < shown.index("raw agreement "), "in the order asked for"
    assert "alpha" not in shown
    header = run(*words, "--csv").out.splitlines()[0].split(",")
    assert {"gwet_ac1", RAW} <= set(header)
    assert ALPHA not in header


def test_the_table_shows_the_last_and_says_how_many_there_are(run: Run) -> None:
    done = run("history", "reviews", "--last", 2)
    rows = [line for line in lines(done.out) if re.match(r"\d 20", line)]
    assert [row[0] for row in rows] == ["4", "5"]
    assert "→" in done.out, "the curve is of all"
    table = done.out[done.out.index("snapshot   as of") :]
    assert "▲" not in table, "notes older than the rows that are not shown"
    assert "the last 2 of 5; for all: --last 0\n" in done.err
    assert "for all" not in run("history", "reviews", "--last", 0).err
    assert len(run("history", "reviews", "--last", 2, "--json").json()["snapshots"]) == 5
    run("history", "reviews", "--last", "-1", code=2)


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


def test_next_steps(run: Run) -> None:
    def steps(*words: str) -> list[str]:
        found = re.findall(r"tracker [a-z].*$", run("history", *words).err, re.MULTILINE)
        return [parse(line) for line in found]

    assert steps("reviews") == ["compare"]
    assert steps("fortnight") == ["snapshot"]
    assert steps("reviews", "--every", "week") == ["history"]
    assert steps("reviews", "--every", "week", "--since", "2026-08-01") == ["status"]
    assert steps("reviews", "--trend") == ["compare"]
    run("snapshot", "fortnight")
    assert steps("fortnight") == ["history"]


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


def test_the_rebuilt_curve_for_people(run: Run) -> None:
    done = run("history", "reviews", "--every", "week", "--window", "7d", "--last", 10)
    shown = lines(done.out)
    assert shown[0] == "reviews 26 weeks from the labels, of the last 7d each"
    assert re.fullmatch(r"alpha [▁-█]{26} 0\.\d+ → .*", shown[1])
    assert "week to note items answers alpha 95% interval 7d raw 7d weakest rate" in shown
    rows = shown[-11:]
    assert rows[0].startswith("2025-12-28")
    assert rows[1] == "2025-12-30 ▲ guideline v2"
    assert rows[2].startswith("2026-01-04")
    assert done.err.startswith("the last 10 of 26; for all: --last 0\n")
    words = ("--annotator", "ada", "--annotator", "bo", "--window", "last-50-items")
    chosen = run("history", "reviews", "--every", "month", *words).out
    assert "Only answers of ada, bo." in chosen
    assert "of the last 50 items each" in chosen


def test_the_rebuilt_curve_as_rows(run: Run) -> None:
    text = run("history", "reviews", "--every", "month", "--measure", ALPHA, "--csv").out
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == 7
    assert rows[0]["snapshot"] == ""
    assert [row["as_of"][:7] for row in rows][::6] == ["2025-09", "2026-03"]
    assert 0 < float(rows[-1][ALPHA]) < float(rows[0][ALPHA]) < 1
    told = run("history", "reviews", "--every", "month", "--measure", ALPHA, "--json").json()
    for row, point in zip(rows, told["snapshots"], strict=True):
        (own,) = point["own"]["measures"]
        assert int(row["own_items"]) == point["own"]["items"]
        assert float(row[f"own_{ALPHA}"]) == own["value"]
        assert float(row[f"own_{ALPHA}_ci_low"]) == own["ci_low"]


def test_a_period_shows_its_own_items_and_all_so_far(run: Run) -> None:
    words = ("history", "reviews", "--every", "month", "--measure", ALPHA)
    *_, last = run(*words, "--json").json()["snapshots"]
    (own,) = last["own"]["measures"]
    shown = lines(run(*words).out)
    assert "month to note items answers alpha 95% interval so far weakest rate" in shown
    row = next(line for line in shown if line.startswith(last["as_of"][:10]))
    bounds = f"{own['ci_low']:.3f} to {own['ci_high']:.3f}"
    assert f" {own['value']:.3f} {bounds} {value(last):.3f} " in row


CHOICES = [
    ["--annotator", "ada"], ["--exclude-annotator", "ada"], ["--exclude-flagged"],
    ["--since", "7d"], ["--until", "7d"], ["--where", "lang=nl"], ["--as-of", "7d"],
    ["--known-at", "7d"], ["--window", "7d"],
]  # fmt: skip


@pytest.mark.parametrize("words", CHOICES, ids=" ".join)
def test_snapshots_were_chosen_when_they_were_taken(run: Run, words: list[str]) -> None:
    for more in ([], ["--json"], ["--trend"]):
        failed = run("history", "reviews", *words, *more, code=2)
        assert "that they were taken with" in failed.err
        assert "add --every week" in failed.err
        assert failed.out == ""


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--every", "year"], "'year' is not a period\none of: day, week, month"),
        (["--every", "week", "--window", "moon"], "whole days such as 7d, or last-500-items"),
        (["--every", "week", "--window", "0d"], "'0d' is not a window"),
        (["--every", "week", "--measure", "cohen_kappa"], "who answered what"),
        (["--every", "week", "--measure", "gwet"], "did you mean"),
        (["--every", "week", "--where", "lnag=nl"], "its items have: lang"),
        (["--every", "week", "--since", "yesterday"], "3 weeks ago"),
        (["--every", "week", "--since", "7d", "--until", "8d"], "later than"),
        (["--measure", "kripendorff_alpha"], "did you mean 'krippendorff_alpha'"),
        (["--measure", "token_f1"], "token_f1 does not fit 'reviews'"),
        (["--trend", "--every", "month"], "use --every week or day"),
        (["--trend", "--every", "year"], "'year' is not a period"),
        (["--trend", "--measure", "light_kappa"], "who answered what"),
        (["--watch-for", "fall"], "one of drop, rise, change"),
        (["--watch-for", ""], "is no direction"),
        (["--trend", "--csv"], "use --json"),
        (["--watch-for", "drop", "--csv"], "use --json"),
        (["--json", "--csv"], "cannot be combined"),
        (["--every", "week", "--json", "--csv"], "cannot be combined"),
    ],
    ids=str,
)
def test_what_cannot_be_asked(run: Run, words: list[str], told: str) -> None:
    failed = run("history", "reviews", *words, code=2)
    assert told in failed.err
    assert failed.out == ""


def test_who_is_not_there(run: Run) -> None:
    run("history", "reviws", code=4)
    run("history", "reviws", "--every", "week", code=4)
    run("history", "reviews", "--every", "week", "--annotator", "adda", code=4)


def test_a_project_of_spans_has_its_own_measures(run: Run, folder: Path) -> None:
    rows = "item,annotator,category,start,end,n_tokens\nd,A,x,0,3,9\nd,B,x,0,2,9\n"
    run("import", "-", "-p", "s", "--answers", "spans", stdin=rows)
    run("snapshot", "s")
    run("snapshot", "s")
    assert "Alpha for unitizing" in run("history", "s").out
    assert "tracker snapshot s" in run("history", "s", "--every", "week", code=2).err


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


def test_what_the_trend_says_as_json(run: Run) -> None:
    told = run("history", "reviews", "--trend", "--watch-for", "drop", "--json").json()
    for name in ("trend", "changes", "watch"):
        assert (told[name]["measure"], told[name]["every"], told[name]["n"]) == (ALPHA, "week", 26)
    assert told["trend"]["per_30_days"] < told["trend"]["ci_high"] < 0
    (change,) = told["changes"]["changes"]
    assert (change["at"][:10], change["from_at"][:10]) == ("2025-12-28", "2026-01-04")
    assert change["note"]["text"] == "guideline v2"
    (alarm,) = told["watch"]["alarms"]
    assert (alarm["direction"], alarm["since"][:10]) == ("drop", "2026-01-04")
    assert alarm["note"] == change["note"]
    assert "one alarm in about 500 periods" in told["watch"]["method"]
    only = run("history", "reviews", "--watch-for", "rise", "--json").json()
    assert (only["trend"], only["changes"], only["watch"]["alarms"]) == (None, None, [])
    assert run("history", "reviews", "--trend", "--json").json()["watch"] is None


def test_what_the_trend_says_to_people(run: Run) -> None:
    done = run("history", "reviews", "--trend", "--watch-for", "drop")
    told = " ".join(done.out.split())
    assert "Krippendorff's alpha, week by week 26 weeks, each of its own answers" in told
    assert re.search(
        r"It falls by 0\.\d{3} in 30 days \(95% interval -.* to -.*\): more than", told
    )
    assert re.search(
        r"Its level changed after 2025-12-28: 0\.\d+ before \(17 weeks\), 0\.\d+ from then on "
        r"\(9 weeks\); noted 2025-12-30: guideline v2\. Optimal partitioning",
        told,
    )
    assert re.search(
        r"! Alarm on 2026-01-\d\d: a drop since the week to 2026-01-04, from 0\.\d+ to 0\.\d+; "
        r"noted 2025-12-30: guideline v2\. Self-starting .* 500 periods on a steady project\.",
        told,
    )
    assert done.err == "next: tracker compare reviews ..2025-12-28 2025-12-29..\n"
    run(*done.err.split()[2:])


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


def test_days_other_measures_and_choices(run: Run) -> None:
    words = ("history", "reviews", "--every", "day", "--measure", RAW, "--watch-for", "change")
    told = run(*words, "--until", "2025-12-07", "--where", "lang=en", "--json").json()
    assert (told["every"], len(told["snapshots"])) == ("day", 98)
    watch = told["watch"]
    assert (watch["measure"], watch["every"], watch["alarms"]) == (RAW, "day", [])
    assert watch["n"] <= 98
    shown = run(*words, "--until", "2025-12-07", "--where", "lang=en").out
    assert "Percent agreement, day by day" in shown
    assert "No alarm: a change was watched for." in shown


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


def test_too_few_periods_are_said_plainly(run: Run) -> None:
    done = run("history", "fortnight", "--trend", "--watch-for", "drop")
    assert "Too few for a trend: 2 weeks, and 3 are needed." in done.out
    assert "Too few for a change of level: 2 weeks, and 4 are needed." in done.out
    assert "Too few for an alarm: 2 weeks, and 4 are needed." in done.out
    told = run("history", "fortnight", "--trend", "--watch-for", "drop", "--json").json()
    assert told["trend"]["undefined"] == "too_few_points"
    assert told["trend"]["per_30_days"] is None
    assert told["watch"]["undefined"] == "too_few_points"


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
