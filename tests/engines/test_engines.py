"""DuckDB in the process: when it counts, and when the database does.

What they count after every kind of change is compared in `tests/counts/test_every_count.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import duckdb
import pytest
from sqlalchemy import Connection

from tests.helpers import Write, count_statements
from tests.history.scripts import answers
from tracker.core.errors import InvalidOption, Refused
from tracker.counts import kept_counts
from tracker.counts.filter import EVERYTHING, make_answer_filter, select_answers
from tracker.counts.selection import Selection
from tracker.counts.tallies import count_item_patterns, pair_tallies
from tracker.engines import choose
from tracker.engines.choose import make_engine
from tracker.engines.duckdb import DuckDB, new_database, with_more_memory
from tracker.engines.engine import Asked
from tracker.ledger import Ledger


def test_figures_and_audits_are_the_same(
    ledger: Ledger, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each count after every kind of change is compared in `tests/counts/test_every_count.py`."""
    random = Random(4)  # noqa: S311 - no secret is made with it
    rows = [
        (f"i{n}", who, f"c{random.randrange(40)}",
         f"2026-01-0{1 + n % 5} 10:00:0{turn % 9}", again)
        for n in range(30)
        for turn, who in enumerate("ABCDE")
        for again in (1, 2)[: 1 + (n == turn)]
    ]  # fmt: skip
    file = write([("item", "annotator", "category", "labeled_at", "pass"), *rows])
    ledger.import_file(file, "p")
    ledger.annotators.kind("p", "E", "model")

    def figures() -> list[Any]:
        choices: list[dict[str, Any]] = [{"annotators": ["A", "E"]}, {"known_at": "2026-01-02"}]
        by_choice = [ledger.agreement("p", **choice).to_dict() for choice in choices]
        pairs = [row.to_dict() for row in ledger.by_pair("p").pairs]
        return [pairs, *by_choice, ledger.audit("p").to_dict()]

    right = figures()
    ledger.database.engine_of_counts = DuckDB()
    monkeypatch.setattr(Asked, "is_heavy", True)
    assert figures() == right


def counted_by(
    ledger: Ledger, count: Callable[[Connection, Selection], object], **choice: Any
) -> list[str]:
    with ledger.asking("p") as (connection, question):
        count(connection, select_answers(connection, question, make_answer_filter(**choice)))
        return [*kept_counts.counted_by(connection)]


def test_a_server_reads_answers_once_until_they_change(
    ledger: Ledger, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Asked, "is_heavy", True)
    ledger.import_file(write(answers(30)), "p")
    ledger.database.engine_of_counts = DuckDB()
    sent = []
    for step in range(4):
        if step == 2:
            ledger.import_file(write(answers(3, 40, 1)), "p")
        asking = ledger.asking("p")
        with count_statements(ledger.database.engine) as statements, asking as asked:
            connection, question = asked
            selection = select_answers(connection, question, EVERYTHING)
            assert count_item_patterns(connection, selection).items == (30, 33)[step > 1]
        sent.append(statements.number)
    assert sent[1] < sent[0]
    assert sent[3] < sent[2] == sent[0]


def test_spans_and_attributes_are_left_to_the_ledger(ledger: Ledger, write: Write) -> None:
    ledger.import_file(write("item,annotator,category\n1,a,x\n1,b,x\n2,a,x\n2,b,y\n"), "p")
    ledger.import_items(write("item,part\n1,one\n2,two\n"), "p", keep=["part"])
    ledger.count_with("duckdb")
    assert ledger.agreement("p", where={"part": ["one"]}).counts.items == 1
    assert counted_by(ledger, pair_tallies, where={"part": ["one"]}) == ["database"]


def test_it_takes_what_is_heavy_of_large_projects_by_itself(
    ledger: Ledger, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.import_file(write(answers(30)), "p")
    for name, count, engine in (
        ("auto", pair_tallies, "database"),
        ("native", pair_tallies, "database"),
        ("duckdb", count_item_patterns, "database"),
        ("duckdb", pair_tallies, "duckdb"),
    ):
        ledger.count_with(name)
        assert counted_by(ledger, count) == [engine], name
    monkeypatch.setattr(choose, "LARGE", 30)
    ledger.count_with("auto")
    assert counted_by(ledger, pair_tallies) == ["duckdb"]
    monkeypatch.setenv("TRACKER_ENGINE", "native")
    ledger.count_with(None)
    assert counted_by(ledger, pair_tallies) == ["database"]


def test_an_engine_that_there_is_not_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidOption, match="there is no engine 'spork'"):
        make_engine("spork")
    monkeypatch.setattr(choose, "find_spec", lambda _name: None)
    with pytest.raises(Refused) as refused:
        make_engine("duckdb")
    assert "pip install 'annotation-tracker[duckdb]'" in str(refused.value.mend)
    assert make_engine("auto") is None


def test_what_its_memory_cannot_hold_is_counted_with_more() -> None:
    """Not all that DuckDB does can go to files, such as texts that are gathered."""
    database = new_database()
    database.execute("SET memory_limit = '20MB'")
    gathered = "SELECT length(string_agg(i::TEXT, ',')) FROM range(5000000) AS r(i)"
    with pytest.raises(duckdb.OutOfMemoryException):
        database.sql(gathered).fetchall()
    counted = with_more_memory(database, lambda: database.sql(gathered).fetchall())
    assert counted == [(38_888_889,)]
