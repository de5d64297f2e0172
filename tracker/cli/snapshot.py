"""``tracker snapshot``: the figures and tallies as they are, recorded."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING, Annotated, Final

import typer

from tracker.agreement.asking import Computing
from tracker.cli.context import ProjectArgument, ledger_of_command, with_project_argument
from tracker.cli.output import AsJson, print_json
from tracker.cli.terminal import hint, is_quiet, say, warn
from tracker.counts.choosing import Choosing

if TYPE_CHECKING:
    from tracker.history.by_question import TakenByQuestion
    from tracker.history.snapshot import SnapshotRecord


_FIRST: Final = "krippendorff_alpha"
_SHORT: Final = {_FIRST: "alpha"}


def register(app: typer.Typer) -> None:
    """Add the command."""
    with_project_argument(app)(snapshot)


def snapshot(
    context: typer.Context,
    project: ProjectArgument,
    name: Annotated[str | None, typer.Option(help="Name of the snapshot.")] = None,
    note: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Why the snapshot is taken.")
    ] = None,
    *,
    answers: Choosing,
    figures: Computing,
    if_changed: Annotated[
        bool,
        typer.Option(
            "--if-changed",
            help="Skip if nothing has changed since the last snapshot with these settings.",
        ),
    ] = False,
    full: Annotated[
        bool, typer.Option("--full", help="Read all labels, not only those of changed items.")
    ] = False,
    check: Annotated[
        bool,
        typer.Option("--check", help="Count both ways; exit with 1 if they differ."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Record the project's current figures and tallies; a record never changes.

    Of a project that asks several questions it records all of them. The options and the
    selection of answers are recorded with them. Only items that changed since
    the last snapshot with the same options are read, if that is faster.

    Prints `snapshot NUMBER: …`; with `--quiet` before the command the number alone.

    Examples:
    - `tracker snapshot reviews --name "guideline v2"`
    - `tracker snapshot reviews --if-changed`
    - `tracker snapshot reviews --as-of 2026-03-31`
    - `tracker snapshot reviews --name Dutch --where language=nl`

    Next: `tracker history reviews`
    """
    taken = ledger_of_command(context).snapshot_by_question(
        project,
        name=name,
        note=note,
        full=full,
        check=check,
        if_changed=if_changed,
        **figures,
        **answers,
    )
    if as_json:
        print_json(taken.to_dict())
    elif is_quiet():
        say(str(taken.id))
    else:
        told = _figures(taken) if taken.fresh else "nothing has changed since"
        say(f"snapshot {taken.id}: {told}")
    if not taken.fresh:
        if name is not None:
            warn(f"none was named {name!r}: nothing has changed since snapshot {taken.id}")
    elif taken.before is None:
        hint(f"next: tracker history {quote(project)}")
    else:
        hint(f"next: tracker compare {quote(project)} {taken.before} {taken.id}")


def _figures(taken: TakenByQuestion) -> str:
    """Return the first figure of each question, with its name if there are several."""
    if len(taken.questions) == 1:
        return _figure(taken.first.snapshot)
    return ", ".join(f"{name} {_figure(one.snapshot)}" for name, one in taken.questions.items())


def _figure(found: SnapshotRecord) -> str:
    """Return the first figure that people look for, or why there is none."""
    from tracker.measures.words import undefined_in_words
    from tracker.render.cells import figure_cell

    measures = found.assessment.measures
    known = next((one for one in measures if one.measure == _FIRST), measures[0])
    name = _SHORT.get(known.measure, known.measure.replace("_", " "))
    return (
        f"{name} {figure_cell(known.value)}"
        if known.value is not None
        else (f"{name} undefined: {undefined_in_words(known.undefined)}")
    )
