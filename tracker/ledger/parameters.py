"""Parameters that many operations of the ledger have."""

from __future__ import annotations

from typing import Annotated

from tracker.core.operations import Option

Project = Annotated[str, Option("The project's name.", metavar="PROJECT", examples=("reviews",))]


QuestionName = Annotated[
    str | None,
    Option(
        "Of a project that asks several questions: this one.",
        short="-q", metavar="NAME", in_query=True,
    ),
]  # fmt: skip
DryRun = Annotated[bool, Option("Show what would happen; store nothing.")]
