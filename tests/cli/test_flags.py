"""The life of a flag by command: found, listed, acted on, appealed against, found again."""

from __future__ import annotations

import csv
import getpass
import io
import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Run

AT = ("-p", "reviews")


def flags(run: Run, *options: str) -> list[tuple[int, str]]:
    """The number and state of each flag that is listed."""
    rows = run("flags", "list", "reviews", *options, "--json").json()["flags"]
    return [(row["flag"], row["state"]) for row in rows]


def test_a_recorded_audit_says_what_became_of_its_findings(run: Run, furnished: Path) -> None:
    known = len(flags(run))
    told = run("audit", "reviews", "--record").err
    assert f"0 new, {known} seen again" in told
    assert told.endswith(", 0 no longer found; see: tracker flags list reviews\n")
    run("flags", "resolve", "1", *AT, "--by", "ann")
    told = run("audit", "reviews", "--record", "--json").err
    assert re.search(rf"{known} seen again \(1 [a-z ]*opened", told), told
    run("annotator", "kind", "constant 1", "model", *AT)
    told = run("audit", "reviews", "--record").err
    assert f", {known} no longer found;" in told
    assert flags(run) == []
    assert run("flags", "list", "reviews").err == (
        "no such flag; for all of them: tracker flags list reviews --state all\n"
    )


def test_who_does_it_is_the_login_name(run: Run, furnished: Path) -> None:
    done = run("flags", "acknowledge", "1", *AT, env={"LOGNAME": "grace"})
    assert done.out.endswith("(by grace)\n")


def test_where_nobody_is_logged_in_the_name_is_asked_for(
    run: Run, furnished: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nobody() -> str:
        raise KeyError

    monkeypatch.setattr(getpass, "getuser", nobody)
    failed = run("flags", "acknowledge", "1", *AT, code=2)
    assert "--by NAME" in failed.err
    run("flags", "acknowledge", "1", *AT, "--by", "ann")


def test_lists_are_of_what_stands_unless_others_are_asked_for(run: Run, furnished: Path) -> None:
    every = flags(run)
    assert {state for _, state in every} == {"open"}
    run("flags", "acknowledge", "1", *AT, "--by", "ann")
    assert (1, "acknowledged") in flags(run)
    run("flags", "dismiss", "1", *AT, "--by", "ann")
    assert 1 not in dict(flags(run))
    assert flags(run, "--state", "dismissed") == [(1, "dismissed")]
    assert len(flags(run, "--state", "dismissed", "--state", "open")) == len(every)
    assert len(flags(run, "--state", "all")) == len(every)
    assert flags(run, "--annotator", "annotator 01", "--state", "all") == []
    kinds = run("flags", "list", "reviews", "--state", "all", "--csv").out
    (first,) = [row for row in csv.DictReader(io.StringIO(kinds)) if row["flag"] == "1"]
    assert 1 in dict(flags(run, "--kind", first["kind"], "--state", "all"))


def test_dismissed_annotators_are_not_left_out(run: Run, furnished: Path) -> None:
    def audited() -> set[str]:
        told = run("audit", "reviews", "--exclude-flagged", "--json").json()
        return {row["annotator"] for row in told["annotators"]}

    assert "constant 1" not in audited()
    numbers = [str(number) for number, _ in flags(run)]
    run("flags", "dismiss", *numbers, *AT, "--by", "ann")
    assert "constant 1" in audited()
    assert json.loads(run("status", "reviews", "--json").out)["open_flags"] == 0
