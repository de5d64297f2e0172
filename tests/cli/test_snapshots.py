"""``tracker snapshots`` as it is typed: listed, shown, verified, thinned out."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.commands import parse
from tests.cli.conftest import Run
from tests.cli.test_exit_codes import change
from tests.cli.test_processes import _read, posix
from tests.profiles import exhaustive
from tracker.ledger import Ledger


@pytest.fixture(scope="module")
def recorded(furnished_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = Path(shutil.copy(furnished_template, tmp_path_factory.mktemp("recorded")))
    ledger = Ledger(f"sqlite:///{path}")
    ledger.snapshot("reviews", exclude_annotators="constant 1", note="without them")
    ledger.snapshot("reviews", name="last of all")
    return path


@pytest.fixture(autouse=True)
def record(recorded: Path, folder: Path) -> Path:
    """Three snapshots of `reviews`: first, one of fewer annotators, last."""
    return Path(shutil.copy(recorded, folder / "tracker.db"))


def tamper(path: Path, statement: str) -> None:
    """Change the record behind the program's back."""
    table = statement.split()[1]
    change(path, f"DROP TRIGGER {table}_no_update")
    change(path, statement)


def next_step(err: str) -> str:
    """The command that a hint proposes, by its words."""
    return parse(re.findall(r"tracker [a-z].*$", err, re.MULTILINE)[-1])


# -- list ----------------------------------------------------------------------------------


# -- show ----------------------------------------------------------------------------------


def test_one_is_meant_in_many_ways(run: Run) -> None:
    ways = {"1": 1, "first": 1, "last": 3, "last~2": 1, "last of all": 3, "last~0": 3}
    for which, number in ways.items():
        told = run("snapshots", "show", "reviews", which, "--json").json()
        assert told["snapshot"] == number, which
    for which in ("4", "0", "frist", "last~3", "last~", ""):
        failed = run("snapshots", "show", "reviews", which, code=4)
        assert f"'reviews' has no snapshot {which!r}" in failed.err
        assert "did you mean" in failed.err or "tracker snapshots list reviews" in failed.err


def test_flags_are_shown_as_they_stood(run: Run) -> None:
    flags = run("snapshots", "show", "reviews", 1, "--json").json()["flags"]
    assert flags == [], "the audit came after it"
    run("flags", "acknowledge", 1, "-p", "reviews", "--by", "ann")
    later = run("snapshots", "show", "reviews", 2, "--json").json()["flags"]
    assert {flag["state"] for flag in later} == {"open"}


def test_patterns_of_sets_and_spans(run: Run) -> None:
    sets = "item,annotator,category\n1,A,x\n1,A,y\n1,B,x\n2,A,\n2,B,\n"
    run("import", "-", "-p", "sets", "--answers", "several", stdin=sets)
    run("snapshot", "sets")
    assert run("snapshots", "show", "sets", 1, "--json").json()["patterns"] == [
        {"pattern": {"[]": 2}, "items": 1},
        {"pattern": {'["x"]': 1, '["x", "y"]': 1}, "items": 1},
    ]
    spans = "item,annotator,category,start,end,n_tokens\nd,A,x,0,3,9\nd,B,x,0,2,9\n"
    run("import", "-", "-p", "spans", "--answers", "spans", stdin=spans)
    run("snapshot", "spans")
    told = run("snapshots", "show", "spans", 1, "--json").json()
    assert told["patterns"] == []
    assert told["change"]["kind"] == "import"
    assert "through change 2 (import, 20" in " ".join(
        run("snapshots", "show", "spans", 1).out.split()
    )
    failed = run("snapshot", "spans", "--known-at", "2020-01-01", code=2)
    assert "'spans' did not exist then" in failed.err


# -- verify --------------------------------------------------------------------------------


def test_a_sound_record(run: Run) -> None:
    done = run("snapshots", "verify", "reviews")
    first, second = done.out.splitlines()
    assert first == (
        "reviews  3 snapshots: digests and seals recomputed, "
        "3 snapshots recounted from the ledger: no faults"
    )
    assert done.err == ""
    digest = second.rpartition(" ")[2]
    done = run("snapshots", "verify", "reviews", "--chain-only", "--expect", digest)
    assert done.out.startswith("reviews  3 snapshots: digests and seals recomputed: no faults\n")
    other = digest[::-1]
    failed = run("snapshots", "verify", "reviews", "--expect", other, code=1)
    assert f"nothing has the digest {other}" in failed.out
    run("snapshots", "verify", "reviews", "--expect", "abc", code=2)
    assert next_step(done.err) == "snapshots verify"
    told = run("snapshots", "verify", "reviews", "--json").json()
    assert (told["passed"], told["snapshots"], told["recomputed"]) == (True, 3, 3)
    assert (told["faults"], told["notes"], told["ledger"]) == ([], [], [])
    assert (told["digest"], told["seals"]) == (digest, 6)
    assert next_step(run("snapshots", "verify", "sandwich").err) == "snapshot"


@pytest.mark.parametrize(
    ("statement", "options"),
    [
        ("UPDATE snapshot_measures SET value = value / 2 WHERE snapshot_id = 2", ["--chain-only"]),
        ("UPDATE snapshot_patterns SET items = items + 1 WHERE snapshot_id = 2", ["--chain-only"]),
        ("UPDATE labels SET category_id = 1 WHERE item_id = 3", []),
    ],
    ids=str,
)
def test_a_changed_record_is_1(run: Run, record: Path, statement: str, options: list[str]) -> None:
    if statement.startswith("UPDATE labels"):
        change(record, statement)
        first = 1
    else:
        tamper(record, statement)
        first = 2
    failed = run("snapshots", "verify", "reviews", *options, code=1)
    assert re.search(r": \d+ faults?$", failed.out, re.MULTILINE)
    assert f"snapshot {first}: its " in failed.out
    assert f"the first bad snapshot is {first}; see: tracker snapshots show" in failed.err
    told = run("snapshots", "verify", "reviews", *options, "--json", code=1).json()
    assert told["passed"] is False
    assert told["faults"][0]["snapshot"] == first


def test_the_ledger_is_not_looked_at_for_the_chain_alone(run: Run, record: Path) -> None:
    change(record, "UPDATE labels SET category_id = 1 WHERE item_id = 3")
    run("snapshots", "verify", "reviews", "--chain-only")


@posix
@exhaustive  # a quick run looks at that of an import
def test_a_bar_shows_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    pty = pytest.importorskip("pty")
    monkeypatch.setenv("TERM", "xterm-256color")
    reading, writing = pty.openpty()
    command = [sys.executable, "-m", "tracker", "snapshots", "verify", "reviews", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=writing) as running:
        os.close(writing)
        shown = b""
        while chunk := _read(reading):
            shown += chunk
        assert running.stdout is not None
        out = running.stdout.read()
        assert running.wait(30) == 0
    os.close(reading)
    assert b"verifying" in shown
    assert out.startswith(b"{")
    assert b"\x1b" not in out


# -- prune ---------------------------------------------------------------------------------


def numbers(run: Run) -> list[int]:
    told = run("snapshots", "list", "reviews", "--json").json()
    return [one["snapshot"] for one in told["snapshots"]]


@pytest.fixture
def many(run: Run) -> None:
    """Three more, without a name."""
    for _ in range(3):
        run("snapshot", "reviews")


def test_a_dry_run_changes_nothing(run: Run, many: None) -> None:
    done = run("snapshots", "prune", "reviews", "--keep", "last:2", "--dry-run")
    shown = [" ".join(line.split()) for line in done.out.splitlines()]
    assert shown[-1] == "to be thinned out: 4"
    assert {"its name 2", "the last 2", "last:2 1"} <= set(shown)
    assert done.err.startswith("nothing was changed; to do it: tracker snapshots prune reviews")
    assert next_step(done.err) == "snapshots prune"
    assert numbers(run) == [1, 2, 3, 4, 5, 6]
    told = run("snapshots", "prune", "reviews", "--keep", "last:2", "--dry-run", "--json").json()
    assert (told["dry_run"], told["kept"], told["thinned"]) == (True, 5, 1)


def test_it_asks_and_shows_the_plan_first(run: Run, many: None) -> None:
    for stdin in ("n\n", ""):
        asked = run("snapshots", "prune", "reviews", "--keep", "daily:1", stdin=stdin, code=1)
        assert "to be thinned out: 4-5" in asked.out
        assert "Thin out 2 of 6 snapshots of reviews, for good?" in asked.err
    assert numbers(run) == [1, 2, 3, 4, 5, 6]
    done = run("snapshots", "prune", "reviews", "--keep", "daily:1", stdin="y\n")
    assert done.out.rstrip().endswith("\nthinned out: 4-5")
    assert numbers(run) == [1, 2, 3, 6]


def test_what_is_thinned_out(run: Run, many: None) -> None:
    done = run("snapshots", "prune", "reviews", "--keep", "daily:1", "--yes", "--json")
    told = done.json()
    assert (told["project"], told["keep"], told["dry_run"]) == ("reviews", "daily:1", False)
    assert (told["kept"], told["thinned"]) == (4, 2)
    fates = {one["snapshot"]: one["kept_by"] for one in told["snapshots"]}
    assert fates == {1: "its name", 2: "the last", 3: "its name", 4: None, 5: None, 6: "the last"}
    assert next_step(done.err) == "snapshots verify"
    assert run("snapshots", "list", "reviews").out.startswith(
        "reviews  4 snapshots, 2 more thinned out\n"
    )
    assert run("history", "reviews").out.startswith("reviews  4 snapshots, 2 more thinned out\n")
    assert run("history", "reviews", "--json").json()["thinned"] == 2
    assert "thinned out: its figures are gone" in run("snapshots", "show", "reviews", 4, code=4).err
    assert run("snapshots", "show", "reviews", "last~1", "--json").json()["snapshot"] == 3
    told = run("snapshots", "verify", "reviews", "--json").json()
    assert (told["passed"], told["thinned"], told["recomputed"]) == (True, 2, 4)
    assert "(2 thinned out)" in run("snapshots", "verify", "reviews").out
