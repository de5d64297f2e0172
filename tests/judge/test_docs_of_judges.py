"""The page about judges, as it is typed: a year of a judge's versions."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from tests.cli.conftest import Run, folder, run
from tests.house import CHECKOUT
from tests.judge.year import write_year

PAGE = CHECKOUT / "docs" / "judges.md"
__all__ = ["folder", "run"]


def test_the_page_shows_what_its_commands_print(run: Run, folder: Path) -> None:
    write_year(folder)
    text = PAGE.read_text("utf-8")
    (gate,) = re.findall(r"^```toml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    (folder / "gate.toml").write_text(gate, "utf-8")
    lines = [line.rstrip() for block in re.findall(r"^```console\n(.*?)^```$", text, re.M | re.S)
             for line in block.splitlines()]  # fmt: skip
    printed: list[str] = []
    shown = 0
    for line in lines:
        if line.startswith("$ tracker "):
            output = run(*shlex.split(line)[2:]).out
            printed = [part.rstrip() for part in output.splitlines()]
        elif line != "…":
            assert line in printed, (line, printed)
            printed = printed[printed.index(line) :]
            shown += 1
    assert shown > 15
