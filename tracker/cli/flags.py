"""``tracker flags``: the findings that audits recorded, and what is done about them."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from tracker.cli.context import (
    ProjectArgument,
    command_group,
    ledger_of_command,
    with_project_argument,
)
from tracker.cli.options import QuestionNames
from tracker.cli.output import AsJson, Output, print_json, print_result
from tracker.cli.terminal import hint, say, warn
from tracker.core.errors import InvalidOption
from tracker.core.operations import LARGEST

if TYPE_CHECKING:
    from tracker.audit.flags import Acted


flags, register = command_group(
    "flags",
    "List recorded findings, act on them, and answer appeals.",
)

Flag = Annotated[int, typer.Argument(metavar="FLAG", max=LARGEST, help="Flag number.")]
Flags = Annotated[list[int], typer.Argument(metavar="FLAG…", max=LARGEST, help="Flag numbers.")]
Note = Annotated[str | None, typer.Option(metavar="TEXT", help="Reason; kept with the flag.")]
By = Annotated[str | None, typer.Option("--by", help="Who decided. Default: your login name.")]

_NEXT: dict[str, str] = {
    "acknowledge": "when it is dealt with: tracker flags resolve {flags}-p {project}",
    "dismiss": "it reopens if the evidence grows by half; see: tracker flags list {project} "
    "--state dismissed",
    "resolve": "it reopens if an audit finds it again: tracker audit {project} --record",
    "reopen": "what was done about it: tracker flags history {flags}-p {project}",
    "appeal": "to answer it: tracker flags uphold|reject {flags}-p {project}",
    "uphold": "it reopens if the evidence grows by half; what was done about it: "
    "tracker flags history {flags}-p {project}",
    "reject": "what was done about it: tracker flags history {flags}-p {project}",
}


_BECAME = {
    "appeal": "appealed, and stays {}",
    "uphold": "{}: the appeal is upheld",
    "reject": "{} as before: the appeal is rejected",
}
"""What an act makes of a flag in a state, if it is not just that state."""


@with_project_argument(flags, "list")
def list_flags_command(
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
    question: QuestionNames = None,
    output: Output = Output(),
) -> None:
    """List a project's recorded findings: those that need attention, or all.

    Examples:
    - `tracker flags list reviews`
    - `tracker flags list reviews --state all --csv`
    - `tracker flags list reviews --annotator ada --kind category_bias`
    - `tracker flags list rubric --question tone`

    Next: `tracker flags show 3 -p reviews`
    """
    from tracker.audit.tables import flags_view

    known = ledger_of_command(context).flags
    listed = known.list(
        project, states=state, annotator=annotator, kind=kind, questions=question or ()
    )
    rows = [one.to_dict() for one in listed]
    print_result(
        {"project": project, "flags": rows},
        output=output,
        rows=rows,
        view=flags_view(rows),
    )
    if rows:
        hint(f"next: tracker flags show {rows[0]['flag']} -p {quote(project)}")
    elif known.list(project, states=["all"]):
        hint(f"no such flag; for all of them: tracker flags list {quote(project)} --state all")
    else:
        hint(f"none recorded: tracker audit {quote(project)} --record")


@with_project_argument(flags, "show", numbers=True)
def show_flag_command(
    context: typer.Context, project: ProjectArgument, flag: Flag, output: Output = Output()
) -> None:
    """Show one finding: the latest evidence, what was done about it, every sighting.

    Example:
    - `tracker flags show 3 -p reviews`

    Next: `tracker flags acknowledge 3 -p reviews`
    """
    from tracker.audit.tables import flag_view

    told = {"project": project} | ledger_of_command(context).flags.show(project, flag).to_dict()
    print_result(told, output, view=flag_view(told))


_ACTS: dict[str, str] = {
    "acknowledge": """Mark open findings as being dealt with.

    Example:
    - `tracker flags acknowledge 3 4 -p reviews --note "will talk to ada"`

    Next: `tracker flags resolve 3 -p reviews`
    """,
    "dismiss": """Mark findings as harmless; they reopen if the evidence grows by half.

    Example:
    - `tracker flags dismiss 3 -p reviews --note "only had the easy batch"`

    Next: `tracker flags list reviews --state dismissed`
    """,
    "resolve": """Mark findings as dealt with; they reopen if an audit finds them again.

    Example:
    - `tracker flags resolve 3 -p reviews --note "answers given anew" --by bo`

    Next: `tracker audit reviews --record`
    """,
    "reopen": """Make findings open again that were acknowledged, dismissed or resolved.

    Example:
    - `tracker flags reopen 3 -p reviews --note "dismissed by mistake"`

    Next: `tracker flags list reviews`
    """,
    "uphold": """Accept appeals: findings are dismissed, and reopen if the evidence grows by half.

    Example:
    - `tracker flags uphold 3 -p reviews --note "the guideline does say so"`

    Next: `tracker flags history 3 -p reviews`
    """,
    "reject": """Turn appeals down; the findings keep their state.

    Example:
    - `tracker flags reject 3 -p reviews --note "see section 2 of the guideline"`

    Next: `tracker flags show 3 -p reviews`
    """,
}
"""The help of each command that acts on several findings."""


def _register_act(action: str, text: str) -> None:
    def act(
        context: typer.Context,
        project: ProjectArgument,
        flag: Flags,
        note: Note = None,
        by: By = None,
        as_json: AsJson = False,
    ) -> None:
        done = getattr(ledger_of_command(context).flags, action)(
            project, flag, by=_name(by), note=note
        )
        _say_acts(project, action, done, as_json=as_json)

    act.__doc__ = text
    with_project_argument(flags, action, numbers=True)(act)


for _action, _text in _ACTS.items():
    _register_act(_action, _text)


@with_project_argument(flags, "appeal", numbers=True)
def appeal_flags_command(
    context: typer.Context,
    project: ProjectArgument,
    flag: Flag,
    note: Annotated[str, typer.Option(metavar="TEXT", help="The annotator's objection.")],
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Record an annotator's objection to a finding; its state does not change.

    Example:
    - `tracker flags appeal 3 -p reviews --note "as the guideline says"`

    Next: `tracker flags uphold 3 -p reviews`
    """
    done = ledger_of_command(context).flags.appeal(project, flag, by=_name(by), note=note)
    _say_acts(project, "appeal", [done], as_json=as_json)


@with_project_argument(flags, "history", numbers=True)
def flag_history_command(
    context: typer.Context,
    project: ProjectArgument,
    flag: Annotated[
        int | None,
        typer.Argument(metavar="[FLAG]", max=LARGEST, help="Flag number; all flags if left out."),
    ] = None,
    output: Output = Output(),
) -> None:
    """Show what was done about a finding, or about all of a project's, by whom and why.

    Examples:
    - `tracker flags history 3 -p reviews`
    - `tracker flags history -p reviews --csv`

    Next: `tracker flags list reviews`
    """
    from tracker.audit.tables import flag_changes_view

    rows = ledger_of_command(context).flags.history(project, flag)
    print_result(
        {"project": project, "changes": rows},
        output=output,
        rows=rows,
        view=flag_changes_view(rows),
    )
    if not rows:
        hint(f"none recorded: tracker audit {quote(project)} --record")


def _say_acts(project: str, action: str, outcomes: Sequence[Acted], *, as_json: bool) -> None:
    """Say what became of each flag, and what comes next."""
    done = [outcome for outcome in outcomes if outcome.changed]
    if as_json:
        print_json({"project": project, "flags": [outcome.to_dict() for outcome in outcomes]})
    for outcome in outcomes:
        if not outcome.changed:
            warn(f"flag {outcome.flag} is already {outcome.before}")
        elif not as_json:
            became = _BECAME.get(action, "{}").format(outcome.state)
            say(f"flag {outcome.flag} of {project} is {became} (by {outcome.by})")
    if done:
        listed = "".join(f"{outcome.flag} " for outcome in done)
        hint(_NEXT[action].format(flags=listed, project=quote(project)))


def _name(by: str | None) -> str:
    """Return the name given, else that under which the user logged in; raises InvalidOption."""
    if by is not None:
        return by
    import getpass

    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError):
        raise InvalidOption("your login name is not known", "give a name: --by NAME") from None
