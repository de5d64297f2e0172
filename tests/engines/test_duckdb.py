"""DuckDB in the process: every count is that of the ledger's own database."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sqlalchemy import Connection
from typer.testing import CliRunner

from tests.counts.counted import everything
from tests.helpers import count_statements, csv_text
from tests.history.scripts import EVERYTHING_HAPPENS, Run, Step, all_steps, answers
from tests.profiles import both, examples
from tests.storage.as_of.plain import BOTH_KINDS, Clock
from tracker.cli.app import app
from tracker.core.errors import InvalidOption, Refused
from tracker.core.kept import ENGINE
from tracker.counts import import_tallies, kept_counts
from tracker.counts.filter import EVERYTHING, select_answers
from tracker.counts.selection import Selection
from tracker.counts.tallies import count_item_patterns, pair_tallies
from tracker.engines import choose
from tracker.engines.choose import make_engine
from tracker.engines.duckdb import DuckDB, new_database, with_more_memory
from tracker.engines.engine import Columns
from tracker.ledger import Ledger
from tracker.storage.kept_tallies import TALLIES, NewTallies

Write = Callable[..., Path]


class Noting(DuckDB):
    """DuckDB, and how many statements it counted or left."""

    def __init__(self) -> None:
        super().__init__(light=True)
        self.counted, self.left = 0, 0

    def columns(self, *arguments: Any, **options: Any) -> Columns | None:
        columns = super().columns(*arguments, **options)
        self.counted += columns is not None
        self.left += columns is None
        return columns


@both
@BOTH_KINDS
def test_it_counts_what_the_database_counts(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """After every kind of change, as the transaction that asks sees it."""
    now = Clock(monkeypatch)
    monkeypatch.setattr(import_tallies, "LEAST_ROWS", 1)
    engine = Noting()

    @examples(3)
    @example(EVERYTHING_HAPPENS)
    @given(st.lists(all_steps(kind), min_size=1, max_size=6))
    def check(script: list[Step]) -> None:
        with ledger.database.write(keep=False) as connection:
            run = Run(connection, kind, now)
            for step in script:
                run.take(step)
                selection = select_answers(connection, run.question, EVERYTHING)
                own = everything(connection, selection)
                connection.info[TALLIES], connection.info[ENGINE] = NewTallies(), engine
                assert everything(connection, selection) == own, step
                assert connection.info[TALLIES].counted_by == {"duckdb"}
                connection.info[TALLIES] = connection.info[ENGINE] = None
        engine._loaded.clear()  # the next example has the same numbers of changes

    check()
    assert engine.left == 0 < engine.counted


CHOICES: list[dict[str, Any]] = [
    {},
    {"annotators": ["A", "B"]},
    {"exclude_annotators": ["C"]},
    {"since": "2026-01-02"},
    {"known_at": "2026-01-02"},
    {"annotators": ["A", "E"]},
]


@both
@pytest.mark.parametrize("many", [False, True], ids=["few categories", "many"])
def test_figures_and_audits_are_the_same(
    ledger: Ledger, write: Write, monkeypatch: pytest.MonkeyPatch, *, many: bool
) -> None:
    random = Random(4)  # noqa: S311 - no secret is made with it
    labels = [f"c{n}" for n in range(40 if many else 3)]
    rows = [
        (f"i{n}", who, random.choice(labels), f"2026-01-0{1 + n % 5} 10:00:0{turn % 9}", again)
        for n in range(60)
        for turn, who in enumerate("ABCDE")
        for again in (1, 2)[: 1 + (n == turn)]
    ]
    file = write(csv_text([("item", "annotator", "category", "labeled_at", "pass"), *rows]))
    ledger.import_file(file, "p")
    ledger.annotators.kind("p", "E", "model")
    own, loaded = [], DuckDB(light=True)
    for engine in (None, loaded, make_engine("duckdb")):
        ledger.database.engine_of_counts = engine
        told: list[Any] = [ledger.agreement("p", **choice).to_dict() for choice in CHOICES]
        told += [ledger.audit("p").to_dict()]
        told += [[row.to_dict() for row in ledger.by_pair("p").pairs]]
        own.append(told)
    assert own[0] == own[1] == own[2]


def test_a_server_reads_answers_once_until_they_change(ledger: Ledger, write: Write) -> None:
    ledger.import_file(write(answers(30)), "p")
    ledger.database.engine_of_counts = DuckDB(light=True)
    sent = []
    for step in range(4):
        if step == 2:
            ledger.import_file(write(answers(3, 40, 1)), "p")
        with (
            count_statements(ledger.database.engine) as statements,
            ledger.asking("p") as (
                connection,
                question,
            ),
        ):
            selection = select_answers(connection, question, EVERYTHING)
            assert count_item_patterns(connection, selection).items == (30, 33)[step > 1]
        sent.append(statements.number)
    assert sent[1] < sent[0]
    assert sent[3] < sent[2] == sent[0]


def test_spans_and_attributes_are_left_to_the_ledger(ledger: Ledger, write: Write) -> None:
    ledger.import_file(write("item,annotator,category\n1,a,x\n1,b,x\n2,a,x\n2,b,y\n"), "p")
    ledger.import_items(write("item,part\n1,one\n2,two\n"), "p", keep=["part"])
    engine = ledger.database.engine_of_counts = Noting()
    assert ledger.agreement("p", where={"part": ["one"]}).counts.items == 1
    assert engine.left > 0


def test_it_takes_what_is_heavy_of_large_projects_by_itself(
    ledger: Ledger, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.import_file(write(answers(30)), "p")

    def counted_by(name: str | None, count: Callable[[Connection, Selection], object]) -> Any:
        ledger.count_with(name)
        with ledger.asking("p") as (connection, question):
            count(connection, select_answers(connection, question, EVERYTHING))
            return kept_counts.counted_by(connection)

    for name in ("auto", "native"):
        assert counted_by(name, pair_tallies) == ["database"]
    assert counted_by("duckdb", count_item_patterns) == ["database"]
    assert counted_by("duckdb", pair_tallies) == ["duckdb"]
    monkeypatch.setattr(choose, "LARGE", 30)
    assert counted_by("auto", pair_tallies) == ["duckdb"]
    monkeypatch.setenv("TRACKER_ENGINE", "native")
    assert counted_by(None, pair_tallies) == ["database"]


def test_a_kept_count_is_told_of(
    ledger: Ledger, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_counts, "LEAST_ITEMS", 1)
    ledger.import_file(write(answers(30)), "p")
    assert ledger.explain("p", "alpha").counted_by == ["database"]
    assert ledger.explain("p", "alpha").counted_by == ["kept"]


def test_an_engine_that_there_is_not_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidOption, match="there is no engine 'spork'"):
        make_engine("spork")
    monkeypatch.setattr(choose, "find_spec", lambda _name: None)
    with pytest.raises(Refused) as refused:
        make_engine("duckdb")
    assert "pip install 'annotation-tracker[duckdb]'" in str(refused.value.mend)
    assert make_engine("auto") is None


def test_commands_do_without_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It is imported when it counts, and by nothing else."""
    plain = builtins.__import__

    def refuse(name: str, *arguments: Any, **options: Any) -> Any:
        assert name != "duckdb"
        return plain(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", refuse)
    url = f"sqlite:///{tmp_path / 'ledger.db'}"
    asked = ["--database", url, "--engine", "duckdb", "project", "create", "p"]
    assert CliRunner().invoke(app, asked).exit_code == 0


def test_what_its_memory_cannot_hold_is_counted_with_more() -> None:
    """Not all that DuckDB does can go to files, such as texts that are gathered."""
    database = new_database()
    database.execute("SET memory_limit = '20MB'")
    gathered = "SELECT length(string_agg(i::TEXT, ',')) FROM range(5000000) AS r(i)"
    with pytest.raises(duckdb.OutOfMemoryException):
        database.sql(gathered).fetchall()
    counted = with_more_memory(database, lambda: database.sql(gathered).fetchall())
    assert counted == [(38_888_889,)]
