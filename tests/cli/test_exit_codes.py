"""Every exit code of every kind of trouble, with the line that says what to do.

Most of what is a wrong usage (2), or not there (4), is in the goldens.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import tracker
from tests.cli.conftest import Run

UNREACHABLE = "postgresql://u:secret@127.0.0.1:1/x"


def change(path: Path, statement: str) -> None:
    """Do something to a database behind the program's back."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)


# -- 0 and 1 -------------------------------------------------------------------------------


def test_a_failed_check_is_1(run: Run, furnished: Path) -> None:
    failed = run("audit", "reviews", "--fail-on", "flagged", code=1)
    assert "constant 1 gave" in failed.out
    assert "findings fail flagged" in failed.err
    run("audit", "reviews", "--fail-on", "flagged:constant_category", code=1)
    run("audit", "sandwich", "--fail-on", "flagged")


def test_a_damaged_database_fails_its_check(run: Run, furnished: Path) -> None:
    change(furnished, "DROP TRIGGER snapshots_no_update")
    failed = run("database", "check", code=1)
    assert "snapshots_no_update" in failed.out
    told = run("database", "check", "--json", code=1).json()
    assert len(told["problems"]) == 1
    change(furnished, "DROP TABLE past_labels")
    told = run("database", "check", "--json", code=1).json()
    assert "the table past_labels is missing" in told["problems"]
    assert "is missing" in run("database", "check", code=1).out


def test_no_ledger_to_check_is_5(run: Run, folder: Path) -> None:
    assert "holds no ledger" in run("database", "check", code=5).err
    Path("tracker.db").touch()
    assert "holds no ledger" in run("database", "check", "--json", code=5).err
    assert "holds no ledger" in run("database", "backup", "copy.db", code=5).err
    assert not Path("copy.db").exists()


def test_a_refused_confirmation_changes_nothing(run: Run, furnished: Path) -> None:
    before = run("project", "list", "--csv").out
    for stdin in ("n\n", "\n", ""):
        asked = run("project", "delete", "reviews", stdin=stdin, code=1)
        assert "delete reviews" in asked.err
        assert asked.out.strip() == ""
        assert "Undo import 1" in run("imports", "undo", 1, stdin=stdin, code=1).err
    assert run("project", "list", "--csv").out == before
    assert run("imports", "show", 1, "--json").json()["undone_at"] is None


def test_a_confirmation_can_be_typed_or_given_beforehand(run: Run, furnished: Path) -> None:
    assert run("imports", "undo", 1, stdin="y\n").out.strip().startswith("import 1 is")
    assert "?" not in run("imports", "undo", 2, "--yes").err
    run("project", "delete", "reviews", stdin="y\n")
    run("project", "delete", "sandwich", "-y")
    assert run("project", "list", "--json").json() == {"projects": []}


# -- 2: usage ------------------------------------------------------------------------------


def test_the_projects_to_choose_from_are_named(run: Run, furnished: Path) -> None:
    failed = run("item", "show", "item 0001", code=2)
    assert failed.err == "tracker: which project?\nname one of: reviews, sandwich\n"
    for name in "abcde":
        run("project", "create", name)
    failed = run("item", "show", "item 0001", code=2)
    assert failed.err.endswith("name one of: a, b, c, d, e and 2 more\n")
    for name in "abcde":
        run("project", "delete", name, "--yes")
    run("project", "delete", "reviews", "--yes")
    assert "item 0001" in run("item", "show", "item 0001").out


# -- 3: the input --------------------------------------------------------------------------


def test_a_file_that_cannot_be_used_is_refused(run: Run, folder: Path) -> None:
    for content, told in (
        (b"item,annotator,category\n1,A,\xc3\xa9\xff\n", "line 2: the byte 0xff is not UTF-8"),
        (b"\x89PNG\r\n\x1a\n\0\0\0", "is an image"),
        (b"\x1f\x8b\x08 damaged", "does not unpack"),
    ):
        Path("bad.csv").write_bytes(content)
        failed = run("import", "bad.csv", "-p", "p", code=3)
        assert failed.err.startswith("tracker: ")
        assert told in failed.err
        assert len(failed.err.splitlines()) <= 2
        run("project", "show", "p", code=4)


def test_an_empty_folder_is_refused(run: Run, folder: Path) -> None:
    Path("answers").mkdir()
    assert "answers holds no file" in run("import", "answers", "-p", "p", code=3).err


# -- 4: not found --------------------------------------------------------------------------


def test_a_project_that_may_not_be_made_is_4(run: Run, answers: Path) -> None:
    run("import", answers, "-p", "p", "--no-create", code=4)
    assert (
        not Path("tracker.db").exists() or not run("project", "list", "--json").json()["projects"]
    )


def test_a_file_that_is_not_there_reads_as_an_empty_database(run: Run, folder: Path) -> None:
    assert run("status", "--json").json() == {"projects": []}
    assert "tracker demo" in run("status").err
    assert run("project", "list", "--csv").code == 0
    assert run("imports", "list", "--json").json()["imports"] == []
    assert run("database", "current", "--json").json()["revision"] is None
    run("agreement", "p", code=4)
    run("item", "list", code=4)
    assert list(folder.iterdir()) == [], "looking makes no file"


# -- 5: the database -----------------------------------------------------------------------


@pytest.mark.parametrize("words", [["status"], ["simulate", "high", "-p", "p"]], ids=" ".join)
def test_a_folder_that_is_not_there_is_5(run: Run, folder: Path, words: list[str]) -> None:
    failed = run("--database", "sqlite:///nowhere/t.db", *words, code=5)
    assert "nowhere does not exist" in failed.err
    assert list(folder.iterdir()) == []


def test_a_folder_in_the_place_of_the_file_is_5(run: Run, folder: Path) -> None:
    assert "is a folder" in run("--database", f"sqlite:///{folder}", "status", code=5).err


def test_a_server_that_does_not_answer_is_5_and_the_password_stays_unsaid(
    run: Run, folder: Path
) -> None:
    for url in (
        UNREACHABLE,
        "postgres://u:secret@127.0.0.1:1/x",
        "postgresql://127.0.0.1:1/x?user=u&password=secret",
        "postgresql://u:s%65cret@/x?host=/nowhere",
    ):
        for words in ("status", "database current --json", "simulate high -p p"):
            failed = run("--database", url, *words.split(), code=5)
            assert failed.out == ""
            assert failed.err.startswith("tracker: postgresql://")
            assert len(failed.err.splitlines()) == 2
            assert "secret" not in failed.err
            assert "s%65cret" not in failed.err


def test_the_password_is_in_no_representation(folder: Path) -> None:
    ledger = tracker.open(UNREACHABLE)
    for text in (repr(ledger), str(ledger.database), repr(ledger.database), repr(ledger.__dict__)):
        assert "secret" not in text


def test_the_password_stays_unsaid_by_a_process(process: Run) -> None:
    done = process("status", "--help", env={"TRACKER_DATABASE_URL": UNREACHABLE})
    assert "secret" not in done.out + done.err


def test_a_newer_revision_is_5(run: Run, furnished: Path) -> None:
    change(furnished, "UPDATE alembic_version SET version_num = '9999'")
    for words in (["status"], ["database", "upgrade"], ["simulate", "high", "-p", "p"]):
        failed = run(*words, code=5)
        assert "revision 9999" in failed.err
        assert "newer tracker" in failed.err
    assert run("database", "current", "--json").json()["revision"] == "9999"


def test_another_programs_database_is_5(run: Run, folder: Path) -> None:
    change(folder / "tracker.db", "CREATE TABLE customers (id INTEGER)")
    for words in (["status"], ["database", "upgrade"], ["simulate", "high", "-p", "p"]):
        assert "another program" in run(*words, code=5).err


def test_a_file_that_may_not_be_written_is_5_on_writing_only(run: Run, furnished: Path) -> None:
    # The header's write version: a number that SQLite does not know makes the file read-only
    # for everybody, the superuser included, whom no permission stops.
    content = bytearray(furnished.read_bytes())
    content[18] = 3
    furnished.write_bytes(content)
    assert "reviews" in run("status").out
    for words in (
        ["simulate", "high", "-p", "p"],
        ["snapshot", "reviews"],
        ["project", "rename", "reviews", "r"],
    ):
        failed = run(*words, code=5)
        assert "cannot be written to" in failed.err


def test_a_backup_overwrites_nothing(run: Run, furnished: Path) -> None:
    Path("copy.db").write_text("dear to somebody")
    assert "already exists" in run("database", "backup", "copy.db", code=2).err
    assert Path("copy.db").read_text() == "dear to somebody"
    assert (
        "nowhere/copy.db cannot be made" in run("database", "backup", "nowhere/copy.db", code=2).err
    )
