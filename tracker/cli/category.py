"""``tracker category``."""

from __future__ import annotations

from shlex import quote
from typing import Annotated

import typer

from tracker.cli.context import (
    ProjectArgument,
    Yes,
    command_group,
    confirm_command,
    ledger_of_command,
    with_project_argument,
)
from tracker.cli.options import QuestionName
from tracker.cli.output import Output, print_result
from tracker.cli.terminal import hint, say

categories, register = command_group("category", "List, order, merge and rename categories.")


@with_project_argument(categories, "list")
def list_categories_command(
    context: typer.Context,
    project: ProjectArgument,
    question: QuestionName = None,
    output: Output = Output(),
) -> None:
    """List a project's categories in order, with the number of labels that stand.

    Example:
    - `tracker category list reviews`
    - `tracker category list rubric --question tone`

    Next: `tracker agreement reviews --best-merges`
    """
    from tracker.render.cells import count_cell
    from tracker.render.tables import table

    listed = ledger_of_command(context).categories.list(project, question=question)
    told = listed.to_dict()
    cells = [(name, count_cell(number)) for name, number in listed.labels.items()]
    print_result(
        told,
        output=output,
        rows=told["categories"],
        view=[table(("category", "labels"), cells)],
    )


@with_project_argument(categories, "order")
def order_categories_command(
    context: typer.Context,
    project: ProjectArgument,
    names: Annotated[str, typer.Argument(metavar="A,B,C", help="Every category, in order.")],
    question: QuestionName = None,
    output: Output = Output(),
) -> None:
    """Set the order of the categories, by which ordinal scales rank them.

    Example:
    - `tracker category order reviews negative,neutral,positive`

    Next: `tracker agreement reviews --scale ordinal`
    """
    listed = ledger_of_command(context).categories.order(
        project, names.split(","), question=question
    )
    print_result(
        {"project": project, "categories": listed},
        output,
        view=[f"the order in {project}: {', '.join(listed)}"],
    )


@with_project_argument(categories, "merge")
def merge_category_command(
    context: typer.Context,
    project: ProjectArgument,
    category: Annotated[str, typer.Argument(metavar="CATEGORY", help="The category to merge.")],
    into: Annotated[
        str, typer.Argument(metavar="INTO", help="The category that receives its answers.")
    ],
    yes: Yes = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say how many labels; store nothing.")
    ] = False,
    question: QuestionName = None,
    output: Output = Output(),
) -> None:
    """Merge a category into another: its answers, past and to come, count as the other's.

    To undo: tracker category split. --known-at shows the state before.

    Example:
    - `tracker category merge reviews Positive positive`

    Next: `tracker agreement reviews`
    """
    from tracker.render.nouns import count_noun

    if not dry_run:
        confirm_command(f"Merge {category!r} into {into!r}?", yes=yes)
    labels = ledger_of_command(context).categories.merge(
        project, category, into, question=question, dry_run=dry_run
    )
    verb = "would count" if dry_run else "now counts" if labels == 1 else "now count"
    print_result(
        {"project": project, "category": category.strip(), "into": into.strip()}
        | {"labels": labels},
        output,
        view=[
            f"{project}: {count_noun(labels, 'label')} of {category.strip()!r} {verb} "
            f"as {into.strip()!r}"
        ],
    )


@with_project_argument(categories, "split")
def split_category_command(
    context: typer.Context,
    project: ProjectArgument,
    category: Annotated[str, typer.Argument(metavar="CATEGORY", help="One that was merged.")],
    question: QuestionName = None,
    output: Output = Output(),
) -> None:
    """Take a merge back: the category has its own answers again.

    Example:
    - `tracker category split reviews Positive`

    Next: `tracker category list reviews`
    """
    whose = ledger_of_command(context).categories.split(project, category, question=question)
    print_result(
        {"project": project, "category": category.strip(), "from": whose},
        output,
        view=[f"{category.strip()} is separate from {whose} again in {project}"],
    )


@with_project_argument(categories, "rename")
def rename_category_command(
    context: typer.Context,
    project: ProjectArgument,
    old: Annotated[str, typer.Argument(metavar="CATEGORY")],
    new: Annotated[str, typer.Argument(metavar="NAME", help="The new name.")],
    question: QuestionName = None,
) -> None:
    """Rename a category; its labels follow.

    Files that have the old name need --value OLD=NEW when they are imported.

    Example:
    - `tracker category rename reviews pos positive`

    Next: `tracker category list reviews`
    """
    ledger_of_command(context).categories.rename(project, old, new, question=question)
    say(f"{old} is now {new.strip()} in {project}")
    words = f"-p {quote(project)} --value {quote(f'{old.strip()}={new.strip()}')}"
    hint(f"a file that still has the old name: tracker import FILE {words}")
