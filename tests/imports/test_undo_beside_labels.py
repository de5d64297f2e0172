"""What imports say beside the answers, and taking it back: the ledger of the survivors."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from tests.helpers import SPANS, count_statements, undo
from tracker.core.errors import NotFound
from tracker.ledger import Ledger
from tracker.projects.annotators import list_annotators, set_annotator_kind
from tracker.projects.items import find_item
from tracker.storage.schema import Change, ItemFact

Write = Callable[..., Path]

ANSWERS = "item,annotator,category,language\n"


def where(ledger: Ledger, value: str, **moment: Any) -> int:
    """How many items have a language."""
    return ledger.agreement("p", where={"language": value}, **moment).counts.items


def test_attributes_are_known_as_they_were_and_snapshots_by_them_stay_sound(
    ledger: Ledger, write: Write
) -> None:
    keep = ["language"]
    first = write(ANSWERS + "i,A,x,nl\n i,B,x,nl\n j,A,y,de\n j,B,x,de")
    ledger.import_file(first, "p", keep=keep)
    ledger.snapshot("p", where={"language": "nl"})
    second = ledger.import_file(write(ANSWERS + "j,A,y,nl\n k,A,x,nl"), "p", keep=keep).id
    assert (where(ledger, "nl"), second) == (3, second)
    ledger.snapshot("p", where={"language": "nl"})
    with ledger.database.read() as connection:
        known = connection.execute(select(Change.recorded_at).order_by(Change.id)).scalars().all()
    undo(ledger, second)
    ledger.snapshot("p", where={"language": "nl"})
    assert (where(ledger, "nl"), where(ledger, "de")) == (1, 1)
    then = datetime.fromtimestamp(known[2] / 1e6, UTC).isoformat()
    assert where(ledger, "nl", known_at=then) == 3
    checked = ledger.verify("p")
    assert (checked.recomputed, checked.faults, checked.notes) == (3, (), ())


def test_a_kind_that_was_set_by_hand_outlives_the_imports(ledger: Ledger, write: Write) -> None:
    first = ledger.import_file(write(ANSWERS + "i,A,x,\n i,B,y,"), "p").id
    with ledger.writing("p") as (connection, project):
        set_annotator_kind(connection, project, "B", "model")
    undo(ledger, first)
    with ledger.reading("p") as (connection, project):
        assert list_annotators(connection, project) == []
    with ledger.writing("p") as (connection, project), pytest.raises(NotFound, match="'B'"):
        set_annotator_kind(connection, project, "B", "human")
    ledger.import_file(write(ANSWERS + "i,B,x,"), "p")
    with ledger.reading("p") as (connection, project):
        assert [(one.name, one.kind) for one in list_annotators(connection, project)] == [
            ("B", "model")
        ]


def test_the_truths_name_is_free_again(ledger: Ledger, write: Write) -> None:
    truths = ledger.import_file(write("item,gold\n i,x"), "p").id
    undo(ledger, truths)
    ledger.import_file(write(ANSWERS + "i,gold,x,\n i,A,x,"), "p")
    assert ledger.agreement("p").counts.annotators == 2


def test_lengths_of_documents_come_back_and_snapshots_stay_sound(
    ledger: Ledger, write: Write
) -> None:
    spans = "item,annotator,category,start,end,n_tokens\n"
    ledger.import_file(write(spans + "i,A,x,0,3,9\n i,B,x,0,4,9"), "p", options=SPANS)
    before = ledger.agreement("p").to_dict()
    ledger.snapshot("p")
    second = ledger.import_file(write(spans + "i,C,x,0,3,20"), "p").id
    ledger.snapshot("p")
    undo(ledger, second)
    assert ledger.agreement("p").to_dict() == before
    assert ledger.verify("p").faults == ()


def test_what_is_said_again_is_stored_once(ledger: Ledger, write: Write) -> None:
    text = "a long document " * 100
    header = "item,annotator,category,text\n"
    imports = [
        ledger.import_file(write(f"{header}i,{who},x,{text}"), "p").id for who in ("A", "B", "C")
    ]
    with ledger.database.read() as connection:
        values = list(connection.scalars(select(ItemFact.value).order_by(ItemFact.change_id)))
    assert values == [text.strip(), None, None]
    undo(ledger, imports[0])
    undo(ledger, imports[2])
    with ledger.reading("p") as (connection, project):
        assert find_item(connection, project, "i").text == text.strip()


def test_an_import_and_its_undo_take_as_many_statements_whatever_they_say(
    ledger: Ledger, write: Write
) -> None:
    sent = []
    for size in (30, 300):  # of fewer rows nothing is told of odd files
        table = "\n".join(f"i{n},A{n % 3},x{n % 2},l{n % 5}" for n in range(size))
        with count_statements(ledger.database.engine) as counted:
            for n in range(2):
                number = ledger.import_file(
                    write(ANSWERS + table, f"{size} {n}.csv"), f"of {size}", keep=["language"]
                ).id
            undo(ledger, number)
        sent.append(counted.number)
    assert sent[0] == sent[1]
