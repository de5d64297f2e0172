"""``tracker history``, ``snapshots`` and notes as they are typed."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.cli.test_exit_codes import change
from tests.cli.weeks import FIRST, LAST, WORSE, furnish
from tests.counts.test_selections import load
from tests.filled import FillOnce
from tests.questions import fill_rubric
from tracker.core import clock
from tracker.history.overview import snapshots_overview
from tracker.ledger import Ledger

ALPHA = "krippendorff_alpha"


@pytest.fixture(scope="module")
def weeks_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("weeks") / "tracker.db"
    furnish(f"sqlite:///{path}")
    return path


@pytest.fixture
def weeks(weeks_template: Path, folder: Path) -> Path:
    """Half a year of answers; two notes; five snapshots."""
    return Path(shutil.copy(weeks_template, folder / "tracker.db"))


def value(row: dict[str, Any], name: str = "value") -> float:
    """Alpha of an element of ``snapshots``."""
    (number,) = (one[name] for one in row["measures"] if one["measure"] == ALPHA)
    return float(number)


# -- the record and the rebuilt curve --------------------------------------------------------


def test_only_the_rows_shown_are_made(weeks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of ten thousand snapshots a page takes a fraction of a second."""
    rows = []
    monkeypatch.setattr(
        "tracker.history.snapshot.snapshot_record_of", lambda row, _: rows.append(row) or 1 / 0
    )
    with Ledger("sqlite:///tracker.db").asking("reviews") as (connection, question):
        overview = snapshots_overview(connection, question, last=2)
    assert len(overview.shown) == 2
    assert len(overview.moments) == 4
    assert rows == []


def test_rebuilt_curve_is_the_agreement_of_its_moments(run: Run, weeks: Path) -> None:
    told = run("history", "reviews", "--every", "month", "--json").json()
    assert (told["every"], told["window"]) == ("month", "all")
    months = ["2025-09", "2025-10", "2025-11", "2025-12", "2026-01", "2026-02", "2026-03"]
    assert [one["as_of"][:7] for one in told["snapshots"]] == months
    assert {one["snapshot"] for one in told["snapshots"]} == {None}
    assert len(told["notes"]) == 2
    then = run("agreement", "reviews", "--as-of", told["snapshots"][2]["as_of"], "--json").json()
    assert told["snapshots"][2]["counts"] == then["counts"]
    assert value(told["snapshots"][2]) == value(then)
    words = ("history", "reviews", "--every", "week", "--window", "7d", "--where", "lang=nl")
    told = run(*words, "--since", "2025-11-10", "--until", "2025-11-23", "--json").json()
    assert [one["as_of"][:10] for one in told["snapshots"]] == ["2025-11-16", "2025-11-23"]
    assert told["notes"] == [], "of that time"
    chosen = ("--since", "2025-11-17", "--until", "2025-11-23", "--where", "lang=nl", "--json")
    assert value(told["snapshots"][1]) == value(run("agreement", "reviews", *chosen).json())
    words = ("history", "reviews", "--every", "month", "--window", "last-50-items", "--json")
    assert run(*words).json()["snapshots"][-1]["counts"]["items"] == 50


# -- trend and alarms ----------------------------------------------------------------------


def test_trend_is_of_the_weeks_own_answers(run: Run, weeks: Path) -> None:
    told = run("history", "reviews", "--trend", "--watch-for", "drop", "--json").json()
    assert {"project", "snapshots", "notes", "periods", "trend", "changes", "watch"} <= set(told)
    assert len(told["snapshots"]) == 5
    ends = [FIRST + timedelta(days=7 * n + 6) for n in range(26)]
    assert [one["at"] for one in told["periods"]] == [f"{end}T23:59:59.999999Z" for end in ends]
    begin = ends[20] - timedelta(days=6)
    words = ("--since", str(begin), "--until", str(ends[20]), "--json")
    week = run("agreement", "reviews", *words).json()
    assert told["periods"][20]["value"] == value(week)
    assert told["periods"][20]["standard_error"] == value(week, "standard_error")


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


def test_steady_time_raises_no_alarm(run: Run, weeks: Path) -> None:
    words = ("history", "reviews", "--every", "week", "--until", "2025-12-28")
    done = run(*words, "--trend", "--watch-for", "drop")
    told = " ".join(done.out.split())
    assert "no more than chance" in told
    assert "Its level stayed the same." in told
    assert "Too few periods for an alarm: 17 of 20." in told
    assert "compare" not in done.err
    few = run(*words, "--watch-for", "drop", "--json").json()
    assert (few["watch"]["too_few"], few["watch"]["needed"]) == (True, 20)
    assert few["changes"]["changes"] == []  # told unasked: an alarm could hardly be raised


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


# -- choices, questions and notes ------------------------------------------------------------


def test_snapshot_records_which_answers_it_rests_on(
    run: Run, folder: Path, sqlite_ledger: Ledger, fill_once: FillOnce
) -> None:
    shutil.copy(str(fill_once(sqlite_ledger, load).database.url.database), folder / "tracker.db")
    chosen = ("--annotator", "ann", "--annotator", "bob", "--where", "lang=nl", "--json")
    by = {name: run("agreement", "p", "--by", name, *chosen).json()
          for name in ("annotator", "pair", "item")}  # fmt: skip
    rows = [(row["annotator"], row["answers"]) for row in by["annotator"]["annotators"]]
    assert rows == [("ann", 4), ("bob", 4)]
    assert [row["items"] for row in by["pair"]["pairs"]] == [4]
    assert [sum(row["votes"].values()) for row in by["item"]["items"]] == [2] * 4
    for words in ([], ["--annotator", "ann", "--annotator", "cat"], []):
        run("snapshot", "p", *words)
    told = run("history", "p", "--json").json()["snapshots"]
    assert [one["selection"] is None for one in told] == [True, False, True]
    rows = list(csv.DictReader(io.StringIO(run("history", "p", "--csv").out)))
    assert [row["selection"] for row in rows][::2] == ["", ""]
    assert json.loads(rows[1]["selection"]) == told[1]["selection"]
    text = run("history", "p").out
    assert {"only answers", "of ann, cat"} <= {*re.findall("only answers|of ann, cat", text)}
    alpha = next(line for line in text.splitlines() if "→" in line)
    assert "1.000" not in alpha, "a curve is of the same answers"


def test_pages_of_several_questions_name_them(
    run: Run, folder: Path, write: Callable[..., Path]
) -> None:
    ledger = Ledger(f"sqlite:///{folder}/tracker.db")
    ledger.database.upgrade()
    fill_rubric(ledger, write)
    empty = run("history", "p", "--json").json()
    assert [(one["question"], one["snapshots"]) for one in empty["questions"]] == [
        ("label", []), ("tone", []), ("where", []),
    ]  # fmt: skip
    none = run("export", "history", "p", "-o", "-")
    assert none.out.startswith("question,snapshot")
    assert "no snapshot yet: tracker snapshot p" in none.err
    run("snapshot", "p")
    for words in ("agreement p", "agreement p --by pair", "history p --every week",
                  "compare p last last"):  # fmt: skip
        assert run(*words.split(), "-q", " tone").out.startswith("Question: tone\n"), words
    assert run("agreement", "p", "-q", "tone", "--json").json().keys().isdisjoint({"question"})
    run("import", write("item,annotator,category\n1,ada,x\n1,bo,x"), "-p", "alone")
    assert "Question" not in run("agreement", "alone", "-q", "label").out
    for words in ("agreement p --measure fleiss", "history p --every week"):
        assert "\nwhere: undefined: " in run(*words.split()).out
        rows = list(csv.DictReader(io.StringIO(run(*words.split(), "--csv").out)))
        assert (rows[-1]["question"], rows[-1]["undefined"]) == ("where", "not_applicable")
        assert "where" in rows[-1]["why"]
    words = ("history", "p", "--every", "day", "-q", "label", "-q", "tone")
    for one in run(*words, "--json").json()["questions"]:
        alone = run(*words[:4], "-q", one["question"], "--json").json()
        (point,), (same,) = one["snapshots"], alone["snapshots"]
        assert (point["measures"], point["counts"]) == (same["measures"], same["counts"])
        assert one.keys() - {"question"} == alone.keys()
    table = run(*words).out
    assert "tone: Krippendorff's alpha" in table
    assert len([line for line in table.splitlines() if line.strip(" │").startswith("20")]) == 1
    assert "name one" in run("history", "p", "--trend", code=2).err
    for name in ("history", "labels"):
        chosen = ("export", name, "p", "-o", "-", "-q", "label", "-q", "tone")
        exported = list(csv.DictReader(io.StringIO(run(*chosen).out)))
        assert [row["question"] for row in exported] == sorted(row["question"] for row in exported)
        assert {row["question"] for row in exported} == {"label", "tone"}
    hint = run("export", "labels", "p", "-o", "tone.csv", "-q", "tone").err
    assert "--question tone:interval" in hint
    against = ledger.against("p", "p", question="tone")
    assert {one.comparison.difference for one in against.measures} <= {0.0, None}


# -- snapshots -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def recorded(furnished_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = Path(shutil.copy(furnished_template, tmp_path_factory.mktemp("recorded")))
    ledger = Ledger(f"sqlite:///{path}")
    ledger.snapshot("reviews", exclude_annotators="constant 1", note="without them")
    ledger.snapshot("reviews", name="last of all")
    return path


@pytest.fixture
def record(recorded: Path, folder: Path) -> Path:
    """Three snapshots of `reviews`: first, one of fewer annotators, last."""
    return Path(shutil.copy(recorded, folder / "tracker.db"))


def test_snapshot_is_named_in_many_ways(run: Run, record: Path) -> None:
    ways = {"1": 1, "first": 1, "last": 3, "last~2": 1, "last of all": 3, "last~0": 3}
    for name, number in ways.items():
        told = run("snapshots", "show", "reviews", name, "--json").json()
        assert told["snapshot"] == number, name
    for name in ("4", "0", "frist", "last~3", "last~", ""):
        failed = run("snapshots", "show", "reviews", name, code=4)
        assert f"'reviews' has no snapshot {name!r}" in failed.err
        assert "did you mean" in failed.err or "tracker snapshots list reviews" in failed.err
    flags = run("snapshots", "show", "reviews", 1, "--json").json()["flags"]
    assert flags == [], "the audit came after it"
    run("flags", "acknowledge", 1, "-p", "reviews", "--by", "ann")
    later = run("snapshots", "show", "reviews", 2, "--json").json()["flags"]
    assert {flag["state"] for flag in later} == {"open"}, "as they stood"


def test_snapshot_shows_patterns_of_sets_but_none_of_spans(run: Run, folder: Path) -> None:
    sets = "item,annotator,category\n1,A,x\n1,A,y\n1,B,x\n2,A,\n2,B,\n"
    run("import", "-", "-p", "sets", "--answers", "several", stdin=sets)
    run("snapshot", "sets")
    assert run("snapshots", "show", "sets", 1, "--json").json()["patterns"] == [
        {"pattern": {"[]": 2}, "items": 1},
        {"pattern": {'["x"]': 1, '["x", "y"]': 1}, "items": 1},
    ]
    spans = "item,annotator,category,start,end,n_tokens\nd,A,x,0,3,9\nd,B,x,0,2,9\n"
    run("import", "-", "-p", "spans", "--answers", "spans", stdin=spans)
    run("snapshot", "spans")
    told = run("snapshots", "show", "spans", 1, "--json").json()
    assert (told["patterns"], told["change"]["kind"]) == ([], "import")
    shown = " ".join(run("snapshots", "show", "spans", 1).out.split())
    assert "through change 2 (import, 20" in shown
    failed = run("snapshot", "spans", "--known-at", "2020-01-01", code=2)
    assert "'spans' did not exist then" in failed.err


def test_sound_record_has_the_digest_that_is_expected(run: Run, record: Path) -> None:
    done = run("snapshots", "verify", "reviews")
    first, second = done.out.splitlines()
    assert first == (
        "reviews  3 snapshots: digests and seals recomputed, "
        "3 snapshots recounted from the ledger: no faults"
    )
    assert done.err == ""
    digest = second.rpartition(" ")[2]
    done = run("snapshots", "verify", "reviews", "--chain-only", "--expect", digest)
    assert done.out.startswith("reviews  3 snapshots: digests and seals recomputed: no faults\n")
    other = digest[::-1]
    failed = run("snapshots", "verify", "reviews", "--expect", other, code=1)
    assert f"nothing has the digest {other}" in failed.out
    told = run("snapshots", "verify", "reviews", "--chain-only", "--json").json()
    assert (told["passed"], told["snapshots"], told["digest"]) == (True, 3, digest)
    assert (told["faults"], told["seals"]) == ([], 6)


LABELS = "UPDATE labels SET category_id = 1 WHERE item_id = 3"


@pytest.mark.parametrize(
    ("statement", "first", "options"),
    [
        ("UPDATE snapshot_measures SET value = value / 2 WHERE snapshot_id = 2", 2, "--chain-only"),
        ("UPDATE snapshot_patterns SET items = items + 1 WHERE snapshot_id = 2", 2, "--chain-only"),
        (LABELS, 1, ""),
    ],
    ids=["measures", "patterns", "labels"],
)
def test_changed_record_is_1(
    run: Run, record: Path, statement: str, first: int, options: str
) -> None:
    trigger = [] if statement == LABELS else [f"DROP TRIGGER {statement.split()[1]}_no_update"]
    change(record, *trigger, statement)
    failed = run("snapshots", "verify", "reviews", *options.split(), code=1)
    assert re.search(r": \d+ faults?$", failed.out, re.MULTILINE)
    assert f"snapshot {first}: its " in failed.out
    assert f"the first bad snapshot is {first}; see: tracker snapshots show" in failed.err
    told = run("snapshots", "verify", "reviews", *options.split(), "--json", code=1).json()
    assert told["passed"] is False
    assert told["faults"][0]["snapshot"] == first
    if statement == LABELS:
        run("snapshots", "verify", "reviews", "--chain-only")  # the ledger is not looked at


def test_pruning_asks_with_its_plan_and_thins_out(run: Run, record: Path) -> None:
    def numbers() -> list[int]:
        told = run("snapshots", "list", "reviews", "--json").json()
        return [one["snapshot"] for one in told["snapshots"]]

    for _ in range(3):
        run("snapshot", "reviews")
    prune = ("snapshots", "prune", "reviews", "--keep", "daily:1")
    for stdin in ("n\n", ""):
        refused = run(*prune, stdin=stdin, code=1)
        assert "to be thinned out: 4-5" in refused.out
        assert "Thin out 2 of 6 snapshots of reviews, for good?" in refused.err
    dry = run("snapshots", "prune", "reviews", "--keep", "last:2", "--dry-run", "--json").json()
    assert (dry["dry_run"], dry["kept"], dry["thinned"]) == (True, 5, 1)
    assert numbers() == [1, 2, 3, 4, 5, 6]
    done = run(*prune, "--json", stdin="y\n")
    told = done.json()
    assert (told["kept"], told["thinned"], told["dry_run"]) == (4, 2, False)
    fates = {one["snapshot"]: one["kept_by"] for one in told["snapshots"]}
    assert fates == {1: "its name", 2: "the last", 3: "its name", 4: None, 5: None, 6: "the last"}
    assert numbers() == [1, 2, 3, 6]
    for words in ("snapshots list", "history"):
        shown = run(*words.split(), "reviews").out
        assert shown.startswith("reviews  4 snapshots, 2 more thinned out\n")
    assert run("history", "reviews", "--json").json()["thinned"] == 2
    assert "thinned out: its figures are gone" in run("snapshots", "show", "reviews", 4, code=4).err
    assert run("snapshots", "show", "reviews", "last~1", "--json").json()["snapshot"] == 3
    told = run("snapshots", "verify", "reviews", "--json").json()
    assert (told["passed"], told["thinned"], told["recomputed"]) == (True, 2, 4)
