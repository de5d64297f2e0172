"""The main job on Postgres, as on SQLite; the goldens ask every command of both."""

from __future__ import annotations

import json
import re

from tests.cli.conftest import Run


def told(run: Run, *asked: object) -> tuple[int, str]:
    """What a call says, less moments and what holds names of files; floats to ten digits."""
    said = run(*asked, "--json", code=None)
    found = json.loads(said.out or "{}", parse_float=lambda digits: f"{float(digits):.10g}")
    kept = {key: value for key, value in found.items() if key not in {"seals", "digest"}}
    return said.code, re.sub(r'"\d{4}-\d\d-\d\dT[^"]*Z"', '"then"', json.dumps(kept))


def test_the_main_job(run: Run, empty_postgres_url: str) -> None:
    at = ("--database", empty_postgres_url)
    assert run(*at, "status", "--json").json() == {"projects": []}
    assert "→" in run(*at, "database", "upgrade").out
    for place in (at, ()):
        run(*place, "simulate", "crowd", "--items", 60, "-p", "c")
        run(*place, "snapshot", "c", "--name", "first")
        run(*place, "audit", "c", "--record")
    for asked in ("agreement c", "audit c --all", "history c --every day", "snapshots verify c"):
        assert told(run, *at, *asked.split()) == told(run, *asked.split()), asked
    run(*at, "project", "delete", "c", "--yes")
    assert run(*at, "database", "check").err == "no problems found\n"
