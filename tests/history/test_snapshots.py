"""Snapshots: what is recorded, and that it stays."""

from __future__ import annotations

import json

import pytest
from sqlalchemy.exc import DBAPIError

from tests.helpers import undo
from tracker import clock
from tracker.assess import assess
from tracker.catalogue.categories import rename_category
from tracker.errors import InvalidOption, NotFound
from tracker.history import find_snapshot
from tracker.ledger import Ledger
from tracker.simulate import experiment


def test_a_snapshot_holds_the_figures_and_the_tallies_of_its_moment(ledger: Ledger) -> None:
    ledger.import_rows(experiment("mixed", 60, 1), "p")
    then = ledger.agreement("p")
    taken = ledger.snapshot("p", name="pilot", note="before the guideline")
    again = ledger.import_rows(experiment("high", 80, 2), "p")
    assert ledger.agreement("p").to_dict() != then.to_dict()
    with ledger.reading("p") as (connection, project):
        found = find_snapshot(connection, project, "pilot")
    assert found.to_dict() == taken.to_dict()
    assert found.assessment.figures() == then.figures()
    assert found.assessment.patterns == then.patterns
    assert (found.id, found.note) == (1, "before the guideline")
    undo(ledger, again.id)
    assert ledger.agreement("p").figures() == then.figures()


def test_history_is_oldest_first_and_its_shape_is_the_contracts(ledger: Ledger) -> None:
    ledger.import_rows(experiment("high", 20, 1), "p")
    for name in ("one", "two", "three"):
        ledger.snapshot("p", name=name)
    told = json.loads(json.dumps(ledger.history("p").to_dict()))
    assert [one["name"] for one in told["snapshots"]] == ["one", "two", "three"]
    assert [one["snapshot"] for one in told["snapshots"]] == [1, 2, 3]
    assert {"taken_at", "as_of", "counts", "measures", "categories", "summary"} <= set(
        told["snapshots"][0]
    )
    frame = ledger.history("p").to_frame()
    assert len(frame) == 3 * len(told["snapshots"][0]["measures"])


def test_moments_ascend_although_the_clock_runs_backwards(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.import_rows(experiment("high", 5, 1), "p")
    first = ledger.snapshot("p")
    monkeypatch.setattr(clock, "now", lambda: 1_000_000)
    result = ledger.import_rows(experiment("low", 5, 1), "p")
    second = ledger.snapshot("p")
    assert result.changed > 0
    assert second.taken_at > first.taken_at
    assert second.through_change > first.through_change


def test_a_snapshot_of_nothing_says_why_there_is_no_figure(ledger: Ledger) -> None:
    result = ledger.import_rows(experiment("high", 5, 1), "p")
    undo(ledger, result.id)
    taken = ledger.snapshot("p")
    assert {c.undefined for c in taken.assessment.measures} <= {"too_few_items", "not_applicable"}
    assert all(c.value is None for c in taken.assessment.measures)


def test_names_are_not_given_twice_and_unknown_ones_suggest_the_near(ledger: Ledger) -> None:
    ledger.import_rows(experiment("high", 5, 1), "p")
    ledger.snapshot("p", name="guideline v1")
    with pytest.raises(InvalidOption, match="guideline v1"):
        ledger.snapshot("p", name="guideline v1")
    with ledger.reading("p") as (connection, project):
        assert find_snapshot(connection, project, 1).name == "guideline v1"
        with pytest.raises(NotFound, match="did you mean 'guideline v1'"):
            find_snapshot(connection, project, "guideline v2")


def test_a_renamed_category_is_still_the_snapshots_category(ledger: Ledger) -> None:
    ledger.import_rows(experiment("high", 20, 1), "p")
    before = ledger.snapshot("p").to_dict()["categories"]
    with ledger.writing("p") as (connection, project):
        rename_category(connection, project, "2", "two")
    after = ledger.history("p").to_dict()["snapshots"][0]["categories"]
    assert [row["category"] for row in after] == ["0", "1", "two"]
    assert [row["rate"] for row in after] == [row["rate"] for row in before]


@pytest.mark.parametrize(
    "table", ["snapshots", "snapshot_measures", "snapshot_categories", "snapshot_patterns"]
)
@pytest.mark.parametrize("statement", ["UPDATE {} SET project_id = 1", "DELETE FROM {}"])
def test_the_database_refuses_to_change_a_record(
    table: str, statement: str, ledger: Ledger
) -> None:
    ledger.import_rows(experiment("high", 5, 1), "p")
    ledger.snapshot("p")
    with (
        pytest.raises(DBAPIError, match="append-only"),
        ledger.database.write() as connection,
    ):
        connection.exec_driver_sql(statement.format(table))


def test_a_snapshot_is_counted_from_the_labels_not_from_memory(ledger: Ledger) -> None:
    ledger.import_rows(experiment("mixed", 30, 3), "p")
    with ledger.reading("p") as (connection, project):
        counted = assess(connection, project)
    assert ledger.snapshot("p").assessment.figures() == counted.figures()
