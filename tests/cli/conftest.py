"""Fixtures of the command's tests: run it here or as a process, in an empty folder."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import ROOT
from tracker.cli.app import main
from tracker.cli.exit_codes import INTERNAL
from tracker.ledger import Ledger
from tracker.projects.notes import add_note
from tracker.simulate.crowds import Group, simulate_crowd
from tracker.simulate.demo.year import demo_sandwich_rows


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    def json(self) -> Any:
        """The one JSON document that standard output holds."""
        return json.loads(self.out)


Run = Callable[..., Result]

# Variables of the shell or of a build service that change what the command prints.
SPEAKING = (
    "TRACKER_DATABASE_URL", "NO_COLOR", "FORCE_COLOR", "PY_COLORS", "GITHUB_ACTIONS", "TERM",
    "TERMINAL_WIDTH", "COLUMNS", "LINES",
)  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, and an environment that says nothing to the command."""
    made = tmp_path / "here"
    made.mkdir()
    monkeypatch.chdir(made)
    for name in SPEAKING:
        monkeypatch.delenv(name, raising=False)
    return made


@pytest.fixture
def run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """``run(*args, stdin="", env={}, code=0)``: the command in this process, its code checked.

    Whatever it does, it prints no traceback and raises nothing but the end of the program.
    """

    def ran(
        *args: object,
        stdin: str | bytes = "",
        env: dict[str, str] | None = None,
        code: int | None = 0,
    ) -> Result:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        out, err = _stream(b""), _stream(b"")
        with monkeypatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
            # Built once: the tree of commands takes longer to make than most commands to run.
            patch.setattr("typer.main.get_command", lambda _: ROOT)
            patch.setattr("typer.rich_utils.FORCE_TERMINAL", None, raising=False)
            # Standard error is read as a person at a terminal would, its bars and colors aside.
            patch.setattr("tracker.cli.terminal._is_for_people", lambda: True)
            patch.setattr(sys, "argv", ["tracker", *map(str, args)])
            patch.setattr(sys, "stdin", _stream(data))
            for name, value in (env or {}).items():
                patch.setenv(name, value)
            found = _exit_code()
        return _checked(Result(found, _text(out), _text(err)), args, code)

    return ran


@pytest.fixture
def process(folder: Path) -> Run:
    """``process(*args, stdin=b"", env={}, code=0)``: the same, as ``python -m tracker``."""

    def ran(
        *args: object,
        stdin: str | bytes = "",
        env: dict[str, str] | None = None,
        code: int | None = 0,
        command: Sequence[str] = (sys.executable, "-m", "tracker"),
    ) -> Result:
        done = subprocess.run(
            [*command, *map(str, args)],
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            env={**os.environ, **(env or {})},
            timeout=60,
            check=False,
        )
        return _checked(
            Result(done.returncode, done.stdout.decode(), done.stderr.decode()), args, code
        )

    return ran


def _stream(data: bytes) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(data), "utf-8", newline="", write_through=True)


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    stream.seek(0)
    return stream.read()


def _exit_code() -> int:
    try:
        main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def _checked(result: Result, args: Sequence[object], code: int | None) -> Result:
    assert "Traceback" not in result.out + result.err, result.err
    assert result.code != INTERNAL, result.err
    assert code in {None, result.code}, f"{args}: {result}"
    return result


@pytest.fixture(scope="session")
def furnished_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with two projects, a recorded flag, a snapshot, a note; a user with a token."""
    path = tmp_path_factory.mktemp("furnished") / "tracker.db"
    ledger = Ledger(f"sqlite:///{path}")
    ledger.import_rows(
        simulate_crowd(160, 7, [Group("honest", 8), Group("constant", 1)]), "reviews"
    )
    ledger.snapshot("reviews", name="first")
    ledger.audit("reviews", record=True)
    ledger.import_rows(demo_sandwich_rows(), "sandwich")
    with ledger.writing("reviews") as (connection, project):
        add_note(connection, project, "guideline v2")
    ledger.users.add("ada", "viewer", password=None, annotators=["reviews:annotator 01"])
    ledger.tokens.add("nightly", "viewer", "ada")
    ledger.webhooks.add("https://example.org/hook", ["gate_failed"])
    return path


@pytest.fixture
def furnished(furnished_template: Path, folder: Path) -> Path:
    return Path(shutil.copy(furnished_template, folder / "tracker.db"))


@pytest.fixture
def answers(folder: Path) -> Path:
    path = folder / "answers.csv"
    path.write_text("item,annotator,category\n1,A,x\n1,B,x\n2,A,x\n2,B,y\n3,A,y\n3,B,y\n")
    return path
