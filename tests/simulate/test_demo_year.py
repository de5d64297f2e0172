"""The scripted year: what happened in it is found from its answers."""

from __future__ import annotations

import shutil
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tracker.compare import StateComparison
from tracker.core import clock
from tracker.core.clock import DAY
from tracker.ledger import Ledger
from tracker.monitoring import Point, change_points, watch
from tracker.projects.notes import add_note
from tracker.simulate.demo.year import NOTES, simulate_demo_year

HAPPENED = (("2025-05-05", "rise"), ("2025-08-04", "drop"), ("2025-09-29", "rise"))
"""The guideline; rico joins; rico has gone, and a week later the revision begins."""


@pytest.fixture(scope="module")
def ledger(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Ledger:
    """The year, all weeks in one import."""
    path = tmp_path_factory.mktemp("year") / "year.db"
    return furnished(Ledger(f"sqlite:///{shutil.copy(sqlite_template, path)}"))


def furnished(ledger: Ledger) -> Ledger:
    ledger.import_rows((row for week in simulate_demo_year() for row in week.rows), "year")
    with ledger.writing("year") as (connection, project):
        for moment, text in NOTES:
            add_note(connection, project, text, clock.moment_of_datetime(moment, end_of_day=False))
    return ledger


def weeks_of(day: str) -> tuple[int, int]:
    """The beginning of a day, and four weeks later."""
    begin = clock.parse_timestamp(day)
    return begin, begin + 28 * DAY


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
    assert (min(crowd["rico"]), max(crowd["rico"])) >= ("2025-08-04", "2025-09-20")
    assert max(crowd["rico"]) < "2025-09-29"
    assert len(crowd) > 8
    assert {row.category for week in weeks for row in week.rows if row.annotator == "rico"} == {
        "positive"
    }
    per_item = Counter(item for item, _ in given)
    assert {*per_item.values()} == {4}
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
    assert [alarm.direction for alarm in alarms] == [direction for _, direction in HAPPENED]
    for alarm, (day, _) in zip(alarms, HAPPENED, strict=True):
        begin, soon = weeks_of(day)
        assert begin < alarm.since <= alarm.at < soon


def test_three_changes_of_level_in_the_weeks_in_which_they_were(points: list[Point]) -> None:
    changes = change_points(points).changes
    assert [(change.difference > 0) for change in changes] == [True, False, True]
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
    both = (ledger, furnished(emptied_postgres_ledger))
    for every, window in (("week", "7d"), ("month", "all")):
        one, other = (each.history("year", every, window=window).to_dict() for each in both)
        assert one == other
    one, other = (each.compare("year", "2025-07-31", "2025-10-31").to_dict() for each in both)
    assert one == other
