"""The confidence and the comment of an answer: kept with its record, wherever that goes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from tests.helpers import SEVERAL, fates, standing
from tracker.imports.loader import Rejected
from tracker.ledger import Ledger
from tracker.storage.schema import AnswerDetail
from tracker.storage.seals.verify import verify_seals

FIRST = """
    item,annotator,label,confidence,rationale
    i,ann,x,0.9,sure
    i,bob,y,,
    j,ann,y,0.25,
    j,bob,y,,because
"""
COLUMNS = ("item", "annotator", "category", "confidence", "comment")


@pytest.fixture
def told(ledger: Ledger, write: Callable[..., Path]) -> Ledger:
    ledger.import_file(write(FIRST), "p")
    return ledger


def faults(ledger: Ledger) -> tuple[str, ...]:
    with ledger.reading("p") as (connection, project):
        return verify_seals(connection, project.id).faults


def shown(ledger: Ledger, item: str) -> list[tuple[Any, ...]]:
    names = ("annotator", "state", "confidence", "comment")
    labels = [label.to_dict() for label in ledger.items.show("p", item).labels]
    return [tuple(label.get(name) for name in names) for label in labels]


def test_they_are_exported_and_can_be_imported_again(told: Ledger, tmp_path: Path) -> None:
    rows = [
        ("i", "ann", "x", 0.9, "sure"),
        ("i", "bob", "y", None, None),
        ("j", "ann", "y", 0.25, None),
        ("j", "bob", "y", None, "because"),
    ]
    assert standing(told, "p", *COLUMNS) == rows
    told.export_frame("p").to_csv(tmp_path / "again.csv", index=False)
    told.import_file(tmp_path / "again.csv", "q")
    assert standing(told, "q", *COLUMNS) == rows
    assert faults(told) == ()


def test_without_any_nothing_has_the_columns(
    sqlite_ledger: Ledger, write: Callable[..., Path]
) -> None:
    sqlite_ledger.import_file(write("item,annotator,label,confidence\ni,ann,x,\n"), "p")
    assert "confidence" not in sqlite_ledger.export_frame("p")
    assert "confidence" not in sqlite_ledger.items.show("p", "i").labels[0].to_dict()


def test_a_superseded_answer_keeps_its_own(told: Ledger, write: Callable[..., Path]) -> None:
    later = told.import_file(write("item,annotator,label,confidence\ni,ann,y,0.5\n"), "p")
    assert shown(told, "i") == [
        ("ann", "superseded", 0.9, "sure"),
        ("ann", "stands", 0.5, None),
        ("bob", "stands", None, None),
    ]
    told.imports.undo(later.id or 0)
    assert shown(told, "i")[0] == ("ann", "stands", 0.9, "sure")
    assert ("ann", "taken back", 0.5, None) in shown(told, "i")
    assert faults(told) == ()


def test_the_same_answer_with_another_confidence_stands(
    ledger: Ledger, write: Callable[..., Path]
) -> None:
    row = "item,annotator,label,labeled_at,confidence\ni,ann,x,2026-01-01,{}\n"
    for value in ("0.2", "0.4", "0.4"):
        made = ledger.import_file(write(row.format(value)), "p")
    assert fates(made) == {"unchanged": 1}
    assert standing(ledger, "p", *COLUMNS[:4]) == [("i", "ann", "x", 0.4)]
    ledger.imports.undo(1)
    assert standing(ledger, "p", *COLUMNS[:4]) == [("i", "ann", "x", 0.4)]


def test_they_move_with_the_answers_of_a_name(told: Ledger) -> None:
    told.annotators.merge("p", "bob", "ann")
    told.annotators.split("p", "bob")
    assert standing(told, "p", *COLUMNS)[0] == ("i", "ann", "x", 0.9, "sure")
    assert standing(told, "p", *COLUMNS)[3] == ("j", "bob", "y", None, "because")


def test_they_are_erased_with_the_annotator(told: Ledger) -> None:
    told.annotators.erase("p", "bob")
    with told.reading("p") as (connection, _):
        assert connection.scalars(select(AnswerDetail.comment)).all() == ["sure", None]
    assert faults(told) == ()


def test_what_another_program_changes_shows(told: Ledger) -> None:
    with told.database.engine.begin() as connection:
        connection.exec_driver_sql(
            "UPDATE answer_details SET comment = 'SURE' WHERE comment = 'sure'"
        )
    assert faults(told) == ("details of answers of change 2: not what was recorded",)


def test_an_answer_of_several_categories_has_one(
    ledger: Ledger, write: Callable[..., Path]
) -> None:
    text = "item,annotator,label,confidence\ni,ann,x,\ni,ann,y,0.5\ni,ann,z,0.7\n"
    ledger.import_file(write(text), "p", options=SEVERAL)
    assert [row[3] for row in standing(ledger, "p", *COLUMNS)] == [0.5] * 3


@pytest.mark.parametrize("value", ["1.01", "-0.1", "high", "nan", "80%"])
def test_what_is_no_confidence(
    sqlite_ledger: Ledger, write: Callable[..., Path], value: str
) -> None:
    with pytest.raises(Rejected, match="is not a number from 0 to 1"):
        sqlite_ledger.import_file(write(f"item,annotator,label,confidence\ni,ann,x,{value}\n"), "p")
