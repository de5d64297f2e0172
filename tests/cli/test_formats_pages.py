"""The page of each format: its commands import the exports that lie beside the tests."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.house import CHECKOUT

PAGES = sorted((CHECKOUT / "docs" / "formats").glob("*.md"))
EXPORTS = CHECKOUT / "tests" / "data" / "exports"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_commands_of_a_page_import_exports(run: Run, folder: Path, page: Path) -> None:
    """Its `sh` blocks are typed in a folder of exports; some pages name a file of the user's."""
    for beside in (EXPORTS / page.stem, EXPORTS / "hand-written"):
        if beside.is_dir():
            shutil.copytree(beside, folder, dirs_exist_ok=True)
    shown = re.findall(r"^```sh\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    lines = [line for block in shown for line in block.splitlines() if line.strip()]
    assert any(line.startswith("tracker import ") for line in lines)
    for line in lines:
        program, *words = shlex.split(line, comments=True)
        assert program == "tracker"
        if words[0] != "import" or Path(words[1]).exists():
            run(*words)
