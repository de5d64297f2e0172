"""The copy for counting: renewed where the ledger changed, not used if it is of another."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from typer.testing import CliRunner

from tests.counts.counted import everything
from tests.helpers import SPANS, count_statements, csv_text
from tests.history.scripts import EVERYTHING_HAPPENS, Run, Step, all_steps, answers
from tests.profiles import both, examples
from tests.storage.as_of.plain import BOTH_KINDS, Clock
from tracker.cli.app import app
from tracker.core.errors import InvalidOption
from tracker.core.kept import ENGINE
from tracker.counts import import_tallies
from tracker.counts.filter import EVERYTHING, select_answers
from tracker.engines.counting_copy import CountingCopy, write_counting_copy
from tracker.engines.duckdb import DuckDB
from tracker.ledger import Ledger
from tracker.projects import touched
from tracker.storage.kept_tallies import TALLIES, NewTallies

Write = Callable[..., Path]


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Touched items are read again however many they are."""
    monkeypatch.setattr(touched, "_WORTH_IT", 0)


class Noting(CountingCopy):
    """A copy, how often it was renewed, and what was said of it."""

    def __init__(self, file: Path) -> None:
        self.said: list[str] = []
        self.renewed: list[bool] = []
        super().__init__(file, self.said.append)

    def _renew(self, *arguments: Any) -> bool:
        self.renewed.append(super()._renew(*arguments))
        return self.renewed[-1]


@both
@BOTH_KINDS
def test_what_is_counted_in_it_is_what_the_database_counts(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, kind: str, tmp_path: Path
) -> None:
    now, copy = Clock(monkeypatch), Noting(tmp_path / "it's a copy")
    monkeypatch.setattr(import_tallies, "LEAST_ROWS", 1)

    @examples(3)
    @example(EVERYTHING_HAPPENS)
    @given(st.lists(all_steps(kind), min_size=1, max_size=6))
    def check(script: list[Step]) -> None:
        engine = DuckDB(light=True, copy=copy)
        with ledger.database.write(keep=False) as connection:
            run = Run(connection, kind, now)
            write_counting_copy(connection, copy.file, None, lambda *_: None)
            for step in script:
                run.take(step)
                selection = select_answers(connection, run.question, EVERYTHING)
                own = everything(connection, selection)
                connection.info[TALLIES], connection.info[ENGINE] = NewTallies(), engine
                assert everything(connection, selection) == own, step
                assert connection.info[TALLIES].counted_by == {"duckdb"}
                connection.info[TALLIES] = connection.info[ENGINE] = None

    check()
    assert any(copy.renewed)
    assert copy.said == []


@pytest.fixture
def copied(ledger: Ledger, write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Noting:
    """A ledger's copy, in which it counts."""
    monkeypatch.setenv("TRACKER_COPY", str(tmp_path / "copy"))
    ledger.import_file(write(answers(30)), "p")
    ledger.copy_for_counting()
    copy = Noting(tmp_path / "copy")
    ledger.database.engine_of_counts = DuckDB(copy=copy)
    return copy


def counted_by(ledger: Ledger) -> list[str]:
    return [*ledger.explain("p", "alpha").counted_by]


@both
def test_touched_items_alone_are_read_again(ledger: Ledger, write: Write, copied: Noting) -> None:
    assert counted_by(ledger) == ["duckdb"]
    assert copied.renewed == []
    ledger.import_file(write(answers(3, 40, 1)), "p")
    told = ledger.agreement("p").to_dict()
    assert copied.renewed == [True]
    ledger.database.engine_of_counts = None
    assert ledger.agreement("p").to_dict() == told
    ledger.database.engine_of_counts = DuckDB(copy=copied)
    with count_statements(ledger.database.engine) as statements:
        assert ledger.agreement("p").to_dict() == told
    assert copied.renewed == [True], "it is kept as it was renewed"
    assert statements.number < 40


@both
def test_two_projects_do_not_meet(ledger: Ledger, write: Write, copied: Noting) -> None:
    for number, name in enumerate("qr"):
        ledger.import_file(write(answers(20 + number, 0, number)), name)
        ledger.import_file(write(answers(5, 30, number)), name)
    ledger.copy_for_counting()
    told = [ledger.audit(name).to_dict() for name in "qrqpr"]
    ledger.database.engine_of_counts = None
    assert [ledger.audit(name).to_dict() for name in "qrqpr"] == told


def damaged(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[-len(content) // 2 :] = bytes(len(content) // 2)
    file.write_bytes(content)


@pytest.mark.parametrize(
    ("spoil", "is_said"),
    [
        (lambda file: file.write_bytes(file.read_bytes()[:5000]), True),
        (damaged, True),
        (lambda file: file.write_text("not a database"), True),
        (lambda file: file.write_bytes(b""), False),
        (Path.unlink, False),
    ],
    ids=["truncated", "damaged", "another file", "empty", "gone"],
)
def test_a_copy_that_cannot_be_read_is_told_of_and_not_used(
    ledger: Ledger, copied: Noting, spoil: Callable[[Path], Any], *, is_said: bool
) -> None:
    right = ledger.agreement("p").to_dict()
    spoil(copied.file)
    ledger.database.engine_of_counts = DuckDB(copy=copied)
    assert ledger.agreement("p").to_dict() == right
    assert bool(copied.said) >= is_said
    assert all("tracker database copy-for-counting" in sentence for sentence in copied.said)


@both
def test_the_copy_of_another_ledger_is_not_used(
    ledger: Ledger, write: Write, copied: Noting, tmp_path: Path
) -> None:
    """It has the same project and the same numbers, of other answers."""
    other = Ledger(f"sqlite:///{tmp_path / 'other.db'}")
    other.import_file(write(answers(30, 0, 1)), "p")
    right = ledger.agreement("p").to_dict()
    other.copy_for_counting()
    ledger.database.engine_of_counts = DuckDB(copy=Noting(copied.file))
    assert counted_by(ledger) == ["database"]
    assert ledger.agreement("p").to_dict() == right


@pytest.mark.parametrize(
    "act",
    [
        lambda ledger: ledger.annotators.erase("p", "A"),
        lambda ledger: ledger.annotators.erase_everywhere("A"),
        lambda ledger: ledger.projects.delete("p"),
    ],
    ids=["erased", "erased everywhere", "deleted"],
)
def test_what_is_to_be_gone_is_in_no_copy(
    ledger: Ledger, copied: Noting, act: Callable[[Ledger], object]
) -> None:
    assert copied.file.exists()
    act(ledger)
    assert not copied.file.exists()


@both
def test_what_was_erased_is_counted_in_no_older_copy(
    ledger: Ledger, copied: Noting, tmp_path: Path
) -> None:
    kept = copied.file.rename(tmp_path / "kept")
    ledger.annotators.erase("p", "A")
    kept.rename(copied.file)
    assert counted_by(ledger) == ["database"]
    assert copied.renewed == [False]
    assert ledger.agreement("p").counts.answers == 60


@both
def test_a_reader_of_the_past_does_not_count_in_a_newer_copy(
    ledger: Ledger, write: Write, copied: Noting
) -> None:
    later = write(answers(3, 40, 1))
    other = Ledger(ledger.database.url.render_as_string(False))
    served = ledger.database.keep_connections() if ledger.database.file else nullcontext()
    with served, ledger.database.hold():
        first = ledger.agreement("p").to_dict()
        other.import_file(later, "p")
        other.database.engine_of_counts = DuckDB(copy=copied)
        assert other.agreement("p").counts.items == 33
        assert copied.renewed == [True]
        ledger.database.engine_of_counts = DuckDB(copy=copied)
        assert ledger.agreement("p").to_dict() == first
        assert copied.renewed == [True, False]


HOLDS = """
import duckdb, sys
held = duckdb.connect(sys.argv[1])
print("held", flush=True)
sys.stdin.read()
"""


def test_while_another_program_writes_to_it_the_ledger_counts(
    ledger: Ledger, write: Write, copied: Noting
) -> None:
    right = ledger.agreement("p").to_dict()
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(copied.file)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as holder:  # fmt: skip
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        ledger.database.engine_of_counts = DuckDB(copy=copied)
        assert ledger.agreement("p").to_dict() == right
        holder.kill()
    assert ledger.agreement("p").to_dict() == right


KILLED = """
import os, sys
from tracker.engines import counting_copy
from tracker.engines.duckdb import DuckDB
from tracker.ledger import Ledger
from tracker.projects import touched
touched._WORTH_IT = 0
counting_copy._detach = lambda database: os._exit(9) if counting_copy.writes else None
ledger = Ledger(sys.argv[1])
copy = counting_copy.CountingCopy(counting_copy.Path(sys.argv[2]), print)
attach = copy._attach
def noting(*arguments, write=False):
    counting_copy.writes = write
    if not write:
        counting_copy._detach = lambda database: database.execute("DETACH counting")
    else:
        counting_copy._detach = lambda database: os._exit(9)
    return attach(*arguments, write=write)
copy._attach = noting
ledger.database.engine_of_counts = DuckDB(copy=copy)
ledger.agreement("p")
"""


def test_a_program_killed_while_it_renews_the_copy_leaves_one_state(
    sqlite_ledger: Ledger, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRACKER_COPY", str(tmp_path / "copy"))
    sqlite_ledger.import_file(write(answers(30)), "p")
    sqlite_ledger.copy_for_counting()
    sqlite_ledger.import_file(write(answers(3, 40, 1)), "p")
    right = sqlite_ledger.agreement("p").to_dict()
    url = f"sqlite:///{sqlite_ledger.database.file}"
    program = [sys.executable, "-c", KILLED, url, str(tmp_path / "copy")]
    assert subprocess.run(program, check=False).returncode == 9
    copy = Noting(tmp_path / "copy")
    sqlite_ledger.database.engine_of_counts = DuckDB(copy=copy)
    assert sqlite_ledger.agreement("p").to_dict() == right
    assert copy.said == []


# -- the command -----------------------------------------------------------------------------------


def test_the_command_copies_beside_the_ledger(sqlite_ledger: Ledger, write: Write) -> None:
    sqlite_ledger.import_file(write(answers(30)), "p")
    rows = [("item", "annotator", "category", "start", "end"), ("i", "a", "x", 1, 2)]
    sqlite_ledger.import_file(write(csv_text(rows)), "spans", options=SPANS)
    file = sqlite_ledger.database.file
    assert file is not None
    file.chmod(0o640)
    asked = ["--database", f"sqlite:///{file}", "database", "copy-for-counting"]
    told = CliRunner().invoke(app, [*asked, "--json"])
    copy = file.with_name(f"{file.name}.counting")
    assert json.loads(told.stdout) == {
        "file": str(copy), "questions": 1, "labels": 90, "bytes": copy.stat().st_size
    }  # fmt: skip
    assert stat.S_IMODE(copy.stat().st_mode) == 0o640
    assert CliRunner().invoke(app, asked).stdout.startswith(f"90 labels copied to {copy} (")


def test_a_server_has_no_place_beside_it(postgres_ledger: Ledger) -> None:
    with pytest.raises(InvalidOption) as refused:
        postgres_ledger.copy_for_counting()
    assert "TRACKER_COPY" in str(refused.value.mend)
