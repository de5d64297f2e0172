"""Kept counts: when they are used, when counted anew, and what is dropped.

What they are after every kind of change is compared in `test_every_count.py`.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sqlalchemy import Connection, delete, event, select, update

from tests.counts.counted import everything, part
from tests.filled import FillOnce
from tests.helpers import question_of, undo
from tests.history.scripts import answers
from tests.profiles import both, examples, on_sqlite
from tracker.counts import import_tallies, kept_counts
from tracker.counts import selection as chosen_answers
from tracker.counts.filter import EVERYTHING, select_answers
from tracker.counts.selection import Selection
from tracker.counts.tallies import Present, select_label_contents
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
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep counts of few items but no figures, and carry them over any number of touched ones."""
    monkeypatch.setattr("tracker.projects.kept._WORTH_STORING", 99)
    monkeypatch.setattr(kept_counts, "LEAST_ITEMS", 1)
    monkeypatch.setattr(touched, "_WORTH_IT", 0)
    monkeypatch.setattr(import_tallies, "LEAST_ROWS", 1)


def fill(ledger: Ledger) -> None:
    ledger.import_frame(answers_frame(30), "p")


def answers_frame(items: int, first: int = 0, shift: int = 0) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(answers(items, first, shift)))


@pytest.fixture
def filled(ledger: Ledger, fill_once: FillOnce) -> Ledger:
    return fill_once(ledger, fill)


def kept_rows_of(ledger: Ledger) -> dict[str, int]:
    """The change after which each kept statement was counted."""
    with ledger.database.read() as connection:
        rows = connection.execute(select(KeptTally.statement, KeptTally.change_id))
        return {row.statement: row.change_id for row in rows}


def selected(connection: Connection) -> Selection:
    return select_answers(connection, question_of(connection), EVERYTHING)


def agreement(ledger: Ledger) -> dict[str, Any]:
    return ledger.agreement("p").to_dict()


def drop_kept(ledger: Ledger) -> None:
    with ledger.database.write() as connection:
        connection.execute(delete(KeptTally))


ACTS: list[Callable[[Ledger], object]] = [
    lambda ledger: ledger.categories.merge("p", "y", "x"),
    lambda ledger: ledger.categories.split("p", "y"),
    lambda ledger: ledger.categories.order("p", ["y", "x"]),
    lambda ledger: ledger.categories.rename("p", "y", "why"),
    lambda ledger: ledger.annotators.rename("p", "A", "Anna"),
    lambda ledger: ledger.annotators.alias("p", "B", "Bob"),
    lambda ledger: ledger.items.alias("p", "i1", "one"),
    lambda ledger: ledger.projects.set("p", timezone="Europe/Berlin"),
    lambda ledger: ledger.adjudication.decide("p", "i0", ["x"], reason="ambiguous"),
]


def test_kept_counts_are_right_after_every_act(ledger: Ledger) -> None:
    ledger.import_frame(answers_frame(12), "p")
    ledger.import_frame(answers_frame(4, 8, 1), "p")
    for place, act in enumerate(ACTS):
        act(ledger)
        with ledger.database.read() as connection:
            names = part(place, 5)
            counts = everything(connection, selected(connection), names)
            connection.info[TALLIES] = None
            assert counts == everything(connection, selected(connection), names), place


@pytest.mark.parametrize("most", [2, 3, 4])
def test_rows_are_read_in_parts(ledger: Ledger, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    ledger.import_frame(answers_frame(24).assign(labeled_at="2026-01-01", gold="x"), "p")
    with ledger.database.read() as connection:
        connection.info[TALLIES] = None
        plain = everything(connection, selected(connection))
        monkeypatch.setattr(kept_counts, "_MOST_ROWS", most)
        monkeypatch.setattr(chosen_answers, "_AT_A_TIME", 1)
        assert everything(connection, selected(connection)) == plain


def test_an_attribute_given_to_untouched_items_is_counted(ledger: Ledger, write: Write) -> None:
    """Which items are chosen follows from more than answers."""
    ledger.import_file(write("item,annotator,category\n1,a,x\n1,b,x\n2,a,x\n2,b,y\n"), "p")
    for number, attributes in enumerate(["1,one\n2,two\n", "2,one\n"], 1):
        ledger.import_items(write(f"item,part\n{attributes}"), "p", keep=["part"])
        assert ledger.agreement("p", where={"part": ["one"]}).counts.items == number


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


@both
def test_figures_of_unchanged_answers_read_no_label(filled: Ledger) -> None:
    first = agreement(filled)
    filled.notes.add("p", "nothing is counted anew for a note")
    with statements_on_labels(filled) as sent:
        assert agreement(filled) == first
    assert sent == []
    filled.categories.rename("p", "y", "yes")
    filled.categories.rename("p", "yes", "y")
    with statements_on_labels(filled) as sent:
        assert agreement(filled) == first
    (names_of_annotators,) = sent  # who answered follows from aliases, too
    once = r"(SELECT counted\.annotator_id \nFROM \()?SELECT DISTINCT labels\.annotator_id"
    assert re.match(once, names_of_annotators)


def test_after_an_import_only_its_items_are_counted(
    filled: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    agreement(filled)
    before = kept_rows_of(filled)
    assert before
    number = filled.import_frame(answers_frame(2, 40, 1), "p").id
    wanted: list[int] = []
    shadow = shadow_tables.shadow_item_ids

    def noting(connection: Connection, items: Any) -> Any:
        wanted[:] = [*items]
        return shadow(connection, wanted)

    monkeypatch.setattr(shadow_tables, "shadow_item_ids", noting)
    after = agreement(filled)
    assert len(wanted) == 2
    assert {*kept_rows_of(filled).values()} == {max(before.values()) + 1}
    drop_kept(filled)
    assert agreement(filled) == after
    undo(filled, number)
    agreement(filled)
    assert len(wanted) == 2


@pytest.mark.parametrize(("who", "counted"), [("A", {"touched"}), ("ABC", {"database"})])
def test_answers_in_turn_are_counted_of_those_who_gave_more(
    ledger: Ledger, who: str, counted: set[str]
) -> None:
    """All are counted if theirs are more than a quarter of the answers."""
    names = ["transitions", "blocks", "days"]
    dated = answers_frame(12)
    dated["labeled_at"] = pd.date_range("2026-01-01", periods=len(dated)).astype(str)
    few = dated[:6].assign(annotator=[*"ABCDEF"])
    ledger.import_frame(dated.assign(annotator=[*"ABCDEFGHI"] * (len(dated) // 9)), "p")
    for step in range(2):
        with ledger.database.read() as connection:
            counts = everything(connection, selected(connection), names)
            tallies: NewTallies = connection.info[TALLIES]
            assert step == 0 or tallies.counted_by == counted
            connection.info[TALLIES] = None
            assert counts == everything(connection, selected(connection), names)
        ledger.import_frame(few[few["annotator"].isin([*who])].assign(item="new"), "p")


def test_whether_any_answer_is_of_a_kind_is_looked_for_in_touched_items(
    filled: Ledger, write: Write
) -> None:
    def contents() -> tuple[Present, set[str]]:
        with filled.database.read() as connection:
            present = select_label_contents(connection, selected(connection))
            tallies: NewTallies = connection.info[TALLIES]
            return present, tallies.counted_by

    nothing, empty = Present(False, False, False, False), Present(False, False, True, False)
    assert contents() == (nothing, {"database"})
    assert contents() == (nothing, {"kept"})
    filled.import_frame(answers_frame(2, 40), "p")
    assert contents() == (nothing, {"touched"})
    two = [
        filled.import_file(write(f"item,annotator,category\n{n},a,\n"), "p", empty="skipped").id
        for n in (1, 2)
    ]
    assert contents() == (empty, {"touched"})
    undo(filled, two[0])
    assert contents() == (empty, {"database"})  # it may have been the last one
    undo(filled, two[1])
    assert contents() == (nothing, {"database"})


@pytest.mark.parametrize(
    ("limit", "value", "left"),
    [("LEAST_ITEMS", 10_000, 0), ("LARGEST", 1, 0)],
)
def test_counts_that_are_too_small_or_too_large_are_not_kept(
    filled: Ledger, monkeypatch: pytest.MonkeyPatch, limit: str, value: int, left: int
) -> None:
    right = agreement(Ledger(filled.database.url.render_as_string(False)))
    drop_kept(filled)
    monkeypatch.setattr(kept_counts, limit, value)
    assert agreement(filled) == right
    assert len(kept_rows_of(filled)) == left  # what comes as one text is no row


def test_kept_rows_of_another_ledger_are_counted_anew(filled: Ledger) -> None:
    """Or rows that are truncated, or of another moment or change."""
    right, kept = agreement(filled), kept_rows_of(filled)
    for wrong in (
        {"content": b"[]"},
        {"content": b""},
        {"recorded_at": KeptTally.recorded_at + 1},
        {"change_id": KeptTally.change_id + 1},
    ):
        with filled.database.write() as connection:
            connection.execute(update(KeptTally).values(**wrong))
        assert agreement(filled) == right, wrong
        assert kept_rows_of(filled) == kept, wrong


@both
def test_an_overtaken_reader_keeps_the_state_it_read(filled: Ledger) -> None:
    """Two states never meet: a reader counts on from what was kept of the older one."""
    other = Ledger(filled.database.url.render_as_string(False))
    # A file can be written while it is read once a server has opened it.
    served = filled.database.keep_connections() if filled.database.file else nullcontext()
    with served, filled.database.hold():
        first = agreement(filled)
        other.import_frame(answers_frame(3, 40, 1), "p")
        assert agreement(filled) == first
        newest = agreement(other)
    assert newest != first
    assert agreement(filled) == newest
    assert agreement(other) == newest


@on_sqlite
def test_nothing_is_kept_while_another_program_writes(filled: Ledger) -> None:
    other = Database(f"sqlite:///{filled.database.file}")
    with other.write() as connection:
        connection.execute(delete(KeptTally))
        assert filled.agreement("p").counts.items == 30
    assert kept_rows_of(filled) == {}


def test_a_failure_while_counts_are_kept_leaves_none(
    filled: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(kept_tallies, "_drop_surplus", fail)
        with pytest.raises(KeyboardInterrupt):
            agreement(filled)
    assert kept_rows_of(filled) == {}
    assert filled.agreement("p").counts.items == 30


@pytest.mark.parametrize(
    ("sizes", "most", "left"),
    [
        ((5, 5, 5), 10, "12"),
        ((1, 50, 60), 65, "02"),
        ((50, 1, 60), 65, "12"),
        ((1, 9, 90), 80, "01"),
    ],
)
def test_large_and_old_counts_are_dropped_first(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, sizes: Sequence[int], most: int, left: str
) -> None:
    ledger.projects.create("p")
    monkeypatch.setattr(kept_tallies, "MOST", most)
    with ledger.database.write() as connection:
        number = question_of(connection).project_id
        state = State(*last_change(connection, number))
        for name, size in enumerate(sizes):
            keep_tallies(connection, {(number, str(name)): Tally(state, b"x" * size)})
    assert "".join(sorted(kept_rows_of(ledger))) == left


@pytest.mark.parametrize(
    "act",
    [lambda ledger: ledger.annotators.erase("p", "A"), lambda ledger: ledger.projects.delete("p")],
    ids=["erase", "delete"],
)
def test_erased_answers_are_in_no_kept_count(
    filled: Ledger, act: Callable[[Ledger], object]
) -> None:
    agreement(filled)
    act(filled)
    assert kept_rows_of(filled) == {}


@examples(50)
@given(
    st.lists(
        st.lists(st.integers(-(2**62), 2**62), min_size=3, max_size=3)
        | st.lists(st.integers(-3, 3), min_size=3, max_size=3)
    ),
    st.lists(st.none() | st.text()),
)
@example([[2**62] * 3, [-(2**62)] * 3], [])  # a step of all 64 bits
def test_columns_are_read_as_they_were_written(numbers: list[list[int]], texts: list[Any]) -> None:
    columns: kept_counts.Columns = [*map(np.array, zip(*numbers, strict=True)), texts]
    read = kept_counts._read(kept_counts._written(columns))
    assert [[*column] for column in read] == [[*column] for column in columns]
