"""Parameters that many operations of the ledger have."""

from __future__ import annotations

from typing import Annotated

from tracker.core.operations import Option

Project = Annotated[str, Option("The project's name.", metavar="PROJECT", examples=("reviews",))]
OptionalProject = Annotated[str | None, Option("Only of this project.", either=True)]
NewName = Annotated[str, Option("The new name.")]
DryRun = Annotated[bool, Option("Show what would happen; store nothing.")]


def most_of(rows: str) -> Option:
    """Return the option of the most rows of a list, 100 for a command."""
    return Option(
        f"Maximum number of {rows}; 0 for all.", 100, metavar="N", least=0,
        read=lambda number: number or None, faces=frozenset({"command"}),
    )  # fmt: skip
