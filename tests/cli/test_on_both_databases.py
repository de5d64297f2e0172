"""The whole job by command on each database; what cannot differ is tested on one elsewhere."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from tests.cli.conftest import Run


def without_times(told: Any) -> str:
    """A document's text less the moments in it, and the seals, which hold names of files."""
    if isinstance(told, dict):
        told = {key: value for key, value in told.items() if key not in {"seals", "digest"}}
    return re.sub(r'"\d{4}-\d\d-\d\dT[^"]*Z"', '"then"', json.dumps(told))


def test_the_main_job(run: Run, empty_url: str, answers: Path) -> None:
    at = ("--database", empty_url)
    assert run(*at, "status", "--json").json() == {"projects": []}
    assert "→" in run(*at, "database", "upgrade").out
    for place in (at, ()):
        run(*place, "simulate", "crowd", "--items", 150, "-p", "c")
        run(*place, "import", answers, "-p", "p")
        answers.write_text(answers.read_text().replace("2,B,y", "2,B,x"))
        run(*place, "import", answers, "-p", "p")
        answers.write_text(answers.read_text().replace("2,B,x", "2,B,y"))
    for words in (
        ["agreement", "p"],
        ["agreement", "c"],
        ["agreement", "c", "--by", "pair"],
        ["agreement", "c", "--by", "annotator"],
        ["agreement", "c", "--by", "item"],
        ["annotator", "show", "constant 1", "-p", "c", "--competence"],
        ["annotator", "report", "constant 1", "-p", "c"],
        ["audit", "c", "--all", "--record", "--evidence", "3"],
        ["annotator", "list", "c"],
        ["category", "list", "c"],
        ["item", "list", "c"],
        ["item", "show", "2", "-p", "p"],
    ):
        there = run(*at, *words, "--json").json()
        assert without_times(there) == without_times(run(*words, "--json").json()), words
        run(*at, *words)
    for place in (at, ()):
        run(*place, "snapshot", "c")
        run(*place, "snapshot", "c", "--exclude-annotator", "constant 1")
        run(*place, "project", "note", "c", "x", "--at", "2026-03-01")
        run(*place, "snapshot", "c", "--name", "third")
    for words in (
        ["history", "c"],
        ["history", "c", "--every", "day", "--trend"],
        ["snapshots", "list", "c"],
        ["snapshots", "verify", "c"],
        ["snapshots", "prune", "c", "--keep", "last:1", "--yes"],
        ["project", "notes", "c"],
    ):
        there = run(*at, *words, "--json").json()
        assert without_times(there) == without_times(run(*words, "--json").json()), words
        assert run(*at, *words).out
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
