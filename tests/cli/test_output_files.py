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


ENDINGS = {way: ".md" if way == "report" else ".csv" for way in WAYS}


@pytest.fixture(autouse=True)
def here(furnished: Path) -> None:
    """A ledger and a gate."""
    Path("gate.toml").write_text(GATE)


def files() -> list[str]:
    """What is in the folder, hidden files too."""
    return sorted(path.name for path in Path().iterdir())


@pytest.mark.parametrize("way", WAYS)
def test_a_file_that_is_there_is_replaced_only_on_request(run: Run, way: str) -> None:
    dear, new = f"dear{ENDINGS[way]}", f"new{ENDINGS[way]}"
    Path(dear).write_text("dear to somebody")
    Path(dear).chmod(0o640)
    failed = run(*WAYS[way], dear, code=2)
    assert failed.err == f"tracker: {dear} already exists\nname another file, or add --force\n"
    assert Path(dear).read_text() == "dear to somebody"
    run(*WAYS[way], dear, "--force")
    assert Path(dear).read_text() != "dear to somebody"
    assert Path(dear).stat().st_mode & 0o777 == 0o640
    run(*WAYS[way], new)
    assert files() == [dear, "gate.toml", new, "tracker.db"]


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
    link, loose = f"link{ENDINGS[way]}", f"loose{ENDINGS[way]}"
    Path("dear.txt").write_text("dear to somebody")
    Path(link).symlink_to("dear.txt")
    Path(loose).symlink_to("nowhere")
    for name in (link, loose):
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
    for name in (f"nowhere/x{ENDINGS[way]}", "x" * 300 + ENDINGS[way]):
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


def test_the_ending_of_a_report_chooses_its_format(run: Run) -> None:
    words = WAYS["report"]
    starts = {"x.md": "# Report for ", "x.html": "<!DOCTYPE html>", "x.JSON": "{"}
    for name, start in starts.items():
        run(*words, name)
        assert Path(name).read_text("utf-8").startswith(start)
    page = Path("x.html").read_text("utf-8")
    assert "<title>Report for annotator 01</title>" in page
    assert "<table>" in page
    refused = run(*words, "x.docx", code=2)
    assert refused.err == (
        "tracker: 'x.docx' does not say which format to write\n"
        "end it in one of: .html, .md, .pdf, .ipynb, .json\n"
    )
    assert not Path("x.docx").exists()
