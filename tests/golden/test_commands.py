"""Each call of the table says what it said."""

from __future__ import annotations

import shutil
from contextlib import nullcontext
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.golden.commands import GROUPS, sections
from tests.golden.conftest import Answers, Copy
from tests.golden.frozen import remembered
from tests.golden.kept import Kept
from tests.house import CHECKOUT

FILES = Path(__file__).with_name("files")


@pytest.mark.parametrize("name", GROUPS)
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
        kept.hold(name, sections(run, group, renewed))
