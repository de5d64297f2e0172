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


def test_acting_tells_what_was_done_and_what_is_next(run: Run, furnished: Path) -> None:
    done = run("flags", "acknowledge", "1", *AT, "--by", "ann", "--note", "will ask")
    assert done.out == "flag 1 of reviews is acknowledged (by ann)\n"
    assert done.err == "when it is dealt with: tracker flags resolve 1 -p reviews\n"
    done = run("flags", "resolve", "1", *AT, "--by", "bo")
    assert done.out == "flag 1 of reviews is resolved (by bo)\n"
    assert done.err.endswith(": tracker audit reviews --record\n")
    done = run("flags", "appeal", "1", *AT, "--by", "constant 1", "--note", "they are positive")
    assert done.out == "flag 1 of reviews is appealed, and stays resolved (by constant 1)\n"
    assert done.err.endswith("to answer it: tracker flags uphold|reject 1 -p reviews\n")
    done = run("flags", "reject", "1", *AT, "--by", "ann", "--note", "half are not")
    assert done.out == "flag 1 of reviews is resolved as before: the appeal is rejected (by ann)\n"
    again = run("flags", "reject", "1", *AT, "--by", "bo")
    assert re.fullmatch(
        r"flag 1 is already resolved \(by bo, .{10}\), its appeal rejected by ann\n", again.err
    )
    done = run("flags", "uphold", "1", *AT, "--by", "ann")
    assert done.out == "flag 1 of reviews is dismissed: the appeal is upheld (by ann)\n"
    assert "it reopens if the evidence grows by half" in done.err
    failed = run("flags", "reject", "1", *AT, "--by", "bo", code=2)
    assert failed.err.endswith(": tracker flags reopen 1\n")
    told = run("flags", "history", "1", *AT, "--json").json()["changes"]
    assert [(row["action"], row["by"], row["note"]) for row in told] == [
        ("found", None, None),
        ("acknowledged", "ann", "will ask"),
        ("resolved", "bo", None),
        ("appealed", "constant 1", "they are positive"),
        ("rejected", "ann", "half are not"),
        ("upheld", "ann", None),
    ]


def test_what_is_done_already_is_no_error(run: Run, furnished: Path) -> None:
    run("flags", "dismiss", "1", *AT, "--by", "ann")
    again = run("flags", "dismiss", "1", *AT, "--by", "bo")
    assert again.out == ""
    assert re.fullmatch(r"flag 1 is already dismissed \(by ann, \d{4}-\d\d-\d\d\)\n", again.err), (
        again.err
    )
    told = run("flags", "dismiss", "1", *AT, "--by", "bo", "--json").json()["flags"]
    assert [(one["flag"], one["state"], one["changed"], one["by"]) for one in told] == [
        (1, "dismissed", False, "ann")
    ]
    assert len(run("flags", "history", "1", *AT, "--json").json()["changes"]) == 2


def test_what_makes_no_sense_is_2_in_one_line(run: Run, furnished: Path) -> None:
    run("flags", "dismiss", "1", *AT, "--by", "ann")
    failed = run("flags", "acknowledge", "1", *AT, "--by", "bo", code=2)
    assert re.fullmatch(
        r"tracker: flag 1 is dismissed \(by ann, .{10}\); only open ones can be acknowledged\n",
        failed.err,
    ), failed.err


def test_an_unknown_flag_says_where_to_look(run: Run, furnished: Path) -> None:
    failed = run("flags", "show", "99", *AT, code=4)
    assert failed.err.startswith("tracker: there is no flag 99 in 'reviews'\n")
    assert failed.err.endswith("see: tracker flags list reviews\n")
    failed = run("flags", "show", "1", "-p", "sandwich", code=4)
    assert failed.err.endswith("none is recorded: tracker audit sandwich --record\n")


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


def test_the_list_tells_whom_to_look_at(run: Run, furnished: Path) -> None:
    listed = run("flags", "list", "reviews")
    (line,) = [line for line in listed.out.splitlines() if "constant_category" in line]
    assert line.split()[:7] == [
        "1",
        "open",
        "constant",
        "1",
        "constant_category",
        "positive",
        "high",
    ]
    assert line.split()[7:9] == ["1.000", "1"]
    assert listed.err == "next: tracker flags show 1 -p reviews\n"


def test_a_flags_page(run: Run, furnished: Path) -> None:
    run("flags", "appeal", "1", *AT, "--by", "constant 1", "--note", "[red]no[/red]")
    run("audit", "reviews", "--record", "--exclude-annotator", "annotator 08")
    shown = run("flags", "show", "1", *AT)
    told = " ".join(shown.out.split())
    assert told.startswith("flag 1 open, appealed")
    assert "constant 1 gave" in told
    assert "[red]no[/red]" in told
    assert "Seen by 2 recorded audits" in told
    assert "of all but annotator 08" in told
    document = run("flags", "show", "1", *AT, "--json").json()
    assert document["project"] == "reviews"
    assert document["times_seen"] == len(document["sightings"]) == 2
    assert document["evidence"]["selection"]["excluded"] == ["annotator 08"]
    assert document["evidence"]["observed"] == document["last_observed"]


def test_the_history_of_all_flags(run: Run, furnished: Path) -> None:
    run("flags", "dismiss", "1", *AT, "--by", "ann", "--note", "a, b")
    rows = list(csv.DictReader(io.StringIO(run("flags", "history", *AT, "--csv").out)))
    assert (rows[-1]["flag"], rows[-1]["action"], rows[-1]["note"]) == ("1", "dismissed", "a, b")
    assert {row["annotator"] for row in rows} == {"constant 1"}
    shown = run("flags", "history", *AT).out
    assert "a, b" in shown
    assert "constant 1" in shown
    assert run("flags", "history", "-p", "sandwich").err.startswith("none recorded")


def test_dismissed_annotators_are_not_left_out(run: Run, furnished: Path) -> None:
    def audited() -> set[str]:
        told = run("audit", "reviews", "--exclude-flagged", "--json").json()
        return {row["annotator"] for row in told["annotators"]}

    assert "constant 1" not in audited()
    numbers = [str(number) for number, _ in flags(run)]
    run("flags", "dismiss", *numbers, *AT, "--by", "ann")
    assert "constant 1" in audited()
    assert json.loads(run("status", "reviews", "--json").out)["open_flags"] == 0
