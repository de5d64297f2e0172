"""Every command on Postgres says what it says on SQLite, on which alone it is tested elsewhere."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.projects import furnish
from tests.cli.test_output import CALLS, TRENDS, VARIANTS, held_to_a_gate, words
from tests.cli.ways import GOOD
from tests.profiles import THOROUGH

# What speaks of the database itself, or of none.
OF_ITSELF = {"database current", "database check", "database copy", "conformance", "formats"}
OF_ITSELF |= {"webhook add"}  # its secret is drawn
# What the others would not go on from.
LAST = ["import", "question add", "imports undo", "snapshots prune"]
TOO_LATE = ["flags resolve 1 -p reviews --by ann"]  # it was dismissed
MORE = [
    "agreement reviews --exclude-flagged", "compare reviews ..2025-01-20 2025-01-20.. --anyway",
    "snapshot sandwich", "compare reviews first last --with sandwich --anyway",
]  # fmt: skip


def told(run: Run, *asked: object) -> tuple[int, str]:
    """What a call says, less moments and what holds names of files; floats to ten digits."""
    said = run(*asked, "--json", code=None)
    found = json.loads(said.out or "{}", parse_float=lambda digits: f"{float(digits):.10g}")
    kept = {key: value for key, value in found.items() if key not in {"seals", "digest"}}
    return said.code, re.sub(r'"\d{4}-\d\d-\d\dT[^"]*Z"', '"then"', json.dumps(kept))


def copied(run: Run, url: str) -> tuple[str, str]:
    """What names the database on the server, once it holds what is in the file."""
    run("database", "copy", url)
    return ("--database", url)


def test_every_command(run: Run, furnished: Path, answers: Path, empty_postgres_url: str) -> None:
    held_to_a_gate(furnished.parent)
    at = copied(run, empty_postgres_url)
    # Users are not copied.
    bound = ("--annotator", "reviews:annotator 01", "--no-password")
    run(*at, "user", "add", "ada", "--role", "viewer", *bound)
    run(*at, "token", "add", "nightly", "--role", "viewer", "--user", "ada")
    run(*at, "webhook", "add", "https://example.org/hook", "--event", "gate_failed")
    reading = [call for name, call in CALLS.items() if name not in {*OF_ITSELF, *LAST}]
    refused = []
    for call in (*VARIANTS, *TRENDS, *MORE, *reading, *(CALLS[name] for name in LAST)):
        code, here = told(run, *words(call))
        assert told(run, *at, *words(call)) == (code, here), call
        refused += [call] if code else []
    assert refused == TOO_LATE


@pytest.mark.skipif(THOROUGH, reason="the goldens ask the same of both databases")
def test_every_way_to_ask_about_agreement(run: Run, folder: Path, empty_postgres_url: str) -> None:
    furnish("sqlite:///tracker.db")
    at = copied(run, empty_postgres_url)
    for asked in GOOD:
        there = told(run, *at, "agreement", *asked.words)
        assert there == told(run, "agreement", *asked.words), asked.words


def test_the_main_job(run: Run, empty_postgres_url: str, answers: Path) -> None:
    at = ("--database", empty_postgres_url)
    assert run(*at, "status", "--json").json() == {"projects": []}
    assert "→" in run(*at, "database", "upgrade").out
    for place in (at, ()):
        run(*place, "simulate", "crowd", "--items", 150, "-p", "c")
        run(*place, "import", answers, "-p", "p")
        answers.write_text(answers.read_text().replace("2,B,y", "2,B,x"))
        run(*place, "import", answers, "-p", "p")
        answers.write_text(answers.read_text().replace("2,B,x", "2,B,y"))
    for asked in (
        ["agreement", "c"],
        ["annotator", "show", "constant 1", "-p", "c", "--competence"],
        ["audit", "c", "--all", "--record", "--evidence", "3"],
        ["item", "show", "2", "-p", "p"],
    ):
        assert told(run, *at, *asked) == told(run, *asked), asked
        run(*at, *asked)
    for place in (at, ()):
        run(*place, "snapshot", "c")
        run(*place, "snapshot", "c", "--exclude-annotator", "constant 1")
        run(*place, "project", "note", "c", "x", "--at", "2026-03-01")
        run(*place, "snapshot", "c", "--name", "third")
    for asked in (
        ["history", "c"],
        ["history", "c", "--every", "day", "--trend"],
        ["snapshots", "list", "c"],
        ["snapshots", "verify", "c"],
        ["snapshots", "prune", "c", "--keep", "last:1", "--yes"],
        ["project", "notes", "c"],
    ):
        assert told(run, *at, *asked) == told(run, *asked), asked
        assert run(*at, *asked).out
    page = run(*at, "snapshots", "show", "c", "third", "--json").json()
    assert page["patterns"] == run("snapshots", "show", "c", 3, "--json").json()["patterns"]
    labels = ("export", "labels", "c", "-o", "-")
    assert len(run(*at, *labels).out.splitlines()) == len(run(*labels).out.splitlines())
    assert "undone" in run(*at, "imports", "undo", 3, "--yes").out
    labels = run(*at, "item", "show", "2", "-p", "p", "--json").json()["labels"]
    assert {one["category"] for one in labels if one["state"] == "stands"} == {"x", "y"}
    run(*at, "import", "nowhere.csv", "-p", "p", code=3)
    run(*at, "agreement", "nobody", code=4)
    assert run(*at, "database", "check").err == "no problems found\n"
    run(*at, "project", "delete", "c", "--yes")
    assert run(*at, "database", "check").err == "no problems found\n"
    assert [one["project"] for one in run(*at, "status", "--json").json()["projects"]] == ["p"]
