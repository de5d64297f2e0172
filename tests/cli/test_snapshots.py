"""``tracker snapshots`` as it is typed: listed, shown, verified, thinned out."""

from __future__ import annotations

import csv
import io
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
from tracker.ledger import Ledger


@pytest.fixture(scope="session")
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


def test_the_list(run: Run) -> None:
    done = run("snapshots", "list", "reviews")
    shown = [" ".join(line.split()) for line in done.out.splitlines()]
    assert shown[0] == "reviews 3 snapshots"
    (header,) = [line for line in shown if line.startswith("snapshot name taken")]
    assert header.endswith("annotators alpha weakest only answers note")
    assert any(line.startswith("1 first 20") for line in shown)
    (row,) = [line for line in shown if line.startswith("2 ")]
    assert row.endswith("of all but constant 1 without them")
    assert next_step(done.err) == "snapshots show"
    run("snapshot", "reviews", "--as-of", "2020-03-01")
    assert "as of" in run("snapshots", "list", "reviews").out


def test_the_list_is_the_history_as_json_and_rows(run: Run) -> None:
    listed, history = ("snapshots", "list", "reviews"), ("history", "reviews")
    assert run(*listed, "--json").json() == run(*history, "--json").json()
    assert run(*listed, "--csv").out == run(*history, "--csv").out
    rows = list(csv.DictReader(io.StringIO(run(*listed, "--csv").out)))
    assert [row["snapshot"] for row in rows] == ["1", "2", "3"]


def test_the_list_shows_the_last(run: Run) -> None:
    done = run("snapshots", "list", "reviews", "--last", 1)
    assert "last of all" in done.out
    assert "without them" not in done.out
    assert done.err.startswith("the last 1 of 3; for all: --last 0\n")
    done = run("snapshots", "list", "sandwich")
    assert done.out == "sandwich  0 snapshots\n"
    assert next_step(done.err) == "snapshot"


# -- show ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("which", "number"),
    [("1", 1), ("first", 1), ("last", 3), ("last~2", 1), ("last of all", 3), ("last~0", 3)],
)
def test_one_is_meant_in_many_ways(run: Run, which: str, number: int) -> None:
    assert run("snapshots", "show", "reviews", which, "--json").json()["snapshot"] == number


def test_one_whole(run: Run) -> None:
    done = run("snapshots", "show", "reviews", 2)
    told = " ".join(done.out.split())
    assert done.out.startswith("snapshot 2  without them\n")
    assert "Only answers of all but constant 1." in told
    assert re.search(r"Krippendorff's alpha, nominal 0\.\d{3} 0\.\d{3} 0\.\d{3} to 0\.\d{3}", told)
    for label in ("taken 20", "as of everything known then", "through change", "digest", "seal"):
        assert label in told
    assert "read on the nominal scale, intervals of 95%" in told
    assert "left out constant 1, gold" in told
    assert re.search(r"flag \d+ was open: constant_category of constant 1 on 'positive'", told)
    assert next_step(done.err) == "compare"
    assert run("snapshots", "show", "reviews", "last").err == ""


def test_one_whole_as_json(run: Run) -> None:
    of_history = run("history", "reviews", "--json").json()["snapshots"][1]
    told = run("snapshots", "show", "reviews", 2, "--json").json()
    assert {name: told[name] for name in of_history} == of_history
    assert set(told) - set(of_history) == {"settings", "change", "seal", "patterns", "flags"}
    assert told["settings"]["left_out"] == ["constant 1", "gold"]
    assert (told["settings"]["confidence"], told["settings"]["where"]) == (0.95, {})
    assert told["change"]["change"] == told["through_change"]
    assert re.fullmatch("[0-9a-f]{64}", told["seal"])
    assert sum(row["items"] for row in told["patterns"]) == told["counts"]["items"]
    answers = sum(sum(row["pattern"].values()) * row["items"] for row in told["patterns"])
    assert answers == told["counts"]["answers"]
    names = {name for row in told["patterns"] for name in row["pattern"]}
    assert names == {row["category"] for row in told["categories"]}
    flag = next(flag for flag in told["flags"] if flag["kind"] == "constant_category")
    assert (flag["annotator"], flag["with"], flag["state"]) == ("constant 1", None, "open")


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


@pytest.mark.parametrize("which", ["4", "0", "frist", "last~3", "last~", ""])
def test_one_that_is_not_there(run: Run, which: str) -> None:
    failed = run("snapshots", "show", "reviews", which, code=4)
    assert f"'reviews' has no snapshot {which!r}" in failed.err
    assert "did you mean" in failed.err or "tracker snapshots list reviews" in failed.err
    assert "tracker snapshot sandwich" in run("snapshots", "show", "sandwich", 1, code=4).err


@pytest.mark.parametrize(
    "words", [["list"], ["show", "1"], ["verify"], ["prune", "--keep", "last:1"]], ids=str
)
def test_a_project_that_is_not_there(run: Run, words: list[str]) -> None:
    failed = run("snapshots", words[0], "revews", *words[1:], code=4)
    assert "did you mean 'reviews'" in failed.err


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
        ("UPDATE snapshot_measures SET value = value / 2 WHERE snapshot_id = 2", []),
        ("UPDATE snapshot_measures SET value = value / 2 WHERE snapshot_id = 2", ["--chain-only"]),
        ("UPDATE snapshot_patterns SET items = items + 1 WHERE snapshot_id = 2", ["--chain-only"]),
        ("UPDATE snapshots SET note = 'for all' WHERE id = 2", ["--chain-only"]),
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


def test_nothing_to_thin_out_is_not_asked(run: Run) -> None:
    done = run("snapshots", "prune", "reviews", "--keep", "last:10")
    assert done.out.rstrip().endswith("\nthinned out: none")
    assert done.err == "no snapshot is thinned out by these rules\n"
    assert run("snapshots", "prune", "sandwich", "--keep", "last:1").out == "thinned out: none\n"


@pytest.mark.parametrize(
    ("keep", "told"),
    [
        ("", "'' is not a rule"),
        ("dayly:3", "did you mean 'daily'"),
        ("daily", "'daily' is not a rule"),
        ("daily:30;weekly:2", "such as daily:30,weekly:52"),
        ("daily:-1", "is not a rule"),
    ],
)
def test_rules_that_mean_nothing(run: Run, keep: str, told: str) -> None:
    failed = run("snapshots", "prune", "reviews", "--keep", keep, "--yes", code=2)
    assert "--keep: " in failed.err
    assert told in failed.err or "did you mean" in failed.err
    assert numbers(run) == [1, 2, 3]


def test_rules_must_be_given(run: Run) -> None:
    assert "--keep" in run("snapshots", "prune", "reviews", "--yes", code=2).err
