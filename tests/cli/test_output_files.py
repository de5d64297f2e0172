"""Files that commands write: never over another, whole or not at all."""

from __future__ import annotations

import csv
import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tracker.ledger import Ledger

GATE = "[[check]]\nitems_at_least = 1\n"
WAYS = {
    "gate": ["gate", "reviews", "-o"],
    "report": ["annotator", "report", "annotator 01", "-p", "reviews", "-o"],
    "simulate": ["simulate", "high", "--items", "20", "-o"],
    "labels": ["export", "labels", "sandwich", "-o"],
    "history": ["export", "history", "reviews", "-o"],
}
FORCED = [name for name in WAYS if name not in {"labels", "history"}]
posix = pytest.mark.skipif(sys.platform == "win32", reason="links, devices and signals of POSIX")


@pytest.fixture(autouse=True)
def here(furnished: Path) -> None:
    """A ledger and a gate."""
    Path("gate.toml").write_text(GATE)


def files() -> list[str]:
    """What is in the folder, hidden files too."""
    return sorted(path.name for path in Path().iterdir())


@pytest.mark.parametrize("way", WAYS)
def test_a_file_that_is_there_is_replaced_only_on_request(run: Run, way: str) -> None:
    Path("dear.csv").write_text("dear to somebody")
    Path("dear.csv").chmod(0o640)
    failed = run(*WAYS[way], "dear.csv", code=2)
    assert failed.err == "tracker: dear.csv already exists\nname another file, or add --force\n"
    assert Path("dear.csv").read_text() == "dear to somebody"
    run(*WAYS[way], "dear.csv", "--force")
    assert Path("dear.csv").read_text() != "dear to somebody"
    assert Path("dear.csv").stat().st_mode & 0o777 == 0o640
    run(*WAYS[way], "new.csv")
    assert files() == ["dear.csv", "gate.toml", "new.csv", "tracker.db"]


@pytest.mark.parametrize("way", WAYS)
def test_the_ledger_is_never_replaced(run: Run, way: str) -> None:
    Path("link.csv").symlink_to("tracker.db")
    Path("ledger.csv").write_bytes(Path("tracker.db").read_bytes())
    before = Path("tracker.db").read_bytes()
    for name in ("link.csv", "ledger.csv", *(["tracker.db"] if way in FORCED else [])):
        failed = run(*WAYS[way], name, "--force", code=2)
        assert f"{name} is a database; a database is never replaced" in failed.err
    assert Path("tracker.db").read_bytes() == before


def test_the_gate_does_not_eat_its_own_file(run: Run) -> None:
    assert "holds the gate's checks" in run("gate", "reviews", "-o", "gate.toml", code=2).err
    Path("other.toml").symlink_to("nowhere")
    run("gate", "reviews", "--init", "--config", "other.toml", code=2)
    assert Path("gate.toml").read_text() == GATE


@posix
@pytest.mark.parametrize("way", WAYS)
def test_no_link_is_followed(run: Run, way: str) -> None:
    Path("dear.txt").write_text("dear to somebody")
    Path("link.csv").symlink_to("dear.txt")
    Path("loose.csv").symlink_to("nowhere")
    for name in ("link.csv", "loose.csv"):
        assert "already exists" in run(*WAYS[way], name, code=2).err
        run(*WAYS[way], name, "--force")
        assert not Path(name).is_symlink()
    assert Path("dear.txt").read_text() == "dear to somebody"
    assert not Path("nowhere").exists()


@posix
@pytest.mark.parametrize("way", FORCED)
def test_a_device_or_a_pipe_is_no_file(run: Run, way: str) -> None:
    os.mkfifo("pipe")
    for name in ("/dev/null", "pipe"):
        assert "not a regular file" in run(*WAYS[way], name, "--force", code=2).err
    assert not Path("/dev/null").is_file()


@pytest.mark.parametrize("way", WAYS)
def test_what_cannot_be_written_is_3(run: Run, way: str) -> None:
    before = files()
    for name in ("nowhere/x.csv", "x" * 300 + ".csv"):
        assert "cannot be written: " in run(*WAYS[way], name, code=3).err
    assert files() == before


@posix
def test_a_signal_leaves_no_part_of_a_file() -> None:
    """The rows come slowly enough to be ended among them: there are millions."""
    words = ["simulate", "high", "--items", "100000000", "-o", "big.csv"]
    running = subprocess.Popen([sys.executable, "-m", "tracker", *words], stderr=subprocess.PIPE)
    while not list(Path().glob(".tracker-*")) and running.poll() is None:
        pass
    running.send_signal(signal.SIGTERM)
    _, err = running.communicate(timeout=30)
    assert (running.returncode, err) == (128 + signal.SIGTERM, b"")
    assert files() == ["gate.toml", "tracker.db"]


def test_a_carriage_return_in_a_name_can_be_read_back(run: Run) -> None:
    odd = ["a\rb", "c\r\nd", "e\nf", 'g"h', "i,j"]
    text = io.StringIO()
    rows = [("item", "annotator", "category"), *((one, who, "x") for one in odd for who in "AB")]
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    Path("odd.csv").write_bytes(text.getvalue().encode())
    run("import", "odd.csv", "-p", "odd")
    run("export", "labels", "odd", "-o", "out.csv")
    assert b'"a\rb"' in Path("out.csv").read_bytes()
    run("import", "out.csv", "-p", "again")
    frames = [Ledger("sqlite:///tracker.db").export_frame(name) for name in ("odd", "again")]
    assert [sorted(frame["item"]) for frame in frames] == [sorted(odd * 2)] * 2
    listed = run("item", "list", "odd", "--csv").out
    assert {row["item"] for row in csv.DictReader(io.StringIO(listed, newline=""))} == set(odd)


def test_a_report_needs_a_number_of_answers_that_can_be(run: Run) -> None:
    failed = run(*WAYS["report"][:-1], "--suppress-below", "-1", code=2)
    assert "fewer than -1" in failed.err
