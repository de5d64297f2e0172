"""What scripts read: one JSON document, rows as CSV; files are never over another, and whole."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Run

GATE = "[[check]]\nitems_at_least = 1\n"
WAYS = {
    "gate": ["gate", "dated", "-o"],
    "report": ["annotator", "report", "A", "-p", "dated", "-o"],
    "simulate": ["simulate", "high", "--items", "20", "-o"],
    "labels": ["export", "labels", "dated", "-o"],
    "history": ["export", "history", "reviews", "-o"],
}
FORCED = [name for name in WAYS if name not in {"labels", "history"}]
posix = pytest.mark.skipif(sys.platform == "win32", reason="links, devices and signals of POSIX")


@pytest.fixture(autouse=True)
def here(furnished: Path, run: Run) -> None:
    Path("gate.toml").write_text(GATE)
    run("import", "-", "-p", "dated", stdin="item,annotator,category\n1,A,x\n1,B,y\n")


def files() -> list[str]:
    return sorted(path.name for path in Path().iterdir())


@posix
@pytest.mark.parametrize("way", WAYS)
def test_files_are_replaced_only_on_request(run: Run, way: str) -> None:
    end = ".md" if way == "report" else ".csv"
    dear, link, loose = f"dear{end}", f"link{end}", f"loose{end}"
    Path(dear).write_text("precious")
    Path(dear).chmod(0o640)
    Path(link).symlink_to(dear)
    Path(loose).symlink_to("nowhere")
    before = files()
    for name in (dear, link, loose):
        failed = run(*WAYS[way], name, code=2)
        assert failed.err == f"tracker: {name} already exists\nname another file, or add --force\n"
    for name in (f"nowhere/x{end}", "x" * 300 + end):
        assert f"{name} cannot be written: " in run(*WAYS[way], name, code=3).err
    assert files() == before
    for name in (link, loose):
        run(*WAYS[way], name, "--force")
        assert not Path(name).is_symlink(), "no link is followed"
    assert Path(dear).read_text() == "precious"
    run(*WAYS[way], dear, "--force")
    assert Path(dear).read_text() != "precious"
    assert Path(dear).stat().st_mode & 0o777 == 0o640
    run(*WAYS[way], f"new{end}")
    assert files() == sorted([*before, f"new{end}"])


@posix
@pytest.mark.parametrize("way", WAYS)
def test_ledger_device_pipe_and_folder_are_never_replaced(run: Run, way: str) -> None:
    Path("link.csv").symlink_to("tracker.db")
    Path("ledger.csv").write_bytes(Path("tracker.db").read_bytes())
    before = Path("tracker.db").read_bytes()
    for name in ("link.csv", "ledger.csv", *(["tracker.db"] if way in FORCED else [])):
        failed = run(*WAYS[way], name, "--force", code=2)
        assert f"{name} is a database; a database is never replaced" in failed.err
    assert Path("tracker.db").read_bytes() == before
    os.mkfifo("pipe")
    for name in ("/dev/null", "pipe") if way in FORCED else ():
        assert "not a regular file" in run(*WAYS[way], name, "--force", code=2).err
    assert not Path("/dev/null").is_file()
    Path("folder.csv").mkdir()
    if way not in FORCED:
        failed = run(*WAYS[way], "folder.csv", "--force", code=3)
        assert "folder.csv cannot be written" in failed.err
        for name in ("labels", "labels.xls", "labels.csv.gz", "", ".csv"):
            failed = run(*WAYS[way], name, code=2)
            assert "end it in one of: .csv, .jsonl, .parquet, .xlsx" in failed.err


def test_gate_and_backup_replace_neither_checks_nor_files(run: Run) -> None:
    for name in ("gate.toml", "../here/gate.toml"):
        done = run("gate", "reviews", "-o", name, "--force", code=2)
        assert done.err == f"tracker: {name} holds the gate's checks\nname another file\n"
    Path("other.toml").symlink_to("nowhere")
    run("gate", "reviews", "--init", "--config", "other.toml", code=2)
    assert Path("gate.toml").read_text() == GATE
    Path("copy.db").write_text("precious")
    assert "already exists" in run("database", "backup", "copy.db", code=2).err
    assert Path("copy.db").read_text() == "precious"


def test_half_a_file_replaces_none(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object, **__: object) -> Iterator[tuple[str, ...]]:
        yield ("half",)
        raise OSError(28, os.strerror(28))

    Path("whole.csv").write_text("whole")
    before = files()
    monkeypatch.setattr("tracker.export.labels.exported_labels", failing)
    failed = run("export", "labels", "dated", "-o", "whole.csv", "--force", code=3)
    assert "whole.csv cannot be written: No space left" in failed.err
    assert Path("whole.csv").read_text() == "whole"
    assert files() == before


# -- formats on standard output ------------------------------------------------------------
