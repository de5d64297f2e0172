"""Exit codes of every kind of trouble, with the line that says what to do.

Most of what is a wrong usage (2), or not there (4), is in the goldens.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import tracker
from tests.cli.conftest import Run

UNREACHABLE = "postgresql://u:secret@127.0.0.1:1/x"


def change(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


REFUSALS: list[tuple[str, int, str]] = [
    # words, exit code, a part of the message
    ("audit reviews --alpha 0", 2, "between 0 and 1"),
    ("audit reviews --annotator constant_11", 4, "did you mean 'constant 1'"),
    ("audit reviews --fail-on clear", 2, "clear"),
    ("audit reviews --evidence -1", 2, ""),
    ("audit reviews --suppress-below -1", 2, ""),
    ("audit reviews --config nowhere.toml", 3, "nowhere.toml"),
    ("annotator report gold -p reviews", 2, "no answer of 'gold' is counted"),
    ("annotator report constant_1 -p reviews -o x.docx", 2,
     "end it in one of: .html, .md, .pdf, .ipynb, .json"),
    ("report reviews -o loose.md", 2, "loose.md already exists"),
    ("report reviews -o page.html --format doc", 2, "there is no format 'doc'"),
    ("gate reviews --config new.toml --init --format text", 2, "--config FILE"),
    ("gate reviews --config x_y.toml", 3, "tracker gate reviews --config 'x y.toml' --init"),
    ("gate reviews --init --config no/where.toml", 3, "no/where.toml cannot be written"),
    ("database backup nowhere/copy.db", 2, "nowhere/copy.db cannot be made"),
    ("--database sqlite:///no/where.db gate reviews --config loose.toml", 5, "does not exist"),
    ("import empty -p p", 3, "empty holds no file"),
    ("annotator ready constant_1 -p reviews --at-least 0.05", 2,
     "leaves no share between 0 and 1"),
    ("user add ada2 --role admin", 2, "--password-stdin"),  # without a terminal
    ("user password bob --password-stdin", 4, "there is no user"),
    # A project is never guessed if there are several, nor where something cannot be undone.
    ("agreement", 2, "name one of: reviews, sandwich"),
    ("agreement reviews -p sandwich", 2, "'reviews' and 'sandwich'"),
    ("project delete --yes", 2, "-p PROJECT"),
    ("annotator erase A --yes", 2, "-p PROJECT"),
    ("snapshots prune --keep last:1 --yes", 2, "-p PROJECT"),
]  # fmt: skip


def test_refusals_change_nothing_and_leave_no_file(run: Run, furnished: Path) -> None:
    Path("empty").mkdir()
    Path("loose.md").touch()
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


def test_toml_that_no_parser_takes_is_3(run: Run, furnished: Path) -> None:
    for text in ("a = " + "[" * 20_000, "a = " + "9" * 5000):
        Path("odd.toml").write_text(text)
        for command in ("audit", "gate"):
            failed = run(command, "reviews", "--config", "odd.toml", code=3)
            assert "not TOML" in failed.err
            assert len(failed.err) < 2000


def test_failing_gate_is_1_and_one_that_cannot_tell_is_6(run: Run, furnished: Path) -> None:
    unknown = '[[check]]\nmeasure = "cohen_kappa"\nat_least = 0.1\n'  # of more than two people
    for more, code in (("[[check]]\nitems_at_least = 1000\n", 1), ("", 6)):
        Path("gate.toml").write_text("[[check]]\nitems_at_least = 1\n" + unknown + more)
        run("gate", "reviews", code=code)
    with closing(sqlite3.connect(furnished)) as ledger:
        bodies = ledger.execute("SELECT body FROM deliveries").fetchall()
    assert [json.loads(body)["data"]["failed"] for (body,) in bodies] == [
        ["at least 1,000 items with two answers"]
    ]


def test_damaged_database_fails_its_check(run: Run, furnished: Path) -> None:
    change(furnished, "DROP TRIGGER snapshots_no_update")
    assert "snapshots_no_update" in run("database", "check", code=1).out


def test_confirmation_is_typed_or_given_beforehand(run: Run, furnished: Path) -> None:
    before = furnished.read_bytes()
    for stdin in ("n\n", "\n", ""):
        assert "Undo import 1" in run("imports", "undo", 1, stdin=stdin, code=1).err
    assert furnished.read_bytes() == before
    assert run("imports", "undo", 1, stdin="y\n").out.strip().startswith("import 1 is")
    assert "?" not in run("imports", "undo", 2, "-y").err


def test_missing_file_reads_as_an_empty_database(run: Run, folder: Path) -> None:
    assert "tracker demo" in run("status").err
    assert list(folder.iterdir()) == [], "looking makes no file"
    Path("tracker.db").touch()
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


def test_read_only_file_is_5_on_writing_only(run: Run, furnished: Path) -> None:
    # A write version in the header that SQLite does not know: not even the superuser may write.
    content = bytearray(furnished.read_bytes())
    content[18] = 3
    furnished.write_bytes(content)
    assert "reviews" in run("status").out
    assert "cannot be written to" in run("project", "rename", "reviews", "r", code=5).err


def test_project_is_named_in_either_way_or_is_the_only_one(run: Run, answers: Path) -> None:
    run("import", answers, "-p", "7")
    named = run("item", "show", "7", "2", "--json")
    assert "only one" not in named.err
    assert run("item", "show", "2", "--json", "-p", "7").out == named.out
    guessed = run("item", "show", "2", "--json")
    assert guessed.out == named.out
    assert "project: 7 (the only one)" in guessed.err.splitlines()
    run("annotator", "erase", "A", "--yes", code=2)
    assert "a word is missing" in run("project", "note", "7", code=2).err
    assert len(run("annotator", "list", "7", "--json").json()["annotators"]) == 2


def test_number_is_that_of_a_flag_not_a_project(run: Run, furnished: Path) -> None:
    run("flags", "acknowledge", "reviews", "1", "--by", "me")
    for words in (["history", "1", "-p", "reviews"], ["history", "reviews", "1"]):
        told = run("flags", *words, "--json").json()
        assert [act["action"] for act in told["changes"]] == ["found", "acknowledged"]
    listed = [{one["flag"] for one in run("flags", "list", "reviews", "--json").json()["flags"]}]
    run("flags", "dismiss", "1", "-p", "reviews", "--by", "me")
    listed += [{one["flag"] for one in run("flags", "list", "reviews", "--json").json()["flags"]}]
    assert listed[0] - listed[1] == {1}, "what is settled is not listed unasked"
    run("project", "delete", "sandwich", "--yes")
    assert run("flags", "show", "1", "--json").json()["flag"] == 1
    for name in "abcdef":
        run("project", "create", name)
    failed = run("item", "show", "item 0001", code=2)
    assert failed.err.endswith("name one of: a, b, c, d, e and 2 more\n")
