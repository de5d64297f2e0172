"""``tracker formats``."""

from __future__ import annotations

import typer

from tracker.cli.output import Output, print_result
from tracker.cli.signatures import flatten_option_groups
from tracker.cli.terminal import hint


def register(app: typer.Typer) -> None:
    app.command("formats")(flatten_option_groups(formats_command))


def formats_command(output: Output = Output()) -> None:
    """List the formats that can be imported, and what a file of each can hold.

    Example:
    - `tracker formats`

    Next: `tracker import export.json -p reviews --preview`
    """
    from tracker.ledger import Ledger
    from tracker.render.tables import table

    formats = [reader.to_dict() for reader in Ledger.formats()]
    flat = [row | {"holds": " ".join(row["holds"])} for row in formats]
    cells = [(row["format"], row["title"] + " ", ", ".join(row["holds"])) for row in formats]
    print_result(
        {"formats": formats},
        output,
        rows=flat,
        view=[table(("format ", "files ", "can hold, beside item, annotator, category "), cells)],
    )
    hint("each is recognized by its content: tracker import FILE -p NAME; to force one: --format")
