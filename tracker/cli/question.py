"""``tracker question``."""

from __future__ import annotations

from shlex import quote
from typing import Annotated

import typer

from tracker.cli.context import (
    NewProject,
    OpenCategories,
    ProjectArgument,
    Settings,
    command_group,
    ledger_of_command,
    with_project_argument,
)
from tracker.cli.output import AsJson, Output, print_json, print_result
from tracker.cli.terminal import hint, say, warn_if

questions, register = command_group(
    "question", "List, show, add, set and rename a project's questions."
)

_Question = Annotated[str, typer.Argument(metavar="QUESTION", help="The question's name.")]


@with_project_argument(questions, "list")
def list_questions_command(
    context: typer.Context, project: ProjectArgument, output: Output = Output()
) -> None:
    """List a project's questions in the order in which they were made.

    Example:
    - `tracker question list rubric`

    Next: `tracker question show rubric tone`
    """
    from tracker.render.tables import table

    found = ledger_of_command(context).questions.list(project)
    rows = [{"question": one.name, **one.settings()} for one in found]
    heads = ("question ", "answers ", "scale ", "categories ", "wanted")
    cells = [
        (
            one.name,
            one.answers,
            one.scale,
            "closed" if one.categories_fixed else "open",
            str(one.target_answers or "-"),
        )
        for one in found
    ]
    told = {"project": project, "questions": rows}
    print_result(told, output, rows=rows, view=[table(heads, cells)])


@with_project_argument(questions, "show")
def show_question_command(
    context: typer.Context,
    project: ProjectArgument,
    question: _Question,
    output: Output = Output(),
) -> None:
    """Show how a question is answered, and its categories.

    Example:
    - `tracker question show rubric tone`

    Next: `tracker question set rubric tone --wanted 3`
    """
    from tracker.projects.settings import question_settings_cells
    from tracker.render.tables import table

    found = ledger_of_command(context).questions.show(project, question)
    rows = [("question", found.question.name), *question_settings_cells(found)]
    told = {"question": found.question.name, **found.to_dict()}
    print_result(told, output, view=[table((" ", " "), rows)])


@with_project_argument(questions, "add")
def add_question_command(
    context: typer.Context,
    project: ProjectArgument,
    question: _Question,
    settings: NewProject = NewProject(),
    as_json: AsJson = False,
) -> None:
    """Add a question to a project; `import --question` adds one too.

    Example:
    - `tracker question add rubric tone --scale ordinal --categories low,mid,high`

    Next: `tracker import tone.csv -p rubric --question tone`
    """
    from tracker.projects.settings import ANSWERS, order_sentence

    made = ledger_of_command(context).questions.add(project, question, settings.options)
    if as_json:
        print_json({"question": made.name, **made.to_dict()})
        return
    say(f"added {made.name} to {project}: {ANSWERS[made.answers]}, {made.scale} scale")
    if settings.names is None:
        warn_if(order_sentence(made, several=True))
    hint(f"next: tracker import FILE -p {quote(project)} --question {quote(made.name)}")


@with_project_argument(questions, "set")
def set_question_command(
    context: typer.Context,
    project: ProjectArgument,
    question: _Question,
    settings: Settings = Settings(),
    open_: OpenCategories = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check the settings; store nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Change a question's settings; snapshots keep those they were taken with.

    A scale or a closed list that does not fit the answers is refused. --wanted 0 is no number.

    Example:
    - `tracker question set rubric tone --categories low,mid,high`

    Next: `tracker agreement rubric --question tone`
    """
    from tracker.projects.settings import order_sentence, settings_sentence

    changed = ledger_of_command(context).questions.set(
        project,
        question,
        wanted=settings.wanted,
        scale=settings.scale,
        categories=settings.names,
        opened=open_,
        dry_run=dry_run,
    )
    name = changed.question.name
    if as_json:
        print_json({"question": name, **changed.to_dict()})
        return
    say(f"{name} {settings_sentence(changed, dry_run=dry_run)}")
    if settings.scale and not changed.ordered:
        warn_if(order_sentence(changed.question, changed.categories, several=True))
    if not dry_run:
        hint(f"next: tracker agreement {quote(project)} --question {quote(name)}")


@with_project_argument(questions, "rename")
def rename_question_command(
    context: typer.Context,
    project: ProjectArgument,
    question: _Question,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The new name.")],
) -> None:
    """Rename a question; its answers follow.

    Example:
    - `tracker question rename rubric tone politeness`

    Next: `tracker question list rubric`
    """
    made = ledger_of_command(context).questions.rename(project, question, name)
    say(f"{question} is now {made.name} in {project}")
