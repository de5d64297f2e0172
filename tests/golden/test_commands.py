"""Each call of the table prints what it printed, and each help."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark import ParameterSet

from tests.cli.commands import ROOT, leaves
from tests.cli.conftest import Run
from tests.golden import commands
from tests.golden.conftest import Copy, Memory
from tests.golden.frozen import plain, remembered
from tests.golden.kept import Kept
from tests.house import CHECKOUT
from tests.profiles import exhaustive

FILES = Path(__file__).with_name("files")
# What has tests of its own, because it asks a server, takes long, or speaks of files of databases.
ELSE = {"conformance", "database backup", "database copy", "demo",
        "project read-labels", "serve", "sync label-studio", "sync mlflow",
        "webhook test"}  # fmt: skip


def ask_calls(backend: str) -> Iterator[ParameterSet]:
    """Yield each call; on Postgres the ordinary run asks those that use something new."""
    selected = commands.select_for_postgres()
    for name, group in commands.GROUPS.items():
        for call in group.calls:
            is_rare = backend == "postgresql" and (name, call) not in selected
            marks = [exhaustive] if is_rare else []
            yield pytest.param(backend, name, call, marks=marks,
                               id=f"{backend}-{group.ledger}-{name}: {call}")  # fmt: skip


ASKED = [*ask_calls("sqlite"), *ask_calls("postgresql")]


@pytest.mark.parametrize(("backend", "name", "call"), ASKED, indirect=["backend"])
def test_a_call_prints_what_it_printed(
    run: Run,
    copy: Copy,
    memory: Memory,
    folder: Path,
    kept: Kept,
    backend: str,
    name: str,
    call: str,
) -> None:
    group = commands.GROUPS[name]
    (folder / "exports").symlink_to(CHECKOUT / "tests" / "data" / "exports")
    copy(group.ledger)  # building it is not remembered

    def renew() -> str:
        for path in folder.iterdir():
            if path.is_file():
                path.unlink()
        for path in FILES.iterdir():
            if path.name in f"{call} gate.toml":  # which a gate reads unless it is told another
                shutil.copy(path, folder)
        return copy(group.ledger)

    known, forms = commands.titles(group, call), commands.formats_of(group, call)
    if backend == "postgresql":  # in one format: all are made from the same result
        in_file = [title for title in kept.sections(name) if title in known]
        forms = [form for form in forms if f"tracker {call} {form}".strip() in in_file][-1:]
        known = {f"tracker {call} {form}".strip() for form in forms}
    with nullcontext() if group.afresh else remembered(memory[backend, group.ledger]):
        kept.hold(name, commands.sections(run, group, call, forms, renew), known)


@pytest.mark.parametrize("name", commands.GROUPS)
def test_every_section_is_of_a_call(kept: Kept, name: str) -> None:
    group = commands.GROUPS[name]
    of_calls = {title for call in group.calls for title in commands.titles(group, call)}
    assert kept.sections(name).keys() <= of_calls | {f"tracker {call}" for call in group.calls}


def test_every_command_is_called() -> None:
    lines = (
        line
        for group in commands.GROUPS.values()
        for call in group.calls
        for line in call.split(" && ")
    )
    assert {name for name, _ in leaves()} - {commands.named(line)[0] for line in lines} == ELSE


def every(command: Any = ROOT, *path: str) -> Iterator[tuple[str, ...]]:
    yield from () if command.hidden else (path,)
    for name, child in getattr(command, "commands", {}).items():
        yield from every(child, *path, name)


def test_every_help_says_what_it_said(run: Run, kept: Kept) -> None:
    texts = ((f"tracker {' '.join((*path, '--help'))}",
              run(*path, "--help", env={"COLUMNS": "80"}).out) for path in every())  # fmt: skip
    kept.hold("help", ((call, plain(_shown(text))) for call, text in texts))


def _shown(text: str) -> str:
    return "".join(f"{line.strip(' │')}\n" for line in text.splitlines() if line.strip(" │"))
