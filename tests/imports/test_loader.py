"""Items without answers: registered, counted, taken back."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import func, select

from tests.helpers import fates, undo
from tracker.core.errors import InvalidOption, Refused
from tracker.imports.loader import Rejected
from tracker.ledger import Ledger
from tracker.projects.items import find_item, list_items
from tracker.projects.questions import QuestionOptions
from tracker.storage.schema import Change

Write = Callable[..., Path]


def listed(ledger: Ledger) -> dict[str, int]:
    with ledger.reading("p") as (connection, project):
        return {row.name: row.annotators for row in list_items(connection, project)}


def test_items_are_registered_once_and_count(ledger: Ledger, write: Write) -> None:
    answers = write("item,annotator,category\n i1,A,x\n i1,B,x\n i2,A,x\n i2,B,y\n i3,A,x")
    ledger.import_file(answers, "p", options=QuestionOptions(wanted=2))
    before = ledger.status("p").to_dict()
    assert (before["items"], before["coverage"]) == (3, 2 / 3)
    header = "item_id,text,source,label\n"
    rows = "\n".join(f"i{n},text {n},mail,ignored" for n in range(1, 6))
    file = write(header + rows, "items.csv")
    done = ledger.import_items(file, "p", keep=["source"])
    assert fates(done) == {"inserted": 2, "changed": 3}  # the texts of the first three are new
    assert listed(ledger) == {"i1": 2, "i2": 2, "i3": 1, "i4": 0, "i5": 0}
    status = ledger.status("p").to_dict()
    assert (status["items"], status["items_unanswered"], status["answers"]) == (5, 2, 5)
    assert (status["coverage"], status["answers_missing"]) == (2 / 5, 5)
    assert status["answers_per_item"] == {"0": 2, "1": 1, "2": 2}
    again = ledger.import_items(write(header + rows + "\n", "again.csv"), "p", keep=["source"])
    assert fates(again) == {"unchanged": 5}
    fewer = ledger.import_items(write("item,text\n i5,other\n i5,ignored\n i9,"), "p")
    assert fates(fewer) == {"inserted": 1, "changed": 1, "unchanged": 1}
    assert ledger.agreement("p").counts.items == 3
    for number in (done.id, fewer.id):
        undo(ledger, number)
    assert set(listed(ledger)) == {"i1", "i2", "i3", "i4", "i5"}
    with ledger.reading("p") as (connection, project):
        assert find_item(connection, project, "i5").attributes == {"source": "mail"}
        assert find_item(connection, project, "i5").text == "text 5"
    undo(ledger, again.id)
    after = ledger.status("p").to_dict()
    assert {**after, "last_import": None} == {**before, "last_import": None}
    assert ledger.database.check() == []


def test_unanswered_items_are_known_as_they_were(ledger: Ledger, write: Write) -> None:
    ledger.import_items(write("item\n a\n b"), "p")
    with ledger.database.read() as connection:
        recorded = connection.scalar(select(func.max(Change.recorded_at))) or 0
    ledger.import_items(write("item\n c"), "p")
    then = datetime.fromtimestamp(recorded / 1e6, UTC).isoformat()
    assert (ledger.status("p", known_at=then).items, ledger.status("p").items) == (2, 3)


def test_what_is_no_list_of_items_is_refused(ledger: Ledger, write: Write) -> None:
    with pytest.raises(Refused, match="no column for the item"):
        ledger.import_items(write("name,text\n a,b"), "p")
    with pytest.raises(InvalidOption, match="a list of items has no category"):
        ledger.import_items(write("item\n a"), "p", columns=["category=x"])
    with pytest.raises(Rejected, match="line 3: the item is empty"):
        ledger.import_items(write("item,text\n a,b\n ,c"), "p")
    done = ledger.import_items(write("item,text\n a,b\n ,c"), "p", skip_invalid=True)
    assert fates(done) == {"inserted": 1, "rejected": 1}
