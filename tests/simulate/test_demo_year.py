"""The scripted year: what happened in it is found from its answers."""

import shutil

import pytest

from tracker.core import clock
from tracker.core.clock import DAY
from tracker.ledger import Ledger
from tracker.monitoring import Point, change_points, watch
from tracker.projects.notes import add_note
from tracker.simulate.demo.year import NOTES, simulate_demo_year

HAPPENED = (
    ("2025-05-05", "rise"), ("2025-08-25", "drop"), ("2025-09-22", "rise"), ("2025-11-24", "drop"),
)  # fmt: skip
"""The guideline; rico joins; rico has gone; everybody hurries."""
ALARMS = (HAPPENED[0], HAPPENED[1], HAPPENED[3])
"""What an alarm tells of: that rico has gone is seen as a change of level."""
CROWD = ("ann", "bob", "cem", "dia", "eva", "fay", "gus", "hal", "ida", "jon")


@pytest.fixture(scope="module")
def year(sqlite_template, tmp_path_factory):
    """The year, an import a week, and the warnings of each week."""
    path = tmp_path_factory.mktemp("year") / "year.db"
    ledger = Ledger(f"sqlite:///{shutil.copy(sqlite_template, path)}")
    warnings = {
        week.end: ledger.import_rows(week.rows, "year", f"{week.end:%m-%d}.csv").warnings
        for week in simulate_demo_year()
    }
    with ledger.writing("year") as (connection, project):
        for moment, text in NOTES:
            add_note(connection, project, text, clock.moment_of_datetime(moment, end_of_day=False))
    return ledger, warnings


@pytest.fixture(scope="module")
def ledger(year):
    return year[0]


def weeks_of(day):
    """Return the beginning of a day, and five weeks later."""
    begin = clock.parse_timestamp(day)
    return begin, begin + 35 * DAY


def test_alarms_and_changes_of_level_come_soon_after_what_happened(ledger):
    points = []
    for point in ledger.history("year", "week", window="7d", measures=["krippendorff_alpha"]):
        (alpha,) = point.assessment.measures
        points.append(Point(point.moment, alpha.value, alpha.standard_error))
    alarms, changes = watch(points, "change").alarms, change_points(points).changes
    assert [alarm.direction for alarm in alarms] == [direction for _, direction in ALARMS]
    for alarm, (day, _) in zip(alarms, ALARMS, strict=True):
        begin, soon = weeks_of(day)
        assert begin < alarm.since <= alarm.at < soon
    rises = [change.difference > 0 for change in changes]
    assert rises == [direction == "rise" for _, direction in HAPPENED]
    for change, (day, _) in zip(changes, HAPPENED, strict=True):
        assert change.at < weeks_of(day)[0] < change.from_at


def test_the_audit_finds_what_was_planted_and_accuses_only_those_annotators(year):
    ledger, warnings = year
    audit = ledger.audit("year").to_dict()
    found = [
        (row["annotator"], flag)
        for row in audit["annotators"]
        for flag in row["flags"]
        if flag["state"] == "flagged"
        and flag["severity"] != "remark"
        and not flag["details"].get("divided")
    ]
    flags = dict(found)
    assert len(found) == len(flags)
    assert {name: flag["kind"] for name, flag in found} == {
        "eva": "odd_import",
        "hal": "copying",
        "lea": "low_agreement",
        "rico": "constant_category",
    }
    slipped = flags["eva"]["details"]
    assert (slipped["import"], slipped["shift"]) == (23, -1)
    assert slipped["agreement_moved"] > 0.7
    (said,) = (text for end, texts in warnings.items() if end.month < 7 for text in texts)
    assert str(said).startswith("eva's answers of 06-16.csv agree with the others'")
    swapped = {"negative": "positive", "positive": "negative"}
    assert flags["lea"]["details"]["relabeling"] == swapped
    assert flags["hal"]["with"] == "model"
    assert flags["hal"]["details"]["model"]
    (divided,) = (one for one in audit["definitions"] if one["kind"] == "divided_definition")
    assert (divided["category"], divided["state"]) == ("off topic", "flagged")
    assert {*divided["more"]} <= {*CROWD[::2]}
    assert {*divided["less"]} <= {*CROWD[1::2], "lea"}
    first, *others = [one for one in audit["definitions"] if one["kind"] == "weak_slice"]
    assert (first["attribute"], first["value"]) == ("language", "nl")
    hurried = {("import", str(number)) for number in range(47, 52)}
    assert {(one["attribute"], one["value"]) for one in others} <= hurried
    (design,) = audit["design"]
    assert (design["kind"], design["texts"], design["items"]) == ("same_text", 12, 24)


def test_the_status_and_the_verdict_have_all_of_it(ledger):
    recent = ledger.status("year").to_dict()["recent"]
    assert "2025-11-24" <= recent["day"] < "2025-12-01"
    assert (recent["value"] < 0.3, recent["before"] > 0.6) == (True, True)
    assert len(recent["annotators"]) >= 8
    kinds = [concern["kind"] for concern in ledger.verdict("year")["verdict"]]
    assert kinds[:3] == ["recent", "divided_definition", "weak_slice"]
    assert {*kinds[3:]} == {
        "constant_category", "copying", "low_agreement", "odd_import", "same_text",
    }  # fmt: skip
