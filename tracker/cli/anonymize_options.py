"""Options for what is shown to others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tracker.cli.project_options import LARGEST

if TYPE_CHECKING:
    from tracker.audit import Audit
    from tracker.ledger import Ledger

__all__ = ["Pseudonyms", "SuppressBelow", "fairly"]

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


def fairly(ledger: Ledger, found: Audit, *, pseudonyms: bool, suppress_below: int | None) -> Audit:
    """The audit as the two options want it."""
    from tracker.audit.anonymize import renamed, suppressed
    from tracker.projects.annotators import list_annotators

    if suppress_below is not None:
        found = suppressed(found, suppress_below)
    if not pseudonyms:
        return found
    with ledger.reading(found.project) as (connection, project):
        ids = {one.name: one.id for one in list_annotators(connection, project)}
    return renamed(found, ledger.pseudonyms(found.project), ids)
