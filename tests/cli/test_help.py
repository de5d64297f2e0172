"""Help, version and completion."""

from __future__ import annotations

import re

from tests.cli.commands import leaves, parse
from tests.cli.conftest import Run
from tests.golden.kept import Kept
from tracker.core.version import VERSION
from tracker.readers.registry import READERS

LEAVES = dict(leaves())


def test_every_command_says_what_it_does_with_examples_and_a_next_step() -> None:
    """Each is on a line of its own, in the golden of the helps too: not wrapped at 80 columns."""
    helps = Kept(update=False).sections("help")
    for name, command in LEAVES.items():
        assert re.match(r"[A-Z].*\. Examples?: ", " ".join(command.help.split())), name
        for parameter in command.params:
            told = getattr(parameter, "help", None) or parameter.metavar
            assert told, f"{name}: {parameter.name}"
        examples = re.findall(r"^- `(tracker .+)`$", command.help, re.MULTILINE)
        assert examples, name
        assert {parse(example) for example in examples} == {name}
        (following,) = re.findall(r"^Next: `(tracker .+)`$", command.help, re.MULTILINE)
        assert parse(following) != name
        lines = {*helps[f"tracker {name} --help"].splitlines()}
        assert {f"• {example}" for example in examples} | {f"Next: {following}"} <= lines, name


def test_first_help_leads_to_the_tour(run: Run) -> None:
    shown = run("--help").out
    assert run(code=2).out.strip() == shown.strip()
    assert "Start with: tracker demo" in shown
    assert all(f" {name.split()[0]} " in shown for name in LEAVES)
    assert run("category", "rename", "-h").out == run("category", "rename", "--help").out
    assert run("--version").out == f"tracker {VERSION}\n"


def test_completion(run: Run) -> None:
    for line, expected in {
        "tracker ": {name.split()[0] for name in LEAVES},
        "tracker im": {"import", "imports"},
        "tracker imports ": {"list", "show", "undo"},
        "tracker import --dr": {"--dry-run"},
        "tracker import x.json -p p --format ": {*READERS},
    }.items():
        env = {"COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
        told = run(env=env | {"_TRACKER_COMPLETE": "complete_bash"})
        assert set(told.out.split()) == expected, line
