"""``tracker rules``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from tracker.cli.operations import operation_group
from tracker.cli.terminal import hint, say, write_output_file
from tracker.core.errors import InvalidOption
from tracker.ledger.rules import DEFAULT_RULES, STARTING_RULES, Rules

rules, register = operation_group(
    "rules", "Pause people by rules of a file; write one to begin with.", Rules
)


@rules.command("init")
def write_starting_rules(
    path: Annotated[
        Path, typer.Option("--rules", metavar="FILE", help="The file to write.")
    ] = Path(DEFAULT_RULES),
) -> None:
    """Write a file of rules to begin with.

    Example:
    - `tracker rules init`

    Next: `tracker rules check reviews --dry-run`
    """
    if os.path.lexists(path):
        raise InvalidOption(f"{path} already exists", "name another: --rules FILE")
    write_output_file(path, STARTING_RULES)
    say(str(path))
    hint("next: look at the rules, then: tracker rules check PROJECT --dry-run")
