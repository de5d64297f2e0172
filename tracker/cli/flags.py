"""``tracker flags``: the findings that audits recorded, and what is done about them."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from tracker.cli.context import hint, opened, say, warn
from tracker.cli.output import AsJson, Output, show, show_json
from tracker.cli.project_argument import ProjectArgument, about_project
from tracker.cli.project_options import LARGEST
from tracker.core.errors import InvalidOption

if TYPE_CHECKING:
    from tracker.flags.actions import Action

__all__ = ["register"]

flags = typer.Typer(
    help="List recorded findings; acknowledge, dismiss, resolve or appeal them.",
    no_args_is_help=True,
)

Flag = Annotated[int, typer.Argument(metavar="FLAG", max=LARGEST, help="Flag number.")]
Flags = Annotated[list[int], typer.Argument(metavar="FLAG…", max=LARGEST, help="Flag numbers.")]
Note = Annotated[str | None, typer.Option(metavar="TEXT", help="Reason; kept with the flag.")]
By = Annotated[str | None, typer.Option("--by", help="Who decided. Default: your login name.")]

_NEXT: dict[Action, str] = {
    "acknowledge": "when it is dealt with: tracker flags resolve {flags}-p {project}",
    "dismiss": "opened again if the evidence grows by half; see: tracker flags list {project} "
    "--state dismissed",
    "resolve": "opened again if it is found again: tracker audit {project} --record",
    "appeal": "to answer it: tracker flags dismiss|acknowledge|resolve {flags}-p {project}",
}


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(flags, name="flags")


@about_project(flags, "list")
def list_(
    context: typer.Context,
    project: ProjectArgument,
    state: Annotated[
        list[str] | None,
        typer.Option(
            metavar="open|acknowledged|dismissed|resolved|all",
            help="Only flags in this state (repeatable). Default: open and acknowledged.",
        ),
    ] = None,
    annotator: Annotated[
        str | None, typer.Option(help="Only flags of this annotator, alone or in a pair.")
    ] = None,
    kind: Annotated[str | None, typer.Option(help="Only flags of this kind.")] = None,
    output: Output = Output(),
) -> None:
    """List a project's recorded findings: those that need attention, or all.

    Examples: `tracker flags list reviews`, `tracker flags list reviews --state all --csv`,
    `tracker flags list reviews --annotator ada --kind category_bias`
    """
    from tracker.flags import list_flags
    from tracker.render.flags import flags_view
    from tracker.storage.schema import STANDING

    with opened(context).reading(project) as (connection, found):
        states = state or STANDING
        listed = list_flags(connection, found, states=states, annotator=annotator, kind=kind)
        rows = [one.to_dict() for one in listed]
        anything = rows or list_flags(connection, found)
    show(
        {"project": found.name, "flags": rows},
        output=output,
        rows=rows,
        view=flags_view(rows),
    )
    if rows:
        hint(f"next: tracker flags show {rows[0]['flag']} -p {quote(found.name)}")
    elif anything:
        hint(f"no such flag; for all of them: tracker flags list {quote(found.name)} --state all")
    else:
        hint(f"none recorded: tracker audit {quote(found.name)} --record")


@about_project(flags, "show", numbers=True)
def show_(
    context: typer.Context, project: ProjectArgument, flag: Flag, output: Output = Output()
) -> None:
    """Show one finding: the latest evidence, what was done about it, every sighting.

    Example: `tracker flags show 3 -p reviews`
    """
    from tracker.flags import show_flag
    from tracker.render.flags import flag_view

    with opened(context).reading(project) as (connection, found):
        told = {"project": found.name} | show_flag(connection, found, flag).to_dict()
    show(told, output, view=flag_view(told))


@about_project(flags, "acknowledge", numbers=True)
def acknowledge(
    context: typer.Context,
    project: ProjectArgument,
    flag: Flags,
    note: Note = None,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Mark open findings as being dealt with.

    Example: `tracker flags acknowledge 3 4 -p reviews --note "will talk to ada"`
    """
    _act(context, flag, "acknowledge", project, note, by, as_json)


@about_project(flags, "dismiss", numbers=True)
def dismiss(
    context: typer.Context,
    project: ProjectArgument,
    flag: Flags,
    note: Note = None,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Mark findings as harmless; they reopen if the evidence grows by half.

    Example: `tracker flags dismiss 3 -p reviews --note "only had the easy batch"`
    """
    _act(context, flag, "dismiss", project, note, by, as_json)


@about_project(flags, "resolve", numbers=True)
def resolve(
    context: typer.Context,
    project: ProjectArgument,
    flag: Flags,
    note: Note = None,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Mark findings as dealt with; they reopen if an audit finds them again.

    Example: `tracker flags resolve 3 -p reviews --note "answers given anew" --by bo`
    """
    _act(context, flag, "resolve", project, note, by, as_json)


@about_project(flags, "appeal", numbers=True)
def appeal(
    context: typer.Context,
    project: ProjectArgument,
    flag: Flag,
    note: Annotated[str, typer.Option(metavar="TEXT", help="The annotator's objection.")],
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Record an annotator's objection to a finding; its state does not change.

    Example: `tracker flags appeal 3 -p reviews --note "the guideline says so" --by ada`
    """
    _act(context, [flag], "appeal", project, note, by, as_json)


@about_project(flags, "history", numbers=True)
def history(
    context: typer.Context,
    project: ProjectArgument,
    flag: Annotated[
        int | None,
        typer.Argument(metavar="[FLAG]", max=LARGEST, help="Flag number; all flags if left out."),
    ] = None,
    output: Output = Output(),
) -> None:
    """Show what was done about a finding, or about all of a project's, by whom and why.

    Examples: `tracker flags history 3 -p reviews`, `tracker flags history -p reviews --csv`
    """
    from tracker.flags import flag_changes
    from tracker.render.flags import changes_view

    with opened(context).reading(project) as (connection, found):
        rows = flag_changes(connection, found, flag)
    show(
        {"project": found.name, "changes": rows},
        output=output,
        rows=rows,
        view=changes_view(rows),
    )
    if not rows:
        hint(f"none recorded: tracker audit {quote(found.name)} --record")


def _act(
    context: typer.Context,
    numbers: list[int],
    action: Action,
    project: str | None,
    note: str | None,
    by: str | None,
    as_json: bool,
) -> None:
    from tracker.flags import act

    name = _login() if by is None else by
    with opened(context).writing(project) as (connection, found):
        outcomes = act(connection, found, numbers, action, by=name, note=note)
    done = [outcome for outcome in outcomes if outcome.changed]
    if as_json:
        told = [outcome.to_dict() for outcome in outcomes]
        show_json({"project": found.name, "flags": told})
    for outcome in outcomes:
        if not outcome.changed:
            warn(f"flag {outcome.flag} is already {outcome.before}")
        elif not as_json:
            kept = f"appealed, and stays {outcome.state}" if action == "appeal" else outcome.state
            say(f"flag {outcome.flag} of {found.name} is {kept} (by {outcome.by})")
    if done:
        listed = "".join(f"{outcome.flag} " for outcome in done)
        hint(_NEXT[action].format(flags=listed, project=quote(found.name)))


def _login() -> str:
    """The name that whoever works here logged in with; raises InvalidOption."""
    import getpass

    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError):
        raise InvalidOption("who does this is not known here", "say it: --by NAME") from None
