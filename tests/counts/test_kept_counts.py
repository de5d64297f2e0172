"""Counts that are kept: what they are without being kept, after every kind of change."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sqlalchemy import Connection, delete, event, func, select, update

from tests.counts.counted import everything
from tests.helpers import SPANS, csv_text, question_of, undo
from tests.history.scripts import (
    EVERYTHING_HAPPENS,
    Flags,
    Run,
    Step,
    all_steps,
    answers,
)
from tests.profiles import both, examples
from tests.storage.as_of.plain import BOTH_KINDS, Clock
from tracker.counts import import_tallies, kept_counts
from tracker.counts.filter import EVERYTHING, select_answers
from tracker.counts.items import count_answers_per_item
from tracker.counts.selection import Selection
from tracker.counts.tallies import Present, count_item_patterns, select_label_contents
from tracker.ledger import Ledger
from tracker.projects import touched
from tracker.projects.projects import last_change
from tracker.storage import kept_tallies
from tracker.storage.as_of import shadow_tables
from tracker.storage.database import Database
from tracker.storage.kept_tallies import TALLIES, NewTallies, State, Tally, keep_tallies
from tracker.storage.schema import KeptTally

Write = Callable[..., Path]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is counted of few items is kept, and carried over any number of touched ones."""
    monkeypatch.setattr(kept_counts, "LEAST_ITEMS", 1)
    monkeypatch.setattr(touched, "_WORTH_IT", 0)
    monkeypatch.setattr(import_tallies, "LEAST_ROWS", 1)


# -- after every kind of change ----------------------------------------------------------------


def kept_and_plain(connection: Connection, selection: Selection) -> tuple[Any, Any]:
    """What is counted from what is kept, and anew; the first is kept for the next time."""
    tallies = connection.info[TALLIES] = NewTallies()
    kept = everything(connection, selection)
    again = everything(connection, selection)
    connection.info[TALLIES] = None
    assert again == kept
    keep_tallies(connection, tallies.counted)
    return kept, everything(connection, selection)


@both
@BOTH_KINDS
def test_what_is_kept_is_what_is_counted_anew(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    now = Clock(monkeypatch)

    @examples(3)
    @example(EVERYTHING_HAPPENS)
    @given(st.lists(all_steps(kind), min_size=1, max_size=6))
    def check(script: list[Step]) -> None:
        with ledger.database.write(keep=False) as connection:
            run = Run(connection, kind, now)
            for step in [Flags(frozenset()), *script]:
                run.take(step)
                selection = select_answers(connection, run.question, EVERYTHING)
                kept, anew = kept_and_plain(connection, selection)
                assert kept == anew, step

    check()


ACTS: list[Callable[[Ledger], object]] = [
    lambda ledger: ledger.categories.merge("p", "y", "x"),
    lambda ledger: ledger.categories.split("p", "y"),
    lambda ledger: ledger.categories.order("p", ["y", "x"]),
    lambda ledger: ledger.categories.rename("p", "y", "why"),
    lambda ledger: ledger.annotators.rename("p", "A", "Anna"),
    lambda ledger: ledger.annotators.alias("p", "B", "Bob"),
    lambda ledger: ledger.annotators.merge("p", "C", "B"),
    lambda ledger: ledger.annotators.split("p", "C"),
    lambda ledger: ledger.items.alias("p", "i1", "one"),
    lambda ledger: ledger.projects.set("p", timezone="Europe/Berlin"),
    lambda ledger: ledger.adjudication.decide("p", "i0", ["x"], reason="ambiguous"),
    lambda ledger: ledger.annotators.kind("p", "C", "model"),
    lambda ledger: ledger.annotators.erase("p", "Bob"),
]


@both
def test_what_is_kept_is_right_after_every_act(ledger: Ledger, write: Write) -> None:
    ledger.import_file(write(answers(12)), "p")
    ledger.import_file(write(answers(4, 8, 1)), "p")
    for act in [lambda _: None, *ACTS]:
        act(ledger)
        with ledger.database.read() as connection:
            kept = everything(connection, selected(connection))
            connection.info[TALLIES] = None
            assert kept == everything(connection, selected(connection)), act


def test_an_attribute_given_to_untouched_items_is_counted(ledger: Ledger, write: Write) -> None:
    """Which items are chosen follows from more than answers."""
    ledger.import_file(write("item,annotator,category\n1,a,x\n1,b,x\n2,a,x\n2,b,y\n"), "p")
    ledger.import_items(write("item,part\n1,one\n2,two\n"), "p", keep=["part"])
    assert ledger.agreement("p", where={"part": ["one"]}).counts.items == 1
    ledger.import_items(write("item,part\n2,one\n"), "p", keep=["part"])
    assert ledger.agreement("p", where={"part": ["one"]}).counts.items == 2


# -- what is read -----------------------------------------------------------------------------


@contextmanager
def statements_on_labels(ledger: Ledger) -> Iterator[list[str]]:
    """The statements sent that read labels, and hide nothing behind temporary tables."""
    sent: list[str] = []

    def note(*arguments: Any) -> None:
        statement = arguments[2]
        reads = re.search(r"\blabels\b", statement)
        if reads and "_then" not in statement and " temp" not in statement.lower():
            sent.append(statement)

    event.listen(ledger.database.engine, "before_cursor_execute", note)
    try:
        yield sent
    finally:
        event.remove(ledger.database.engine, "before_cursor_execute", note)


def kept_rows_of(ledger: Ledger) -> dict[str, int]:
    """The change after which each kept statement was counted."""
    with ledger.database.read() as connection:
        rows = connection.execute(select(KeptTally.statement, KeptTally.change_id))
        return {row.statement: row.change_id for row in rows}


def figures(ledger: Ledger) -> Any:
    return (ledger.agreement("p").to_dict(), ledger.agreement_by_pair("p"))


@both
def test_figures_of_unchanged_answers_read_no_label(ledger: Ledger, write: Write) -> None:
    ledger.import_file(write(answers(30)), "p")
    first = ledger.agreement("p").to_dict()
    ledger.notes.add("p", "nothing is counted anew for a note")
    with statements_on_labels(ledger) as sent:
        assert ledger.agreement("p").to_dict() == first
    assert sent == []
    ledger.categories.rename("p", "y", "yes")
    ledger.categories.rename("p", "yes", "y")
    with statements_on_labels(ledger) as sent:
        assert ledger.agreement("p").to_dict() == first
    (names_of_annotators,) = sent  # who answered follows from aliases, too
    once = r"(SELECT counted\.annotator_id \nFROM \()?SELECT DISTINCT labels\.annotator_id"
    assert re.match(once, names_of_annotators)


@both
def test_after_an_import_only_its_items_are_counted(
    ledger: Ledger, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.import_file(write(answers(30)), "p")
    ledger.agreement("p")
    before = kept_rows_of(ledger)
    assert before
    number = ledger.import_file(write(answers(2, 40, 1)), "p").id
    wanted: list[int] = []
    shadow = shadow_tables.shadow_item_ids

    def noting(connection: Connection, items: Any) -> Any:
        wanted[:] = [*items]
        return shadow(connection, wanted)

    monkeypatch.setattr(shadow_tables, "shadow_item_ids", noting)
    after = ledger.agreement("p").to_dict()
    assert len(wanted) == 2
    assert {*kept_rows_of(ledger).values()} == {max(before.values()) + 1}
    with ledger.database.write() as connection:
        connection.execute(delete(KeptTally))
    assert ledger.agreement("p").to_dict() == after
    undo(ledger, number)
    ledger.agreement("p")
    assert len(wanted) == 2


def test_whether_any_answer_is_of_a_kind_is_looked_for_in_touched_items(
    ledger: Ledger, write: Write
) -> None:
    def contents() -> tuple[Present, set[str]]:
        with ledger.database.read() as connection:
            present = select_label_contents(connection, selected(connection))
            tallies: NewTallies = connection.info[TALLIES]
            return present, tallies.counted_by

    nothing, empty = Present(False, False, False, False), Present(False, False, True, False)
    ledger.import_file(write(answers(30)), "p")
    assert contents() == (nothing, {"database"})
    ledger.import_file(write(answers(2, 40)), "p")
    assert contents() == (nothing, {"touched"})
    two = [ledger.import_file(write(f"item,annotator,category\n{n},a,\n"), "p").id for n in (1, 2)]
    assert contents() == (empty, {"touched"})
    undo(ledger, two[0])
    assert contents() == (empty, {"database"})  # it may have been the last one
    undo(ledger, two[1])
    assert contents() == (nothing, {"database"})


@both
def test_small_projects_keep_nothing(
    ledger: Ledger, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_counts, "LEAST_ITEMS", 10_000)
    ledger.import_file(write(answers(30)), "p")
    ledger.agreement("p")
    assert kept_rows_of(ledger) == {}


# -- what is wrong is noticed -----------------------------------------------------------------


@both
@pytest.mark.parametrize(
    "wrong",
    [
        {"content": b"[]"},
        {"content": b""},
        {"recorded_at": KeptTally.recorded_at + 1},
        {"change_id": KeptTally.change_id + 1},
    ],
    ids=["another content", "truncated", "of another moment", "of another change"],
)
def test_rows_that_are_not_of_this_ledger_are_counted_anew(
    ledger: Ledger, write: Write, wrong: dict[str, Any]
) -> None:
    ledger.import_file(write(answers(30)), "p")
    right = ledger.agreement("p").to_dict()
    kept = kept_rows_of(ledger)
    with ledger.database.write() as connection:
        connection.execute(update(KeptTally).values(**wrong))
    assert ledger.agreement("p").to_dict() == right
    assert kept_rows_of(ledger) == kept


@both
def test_a_reader_that_was_overtaken_keeps_the_state_that_it_saw(
    ledger: Ledger, write: Write
) -> None:
    """Two states never meet: who reads on counts from what was kept of the older one."""
    ledger.import_file(write(answers(30)), "p")
    later, other = write(answers(3, 40, 1)), Ledger(ledger.database.url.render_as_string(False))
    # A file can be written while it is read once a server has opened it.
    served = ledger.database.keep_connections() if ledger.database.file else nullcontext()
    with served, ledger.database.hold():
        first = ledger.agreement("p").to_dict()
        other.import_file(later, "p")
        assert ledger.agreement("p").to_dict() == first
        newest = other.agreement("p").to_dict()
    assert newest != first
    assert ledger.agreement("p").to_dict() == newest
    assert other.agreement("p").to_dict() == newest


def test_nothing_is_kept_while_another_program_writes(sqlite_ledger: Ledger, write: Write) -> None:
    sqlite_ledger.import_file(write(answers(30)), "p")
    other = Database(f"sqlite:///{sqlite_ledger.database.file}")
    with other.write() as connection:
        connection.execute(delete(KeptTally))
        assert sqlite_ledger.agreement("p").counts.items == 30
    assert kept_rows_of(sqlite_ledger) == {}


KILLED = """
import os, sys
from tracker.counts import kept_counts
from tracker.ledger import Ledger
from tracker.storage import kept_tallies
kept_counts.LEAST_ITEMS = 1
kept_tallies._drop_surplus = lambda *_: os._exit(9)
Ledger(sys.argv[1]).agreement("p")
"""


def test_a_program_killed_while_it_keeps_leaves_nothing(
    sqlite_ledger: Ledger, write: Write
) -> None:
    sqlite_ledger.import_file(write(answers(30)), "p")
    url = f"sqlite:///{sqlite_ledger.database.file}"
    ended = subprocess.run([sys.executable, "-c", KILLED, url], env=os.environ, check=False)
    assert ended.returncode == 9
    assert kept_rows_of(sqlite_ledger) == {}
    assert sqlite_ledger.database.check() == []
    assert sqlite_ledger.agreement("p").counts.items == 30


# -- how much is kept, and what becomes of it --------------------------------------------------


def test_the_oldest_are_dropped(
    ledger: Ledger, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.import_file(write(answers(30)), "p")
    with ledger.database.read() as connection:
        count_item_patterns(connection, selected(connection))
    (first,) = kept_rows_of(ledger)
    with ledger.database.read() as connection:
        size = connection.scalar(select(func.sum(KeptTally.size)))
    monkeypatch.setattr(kept_tallies, "MOST", size)
    with ledger.database.read() as connection:
        count_answers_per_item(connection, selected(connection))
    assert first not in kept_rows_of(ledger)
    assert len(kept_rows_of(ledger)) == 1


@pytest.mark.parametrize(
    ("sizes", "most", "left"),
    [
        ((5, 5, 5), 10, "12"),
        ((1, 50, 60), 65, "02"),
        ((50, 1, 60), 65, "12"),
        ((1, 9, 90), 80, "01"),
    ],
)
def test_what_is_large_and_old_is_dropped_first(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, sizes: Sequence[int], most: int, left: str
) -> None:
    ledger.projects.create("p")
    monkeypatch.setattr(kept_tallies, "MOST", most)
    with ledger.database.write() as connection:
        number = question_of(connection).project_id
        state = State(*last_change(connection, number))
        for name, size in enumerate(sizes):
            tally = Tally(state, b"x" * size)
            keep_tallies(connection, {(number, str(name)): tally})
    assert "".join(sorted(kept_rows_of(ledger))) == left


def selected(connection: Connection) -> Selection:
    return select_answers(connection, question_of(connection), EVERYTHING)


@pytest.mark.parametrize(("limit", "left"), [("LARGEST", 0), ("_MOST_ROWS", 1)])
def test_what_is_too_large_is_counted_and_not_kept(
    ledger: Ledger, write: Write, monkeypatch: pytest.MonkeyPatch, limit: str, left: int
) -> None:
    ledger.import_file(write(answers(30)), "p")
    right = Ledger(ledger.database.url.render_as_string(False)).agreement("p").to_dict()
    with ledger.database.write() as connection:
        connection.execute(delete(KeptTally))
    monkeypatch.setattr(kept_counts, limit, 1)
    assert ledger.agreement("p").to_dict() == right
    assert len(kept_rows_of(ledger)) == left  # what comes as one text is no row


def test_columns_of_more_rows_than_are_held_at_once_are_the_same(
    ledger: Ledger, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.import_file(write(answers(30)), "p")
    with ledger.database.read() as connection:
        counts = everything(connection, selected(connection))
        monkeypatch.setattr(kept_counts, "_MOST_ROWS", 2)
        assert everything(connection, selected(connection)) == counts


def test_an_erased_annotator_is_in_no_kept_count(ledger: Ledger, write: Write) -> None:
    ledger.import_file(write(answers(30)), "p")
    ledger.agreement("p")
    ledger.annotators.erase("p", "A")
    assert kept_rows_of(ledger) == {}


def test_a_purged_project_keeps_nothing(ledger: Ledger, write: Write) -> None:
    ledger.import_file(write(answers(30)), "p")
    ledger.agreement("p")
    ledger.projects.delete("p")
    assert kept_rows_of(ledger) == {}


# -- as bytes ---------------------------------------------------------------------------------


@examples(50)
@given(
    st.lists(
        st.lists(st.integers(-(2**62), 2**62), min_size=3, max_size=3)
        | st.lists(st.integers(-3, 3), min_size=3, max_size=3)
    ),
    st.lists(st.none() | st.text()),
)
def test_columns_are_read_as_they_were_written(
    numbers: list[list[int]], texts: list[str | None]
) -> None:
    columns: kept_counts.Columns = [*map(np.array, zip(*numbers, strict=True)), texts]
    read = kept_counts._read(kept_counts._written(columns))
    assert [[*column] for column in read] == [[*column] for column in columns]


def test_spans_are_counted_as_ever(ledger: Ledger, write: Write) -> None:
    rows = [("item", "annotator", "category", "start", "end")]
    rows += [(f"i{n}", who, "x", n, n + 3) for n in range(9) for who in "ab"]
    ledger.import_file(write(csv_text(rows)), "p", options=SPANS)
    first = ledger.agreement("p").to_dict()
    assert ledger.agreement("p").to_dict() == first
