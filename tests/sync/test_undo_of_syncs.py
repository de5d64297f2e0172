"""Syncs undone in any order, and the ledger as it was known between."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from tests.helpers import standing, undo
from tests.profiles import both
from tests.sync.source import START, Source, sync
from tracker.core import clock
from tracker.ledger import Ledger
from tracker.storage.as_of import Moment, as_it_was
from tracker.storage.schema import Change, Label

Write = Callable[..., Path]
COLUMNS = ("item", "annotator", "category", "pass", "labeled_at")


def then(ledger: Ledger, through: int) -> list[tuple[Any, ...]]:
    """The labels that stood after a change, as they are known to have stood."""
    rows = Label.__table__
    labels = select(rows.c["item_id", "given_as", "category_id", "pass"]).order_by(*rows.c[:8])
    with (
        ledger.reading("p") as (connection, project),
        as_it_was(connection, project.id, Moment(through=through)),
    ):
        return [tuple(row) for row in connection.execute(labels)]


def now(ledger: Ledger) -> tuple[int, list[tuple[Any, ...]]]:
    """The number of the last change, and the labels that stand."""
    with ledger.reading("p") as (connection, project):
        last = select(Change.id).where(Change.project_id == project.id)
        number = connection.scalar(last.order_by(Change.id.desc()).limit(1))
    assert number is not None
    return number, then(ledger, number)


def three_syncs(ledger: Ledger) -> tuple[Source, list[int]]:
    """Syncs of which the second and the third each withdraw, correct and add something."""
    source, imports = Source(), []

    def synced() -> None:
        done = sync(ledger, source)
        assert done.imported is not None
        assert done.imported.id is not None
        imports.append(done.imported.id)

    first = [source.answer(task, who, "good") for task in (1, 2, 3) for who in ("ann", "bob")]
    synced()
    source.delete(1, first[0])
    source.correct(1, first[1], "bad")
    source.delete_task(3)
    second = source.answer(2, "ann", "bad")
    synced()
    source.delete(2, second)
    source.correct(1, first[1], "good")
    source.answer(1, "ann", "bad")
    synced()
    return source, imports


@both
@pytest.mark.parametrize("undone", [(1,), (2, 0, 1)])
def test_the_past_stays_as_it_was_whatever_is_undone(
    ledger: Ledger, undone: tuple[int, ...]
) -> None:
    source, imports = three_syncs(ledger)
    known = dict([now(ledger)])
    complete = standing(ledger, "p", *COLUMNS)
    for number in undone:
        undo(ledger, imports[number])
        known |= dict([now(ledger)])
    if len(undone) == 3:
        assert standing(ledger) == []
    assert sync(ledger, source).imported is not None
    assert standing(ledger, "p", *COLUMNS) == complete
    for through, labels in known.items():
        assert then(ledger, through) == labels
    assert sync(ledger, source).imported is None
    assert ledger.database.check() == []


def test_what_a_sync_withdrew_is_seen_as_of_before_and_back_after_its_undo(ledger: Ledger) -> None:
    source = Source()
    number = source.answer(1, "ann", "good")
    source.answer(1, "bob", "good")
    sync(ledger, source)
    before, there = now(ledger)
    source.delete(1, number)
    done = sync(ledger, source)
    between, without = now(ledger)
    assert done.imported is not None
    assert done.imported.id is not None
    undo(ledger, done.imported.id)
    after, back = now(ledger)
    assert len(standing(ledger)) == 2
    assert (then(ledger, before), then(ledger, between), back) == (there, without, there)
    assert (len(there), len(without)) == (2, 1)
    known_at = clock.iso(ledger.imports.show(done.imported.id).recorded_at)
    assert ledger.agreement("p", known_at=known_at).counts.answers == 1
    assert sync(ledger, source).withdrawn == 1
    assert (then(ledger, between), then(ledger, after)) == (without, there)


def test_an_import_that_is_undone_is_not_given_back_by_another_undo(ledger: Ledger) -> None:
    source = Source()
    number = source.answer(1, "ann", "good")
    source.answer(2, "bob", "good")
    first = sync(ledger, source).imported
    source.delete(1, number)
    second = sync(ledger, source).imported
    assert first is not None
    assert second is not None
    undo(ledger, first.id)
    undo(ledger, second.id)
    assert standing(ledger) == []
    sync(ledger, source)
    assert standing(ledger) == [("2", "bob", "good")]


def test_the_better_of_two_answers_comes_back(ledger: Ledger) -> None:
    """Beside the one that stands since the other was withdrawn."""
    source = Source()
    numbers = [source.answer(1, "ann", one) for one in ("good", "bad")]
    sync(ledger, source, repeat="revision")
    source.delete(1, numbers[1])
    done = sync(ledger, source, repeat="revision").imported
    assert done is not None
    assert standing(ledger) == [("1", "ann", "good")]
    undo(ledger, done.id)
    assert standing(ledger) == [("1", "ann", "bad")]
    assert ledger.database.check() == []


def test_what_is_given_back_stands_again_in_place_of_an_older_answer(
    ledger: Ledger, write: Write
) -> None:
    """One that a file brought after the other was withdrawn."""
    source = Source()
    number = source.answer(1, "ann", "bad")
    sync(ledger, source)
    source.delete(1, number)
    done = sync(ledger, source).imported
    assert done is not None
    rows = [("item", "annotator", "category", "labeled_at"), (1, "ann", "good", clock.iso(START))]
    ledger.import_file(write(rows), "p")
    assert standing(ledger) == [("1", "ann", "good")]
    undo(ledger, done.id)
    assert standing(ledger) == [("1", "ann", "bad")]
    assert ledger.database.check() == []


def test_the_past_survives_a_merge_and_an_erasure(ledger: Ledger) -> None:
    source = Source()
    numbers = [source.answer(task, "ann", "good") for task in (1, 2)]
    source.answer(1, "ann@home", "bad")
    sync(ledger, source)
    source.delete(1, numbers[0])
    done = sync(ledger, source).imported
    assert done is not None
    ledger.annotators.merge("p", "ann", "ann@home")
    undo(ledger, done.id)
    assert len(standing(ledger)) == 2
    ledger.annotators.erase("p", "ann")
    assert standing(ledger) == []
    assert ledger.database.check() == []
