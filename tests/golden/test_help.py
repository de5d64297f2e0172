"""The help of every command, and of every group of commands."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.golden.frozen import plain
from tests.golden.kept import Kept

# In a process of its own: what other tests imported or drew changes no width.
SHOW = """
import json
from typer.testing import CliRunner
from tests.golden.test_help import every
from tracker.cli.app import app
texts = {path: CliRunner().invoke(app, [*path, "--help"]).output for path in every()}
print(json.dumps([*texts.items()]))
"""


def every(command: Any = None, *path: str) -> Iterator[tuple[str, ...]]:
    """Yield the words of each command and group."""
    if command is None:
        from tests.cli.commands import ROOT

        command = ROOT
    yield path
    for name, child in getattr(command, "commands", {}).items():
        yield from every(child, *path, name)


def test_every_help_says_what_it_said(kept: Kept) -> None:
    names = ("PATH", "HOME", "SYSTEMROOT")
    env = {name: os.environ[name] for name in names if name in os.environ} | {"COLUMNS": "80"}
    done = subprocess.run(
        [sys.executable, "-c", SHOW],
        cwd=Path(__file__).parents[2],
        env=env | {"PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    texts = (
        (f"tracker {' '.join((*path, '--help'))}", text) for path, text in json.loads(done.stdout)
    )
    kept.hold("help", ((call, plain(_shown(text))) for call, text in texts))


def _shown(text: str) -> str:
    return "".join(f"{line.strip(' │')}\n" for line in text.splitlines() if line.strip(" │"))
