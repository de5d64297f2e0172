"""How far a project is, and its curve rebuilt from the labels: where its periods end."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.helpers import Write, undo
from tracker.core import clock
from tracker.core.errors import InvalidOption
from tracker.counts.valid_periods import Window
from tracker.history.curve import Curve, parse_curve_window
from tracker.ledger import Ledger
from tracker.projects.annotators import set_annotator_kind
from tracker.projects.questions import QuestionOptions

HEADER = "item,annotator,category,labeled_at\n"


def dates(curve: Curve) -> list[str]:
    ends = [clock.iso(point.moment) for point in curve]
    assert all(end.endswith("T23:59:59.999999Z") for end in ends)
    return [end[:10] for end in ends]


def answered_on(ledger: Ledger, write: Write, *days: str, project: str = "p") -> None:
    """Two annotators agree on an item on each of the days."""
    rows = [f"i{day},{who},x,{day}" for day in days for who in "AB"]
    ledger.import_file(write(HEADER + "\n".join(rows)), project)


def test_weeks_end_on_sundays_and_months_on_their_last_day(
    sqlite_ledger: Ledger, write: Write
) -> None:
    # A Monday and a Sunday of 2024, and the Wednesday on which 2025 begins.
    answered_on(sqlite_ledger, write, "2024-12-09", "2024-12-22", "2025-01-01")
    curve = sqlite_ledger.history("p", "week")
    assert dates(curve) == ["2024-12-15", "2024-12-22", "2024-12-29", "2025-01-05"]
    assert [point.assessment.counts.items for point in curve] == [1, 2, 2, 3]
    past = sqlite_ledger.history("p", "week", as_of="2024-12-23")
    assert [point.assessment.counts.items for point in past] == [1, 2]
    answered_on(sqlite_ledger, write, "2023-11-30", "2024-04-01", project="months")
    ends = ["2023-11-30", "2023-12-31", "2024-01-31", "2024-02-29", "2024-03-31", "2024-04-30"]
    assert dates(sqlite_ledger.history("months", "month")) == ends


def test_since_and_until_bound_the_curve_and_its_notes_and_leave_no_answer_out(
    sqlite_ledger: Ledger, write: Write
) -> None:
    answered_on(sqlite_ledger, write, "2024-01-01", "2024-01-10", "2024-01-31")
    for day in ("2024-01-01", "2024-01-05", "2024-01-20"):
        sqlite_ledger.notes.add("p", f"note of {day}", day)
    curve = sqlite_ledger.history("p", "week", since="2024-01-09", until="2024-01-24")
    assert dates(curve) == ["2024-01-14", "2024-01-21", "2024-01-24"]
    assert [point.assessment.counts.items for point in curve] == [2, 2, 2]
    assert {point.to_dict()["selection"] for point in curve} == {None}
    assert [note.text[-2:] for note in curve.notes] == ["20"]
    assert dates(sqlite_ledger.history("p", "month", until="2023-12-31")) == []
    assert dates(sqlite_ledger.history("p", "month", since="2024-02-01")) == []
    before = sqlite_ledger.history("p", "day", since="2023-01-01", until="2024-01-02")
    assert dates(before) == ["2024-01-01", "2024-01-02"], "there is nothing to say before the first"


def test_it_is_from_the_first_answer_that_counts_to_the_last(ledger: Ledger, write: Write) -> None:
    """Truths without a time are labelled as they are recorded, months after the work."""
    answered_on(ledger, write, "2024-12-09", "2024-12-22")
    truth = "item,annotator,category,gold,labeled_at\ni2024-12-09,A,x,x,2024-12-09\n"
    ledger.import_file(write(truth), "p")
    ledger.import_file(write(HEADER + "i2024-12-09,gpt,x,2023-01-01\nj,gpt,x,2025-06-01"), "p")
    with ledger.writing("p") as (connection, project):
        set_annotator_kind(connection, project, "gpt", "model")
    assert dates(ledger.history("p", "week")) == ["2024-12-15", "2024-12-22"]
    assert dates(ledger.history("p", "week", annotators=["A"])) == ["2024-12-15", "2024-12-22"]
    everyone = dates(ledger.history("p", "month", annotators=["A", "gpt"]))
    assert (everyone[0], everyone[-1]) == ("2023-01-31", "2025-06-30")


def test_the_last_point_is_not_later_than_now(
    sqlite_ledger: Ledger, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = clock.parse_timestamp("2024-01-10T12:00")
    monkeypatch.setattr(clock, "now", lambda: now)
    answered_on(sqlite_ledger, write, "2024-01-02", "2024-01-09")
    for every, number in (("day", 8), ("week", 2), ("month", 1)):
        points = sqlite_ledger.history("p", every).points
        assert len(points) == number, "also of days without an answer"
        assert points[-1].moment == (now if every != "day" else now - 43_200_000_001)
        assert all(one.moment < other.moment for one, other in pairwise(points))


def test_windows() -> None:
    for words, window in (
        (" all ", Window()), ("7d", Window(days=7)), ("4w", Window(days=28)),
        ("1  Day", Window(days=1)), ("LAST-1-items", Window(items=1)),
    ):  # fmt: skip
        assert parse_curve_window(words) == window, words
    for words in ("", "0d", "7", "7h", "-7d", "1.5d", "last-0-items", "last-items", "last 5 items"):
        with pytest.raises(InvalidOption, match="is not a window"):
            parse_curve_window(words)


def test_each_period_has_the_figures_of_its_own_items(ledger: Ledger, write: Write) -> None:
    rows = [
        f"{month} {n},{who},{'y' if who == 'B' and n % 3 == 0 else 'x'},2026-{month:02}-{n + 1:02}"
        for month in (1, 2, 3)
        for n in range(20)
        for who in "AB"
    ]
    late = "1 0,C,x,2026-03-05"  # the item moves into the month of its last answer
    ledger.import_file(write(HEADER + "\n".join([*rows, late])), "p")
    told = ledger.history("p", every="month", measures=["percent_agreement"]).to_dict()
    own = [point["own"] for point in told["snapshots"]]
    assert [(one["items"], one["answers"]) for one in own] == [(19, 38), (20, 40), (21, 43)]
    february = ledger.agreement("p", since="2026-02-01", until="2026-02-28")
    assert own[1]["measures"][0] == february.measure("percent_agreement").to_dict()
    since = ledger.history("p", every="month", since="2026-02-10").to_dict()["snapshots"]
    assert since[0]["own"]["items"] < 20


WANTED = QuestionOptions(wanted=2)


def test_coverage_of_the_wanted_answers(ledger: Ledger, write: Write) -> None:
    file = write("item,annotator,category\n i,A,x\n i,B,x\n i,C,y\n j,A,x\n k,A,\n k,B,x\n l,A,")
    number = ledger.import_file(file, "p", options=WANTED, empty="skipped").id
    told = ledger.status("p").to_dict()
    assert told["items"] == 4
    assert told["items_unanswered"] == 1  # l was skipped by everyone
    assert told["answers"] == 5
    assert told["annotators"] == 3
    assert told["answers_per_item"] == {"0": 1, "1": 2, "3": 1}
    assert (told["wanted"], told["items_complete"], told["answers_missing"]) == (2, 1, 4)
    assert told["coverage"] == pytest.approx(1 / 4)
    assert told["last_import"]["import"] == number
    ledger.import_file(write("item,annotator,category\n i,A,y"), "p", empty="skipped")
    undo(ledger, 2)
    assert ledger.status("p").to_dict()["last_import"]["import"] == number


def test_pace_and_completion(ledger: Ledger, write: Write) -> None:
    rows = [("item", "annotator", "category", "labeled_at")]
    rows += [(f"i{day}", "A", "x", f"2024-03-{day:02}T12:00Z") for day in range(1, 12)]
    rows.append(("old", "A", "x", "2023-01-01"))  # the pace of late does not heed it
    ledger.import_file(write(rows), "p", options=WANTED)
    status = ledger.status("p")
    assert status.per_day == pytest.approx(1.1)
    told = status.to_dict()
    assert told["answers_missing"] == 12
    assert (told["pace_from"], told["pace_to"]) == ("2024-03-01T12:00:00Z", "2024-03-11T12:00:00Z")
    # Months later: at no pace of now.
    assert told["estimated_completion"] is None
    # 12 answers at 1.1 a day, from the day that is asked about on.
    then = ledger.status("p", as_of="2024-03-15T12:00").to_dict()
    assert then["estimated_completion"].startswith("2024-03-26T09:49:05")
    assert ledger.status("p", as_of="2024-04-09").done_at is None
    header = "item,annotator,category,labeled_at\n"
    file = write(header + "i,A,x,2024-03-01T10:00\n j,A,x,2024-03-01T20:00")
    ledger.import_file(file, "q", options=WANTED, empty="skipped")
    assert ledger.status("q").per_day is None, "less than a day tells of no pace"


def test_passes_models_and_references_are_no_further_answers(ledger: Ledger, write: Write) -> None:
    file = write("item,annotator,category,pass,gold\n i,A,x,1,x\n i,A,x,2,x\n i,B,x,1,x")
    ledger.import_file(file, "p", options=WANTED, empty="skipped")
    with ledger.writing("p") as (connection, project):
        set_annotator_kind(connection, project, "B", "model")

    told = ledger.status("p").to_dict()
    assert (told["answers_per_item"], told["annotators"]) == ({"1": 1}, 1)
