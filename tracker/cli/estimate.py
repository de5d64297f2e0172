"""``tracker estimate`` and ``tracker panel``."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from tracker.cli.context import ProjectArgument, ledger_of_command, with_project_argument
from tracker.cli.import_options import STDOUT, output_option_target
from tracker.cli.operations import add_operations, operation_help, print_operation
from tracker.cli.output import Output
from tracker.cli.terminal import Force, hint
from tracker.core.errors import InvalidOption
from tracker.core.operations import Given
from tracker.judge.choosing import PanelAsked
from tracker.ledger.estimates import Estimates
from tracker.ledger.panels import Panels


def register(app: typer.Typer) -> None:
    add_operations(app, Estimates, "")
    with_project_argument(app, "panel")(panel_command)


def panel_command(
    context: typer.Context,
    project: ProjectArgument,
    output_file: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write where each item goes that people did not answer: .csv, .xlsx, .jsonl or "
            ".parquet; - for standard output.",
        ),
    ] = None,
    force: Force = False,
    output: Output = Output(),
    *,
    asked: PanelAsked,
) -> None:
    panels = ledger_of_command(context).panels
    if output_file is None:
        operation = Panels.panel.operation  # type: ignore[attr-defined]
        result = panels.panel(project, **asked)
        print_operation(operation, result, Given(project=project, **asked), output)
        return
    if output_file == STDOUT and not output.for_people:
        raise InvalidOption(
            f"-o - and --{output.name} would both write to standard output", "write a file: -o FILE"
        )
    from tracker.render.nouns import count_noun

    to = output_option_target(output_file, force=force)
    with panels.routed(project, **asked) as rows:
        number = to.write_rows(*rows, rows.types)
    hint(f"{count_noun(number, 'item')}: {output_file}")
    if output_file != STDOUT:
        hint(f"to mark them: tracker item import {shlex.quote(output_file)} "
             f"-p {shlex.quote(project)} --keep route")  # fmt: skip
        hint(f"and to assign those: tracker assign {shlex.quote(project)} --where route=people")


panel_command.__doc__ = operation_help(Panels.panel)
