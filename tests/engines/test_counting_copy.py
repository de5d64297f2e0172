"""The copy for counting: when it is renewed, when it is not used, and the command.

What it counts after every kind of change is compared in `tests/counts/test_every_count.py`.
"""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import duckdb
import pytest
from typer.testing import CliRunner

from tests.counts.test_every_count import Copy
from tests.helpers import SPANS, count_statements, csv_text
from tests.history.scripts import answers
from tests.profiles import both, exhaustive
from tracker.cli.app import app
from tracker.core.errors import InvalidOption
from tracker.engines.duckdb import DuckDB
from tracker.ledger import Ledger
from tracker.projects import touched

Write = Callable[..., Path]


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Touched items are read again however many they are."""
    monkeypatch.setattr(touched, "_WORTH_IT", 0)


@pytest.fixture
def copied(ledger: Ledger, write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Copy:
    """The copy in which a ledger counts."""
    monkeypatch.setenv("TRACKER_COPY", str(tmp_path / "copy"))
    ledger.import_file(write(answers(30)), "p")
    ledger.copy_for_counting()
    copy = Copy(tmp_path / "copy")
    ledger.database.engine_of_counts = DuckDB(copy=copy)
    return copy


def counted_by(ledger: Ledger) -> list[str]:
    return [*ledger.explain("p", "alpha").counted_by]


def agreement(ledger: Ledger, copy: Copy | None = None) -> dict[str, Any]:
    """The figures, counted in a copy that was opened just now if one is given."""
    if copy is not None:
        ledger.database.engine_of_counts = DuckDB(copy=copy)
    return ledger.agreement("p").to_dict()


def test_touched_items_alone_are_read_again(ledger: Ledger, write: Write, copied: Copy) -> None:
    assert counted_by(ledger) == ["duckdb"]
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
        (lambda file: file.write_bytes(whole[:5000]), True),
        (damage, True),
        (lambda file: file.write_text("not a database"), True),
        (lambda file: file.write_bytes(b""), False),
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
    assert counted_by(ledger) == ["database"]
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
        assert counted_by(ledger) == ["database"]
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


KILLED = """
import os, sys
from tracker.engines import counting_copy
from tracker.engines.duckdb import DuckDB
from tracker.ledger import Ledger
from tracker.projects import touched
touched._WORTH_IT = 0
ledger = Ledger(sys.argv[1])
copy = counting_copy.CountingCopy(counting_copy.Path(sys.argv[2]), print)
attach, detach = copy._attach, counting_copy._detach
def noting(*arguments, write=False):
    counting_copy._detach = (lambda database: os._exit(9)) if write else detach
    return attach(*arguments, write=write)
copy._attach = noting
ledger.database.engine_of_counts = DuckDB(copy=copy)
ledger.agreement("p")
"""


@exhaustive
def test_a_program_killed_while_it_renews_the_copy_leaves_one_state(
    ledger: Ledger, write: Write, copied: Copy
) -> None:
    ledger.import_file(write(answers(3, 40, 1)), "p")
    ledger.database.engine_of_counts = None
    right = agreement(ledger)
    program = [sys.executable, "-c", KILLED, f"sqlite:///{ledger.database.file}", str(copied.file)]
    assert subprocess.run(program, check=False).returncode == 9
    assert agreement(ledger, copied) == right
    assert copied.notices == []


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
