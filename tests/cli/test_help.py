"""Help, version and completion."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.cli.commands import leaves, parse
from tests.cli.conftest import Run
from tests.cli.test_output import LIVE
from tracker.core.version import VERSION

LEAVES = dict(leaves())


def help_of(command: Any) -> str:
    """What a command says of itself, on one line."""
    return " ".join((command.help or "").split())


@pytest.mark.parametrize("name", LEAVES)
def test_every_command_says_what_it_does(run: Run, name: str) -> None:
    text = help_of(LEAVES[name])
    assert re.match(r"[A-Z].*\. Examples?: ", text), text
    shown = run(*name.split(), "--help")
    assert shown.err == ""
    assert "Usage: tracker " + name in " ".join(shown.out.split())
    assert text.split(".")[0].split("`")[0].split(":")[0][:40] in " ".join(shown.out.split())
    assert run(*name.split(), "-h").out == shown.out


@pytest.mark.parametrize("name", LEAVES)
def test_every_option_and_argument_is_told_by_its_help_or_its_name(name: str) -> None:
    for parameter in LEAVES[name].params:
        told = getattr(parameter, "help", None) or parameter.metavar
        assert told, f"{name}: {parameter.name}"


@pytest.mark.parametrize("name", LEAVES)
def test_every_command_has_examples_one_a_line_and_a_next_step(run: Run, name: str) -> None:
    text = LEAVES[name].help
    examples = re.findall(r"^- `(tracker .+)`$", text, re.MULTILINE)
    assert examples
    assert [parse(example) for example in examples] == [name] * len(examples)
    (following,) = re.findall(r"^Next: `(tracker .+)`$", text, re.MULTILINE)
    assert parse(following) != name
    shown = run(*name.split(), "--help", env={"COLUMNS": "80"}).out
    lines = [line.strip() for line in shown.splitlines()]
    assert {f"• {example}" for example in examples} <= {*lines}, "not wrapped at 80 columns"
    assert f"Next: {following}" in lines


def test_the_first_help_leads_to_the_tour(run: Run) -> None:
    shown = run("--help").out
    assert "Start with: tracker demo" in shown
    for name in LEAVES:
        assert f" {name.split()[0]} " in shown


def test_no_word_at_all_shows_the_help(run: Run) -> None:
    assert "Start with: tracker demo" in run(code=2).out


def test_the_version(run: Run) -> None:
    assert run("--version").out == f"tracker {VERSION}\n"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("tracker ", {name.split()[0] for name in LEAVES}),
        ("tracker im", {"import", "imports"}),
        ("tracker imports ", {"list", "show", "undo"}),
        ("tracker import --dr", {"--dry-run"}),
    ],
)
def test_completion(run: Run, line: str, expected: set[str]) -> None:
    env = {
        "_TRACKER_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(line.count(" ")),
    }
    assert set(run(env=env).out.split()) == expected


def test_the_completion_script(process: Run) -> None:
    env = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    shown = process("--show-completion", "bash", env=env).out
    assert "_TRACKER_COMPLETE=complete_bash" in shown
    assert "complete -o default -F _tracker_completion tracker" in shown


def test_every_command_about_a_project_is_told_of_it_in_both_ways() -> None:
    """Registered with `about_project`, which also finds the only project."""
    for name, command in leaves():
        named = {
            one.param_type_name
            for one in command.params
            if {"--project", "project"} & set(one.opts)
        } | {"argument" for one in command.params if one.metavar == "[PROJECT]"}
        # Their words are files, or one of a few, or as many as one likes.
        theirs = {"import", "item import", "annotator import", "simulate", *LIVE}
        theirs |= {"item alias", "item unalias", "webhook add"}
        if name not in theirs:
            assert named in ({"argument", "option"}, set()), name
