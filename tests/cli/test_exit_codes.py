"""Exit codes of every kind of trouble, with the line that says what to do.

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


def change(path: Path, *statements: str) -> None:
    """Do something to a database behind the program's back."""
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


# -- a table of refusals -------------------------------------------------------------------

REFUSALS: list[tuple[str, int, str]] = [
    # words, exit code, a part of the message
    ("status --format latex --json", 2, "cannot be combined"),
    ("audit reviews --alpha 0", 2, "between 0 and 1"),
    ("audit reviews --alpha 1", 2, "between 0 and 1"),
    ("audit reviews --alpha -0.1", 2, "between 0 and 1"),
    ("audit reviews --annotator constant_11", 4, "did you mean 'constant 1'"),
    ("audit reviews --fail-on flaged", 2, "flaged"),
    ("audit reviews --fail-on clear", 2, "clear"),
    ("audit reviews --fail-on flagged:", 2, "flagged:"),
    ("audit reviews --evidence -1", 2, ""),
    ("audit reviews --suppress-below -1", 2, ""),
    ("audit reviews --config nowhere.toml", 3, "nowhere.toml"),
    ("annotator report constantly -p reviews", 4, "constantly"),
    ("annotator report gold -p reviews", 2, "no answer of 'gold' is counted"),
    ("annotator report constant_1 -p reviews -o no/x.md", 3, "cannot be written"),
    ("annotator report constant_1 -p reviews -o x.docx", 2,
     "end it in one of: .html, .md, .pdf, .ipynb, .json"),
    ("annotator report constant_1 -p reviews --suppress-below -1", 2, "fewer than -1"),
    ("report reviews -o page.doc", 2, "'page.doc' names no format"),
    ("report reviews -o page.html --format doc", 2, "there is no format 'doc'"),
    ("report reviews -o page.html -q other", 4, "other"),
    ("report reviews -o page.html --suppress-below -1", 2, "--suppress-below"),
    ("report reviews -o page.html --annotator nobody", 4, "nobody"),
    ("gate", 2, ""),
    ("gate reviews --config new.toml --init --json", 2, "--config FILE"),
    ("gate reviews --config new.toml --init --format text", 2, "--config FILE"),
    ("gate reviews --config new.toml --init -o x", 2, "--config FILE"),
    ("gate reviews --config x_y.toml", 3, "tracker gate reviews --config 'x y.toml' --init"),
    ("gate reviews --config .", 3, "cannot be read"),
    ("gate reviews --init --config no/where.toml", 3, "no/where.toml cannot be written"),
    ("gate nobody --init", 4, "nobody"),
    ("snapshots verify reviews --expect abc", 2, ""),
    ("category order reviews negative,moon", 4, "there is no category 'moon'"),
    ("database backup nowhere/copy.db", 2, "nowhere/copy.db cannot be made"),
    ("--database sqlite:///nowhere/t.db simulate high -p p", 5, "nowhere does not exist"),
    ("--database sqlite:///no/where.db gate reviews --config loose.toml", 5, "does not exist"),
    ("--database sqlite:///empty status", 5, "is a folder"),
    ("import empty -p p", 3, "empty holds no file"),
    ("import - -p p --no-create", 4, ""),
    ("annotator ready constant_1 -p reviews --at-least 0.05", 2,
     "leaves no share between 0 and 1"),
    ("rules check reviews", 3, "write one: tracker rules init"),
    ("user add ada2 --role admin", 2, "--password-stdin"),  # without a terminal
    ("user password bob --password-stdin", 4, "there is no user"),
    # A project is never guessed if there are several, nor where something cannot be undone.
    ("agreement", 2, "name one of: reviews, sandwich"),
    ("item show 1", 2, "name one of: reviews, sandwich"),
    ("compare first first", 2, "name one of: reviews, sandwich"),
    ("agreement reviews -p sandwich", 2, "'reviews' and 'sandwich'"),
    ("project delete --yes", 2, "-p PROJECT"),
    ("annotator erase A --yes", 2, "-p PROJECT"),
    ("snapshots prune --keep last:1 --yes", 2, "-p PROJECT"),
    ("compare -p reviews first", 2, "'B'"),
]  # fmt: skip


def test_refusals_change_nothing_and_leave_no_file(run: Run, furnished: Path) -> None:
    Path("empty").mkdir()
    Path("loose.toml").write_text("[[check]]\nitems_at_least = 1\n")
    before = {path.name for path in Path().iterdir()}, furnished.read_bytes()
    for words, code, message in REFUSALS:
        names = [word.replace("_", " ") for word in words.split()]
        done = run(*names, stdin="item,annotator,category\n1,A,x\n", code=code)
        assert message in done.err, words
        assert done.out == "", words
        if code > 2:
            assert 1 <= len(done.err.splitlines()) <= 2, words
            assert done.err.startswith("tracker: "), words
    assert ({path.name for path in Path().iterdir()}, furnished.read_bytes()) == before


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"item,annotator,category\n1,A,\xc3\xa9\xff\n", "line 2: the byte 0xff is not UTF-8"),
        (b"\x89PNG\r\n\x1a\n\0\0\0", "is an image"),
        (b"\x1f\x8b\x08 damaged", "does not unpack"),
    ],
)
def test_unusable_file_is_3(run: Run, folder: Path, content: bytes, message: str) -> None:
    Path("bad.csv").write_bytes(content)
    failed = run("import", "bad.csv", "-p", "p", code=3)
    assert failed.err.startswith("tracker: ")
    assert message in failed.err
    assert len(failed.err.splitlines()) <= 2
    run("project", "show", "p", code=4)


@pytest.mark.parametrize(
    "text", ["a = " + "[" * 20_000, "a = " + "9" * 5000, "a = [1", "[audit]\nx"]
)
def test_file_that_is_not_toml_is_3(run: Run, furnished: Path, text: str) -> None:
    Path("odd.toml").write_text(text)
    for command in ("audit", "gate"):
        failed = run(command, "reviews", "--config", "odd.toml", code=3)
        assert "not TOML" in failed.err
        assert len(failed.err) < 2000


# -- 1: checks and confirmations -----------------------------------------------------------


def test_failed_check_is_1_and_counts_what_a_finding_explains(run: Run, furnished: Path) -> None:
    failed = run("audit", "reviews", "--fail-on", "flagged", code=1)
    assert "constant 1 gave" in failed.out
    assert "findings fail flagged" in failed.err
    run("audit", "reviews", "--fail-on", "flagged:low_agreement", code=1)
    run("audit", "reviews", "--fail-on", "flagged:too_fast")


def test_damaged_database_fails_its_check(run: Run, furnished: Path) -> None:
    change(furnished, "DROP TRIGGER snapshots_no_update")
    assert "snapshots_no_update" in run("database", "check", code=1).out
    assert len(run("database", "check", "--json", code=1).json()["problems"]) == 1
    change(furnished, "DROP TABLE past_labels")
    told = run("database", "check", "--json", code=1).json()
    assert "the table past_labels is missing" in told["problems"]
    assert "is missing" in run("database", "check", code=1).out


def test_confirmation_is_typed_or_given_beforehand(run: Run, furnished: Path) -> None:
    before = furnished.read_bytes()
    for stdin in ("n\n", "\n", ""):
        refused = run("project", "delete", "reviews", stdin=stdin, code=1)
        assert "delete reviews" in refused.err
        assert refused.out.strip() == ""
        assert "Undo import 1" in run("imports", "undo", 1, stdin=stdin, code=1).err
    assert furnished.read_bytes() == before
    assert run("imports", "undo", 1, stdin="y\n").out.strip().startswith("import 1 is")
    assert "?" not in run("imports", "undo", 2, "--yes").err
    run("project", "delete", "reviews", stdin="y\n")
    run("project", "delete", "sandwich", "-y")
    assert run("project", "list", "--json").json() == {"projects": []}


# -- 4 and 5: no database, or another ------------------------------------------------------


def test_missing_file_reads_as_an_empty_database(run: Run, folder: Path) -> None:
    assert run("status", "--json").json() == {"projects": []}
    assert "tracker demo" in run("status").err
    assert run("project", "list", "--csv").code == 0
    assert run("imports", "list", "--json").json()["imports"] == []
    assert run("database", "current", "--json").json()["revision"] is None
    run("agreement", "p", code=4)
    run("item", "list", code=4)
    assert "holds no ledger" in run("database", "check", code=5).err
    assert list(folder.iterdir()) == [], "looking makes no file"
    Path("tracker.db").touch()
    assert "holds no ledger" in run("database", "check", "--json", code=5).err
    assert "holds no ledger" in run("database", "backup", "copy.db", code=5).err
    assert not Path("copy.db").exists()


def test_silent_server_is_5_and_its_password_stays_unsaid(run: Run, folder: Path) -> None:
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
    ledger = tracker.open(UNREACHABLE)
    for text in (repr(ledger), str(ledger.database), repr(ledger.database), repr(ledger.__dict__)):
        assert "secret" not in text


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("UPDATE alembic_version SET version_num = '9999'", "newer tracker"),
        ("CREATE TABLE customers (id INTEGER)", "another program"),
    ],
)
def test_database_of_another_program_is_5(
    run: Run, furnished: Path, statement: str, message: str
) -> None:
    if statement.startswith("CREATE"):
        furnished.unlink()
    change(furnished, statement)
    for words in ("status", "database upgrade", "simulate high -p p"):
        assert message in run(*words.split(), code=5).err
    if statement.startswith("UPDATE"):
        assert "revision 9999" in run("status", code=5).err
        assert run("database", "current", "--json").json()["revision"] == "9999"


def test_read_only_file_is_5_on_writing_only(run: Run, furnished: Path) -> None:
    # The header's write version: a number that SQLite does not know makes the file read-only
    # for everybody, the superuser included, whom no permission stops.
    content = bytearray(furnished.read_bytes())
    content[18] = 3
    furnished.write_bytes(content)
    assert "reviews" in run("status").out
    for words in ("simulate high -p p", "snapshot reviews", "project rename reviews r"):
        assert "cannot be written to" in run(*words.split(), code=5).err


# -- the project ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    ["item show | 2 --json", "compare | first second --json", "export labels | -o -"],
)
def test_project_is_named_in_either_way_or_is_the_only_one(
    run: Run, answers: Path, words: str
) -> None:
    run("import", answers, "-p", "7")
    for name in ("first", "second"):
        run("snapshot", "7", "--name", name)
    before, after = (part.split() for part in words.split("|"))
    named = run(*before, "7", *after)
    assert "only one" not in named.err
    assert run(*before, *after, "-p", "7").out == named.out
    assert run(*before, "--project=7", *after).out == named.out
    guessed = run(*before, *after)
    assert guessed.out == named.out
    assert "project: 7 (the only one)" in guessed.err.splitlines()
    run("annotator", "erase", "A", "--yes", code=2)
    assert "a word is missing" in run("project", "note", "7", code=2).err
    assert "ITEM" in run("item", "show", code=2).err
    assert len(run("annotator", "list", "7", "--json").json()["annotators"]) == 2


def test_projects_to_choose_from_and_numbers_that_are_not_projects(
    run: Run, furnished: Path
) -> None:
    failed = run("item", "show", "item 0001", code=2)
    assert failed.err == "tracker: which project?\nname one of: reviews, sandwich\n"
    for name in "abcde":
        run("project", "create", name)
    failed = run("item", "show", "item 0001", code=2)
    assert failed.err.endswith("name one of: a, b, c, d, e and 2 more\n")
    run("flags", "acknowledge", "reviews", "1", "--by", "me")
    run("flags", "resolve", "1", "-p", "reviews", "--by", "me")
    for words in (["history", "1", "-p", "reviews"], ["history", "reviews", "1"]):
        told = run("flags", *words, "--json").json()
        assert [act["action"] for act in told["changes"]] == ["found", "acknowledged", "resolved"]
    for name in ("sandwich", *"abcde"):
        run("project", "delete", name, "--yes")
    assert run("flags", "show", "1", "--json").json()["flag"] == 1
    assert run("flags", "history", "1", "--json").json()["changes"]
    assert "item 0001" in run("item", "show", "item 0001").out
