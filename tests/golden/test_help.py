"""The help of every command, and of every group of commands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.cli.commands import ROOT
from tests.cli.conftest import Run
from tests.golden.frozen import plain
from tests.golden.kept import Kept


def every(command: Any = ROOT, *path: str) -> Iterator[tuple[str, ...]]:
    """Yield the words of each command and group."""
    yield path
    for name, child in getattr(command, "commands", {}).items():
        yield from every(child, *path, name)


def test_every_help_says_what_it_said(run: Run, kept: Kept) -> None:
    texts = ((f"tracker {' '.join((*path, '--help'))}",
              run(*path, "--help", env={"COLUMNS": "80"}).out) for path in every())  # fmt: skip
    kept.hold("help", ((call, plain(_shown(text))) for call, text in texts))


def _shown(text: str) -> str:
    return "".join(f"{line.strip(' │')}\n" for line in text.splitlines() if line.strip(" │"))
