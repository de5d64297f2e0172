"""README and the pages behind it: commands that can be typed, examples that run."""

from __future__ import annotations

import re
import runpy
import shlex
from pathlib import Path

import pytest

from tests.cli.commands import leaves, options, parse
from tests.house import CHECKOUT

README = CHECKOUT / "README.md"
REFERENCE = CHECKOUT / "docs" / "commands.md"
MEASURES_PAGE = CHECKOUT / "docs" / "measures.md"
PAGES = (README, CHECKOUT / "CONTRIBUTING.md", *sorted((CHECKOUT / "docs").rglob("*.md")))


def blocks(page: Path, language: str) -> list[str]:
    """The page's fenced blocks in a language, in order."""
    pattern = rf"^```{language}\n(.*?)^```$"
    return re.findall(pattern, page.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def one_line(block: str) -> str:
    (line,) = block.splitlines()
    return line.strip()


def test_the_first_command_installs_and_runs_the_tour() -> None:
    command = one_line(blocks(README, "sh")[0])
    steps = [shlex.split(step) for step in command.split("&&")]
    assert steps[0][:3] == ["python3", "-m", "venv"]
    install = next(step for step in steps if "install" in step)
    assert "-e" not in install, "people are given the package, not the checkout"
    assert Path(steps[-1][0]).name == "tracker"
    assert parse(shlex.join(["tracker", *steps[-1][1:]])) == "demo"


def test_the_second_command_is_what_continuous_integration_runs() -> None:
    command = one_line(blocks(README, "sh")[1])
    assert ".[test]" in command
    assert command.split("&&")[-1].strip().endswith("pytest")
    script = CHECKOUT / ".ci" / "run"
    lines = [line.strip() for line in script.read_text("utf-8").splitlines()]
    code = [line for line in lines if line and not line.startswith("#")]
    assert code[-1] == command
    assert all(line.startswith(("set ", "cd ")) for line in code[:-1]), "no more than contributors"
    assert script.stat().st_mode & 0o111, ".ci/run can be executed"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_on_the_pages_is_one(page: Path) -> None:
    """In the text a command may stand without its arguments; its words and options are real."""
    shown = re.findall(r"^\$ (tracker .*)$", page.read_text("utf-8"), re.MULTILINE)
    parts = (re.split(r"&&| \#|\n", block) for block in blocks(page, "sh"))
    typed = (part.strip() for block in parts for part in block)
    for line in [*shown, *(part for part in typed if part.startswith("tracker "))]:
        parse(line)
    known = dict(leaves())
    heads = {name.split()[0] for name in known}
    for line in re.findall(r"`tracker ([a-z][^`\n]*)`", page.read_text("utf-8")):
        words = shlex.split(line)
        name = next((n for n in (" ".join(words[:2]), words[0]) if n in known), None)
        assert name or words[0] in heads, line
        given = {word for word in words if word.startswith("-")}
        assert given <= (options(known[name]) if name else set()), line


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "python")], ids=lambda p: p.name)
def test_the_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page's examples follow one another, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    exec("\n".join(blocks(page, "python")), {})  # noqa: S102 - it is our own


def test_there_are_examples_in_python() -> None:
    assert sum(len(blocks(page, "python")) for page in PAGES) > 3


def test_the_pages_that_are_made_are_those_of_commands_and_measures() -> None:
    make = runpy.run_path(str(CHECKOUT / "docs" / "generate.py"))
    for page, name in ((REFERENCE, "reference"), (MEASURES_PAGE, "measures")):
        assert page.read_text("utf-8") == make[name](), "run: python docs/generate.py"
