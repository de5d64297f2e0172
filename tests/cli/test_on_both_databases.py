"""The main job on Postgres, as on SQLite; the goldens ask every command of both."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.cli.conftest import Run


def told(run: Run, *asked: object) -> tuple[int, str]:
    """What a call says, less moments and what holds names of files; floats to ten digits."""
    said = run(*asked, "--json", code=None)
    found = json.loads(said.out or "{}", parse_float=lambda digits: f"{float(digits):.10g}")
    kept = {key: value for key, value in found.items() if key not in {"seals", "digest"}}
    return said.code, re.sub(r'"\d{4}-\d\d-\d\dT[^"]*Z"', '"then"', json.dumps(kept))


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
