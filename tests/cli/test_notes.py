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
