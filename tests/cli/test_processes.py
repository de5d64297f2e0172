"""What only a process of its own can show: exit codes, signals, pipes, the environment."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from sqlalchemy.engine import RootTransaction

from tests.cli.conftest import Run
from tests.profiles import exhaustive
from tracker.projects.projects import find_project
from tracker.storage.database import Database

# A background job of a shell is born deaf to Ctrl-C, and so would its children be.
HEARING = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from tracker.cli.app import main; main()"
)
posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and pipes of POSIX")


def test_exit_codes_reach_the_shell(process: Run, furnished: Path) -> None:
    """Which code it is, is tested without a shell."""
    process("audit", "reviews", "--fail-on", "flagged", code=1)


def test_the_installed_command_is_the_same(process: Run, folder: Path) -> None:
    command = Path(sys.executable).parent / "tracker"
    if not command.exists():
        pytest.skip("the package is not installed beside this interpreter")
    assert process("--version", command=[str(command)]).out == process("--version").out


@posix
def test_an_interrupt_as_the_process_ends_changes_no_exit_code(process: Run, folder: Path) -> None:
    late = (
        "import atexit, os, signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "atexit.register(os.kill, os.getpid(), signal.SIGINT); "
        "from tracker.__main__ import main; main()"
    )
    assert process("--version", command=[sys.executable, "-c", late]).err == ""


@posix
def test_an_interrupted_import_leaves_nothing(run: Run, folder: Path) -> None:
    command = [sys.executable, "-c", HEARING, "import", "-", "-p", "p"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as running:  # type: ignore[call-overload]
        running.stdin.write(b"item,annotator,category\n")
        # More than pipes and buffers hold: once it is written, most of it was taken in.
        for start in range(0, 100_000, 1000):
            rows = (f"item {n},A,yes\n" for n in range(start, start + 1000))
            running.stdin.write("".join(rows).encode())
        time.sleep(0.2)  # now it waits for more
        running.send_signal(signal.SIGINT)
        code = running.wait(30)
        out, err = running.stdout.read().decode(), running.stderr.read().decode()
        with suppress(BrokenPipeError):
            running.stdin.close()
    assert code == 130
    assert out == ""
    assert err == "tracker: interrupted; what was under way is not stored\n"
    assert run("project", "list", "--json").json() == {"projects": []}
    assert run("imports", "list", "--json").json()["imports"] == []
    run("import", "-", "-p", "p", stdin="item,annotator,category\n1,A,yes\n")


@posix
@pytest.mark.parametrize(
    "words",
    [
        ["simulate", "high", "--items", "20000", "-o", "-"],
        pytest.param(["agreement", "sandwich", "--by", "item", "--csv"], marks=exhaustive),
        ["agreement", "sandwich", "--by", "item", "--limit", "0"],
    ],
    ids=str,
)
def test_a_reader_that_has_enough_is_no_error(furnished: Path, words: list[str]) -> None:
    command = [sys.executable, "-m", "tracker", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.readline()
        running.stdout.close()
        assert (running.wait(30), running.stderr.read()) == (0, b"")


@posix
@pytest.mark.parametrize(
    ("words", "code"),
    [
        pytest.param("status --json", 0, marks=exhaustive),
        ("gate reviews --format text", 1),
        pytest.param("gate reviews --format junit", 1, marks=exhaustive),  # as all but text
        pytest.param("database check", 1, marks=exhaustive),
    ],
)  # fmt: skip
def test_a_reader_that_has_gone_changes_no_exit_code(
    furnished: Path, words: str, code: int
) -> None:
    with sqlite3.connect("tracker.db") as connection:
        connection.execute("DROP TRIGGER changes_no_delete")
    Path("gate.toml").write_text("[[check]]\nitems_at_least = 1000000\n")
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "tracker", *words.split()]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert done.returncode == code
    assert not {b"Traceback", b"Exception", b"Errno"} & {*done.stderr.split()}


def test_no_colour_and_no_bar_where_there_is_no_terminal(process: Run, furnished: Path) -> None:
    done = process("audit", "reviews")
    assert "\x1b" not in done.out + done.err
    rows = "item,annotator,category\n" + "".join(f"{n},A,x\n" for n in range(5_000))
    done = process("import", "-", "-p", "p", stdin=rows)
    assert done.out == "import 3: 5,000 rows into p: 5,000 inserted\n"
    assert done.err == "columns: item, annotator, category\n"


def test_an_interrupt_after_all_is_stored_says_so(
    run: Run, furnished: Path, request: pytest.FixtureRequest
) -> None:
    """The signal comes during the commit, whichever command it is that commits."""
    database = Database("sqlite:///tracker.db")
    commit = RootTransaction.commit
    # A shell lets what it runs in the background ignore the signal, and so the tests.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))

    def interrupted(self: RootTransaction) -> None:
        signal.raise_signal(signal.SIGINT)
        commit(self)

    for words in (["simulate", "high", "-p", "new"], ["project", "rename", "new", "newer"]):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(RootTransaction, "commit", interrupted)
            done = run(*words)
        assert done.err == "tracker: interrupted; what was asked is stored\n"
    with database.read() as connection:
        assert find_project(connection, "newer").name == "newer"


@posix
@pytest.mark.parametrize(
    ("words", "unbuffered"),
    [
        pytest.param(["status"], "1", marks=exhaustive),
        (["--help"], ""),
        (["simulate", "high", "-p", "new"], ""),
    ],
)
def test_output_that_cannot_be_written(furnished: Path, words: list[str], unbuffered: str) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no full device")
    command = [sys.executable, "-m", "tracker", *words]
    with Path("/dev/full").open("w") as full:
        told = os.environ | {"PYTHONUNBUFFERED": unbuffered}
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, env=told, check=False)
    assert done.returncode == 3
    assert b"cannot be written: No space left on device" in done.stderr
    assert (b"what was asked is stored" in done.stderr) is (words[0] == "simulate")
    assert len(done.stderr.splitlines()) <= 2


@posix
@pytest.mark.parametrize("no_colour", [False, pytest.param(True, marks=exhaustive)])
def test_colour_on_a_terminal_unless_unwanted(
    furnished: Path, no_colour: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    pty = pytest.importorskip("pty")
    monkeypatch.setenv("TERM", "xterm-256color")
    if no_colour:
        monkeypatch.setenv("NO_COLOR", "1")
    reading, writing = pty.openpty()
    command = [sys.executable, "-m", "tracker", "audit", "reviews"]
    with subprocess.Popen(command, stdout=writing, stderr=writing) as running:
        os.close(writing)
        shown = b""
        while chunk := _read(reading):
            shown += chunk
        assert running.wait(30) == 0
    os.close(reading)
    assert b"constant 1" in shown
    # 3x are the colors; bold and dim are none.
    assert (b"\x1b[1;31m" in shown) is not no_colour
    assert (b"31m" in shown) is not no_colour


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:  # how Linux says that the other side of a terminal has gone
        return b""


@posix
def test_a_bar_on_a_terminal_is_gone_at_the_end(
    furnished: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pty = pytest.importorskip("pty")
    rows = "item,annotator,category\n" + "".join(f"{n},A,x\n" for n in range(50_000))
    Path("many.csv").write_text(rows)
    monkeypatch.setenv("TERM", "xterm-256color")
    reading, writing = pty.openpty()
    command = [sys.executable, "-m", "tracker", "import", "many.csv", "-p", "p", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=writing) as running:
        os.close(writing)
        shown = b""
        while chunk := _read(reading):
            shown += chunk
        assert running.stdout is not None
        out = running.stdout.read()
        assert running.wait(30) == 0
    os.close(reading)
    assert b"importing" in shown
    assert out.startswith(b"{")
    assert b"\x1b" not in out
