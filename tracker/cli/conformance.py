"""``tracker conformance``."""

from __future__ import annotations

import typer

from tracker.cli.output import Output, print_result
from tracker.cli.signatures import flatten_option_groups
from tracker.cli.terminal import hint


def register(app: typer.Typer) -> None:
    app.command()(flatten_option_groups(conformance))


def conformance(output: Output = Output()) -> None:
    """Check this installation against published figures, and print what can be cited.

    Known cases are computed by the functions and by the whole program, in a temporary SQLite file:
    your own database is neither read nor changed, whatever --database says. Exits with 1 where a
    number is wrong.

    Examples:
    - `tracker conformance`
    - `tracker conformance --json`

    Next: `tracker agreement reviews --methods --bibtex`
    """
    import tempfile
    from pathlib import Path

    from tracker.conformance.check import check_installation
    from tracker.conformance.tables import conformance_view
    from tracker.ledger import Ledger

    with tempfile.TemporaryDirectory(prefix="tracker-conformance-") as folder:
        ledger = Ledger(f"sqlite:///{Path(folder) / 'conformance.db'}")
        try:
            result = check_installation(ledger, Path(folder))
        finally:
            ledger.database.engine.dispose()
    payload = result.to_dict()
    rows = [{k: v for k, v in row.items() if k != "agree"} for row in payload["checks"]]
    print_result(payload, output, rows=rows, view=conformance_view(result))
    hint("computed in a temporary SQLite file; no database of yours was opened")
    if result.failed:
        raise typer.Exit(1)
