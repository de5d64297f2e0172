"""``tracker annotator duplicates``, ``alias``, ``merge`` and ``split``: one person, many names."""

from __future__ import annotations

from shlex import quote
from typing import Annotated

import typer

from tracker.cli.context import Yes, confirm_command, ledger_of_command
from tracker.cli.output import Output, print_result
from tracker.cli.project_argument import ProjectArgument, with_project_argument
from tracker.cli.terminal import hint, say, warn

identities = typer.Typer()

Name = Annotated[str, typer.Argument(metavar="ANNOTATOR", help="The annotator's name.")]


@with_project_argument(identities, "alias")
def annotator_alias_command(
    context: typer.Context,
    project: ProjectArgument,
    name: Name,
    other: Annotated[str, typer.Argument(metavar="ALIAS", help="The other name.")],
) -> None:
    """Add another name under which this annotator's answers arrive.

    Example:
    - `tracker annotator alias reviews ann ann@example.org`

    Next: `tracker annotator list reviews`
    """
    made = ledger_of_command(context).annotators.alias(project, name, other)
    say(f"{made.name} is also known as {', '.join(made.aliases)}")


@with_project_argument(identities, "duplicates")
def list_duplicates_command(
    context: typer.Context, project: ProjectArgument, output: Output = Output()
) -> None:
    """List annotators who may be one person under two names; nobody is merged.

    Suggested are names that differ in case, accents or punctuation, a name and an e-mail address
    of that name, and a number and an address that never answered the same item, if neither has
    another such counterpart.

    Example:
    - `tracker annotator duplicates reviews`

    Next: `tracker annotator merge "ann b" --into ann`
    """
    from tracker.render.cells import count_cell
    from tracker.render.tables import table

    rows = [
        one | {"merge": f"tracker annotator merge {words} -p {quote(project)}"}
        for one in (
            pair.to_dict() for pair in ledger_of_command(context).annotators.duplicates(project)
        )
        for words in [f"{quote(one['annotator'])} --into {quote(one['into'])}"]
    ]
    counts = ("answers_in_common", "different")
    print_result(
        {"project": project, "duplicates": rows},
        output=output,
        rows=rows,
        view=[
            table(
                ("annotator ", "into ", "why ", "answers both gave", "different"),
                [
                    (
                        one["annotator"],
                        one["into"],
                        one["why"],
                        *(count_cell(one[c]) for c in counts),
                    )
                    for one in rows
                ],
            )
        ]
        if rows
        else ["no two annotators look like one person"],
    )
    for one in rows:
        hint(one["merge"])


@with_project_argument(identities, "merge")
def merge_annotators_command(
    context: typer.Context,
    project: ProjectArgument,
    name: Name,
    into: Annotated[
        str, typer.Option("--into", metavar="NAME", help="Annotator who receives the answers.")
    ],
    yes: Yes = False,
) -> None:
    """Merge two annotators who are the same person, in all questions.

    If both answered an item, the later answer stands; how many answers differ is said first. To
    undo: tracker annotator split.

    Example:
    - `tracker annotator merge "ann b" --into ann`

    Next: `tracker annotator list reviews`
    """
    from tracker.render.nouns import count_noun

    known = ledger_of_command(context).annotators
    common = known.common(project, name, into)
    if common.answers:
        warn(
            f"both gave {count_noun(common.answers, 'answer')} to the same items, "
            f"{common.different:,} differently; the later one stands"
        )
    confirm_command(f"Merge {name} into {into}?", yes=yes)
    made = known.merge(project, name, into)
    say(f"{made.name} is also known as {', '.join(made.aliases)}")


@with_project_argument(identities, "split")
def split_annotator_command(
    context: typer.Context,
    project: ProjectArgument,
    alias_name: Annotated[str, typer.Argument(metavar="ALIAS", help="The alias to separate.")],
) -> None:
    """Separate an alias: its answers belong to an annotator of that name again.

    Example:
    - `tracker annotator split "ann b"`

    Next: `tracker annotator list reviews`
    """
    made = ledger_of_command(context).annotators.split(project, alias_name)
    say(f"{made.name} is an annotator of {project} again")
