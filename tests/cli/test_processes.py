"""What only a process of its own can show: exit codes, signals, pipes, terminals, imports."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.engine import RootTransaction

from tests.cli.conftest import Run
from tests.profiles import exhaustive
from tracker.ledger import Ledger
from tracker.projects.projects import find_project
from tracker.storage.database import Database

TRACKER = [sys.executable, "-m", "tracker"]
# A background job of a shell is born deaf to Ctrl-C, and so would its children be.
HEARING = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from tracker.cli.app import main; main()"
)
PASSWORD = "correct horse battery"
posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and pipes of POSIX")


@posix
def test_version_of_installed_command_and_interrupt_at_exit(process: Run, folder: Path) -> None:
    late = (
        "import atexit, os, signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "atexit.register(os.kill, os.getpid(), signal.SIGINT); "
        "from tracker.__main__ import main; main()"
    )
    done = process("--version", command=[sys.executable, "-c", late])
    assert (done.err, done.code) == ("", 0), "the interrupt changes no exit code"
    command = Path(sys.executable).parent / "tracker"
    if not command.exists():
        pytest.skip("the package is not installed next to this interpreter")
    assert process("--version", command=[str(command)]).out == done.out


def test_shell_completion(process: Run) -> None:
    env = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    script = process("--show-completion", "bash", env=env).out
    assert "_TRACKER_COMPLETE=complete_bash" in script
    assert "complete -o default -F _tracker_completion tracker" in script
    # Commands that are not imported yet.
    env = {"_TRACKER_COMPLETE": "complete_bash", "COMP_WORDS": "tracker project re"}
    assert process(env=env | {"COMP_CWORD": "2"}).out.split() == ["read-labels", "rename"]


@posix
def test_interrupted_import_stores_nothing(run: Run, folder: Path) -> None:
    command = [sys.executable, "-c", HEARING, "import", "-", "-p", "p"]
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as running:
        running.stdin.write(b"item,annotator,category\n")
        # More than pipes and buffers hold: once it is written, most of it was taken in.
        for start in range(0, 30_000, 1000):
            rows = (f"item {n},A,yes\n" for n in range(start, start + 1000))
            running.stdin.write("".join(rows).encode())
        time.sleep(0.2)  # now it waits for more
        running.send_signal(signal.SIGINT)
        code = running.wait(30)
        out, err = running.stdout.read().decode(), running.stderr.read().decode()
        with suppress(BrokenPipeError):
            running.stdin.close()
    assert (code, out) == (130, "")
    assert err == "tracker: interrupted; what was under way is not stored\n"
    assert run("project", "list", "--json").json() == {"projects": []}
    assert run("imports", "list", "--json").json()["imports"] == []
    run("import", "-", "-p", "p", stdin="item,annotator,category\n1,A,yes\n")


@posix
def test_signal_leaves_no_part_of_a_file(folder: Path) -> None:
    """The rows come slowly enough to be ended among them: there are millions."""
    words = ["simulate", "high", "--items", "100000000", "-o", "big.csv"]
    running = subprocess.Popen([*TRACKER, *words], stderr=subprocess.PIPE)
    while not list(Path().glob(".tracker-*")) and running.poll() is None:
        pass
    running.send_signal(signal.SIGTERM)
    _, err = running.communicate(timeout=30)
    assert (running.returncode, err) == (128 + signal.SIGTERM, b"")
    assert list(folder.iterdir()) == []


def test_interrupt_during_commit_reports_what_is_stored(
    run: Run, folder: Path, request: pytest.FixtureRequest
) -> None:
    """The signal comes during the commit, whichever command it is that commits."""
    commit = RootTransaction.commit
    # A shell lets what it runs in the background ignore the signal, and so the tests.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))

    def interrupted(self: RootTransaction) -> None:
        signal.raise_signal(signal.SIGINT)
        commit(self)

    run("database", "upgrade")
    for words in (["simulate", "high", "-p", "new"], ["project", "rename", "new", "newer"]):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(RootTransaction, "commit", interrupted)
            done = run(*words)
        assert done.err == "tracker: interrupted; what was asked is stored\n"
    with Database("sqlite:///tracker.db").read() as connection:
        assert find_project(connection, "newer").name == "newer"


@posix
@pytest.mark.parametrize(
    "words",
    [
        "simulate high --items 20000 -o -",
        "item list sandwich --limit 0",
    ],
)
def test_reader_that_has_enough_is_not_an_error(furnished: Path, words: str) -> None:
    with subprocess.Popen(
        [*TRACKER, *words.split()], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.readline()
        running.stdout.close()
        assert (running.wait(30), running.stderr.read()) == (0, b"")


@posix
def test_reader_that_has_gone_changes_no_exit_code(run: Run, answers: Path) -> None:
    run("import", answers, "-p", "p")
    Path("gate.toml").write_text("[[check]]\nitems_at_least = 1000000\n")
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [*TRACKER, "gate", "p"], stdout=write, stderr=subprocess.PIPE, check=False
    )
    os.close(write)
    assert done.returncode == 1
    assert not {b"Traceback", b"Exception", b"Errno"} & {*done.stderr.split()}


@posix
@pytest.mark.parametrize("words", [["--help"], ["project", "create", "new"]], ids=" ".join)
def test_full_device_is_reported(folder: Path, words: list[str]) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no full device")
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*TRACKER, *words], stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 3
    assert b"cannot be written: No space left on device" in done.stderr
    assert (b"what was asked is stored" in done.stderr) is ("create" in words)
    assert len(done.stderr.splitlines()) <= 2


@contextmanager
def _terminal(*words: str, **pipes: Any) -> Iterator[tuple[Any, Callable[[], bytes]]]:
    """A command whose streams are a terminal but for those given, and what that terminal shows."""
    pty = pytest.importorskip("pty")
    reading, writing = pty.openpty()
    with subprocess.Popen(
        [*TRACKER, *words], **{"stdout": writing, "stderr": writing} | pipes
    ) as running:
        os.close(writing)

        def shown() -> bytes:
            text = b""
            with suppress(OSError):  # how Linux says that the other side of a terminal has gone
                while chunk := os.read(reading, 65536):
                    text += chunk
            return text

        yield running, shown
        assert running.wait(30) == 0
    os.close(reading)


@posix
@pytest.mark.parametrize("no_color", [False, pytest.param(True, marks=exhaustive)])
def test_colors_on_a_terminal(
    furnished: Path, no_color: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    if no_color:
        monkeypatch.setenv("NO_COLOR", "1")
    with _terminal("flags", "list", "reviews") as (_, shown):
        text = shown()
    assert b"constant 1" in text
    # 3x are the colors; bold and dim are none.
    assert (b"\x1b[1;31m" in text) is not no_color
    assert (b"31m" in text) is not no_color


@posix
def test_progress_bar_on_a_terminal_is_gone_at_the_end(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = "item,annotator,category\n" + "".join(f"{n},A,x\n" for n in range(20_000))
    Path("many.csv").write_text(rows)
    monkeypatch.setenv("TERM", "xterm-256color")
    words = ("import", "many.csv", "-p", "p", "--json")
    with _terminal(*words, stdout=subprocess.PIPE) as (running, shown):
        assert b"importing" in shown()
        out = running.stdout.read()
    assert out.startswith(b"{")
    assert b"\x1b" not in out


@posix
def test_password_is_asked_twice_and_not_echoed(folder: Path) -> None:
    terminal, end = os.openpty()
    words = [*TRACKER, "user", "add", "ada", "--role", "viewer"]
    with subprocess.Popen(words, stdin=end, stdout=end, stderr=end, start_new_session=True) as run:
        shown = b""
        for prompt in (b"Password: ", b"confirmation: "):  # the space comes once echo is off
            while prompt not in shown:
                shown += os.read(terminal, 1000)
            os.write(terminal, PASSWORD.encode() + b"\n")
        while b"added ada" not in shown:
            shown += os.read(terminal, 1000)
    assert run.returncode == 0
    os.close(terminal)
    os.close(end)
    assert PASSWORD.encode() not in shown
    assert Ledger("sqlite:///tracker.db").users.with_password("ada", PASSWORD) is not None


RUN = """
import json, sys
from tracker.cli.app import main
for words in json.loads(sys.argv[1]):
    sys.argv = ["tracker", *words.split()]
    try:
        main()
    except SystemExit:
        pass
print("modules", *sys.modules, file=sys.stderr)
"""


def test_list_and_import_load_no_tables_and_say_nothing_to_cron(
    process: Run, furnished: Path
) -> None:
    rows = "item,annotator,category\n" + "".join(f"{n},A,x\n" for n in range(5_000))
    Path("more.csv").write_text(rows)
    calls = ("project list --json", "project notes reviews --json", "import more.csv -p p",
             "export labels reviews -o x.csv")  # fmt: skip
    ran = process(RUN, json.dumps(calls), command=(sys.executable, "-c"))
    *errors, modules = ran.err.splitlines()
    heavy = {"alembic", "pandas", "psycopg", "scipy", "rich.progress", "rich.table"}
    assert not heavy & {*modules.split()}
    assert errors == ["columns: item, annotator, category"], "no bar, no hint: cron sends no mail"
    assert "\x1b" not in ran.out + ran.err, "no colors without a terminal"
