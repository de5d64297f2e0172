"""Notes on the time line as they are typed."""

from __future__ import annotations

import csv
import io
import re
import shlex
from pathlib import Path

import pytest

from tests.cli.commands import parse
from tests.cli.conftest import Run


@pytest.fixture(autouse=True)
def project(furnished: Path) -> None:
    """A project with a note: guideline v2."""


def texts(run: Run) -> list[str]:
    return [one["text"] for one in run("project", "notes", "reviews", "--json").json()["notes"]]


def test_a_note_is_made_shown_and_taken_off(run: Run) -> None:
    done = run("project", "note", "reviews", " two joined ", "--at", "2026-03-01T14:30")
    assert done.out == "note 2 of reviews, 2026-03-01T14:30:00Z: two joined\n"
    assert done.err == "next: tracker history reviews\n"
    told = run("project", "note", "reviews", "third", "--at", "2026-03-02", "--json").json()
    assert told == {
        "project": "reviews",
        "at": "2026-03-02T00:00:00Z",
        "note": 3,
        "text": "third",
    }
    assert texts(run) == ["two joined", "third", "guideline v2"]
    shown = run("project", "notes", "reviews").out
    assert re.search(r"^ 2 +2026-03-01 14:30 +two joined *$", shown, re.MULTILINE)
    rows = list(csv.DictReader(io.StringIO(run("project", "notes", "reviews", "--csv").out)))
    assert [row["note"] for row in rows] == ["2", "3", "1"]
    done = run("project", "unnote", "reviews", 2)
    assert done.out == "note 2 of reviews is removed: two joined\n"
    assert texts(run) == ["third", "guideline v2"]
    line = done.err.removeprefix("to put it back: ").strip()
    assert parse(line) == "project note"
    run(*shlex.split(line)[1:])
    assert texts(run) == ["two joined", "third", "guideline v2"]


def test_where_there_is_none(run: Run) -> None:
    assert run("project", "notes", "sandwich", "--json").json()["notes"] == []
    done = run("project", "notes", "sandwich")
    assert done.err == 'none yet: tracker project note sandwich "what happened"\n'


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["note", "reviews", "x", "--at", "tomorrow"], 2, "3 weeks ago"),
        (["note", "reviews", "x", "--at", "2026-13-01"], 2, "--at: '2026-13-01' is no time"),
        (["note", "reviews", "x", "--at", "3000-01-01"], 2, "lies in the future"),
        (["note", "reviews", " "], 2, "the note is empty"),
        (["note", "reviews", "\udcff"], 2, "not a character"),
        (["note", "-p", "reviews"], 2, "TEXT"),
        (["note", "revews", "x"], 4, "did you mean 'reviews'"),
        (["notes", "revews"], 4, "did you mean 'reviews'"),
        (["notes", "reviews", "--json", "--csv"], 2, "cannot be combined"),
        (["unnote", "reviews", "9"], 4, "see: tracker project notes reviews"),
        (["unnote", "sandwich", "1"], 4, "make one: tracker project note sandwich"),
        (["unnote", "reviews", "v2"], 2, "NOTE"),
    ],
    ids=str,
)
def test_what_cannot_be(run: Run, words: list[str], code: int, told: str) -> None:
    failed = run("project", *words, code=code)
    assert told in failed.err
    assert failed.out == ""
    assert texts(run) == ["guideline v2"]
