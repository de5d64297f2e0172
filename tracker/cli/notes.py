"""``tracker project note``, ``notes``, ``unnote``: what happened, on the time line."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from tracker.cli.context import ProjectArgument, ledger_of_command, with_project_argument
from tracker.cli.output import AsJson, Output, print_json, print_result
from tracker.cli.terminal import hint, say
from tracker.core import clock
from tracker.core.operations import LARGEST


def register(projects: typer.Typer) -> None:
    """Add the commands to those of projects."""
    with_project_argument(projects)(note)
    with_project_argument(projects)(notes)
    with_project_argument(projects)(unnote)


def note(
    context: typer.Context,
    project: ProjectArgument,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What happened.")],
    at: Annotated[
        str | None,
        typer.Option(
            metavar="WHEN",
            help="Time of the event (default: now): 2026-03-01T14:30 (UTC), "
            "2026-03-01 (from the begin of that day), 7d, '3 weeks ago'.",
        ),
    ] = None,
    guideline: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The version of the guideline that holds from then on; --guideline of other "
            "commands chooses its answers.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Note an event, such as a new guideline; curves show it.

    Examples:
    - `tracker project note reviews "guideline v2"`
    - `tracker project note reviews "v3" --guideline v3 --at 2026-03-01`
    - `tracker project note reviews "two annotators joined" --at 2026-03-01`

    Next: `tracker history reviews`
    """
    made = ledger_of_command(context).notes.add(project, text, at, guideline)
    if as_json:
        print_json({"project": project} | made.to_dict())
    else:
        named = "" if made.guideline is None else f" (guideline {made.guideline})"
        say(f"note {made.id} of {project}, {clock.iso(made.at)[:19]}Z: {made.text}{named}")
    hint(f"next: tracker history {shlex.quote(project)}")


def notes(context: typer.Context, project: ProjectArgument, output: Output = Output()) -> None:
    """List a project's notes in the order of their events.

    Example:
    - `tracker project notes reviews`

    Next: `tracker compare reviews "..guideline v2" "guideline v2.."`
    """
    from tracker.render.cells import minute_cell
    from tracker.render.tables import table

    rows = [one.to_dict() for one in ledger_of_command(context).notes.list(project)]
    flat = rows
    if any("guideline" in row for row in rows):
        flat = [row | {"guideline": row.get("guideline")} for row in rows]
    cells = [
        (str(row["note"]), minute_cell(row["at"]), row["text"])
        + ((row["guideline"] or "",) if "guideline" in row else ())
        for row in flat
    ]
    columns = ("note", "at ", "text ", "guideline ")[: len(cells[0]) if cells else 3]
    print_result(
        {"project": project, "notes": rows},
        output=output,
        rows=flat,
        view=[table(columns, cells)],
    )
    if not rows:
        hint(f'none yet: tracker project note {shlex.quote(project)} "what happened"')


def unnote(
    context: typer.Context,
    project: ProjectArgument,
    number: Annotated[int, typer.Argument(metavar="NOTE", max=LARGEST, help="The note's number.")],
    erase: Annotated[
        bool, typer.Option("--erase", help="Delete its text for good, also of one removed before.")
    ] = False,
) -> None:
    """Remove a note from the time line; the record of changes keeps it.

    Examples:
    - `tracker project unnote reviews 2`
    - `tracker project unnote reviews 2 --erase`

    Next: `tracker project notes reviews`
    """
    removed = ledger_of_command(context).notes.remove(project, number, erase=erase)
    if erase:
        say(f"note {removed.id} of {project} is erased")
        return
    at = clock.iso(removed.at)
    say(f"note {removed.id} of {project} is removed: {removed.text}")
    words = [project, removed.text, "--at", at]
    if removed.guideline is not None:
        words += ["--guideline", removed.guideline]
    hint(f"to put it back: tracker project note {shlex.join(words)}")
