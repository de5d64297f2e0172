"""The scripted year: what happened in it is found from its answers."""

from __future__ import annotations

import shutil
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tracker.compare.comparison import StateComparison
from tracker.core import clock
from tracker.core.clock import DAY
from tracker.ledger import Ledger
from tracker.monitoring import Point, change_points, watch
from tracker.projects.notes import add_note
from tracker.simulate.demo.year import NOTES, simulate_demo_year

HAPPENED = (
    ("2025-05-05", "rise"),
    ("2025-08-25", "drop"),
    ("2025-09-22", "rise"),
    ("2025-11-24", "drop"),
)
"""The guideline; rico joins; rico has gone; everybody hurries."""
ALARMS = (HAPPENED[0], HAPPENED[1], HAPPENED[3])
"""What an alarm tells of: that rico has gone is seen as a change of level."""
CROWD = ("ann", "bob", "cem", "dia", "eva", "fay", "gus", "hal", "ida", "jon")


@pytest.fixture(scope="module")
def ledger(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Ledger:
    """The year, an import a week."""
    path = tmp_path_factory.mktemp("year") / "year.db"
    ledger = Ledger(f"sqlite:///{shutil.copy(sqlite_template, path)}")
    for week in simulate_demo_year():
        ledger.import_rows(week.rows, "year")
    with ledger.writing("year") as (connection, project):
        for moment, text in NOTES:
            add_note(connection, project, text, clock.moment_of_datetime(moment, end_of_day=False))
    return ledger


def weeks_of(day: str) -> tuple[int, int]:
    """The beginning of a day, and five weeks later."""
    begin = clock.parse_timestamp(day)
    return begin, begin + 35 * DAY


# -- the rows ------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_rows() -> None:
    weeks = list(simulate_demo_year(7))
    assert weeks == list(simulate_demo_year(7))
    assert weeks != list(simulate_demo_year(8))
    assert list(simulate_demo_year()) == list(simulate_demo_year(2025))


def test_who_answers_what_and_when() -> None:
    weeks = list(simulate_demo_year())
    crowd: dict[str, set[str]] = {}
    given: Counter[tuple[str, str]] = Counter()
    for before, week in zip([None, *weeks], weeks, strict=False):
        assert before is None or week.end - before.end == timedelta(weeks=1)
        for row in week.rows:
            assert row.labeled_at is not None
            moment = datetime.fromisoformat(row.labeled_at)
            assert week.end - timedelta(weeks=1) <= moment < week.end
            crowd.setdefault(row.annotator, set()).add(row.labeled_at[:10])
            given[row.item, row.annotator] += 1
    assert "2025-08-25" <= min(crowd["rico"]) < max(crowd["rico"]) < "2025-09-22"
    assert crowd.keys() == {*CROWD, "lea", "rico", "model"}
    assert {row.category for week in weeks for row in week.rows if row.annotator == "rico"} == {
        "positive"
    }
    per_item = Counter(item for item, annotator in given if annotator != "model")
    assert {*per_item.values()} == {4}
    assert sum(annotator == "model" for _, annotator in given) == len(per_item)
    again = {item for (item, _), times in given.items() if times > 1}
    first = {row.item for week in weeks if week.end <= NOTES[0][0] for row in week.rows}
    assert again == first, "what was answered before the guideline is answered twice"


# -- what is found -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def points(ledger: Ledger) -> list[Point]:
    """Alpha of each week's own answers."""
    found = []
    for point in ledger.history("year", "week", window="7d", measures=["krippendorff_alpha"]):
        (alpha,) = point.assessment.measures
        assert alpha.value is not None
        assert alpha.standard_error is not None
        found.append(Point(point.moment, alpha.value, alpha.standard_error))
    return found


def test_alarms_come_soon_after_what_happened_and_at_no_other_time(points: list[Point]) -> None:
    alarms = watch(points, "change").alarms
    assert [alarm.direction for alarm in alarms] == [direction for _, direction in ALARMS]
    for alarm, (day, _) in zip(alarms, ALARMS, strict=True):
        begin, soon = weeks_of(day)
        assert begin < alarm.since <= alarm.at < soon


def test_changes_of_level_in_the_weeks_in_which_they_were(points: list[Point]) -> None:
    changes = change_points(points).changes
    assert [(change.difference > 0) for change in changes] == [
        direction == "rise" for _, direction in HAPPENED
    ]
    for change, (day, _) in zip(changes, HAPPENED, strict=True):
        assert change.at < weeks_of(day)[0] < change.from_at


def test_what_the_guideline_changed(ledger: Ledger) -> None:
    found = ledger.compare("year", "..guideline v2", "guideline v2..2025-07-31")
    assert found.because is not None
    answer, part = next(iter(found.because.answers.items()))
    assert answer == "neutral"
    assert part.contribution > 0
    assert [note.text for note in found.notes] == ["guideline v2"]
    assert significant(found)


def test_who_joined_in_august(ledger: Ledger) -> None:
    found = ledger.compare("year", "2025-07-31", "2025-09-30")
    assert found.because is not None
    name, part = next(iter(found.because.annotators.items()))
    assert (name, part.before) == ("rico", None)
    assert part.contribution < 0
    assert found.changes is not None
    assert found.changes["revised_answers"] == found.changes["removed_answers"] == 0


def test_what_was_answered_again_in_october(ledger: Ledger) -> None:
    found = ledger.compare("year", "2025-09-30", "2025-10-31")
    assert found.because is not None
    assert found.because.shares is not None
    assert found.because.shares.keys() >= {"new_items", "revised_answers"}
    assert max(found.because.shares, key=found.because.shares.__getitem__) == "revised_answers"
    assert significant(found)


def significant(found: StateComparison) -> bool:
    alpha = next(one for one in found.measures if one.name == "krippendorff_alpha")
    return alpha.comparison.p_value is not None and alpha.comparison.p_value < 0.001


# -- what is told unasked ------------------------------------------------------------------


@pytest.fixture(scope="module")
def audit(ledger: Ledger) -> dict[str, Any]:
    """The audit of the year, as JSON."""
    return ledger.audit("year").to_dict()


@pytest.fixture(scope="module")
def flags(audit: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The one flag of each annotator whom one is about, and the definition is not to blame."""
    found = [
        (row["annotator"], flag)
        for row in audit["annotators"]
        for flag in row["flags"]
        if flag["state"] == "flagged"
        and flag["severity"] != "remark"
        and not flag["details"].get("divided")
    ]
    assert len(found) == len(dict(found))
    return dict(found)


def test_nobody_else_is_accused(flags: dict[str, dict[str, Any]]) -> None:
    assert {name: flag["kind"] for name, flag in flags.items()} == {
        "eva": "odd_import",
        "hal": "copying",
        "lea": "low_agreement",
        "rico": "constant_category",
    }


def test_everybody_hurries_at_the_end(ledger: Ledger) -> None:
    told = ledger.status("year").to_dict()["recent"]
    assert "2025-11-24" <= told["day"] < "2025-12-01"
    assert (told["value"] < 0.3, told["before"] > 0.6) == (True, True)
    assert len(told["annotators"]) >= 8


def test_a_column_slipped(flags: dict[str, dict[str, Any]]) -> None:
    told = flags["eva"]["details"]
    assert (told["import"], told["shift"]) == (23, -1)
    assert told["agreement_moved"] > 0.7


def test_it_is_said_as_the_file_comes_in(sqlite_ledger: Ledger) -> None:
    said = []
    for week in simulate_demo_year():
        if week.end.month < 7:
            name = f"{week.end:%m-%d}.csv"
            said += sqlite_ledger.import_rows(week.rows, "year", name).warnings
    (slipped,) = said
    assert str(slipped).startswith("eva's answers of 06-16.csv agree with the others'")


def test_two_keys_are_the_wrong_way_round(flags: dict[str, dict[str, Any]]) -> None:
    swapped = {"negative": "positive", "positive": "negative"}
    assert flags["lea"]["details"]["relabeling"] == swapped


def test_the_answers_of_a_model_are_pasted(flags: dict[str, dict[str, Any]]) -> None:
    assert flags["hal"]["with"] == "model"
    assert flags["hal"]["details"]["model"]


def test_one_category_is_read_in_two_ways(audit: dict[str, Any]) -> None:
    (told,) = (one for one in audit["definitions"] if one["kind"] == "divided_definition")
    assert (told["category"], told["state"]) == ("off topic", "flagged")
    assert {*told["more"]} <= {*CROWD[::2]}
    assert {*told["less"]} <= {*CROWD[1::2], "lea"}


def test_one_language_is_read_badly(audit: dict[str, Any]) -> None:
    first, *others = [one for one in audit["definitions"] if one["kind"] == "weak_slice"]
    assert (first["attribute"], first["value"]) == ("language", "nl")
    hurried = {str(number) for number in range(47, 52)}
    assert {(one["attribute"], one["value"]) for one in others} <= {
        ("import", number) for number in hurried
    }


def test_texts_are_there_under_two_keys(audit: dict[str, Any]) -> None:
    (told,) = audit["design"]
    assert (told["kind"], told["texts"], told["items"]) == ("same_text", 12, 24)


def test_the_verdict_has_all_of_it(ledger: Ledger) -> None:
    kinds = [concern["kind"] for concern in ledger.verdict("year")["verdict"]]
    assert kinds[:3] == ["recent", "divided_definition", "weak_slice"]
    assert {*kinds[3:]} == {
        "constant_category",
        "copying",
        "low_agreement",
        "odd_import",
        "same_text",
    }


def test_points_are_what_agreement_says_as_of_then(ledger: Ledger) -> None:
    for window in ("all", "7d"):
        curve = ledger.history("year", "week", window=window)
        assert len(curve.points) == 51
        for point in curve.points[2::5]:
            measures = [one.measure for one in point.assessment.measures]
            at, since = clock.iso(point.moment), None
            if window == "7d":
                since = clock.iso(point.moment + 1 - 7 * DAY)
            then = ledger.agreement("year", measures=measures, as_of=at, since=since)
            assert point.assessment.figures() == then.figures()


def test_the_other_database_tells_the_same(ledger: Ledger, emptied_postgres_ledger: Ledger) -> None:
    ledger.database.copy_to(emptied_postgres_ledger.database, lambda *_: None)
    both = (ledger, emptied_postgres_ledger)
    for every, window in (("week", "7d"), ("month", "all")):
        one, other = (each.history("year", every, window=window).to_dict() for each in both)
        assert one == other
    one, other = (each.compare("year", "2025-07-31", "2025-10-31").to_dict() for each in both)
    assert one == other
