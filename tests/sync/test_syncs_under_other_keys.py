"""Syncs of items that the project knows by other keys: what the source has is not deleted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers import standing, undo
from tests.sync.source import Source, sync
from tracker.core.errors import Refused
from tracker.ledger import Ledger

Write = Callable[..., Path]


@pytest.fixture
def source() -> Source:
    """Two people on two tasks."""
    made = Source()
    for task in (1, 2):
        made.answer(task, "ann", "good")
        made.answer(task, "bob", "bad")
    return made


@pytest.fixture
def known(ledger: Ledger, write: Write) -> Ledger:
    """A project that has the first task under a key of its own."""
    ledger.import_items(write("item\n first"), "p")
    ledger.items.alias("p", "first", "1")
    return ledger


def test_answers_under_another_key_are_not_deleted(known: Ledger, source: Source) -> None:
    sync(known, source)
    number = source.answer(2, "cem", "good")
    assert sync(known, source).withdrawn == 0
    source.answer(1, "cem", "good")
    assert sync(known, source, whole=True).withdrawn == 0
    assert [row[0] for row in standing(known)].count("first") == 3
    source.delete(2, number)
    assert sync(known, source).withdrawn == 1
    source.delete_task(1)
    assert sync(known, source).withdrawn == 3
    assert known.database.check() == []


def test_answers_stay_although_their_key_is_the_items_no_more(
    known: Ledger, source: Source
) -> None:
    sync(known, source)
    known.items.unalias("p", "1")
    source.answer(2, "cem", "good")
    assert sync(known, source).withdrawn == 0
    assert [row[0] for row in standing(known)].count("first") == 2
    sync(known, source, whole=True)  # what is read again is where its key leads now
    assert {row[0] for row in standing(known)} == {"1", "2"}


def test_a_task_read_does_not_delete_the_answers_of_another(known: Ledger, source: Source) -> None:
    """Two tasks of one source may be one item."""
    known.items.alias("p", "first", "2")
    sync(known, source, repeat="revision")
    before = standing(known)
    source.answer(3, "cem", "good")
    source.answer(2, "cem", "good")
    sync(known, source)
    assert [row for row in standing(known) if row[1] != "cem"] == before


def test_what_a_sync_withdrew_makes_an_item_of_its_own(ledger: Ledger, source: Source) -> None:
    """The undo of that sync gives it back."""
    sync(ledger, source)
    source.delete_task(1)
    sync(ledger, source)
    with pytest.raises(Refused, match=r"from import 1\n.*; tracker sync label-studio … -p p"):
        ledger.items.alias("p", "2", "1")
    undo(ledger, 2)
    assert len(standing(ledger)) == 4
