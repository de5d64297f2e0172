"""``tracker simulate``: synthetic experiments, and crowds with planted annotators."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from tracker.cli.context import ledger_of_command
from tracker.cli.terminal import Force, check_output_file, hint, new_output_file, say
from tracker.core.errors import InvalidOption
from tracker.core.operations import LARGEST

if TYPE_CHECKING:
    from tracker.simulate.crowds import Row


MOST_ITEMS = 100_000_000


def register(app: typer.Typer) -> None:
    app.command()(simulate)


def simulate(
    context: typer.Context,
    experiment: Annotated[str, typer.Argument(metavar="high|low|mixed|crowd")],
    items: Annotated[
        int, typer.Option(metavar="N", max=MOST_ITEMS, help="Number of items.")
    ] = 1000,
    seed: Annotated[
        int,
        typer.Option(
            metavar="N", max=LARGEST, help="Random seed; the same seed gives the same rows."
        ),
    ] = 0,
    annotators: Annotated[
        str | None,
        typer.Option(
            metavar="KIND=N,…",
            help="For a crowd: how many honest, constant, random, copier and lazy annotators.",
        ),
    ] = None,
    answers_per_item: Annotated[
        int, typer.Option(metavar="N", max=LARGEST, help="For a crowd: annotators per item.")
    ] = 5,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="CSV file to write; - for standard output."
        ),
    ] = None,
    force: Force = False,
    project: Annotated[
        str | None, typer.Option("--project", "-p", help="Project to import into.")
    ] = None,
) -> None:
    """Generate answers with a known agreement, into a file or straight into a project.

    Examples:
    - `tracker simulate mixed -p mixed`
    - `tracker simulate crowd --annotators honest=9,random=2 -o crowd.csv`

    Next: `tracker agreement mixed`
    """
    from tracker.simulate import crowds as room

    if (output is None) == (project is None):
        raise InvalidOption("say where the rows go", "either -o FILE or --project NAME")
    rows: Iterator[Row]
    if experiment == "crowd":
        roster = room.DEFAULT_ROSTER if annotators is None else room.parse_roster(annotators)
        rows = room.simulate_crowd(items, seed, roster, answers_per_item=answers_per_item)
    else:
        if annotators is not None:
            raise InvalidOption("--annotators goes with: tracker simulate crowd")
        rows = room.simulate_experiment(experiment, items, seed)
    if output is not None:
        _to_file(rows, output, force=force)
    elif project is not None:
        _to_project(context, rows, project)


def _to_file(rows: Iterator[Row], output: str, *, force: bool) -> None:
    import io
    import sys
    from pathlib import Path

    from tracker.simulate.crowds import write_simulated_rows

    if output == "-":
        write_simulated_rows(rows, sys.stdout)
        return
    path = Path(output)
    check_output_file(path, force=force)
    with new_output_file(path, force=force) as file:
        text = io.TextIOWrapper(file, "utf-8", newline="")
        write_simulated_rows(rows, text)
        text.detach()
    hint(f"next: tracker import {quote(output)} --project NAME")


def _to_project(context: typer.Context, rows: Iterator[Row], project: str) -> None:
    result = ledger_of_command(context).import_rows(rows, project)
    say(f"import {result.id}: {result.rows:,} rows into {result.project}")
    hint(f"next: tracker agreement {quote(project)}")
