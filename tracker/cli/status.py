"""``tracker status``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from shlex import quote
from typing import TYPE_CHECKING, Any

import typer

from tracker.cli.context import ProjectOption, SomeProject, ledger_of_command
from tracker.cli.context import project_argument_or_option as chosen
from tracker.cli.options import QuestionNames
from tracker.cli.output import Output, print_result
from tracker.cli.signatures import flatten_option_groups
from tracker.cli.terminal import hint
from tracker.core.errors import InvalidOption
from tracker.counts.choosing import Moment, distinct_names

if TYPE_CHECKING:
    from tracker.history.status import Status


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(flatten_option_groups(status))


def status(
    context: typer.Context,
    argument: SomeProject = None,
    project: ProjectOption = None,
    question: QuestionNames = None,
    *,
    moment: Moment,
    output: Output = Output(),
) -> None:
    """Show the progress of a project, or of all active ones: items, answers, coverage, pace, flags.

    Of one project it says first what is plainly wrong, if anything is.

    Examples:
    - `tracker status`
    - `tracker status reviews --as-of 2026-03-31`
    - `tracker status rubric --question tone`

    Next: `tracker agreement reviews`
    """
    from tracker.audit.tables import verdict_view
    from tracker.history.snapshot_tables import status_pace_view, status_recent_view, status_view
    from tracker.history.status_json import status_as_json, statuses_as_json

    name = chosen(argument, project)
    ledger = ledger_of_command(context)
    names = distinct_names(question)
    if name is None and names:
        raise InvalidOption("--question is of one project", "name it: tracker status PROJECT")
    if name is None:
        found, verdict = ledger.statuses(**moment), None
        told = statuses_as_json(found)["projects"]
        changed = list(status_recent_view(found))
    else:
        found = ledger.status_by_question(name, questions=names, **moment)
        verdict = ledger.verdict(name, questions=names, **moment)
        told = [status_as_json(found, verdict)]
        changed = list(verdict_view(verdict["verdict"], _unseen(found, verdict)))
    print_result(
        {"projects": told} if name is None else told[0],
        output=output,
        rows=[_row(one) for project in told for one in project.get("questions", [project])],
        view=[*changed, status_view(found), *status_pace_view(found)],
    )
    if not found:
        hint("there is no project yet: tracker import FILE --project NAME, or: tracker demo")
    else:
        hint(f"next: tracker {_next(found)}")


def _unseen(statuses: Sequence[Status], verdict: Mapping[str, Any]) -> str:
    """Return that nothing stands out, and what could not have been seen."""
    from tracker.audit.sentences import nothing

    return nothing(max(one.annotators for one in statuses), verdict["detectable_gap"])


def _row(payload: dict[str, Any]) -> dict[str, Any]:
    """One status as a flat row."""
    parts = {"answers_per_item", "last_import", "recent", "verdict", "detectable_gap"}
    return {key: payload[key] for key in payload if key not in parts}


def _next(statuses: Sequence[Status]) -> str:
    """What to look at first: open flags, then figures, then answers that are still to come."""
    for one in statuses:
        if one.flags:
            return f"flags list {quote(one.project)}"
    for one in statuses:
        if one.answers:
            return f"agreement {quote(one.project)}"
    return f"import FILE --project {quote(statuses[0].project)}"
