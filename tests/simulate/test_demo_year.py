"""The scripted year: what happened in it is found from its answers."""

import shutil
from collections import Counter
from datetime import datetime, timedelta

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
    """The weeks, a ledger with an import of each, and the warnings of these."""
    path = tmp_path_factory.mktemp("year") / "year.db"
    ledger = Ledger(f"sqlite:///{shutil.copy(sqlite_template, path)}")
    weeks = list(simulate_demo_year())
    warnings = {
        week.end: ledger.import_rows(week.rows, "year", f"{week.end:%m-%d}.csv").warnings
        for week in weeks
    }
    with ledger.writing("year") as (connection, project):
        for moment, text in NOTES:
            add_note(connection, project, text, clock.moment_of_datetime(moment, end_of_day=False))
    return weeks, ledger, warnings


@pytest.fixture(scope="module")
def ledger(year):
    return year[1]


def weeks_of(day):
    """Return the beginning of a day, and five weeks later."""
    begin = clock.parse_timestamp(day)
    return begin, begin + 35 * DAY


def test_rows_of_the_year(year):
    weeks, *_ = year
    crowd, given = {}, Counter()
    for before, week in zip([None, *weeks], weeks, strict=False):
        assert before is None or week.end - before.end == timedelta(weeks=1)
        for row in week.rows:
            moment = datetime.fromisoformat(row.labeled_at)
            assert week.end - timedelta(weeks=1) <= moment < week.end
            crowd.setdefault(row.annotator, []).append(row)
            given[row.item, row.annotator] += 1
    days = [row.labeled_at[:10] for row in crowd["rico"]]
    assert "2025-08-25" <= min(days) < max(days) < "2025-09-22"
    assert crowd.keys() == {*CROWD, "lea", "rico", "model"}
    assert {row.category for row in crowd["rico"]} == {"positive"}
    per_item = Counter(item for item, annotator in given if annotator != "model")
    assert {*per_item.values()} == {4}
    assert sum(annotator == "model" for _, annotator in given) == len(per_item)
    again = {item for (item, _), times in given.items() if times > 1}
    first = {row.item for week in weeks if week.end <= NOTES[0][0] for row in week.rows}
    assert again == first, "what was answered before the guideline is answered twice"


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


def test_comparisons_name_what_changed(ledger):
    def p_value(found):
        alpha = next(one for one in found.measures if one.name == "krippendorff_alpha")
        return alpha.comparison.p_value

    guideline = ledger.compare("year", "..guideline v2", "guideline v2..2025-07-31")
    answer, part = next(iter(guideline.because.answers.items()))
    assert answer == "neutral"
    assert part.contribution > 0
    assert [note.text for note in guideline.notes] == ["guideline v2"]
    assert p_value(guideline) < 0.001
    joined = ledger.compare("year", "2025-07-31", "2025-09-30")
    name, part = next(iter(joined.because.annotators.items()))
    assert (name, part.before) == ("rico", None)
    assert part.contribution < 0
    assert joined.changes["revised_answers"] == joined.changes["removed_answers"] == 0
    again = ledger.compare("year", "2025-09-30", "2025-10-31")
    shares = again.because.shares
    assert shares.keys() >= {"new_items", "revised_answers"}
    assert max(shares, key=shares.__getitem__) == "revised_answers"
    assert p_value(again) < 0.001


def test_the_audit_finds_what_was_planted_and_accuses_only_those_annotators(year):
    _, ledger, warnings = year
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
