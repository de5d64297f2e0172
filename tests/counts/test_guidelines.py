"""Answers chosen by the guideline that held when they were labeled."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import select

from tracker.core import clock
from tracker.core.errors import InvalidOption, NotFound
from tracker.ledger import Ledger
from tracker.storage.schema import Change, Note
from tracker.storage.seals.verify import verify_seals

ANSWERS = "item,annotator,label,labeled_at\n" + "".join(
    f"i{month}{who},{who},{'xy'[month % 2]},2026-{month:02}-15\n"
    for month in range(1, 7)
    for who in ("ann", "bob")
)


@pytest.fixture
def guided(ledger: Ledger, write: Callable[..., Path]) -> Ledger:
    """Answers of six months; v1 holds from February, v2 from April on."""
    ledger.import_file(write(ANSWERS), "p")
    ledger.notes.add("p", "second", "2026-04-01T00:00", "v2")
    ledger.notes.add("p", "no guideline", "2026-03-01T00:00")
    ledger.notes.add("p", "first", "2026-02-01T00:00", "v1")
    return ledger


def months(ledger: Ledger, **selecting: str) -> list[int]:
    frame = ledger.export_frame("p", **selecting)  # type: ignore[arg-type]
    return sorted({int(moment[5:7]) for moment in frame["labeled_at"].astype(str)})


def test_a_guideline_holds_until_the_next(guided: Ledger) -> None:
    assert months(guided, guideline="v1") == [2, 3]
    assert months(guided, guideline=" v2 ") == [4, 5, 6]
    assert months(guided, guideline="v2", until="2026-05-20") == [4, 5]
    assert months(guided, guideline="v1", since="2026-03-01") == [3]


def test_the_choice_is_told_with_its_moments(guided: Ledger) -> None:
    told = guided.agreement("p", guideline="v1").to_dict()["selection"]
    assert told["guideline"] == "v1"
    assert (told["since"], told["until"]) == (
        "2026-02-01T00:00:00Z",
        "2026-03-31T23:59:59.999999Z",
    )
    assert "guideline" not in (guided.agreement("p", since="2026-02-01").selection or {})


def test_a_snapshot_under_a_guideline_is_verified(guided: Ledger) -> None:
    guided.snapshot("p", guideline="v1")
    assert guided.verify("p").to_dict()["faults"] == []


def test_it_is_of_the_notes_known_then(guided: Ledger) -> None:
    with guided.reading("p") as (connection, project):
        moments = connection.scalars(
            select(Change.recorded_at).where(Change.project_id == project.id).order_by(Change.id)
        ).all()
    guided.notes.remove("p", 1)
    assert months(guided, guideline="v1") == [2, 3, 4, 5, 6]
    assert months(guided, guideline="v1", known_at=clock.iso(moments[-1])) == [2, 3]
    with pytest.raises(NotFound, match="'p' has no guideline 'v2'"):
        months(guided, guideline="v2")
    with pytest.raises(NotFound, match="'p' has no guideline 'v1'"):
        months(guided, guideline="v1", known_at=clock.iso(moments[-2]))


def test_one_that_is_not_there_or_held_at_another_time(guided: Ledger) -> None:
    with pytest.raises(NotFound, match="did you mean 'v2' or 'v1'"):
        months(guided, guideline="v3")
    with pytest.raises(InvalidOption, match="no answer lies between"):
        months(guided, guideline="v1", since="2026-04-01")


def test_a_version_is_noted_once(guided: Ledger) -> None:
    with pytest.raises(InvalidOption, match="'v2' holds from 2026-04-01"):
        guided.notes.add("p", "again", guideline="v2")
    guided.notes.remove("p", 1)
    assert guided.notes.add("p", "again", guideline="v2").to_dict()["guideline"] == "v2"


def test_the_version_goes_with_an_erased_text_and_is_sealed(guided: Ledger) -> None:
    guided.notes.remove("p", 1, erase=True)
    with guided.reading("p") as (connection, project):
        assert verify_seals(connection, project.id).faults == ()
        assert set(connection.scalars(select(Note.guideline))) == {"v1", None}
    with guided.database.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE notes SET guideline = 'v9' WHERE guideline = 'v1'")
    with guided.reading("p") as (connection, project):
        faults = verify_seals(connection, project.id).faults
    assert [fault.partition(":")[0] for fault in faults] == ["guidelines"]
