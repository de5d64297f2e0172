"""Options for what is shown to others."""

from __future__ import annotations

from typing import Annotated

import typer

from tracker.cli.project_options import LARGEST

Pseudonyms = Annotated[
    bool,
    typer.Option(
        "--pseudonyms",
        help="Replace names with pseudonyms that are stable in this database "
        "and meaningless elsewhere.",
    ),
]
SuppressBelow = Annotated[
    int | None,
    typer.Option(
        "--suppress-below",
        metavar="N",
        max=LARGEST,
        help="Leave out figures based on fewer than N answers.",
    ),
]
