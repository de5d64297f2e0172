"""DuckDB, and the copy for counting: when they count, and when the database does.

What they count after every kind of change is compared in `tests/counts/test_every_count.py`.
"""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pytest
from sqlalchemy import Connection
from typer.testing import CliRunner

from tests.counts.test_every_count import Copy
from tests.helpers import SPANS, count_statements, csv_text
from tests.history.scripts import answers
from tests.profiles import both, on_sqlite
from tracker.cli.app import app
from tracker.core.errors import InvalidOption, Refused
from tracker.counts import kept_counts
from tracker.counts.filter import EVERYTHING, make_answer_filter, select_answers
from tracker.counts.selection import Selection
from tracker.counts.tallies import count_item_patterns, pair_tallies
from tracker.engines import choose
from tracker.engines.choose import make_engine
from tracker.engines.duckdb import DuckDB, new_database, with_more_memory
from tracker.ledger import Ledger
from tracker.projects import touched

Write = Callable[..., Path]


@pytest.fixture
def copied(ledger: Ledger, write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Copy:
    """The copy in which a ledger counts; touched items are read again however many they are."""
    monkeypatch.setattr(touched, "_WORTH_IT", 0)
    monkeypatch.setenv("TRACKER_COPY", str(tmp_path / "copy"))
    ledger.import_file(write(answers(30)), "p")
    ledger.copy_for_counting()
    copy = Copy(tmp_path / "copy")
    ledger.database.engine_of_counts = DuckDB(copy=copy)
    return copy


def engine_of_agreement(ledger: Ledger) -> list[str]:
    return [*ledger.explain("p", "alpha").counted_by]


def agreement(ledger: Ledger, copy: Copy | None = None) -> dict[str, Any]:
    """The figures, counted in a copy that was opened just now if one is given."""
    if copy is not None:
        ledger.database.engine_of_counts = DuckDB(copy=copy)
    return ledger.agreement("p").to_dict()


def test_touched_items_alone_are_read_again(ledger: Ledger, write: Write, copied: Copy) -> None:
    assert engine_of_agreement(ledger) == ["duckdb"]
    assert copied.renewed == []
    ledger.import_file(write(answers(3, 40, 1)), "p")
    figures = agreement(ledger)
    assert copied.renewed == [True]
    ledger.database.engine_of_counts = None
    assert agreement(ledger) == figures
    with count_statements(ledger.database.engine) as statements:
        assert agreement(ledger, copied) == figures
    assert copied.renewed == [True], "it is kept as it was renewed"
    assert statements.number < 40


def test_two_projects_do_not_meet(ledger: Ledger, write: Write, copied: Copy) -> None:
    for number, name in enumerate("qr"):
        ledger.import_file(write(answers(20 + number, 0, number)), name)
        ledger.import_file(write(answers(5, 30, number)), name)
    ledger.copy_for_counting()
    figures = [ledger.agreement(name).to_dict() for name in "qrqpr"]
    assert copied.notices == []
    ledger.database.engine_of_counts = None
    assert [ledger.agreement(name).to_dict() for name in "qrqpr"] == figures


def damage(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[-len(content) // 2 :] = bytes(len(content) // 2)
    file.write_bytes(content)


def test_a_copy_that_cannot_be_read_is_reported_and_not_used(ledger: Ledger, copied: Copy) -> None:
    right, whole = agreement(ledger), copied.file.read_bytes()
    spoiling: list[tuple[Callable[[Path], Any], bool]] = [
        (damage, True),
        (lambda file: file.write_text("not a database"), True),
        (Path.unlink, False),
    ]
    for number, (spoil, is_reported) in enumerate(spoiling):
        copied.file.write_bytes(whole)
        spoil(copied.file)
        copy = Copy(copied.file)
        assert agreement(ledger, copy) == right, number
        assert bool(copy.notices) >= is_reported, number
        assert all("tracker database copy-for-counting" in notice for notice in copy.notices)


def test_the_copy_of_another_ledger_is_not_used(
    ledger: Ledger, write: Write, copied: Copy, tmp_path: Path
) -> None:
    """It has the same project and the same numbers, of other answers."""
    other = Ledger(f"sqlite:///{tmp_path / 'other.db'}")
    other.import_file(write(answers(30, 0, 1)), "p")
    right = agreement(ledger)
    other.copy_for_counting()
    ledger.database.engine_of_counts = DuckDB(copy=Copy(copied.file))
    assert engine_of_agreement(ledger) == ["database"]
    assert agreement(ledger) == right


@pytest.mark.parametrize(
    "act",
    [
        lambda ledger: ledger.annotators.erase("p", "A"),
        lambda ledger: ledger.annotators.erase_everywhere("A"),
        lambda ledger: ledger.projects.delete("p"),
    ],
    ids=["erase", "erase everywhere", "delete"],
)
def test_erased_answers_are_in_no_copy(
    ledger: Ledger, copied: Copy, act: Callable[[Ledger], object], tmp_path: Path
) -> None:
    """Nor are they counted in an older copy that is put back."""
    older = copied.file.read_bytes()
    act(ledger)
    assert not copied.file.exists()
    if ledger.projects.list():
        copied.file.write_bytes(older)
        assert engine_of_agreement(ledger) == ["database"]
        assert copied.renewed == [False]
        assert ledger.agreement("p").counts.answers == 60


@both
def test_a_reader_of_the_past_does_not_count_in_a_newer_copy(
    ledger: Ledger, write: Write, copied: Copy
) -> None:
    later = write(answers(3, 40, 1))
    other = Ledger(ledger.database.url.render_as_string(False))
    served = ledger.database.keep_connections() if ledger.database.file else nullcontext()
    with served, ledger.database.hold():
        first = agreement(ledger)
        other.import_file(later, "p")
        assert agreement(other, copied)["counts"]["items"] == 33
        assert copied.renewed == [True]
        assert agreement(ledger, copied) == first
        assert copied.renewed == [True, False]


HOLDS = """
import duckdb, sys
held = duckdb.connect(sys.argv[1])
print("held", flush=True)
sys.stdin.read()
"""


def test_while_another_program_writes_to_it_the_ledger_counts(
    ledger: Ledger, write: Write, copied: Copy
) -> None:
    right = agreement(ledger)
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(copied.file)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as holder:  # fmt: skip
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        assert agreement(ledger, copied) == right
        holder.kill()
    assert agreement(ledger) == right


def test_a_failure_while_the_copy_is_renewed_leaves_one_state(
    ledger: Ledger, write: Write, copied: Copy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stamps change with the labels, or not at all."""
    ledger.import_file(write(answers(3, 40, 1)), "p")
    ledger.database.engine_of_counts = None
    right = agreement(ledger)
    with monkeypatch.context() as patch:
        patch.setattr("tracker.engines.counting_copy._NEW", "nothing = ?, at = ?, all = ?")
        assert agreement(ledger, Copy(copied.file)) == right
    with duckdb.connect(str(copied.file), read_only=True) as database:
        (name,) = (name for (name,) in database.sql("SHOW TABLES").fetchall() if name != "stamps")
        assert database.sql(f"SELECT count(*) FROM {name}").fetchall() == [(90,)]
    assert agreement(ledger, copied) == right
    assert copied.renewed == [True]
    assert copied.notices == []


@on_sqlite
def test_the_command_copies_into_the_folder_of_the_ledger(ledger: Ledger, write: Write) -> None:
    ledger.import_file(write(answers(30)), "p")
    rows = [("item", "annotator", "category", "start", "end"), ("i", "a", "x", 1, 2)]
    ledger.import_file(write(csv_text(rows)), "spans", options=SPANS)
    file = ledger.database.file
    assert file is not None
    file.chmod(0o640)
    command = ["--database", f"sqlite:///{file}", "database", "copy-for-counting"]
    result = CliRunner().invoke(app, [*command, "--json"])
    copy = file.with_name(f"{file.name}.counting")
    assert json.loads(result.stdout) == {
        "file": str(copy), "questions": 1, "labels": 90, "bytes": copy.stat().st_size
    }  # fmt: skip
    assert stat.S_IMODE(copy.stat().st_mode) == 0o640
    assert CliRunner().invoke(app, command).stdout.startswith(f"90 labels copied to {copy} (")


def test_the_copy_of_a_server_needs_a_place(postgres_ledger: Ledger) -> None:
    with pytest.raises(InvalidOption) as refused:
        postgres_ledger.copy_for_counting()
    assert "TRACKER_COPY" in str(refused.value.mend)


# -- DuckDB in the process ---------------------------------------------------------------


def test_figures_and_audits_are_the_same(ledger: Ledger, write: Write) -> None:
    """Each count after every kind of change is compared in `tests/counts/test_every_count.py`."""
    random = Random(4)  # noqa: S311 - no secret is made with it
    rows = [
        (f"i{n}", who, f"c{random.randrange(40)}",
         f"2026-01-0{1 + n % 5} 10:00:0{turn % 9}", again)
        for n in range(30)
        for turn, who in enumerate("ABCDE")
        for again in (1, 2)[: 1 + (n == turn)]
    ]  # fmt: skip
    file = write(csv_text([("item", "annotator", "category", "labeled_at", "pass"), *rows]))
    ledger.import_file(file, "p")
    ledger.annotators.kind("p", "E", "model")

    def figures() -> list[Any]:
        choices: list[dict[str, Any]] = [{"annotators": ["A", "E"]}, {"known_at": "2026-01-02"}]
        by_choice = [ledger.agreement("p", **choice).to_dict() for choice in choices]
        pairs = [row.to_dict() for row in ledger.by_pair("p").pairs]
        return [pairs, *by_choice, ledger.audit("p").to_dict()]

    right = figures()
    ledger.database.engine_of_counts = DuckDB(light=True)
    assert figures() == right


def counted_by(
    ledger: Ledger, count: Callable[[Connection, Selection], object], **choice: Any
) -> list[str]:
    """What counted in a project."""
    with ledger.asking("p") as (connection, question):
        count(connection, select_answers(connection, question, make_answer_filter(**choice)))
        return [*kept_counts.counted_by(connection)]


def test_a_server_reads_answers_once_until_they_change(ledger: Ledger, write: Write) -> None:
    ledger.import_file(write(answers(30)), "p")
    ledger.database.engine_of_counts = DuckDB(light=True)
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
