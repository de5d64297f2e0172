"""Each call of the table says what it said."""

from __future__ import annotations

import shutil
from contextlib import nullcontext
from pathlib import Path

import pytest

from tests.cli.commands import leaves
from tests.cli.conftest import Run
from tests.golden.commands import GROUPS, last_sections, named, sections
from tests.golden.conftest import Answers, Copy
from tests.golden.frozen import remembered
from tests.golden.kept import Kept
from tests.house import CHECKOUT

FILES = Path(__file__).with_name("files")
# What has tests of its own, because it asks a server, takes long, or speaks of files of databases.
ELSE = {"conformance", "database backup", "database copy", "database copy-for-counting", "demo",
        "project read-labels", "serve", "sync label-studio", "sync mlflow",
        "webhook test"}  # fmt: skip


# What a statement has no part in: readers of files, and what is refused or written afterwards.
OF_NO_DATABASE = {"agreement_mistakes", "readers", "reports_of_stories", "reports_of_little"}
ASKED = [("sqlite", name) for name in GROUPS]
ASKED += [("postgresql", name) for name in GROUPS if name not in OF_NO_DATABASE]


@pytest.mark.parametrize(("backend", "name"), ASKED, indirect=["backend"])
def test_every_call_says_what_it_said(
    run: Run, copy: Copy, known: Answers, backend: str, folder: Path, kept: Kept, name: str
) -> None:
    group = GROUPS[name]
    (folder / "exports").symlink_to(CHECKOUT / "tests" / "data" / "exports")

    def renewed() -> str:
        for path in folder.iterdir():
            if path.is_file():
                path.unlink()
        shutil.copytree(FILES, folder, dirs_exist_ok=True)
        return copy(group.ledger)

    copy(group.ledger)  # that building it is not remembered
    with nullcontext() if group.afresh else remembered(known[backend, group.ledger]):
        if backend == "sqlite":
            kept.hold(name, sections(run, group, renewed))
        else:
            kept.hold_some(name, last_sections(run, group, renewed, kept.sections(name)))


def test_every_command_is_called() -> None:
    calls = (one for group in GROUPS.values() for call in group.calls for one in call.split(" && "))
    assert {name for name, _ in leaves()} - {named(call)[0] for call in calls} == ELSE
