"""``tracker annotator duplicates``, ``alias``, ``merge`` and ``split``: one person, many names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tracker.cli.context import (
    ProjectArgument,
    Yes,
    confirm_command,
    ledger_of_command,
    with_project_argument,
)
from tracker.cli.import_options import DryRun
from tracker.cli.output import Output, print_result
from tracker.cli.terminal import hint, say, warn
from tracker.core.errors import InvalidOption

if TYPE_CHECKING:
    from rich.console import RenderableType

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
    another such counterpart. The fuller name stays. To merge many: write the list to a file, remove
    the lines that are wrong, and merge from it.

    Examples:
    - `tracker annotator duplicates reviews`
    - `tracker annotator duplicates reviews --csv > pairs.csv`

    Next: `tracker annotator merge reviews --from pairs.csv`
    """
    rows = [
        one | {"merge": f"tracker annotator merge {words} -p {quote(project)}"}
        for one in (
            pair.to_dict() for pair in ledger_of_command(context).annotators.duplicates(project)
        )
        for words in [f"{quote(one['annotator'])} --into {quote(one['into'])}"]
    ]
    print_result(
        {"project": project, "duplicates": rows},
        output=output,
        rows=rows,
        view=[_pairs_table(rows)] if rows else ["no two annotators look like one person"],
    )
    for one in rows:
        hint(one["merge"])


def _pairs_table(rows: Sequence[Mapping[str, Any]]) -> RenderableType:
    """Return a table of pairs of names, with what both answered."""
    from tracker.render.cells import count_cell
    from tracker.render.tables import table

    texts = [name for name in ("annotator", "into", "why") if name in rows[0]]
    counts = {"answers_in_common": "answers both gave", "different": "different"}
    return table(
        (*(f"{name} " for name in texts), *counts.values()),
        [
            (*(row[name] for name in texts), *(count_cell(row[name]) for name in counts))
            for row in rows
        ],
    )


@with_project_argument(identities, "merge", file=True)
def merge_annotators_command(
    context: typer.Context,
    project: ProjectArgument,
    name: Annotated[
        str | None, typer.Argument(metavar="[ANNOTATOR]", help="The annotator's name.")
    ] = None,
    into: Annotated[
        str | None,
        typer.Option("--into", metavar="NAME", help="Annotator who receives the answers."),
    ] = None,
    file: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="FILE", help="File of pairs: the name that goes, the one that stays."
        ),
    ] = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    output: Output = Output(),
) -> None:
    """Merge annotators who are the same person, in all questions.

    If both answered an item, the later answer stands; how many answers differ is said first. All
    pairs of a file are merged, or none. To undo: tracker annotator split.

    Examples:
    - `tracker annotator merge "ann b" --into ann`
    - `tracker annotator merge reviews --from pairs.csv`

    Next: `tracker annotator list reviews`
    """
    from tracker.render.nouns import count_noun

    if (file is None) != (name is not None and into is not None) or (file and (name or into)):
        raise InvalidOption("name an annotator and --into another, or --from FILE", "see: --help")
    known = ledger_of_command(context).annotators
    pairs = file if name is None or into is None else [(name, into)]
    assert pairs is not None
    rows = [one.to_dict() for one in known.merge_pairs(project, pairs, dry_run=True)]
    both, different = (sum(row[n] for row in rows) for n in ("answers_in_common", "different"))
    if both:
        warn(
            f"both gave {count_noun(both, 'answer')} to the same items, "
            f"{different:,} differently; the later one stands"
        )
    if not dry_run:
        who = f"{name} into {into}" if file is None else count_noun(len(rows), "annotator")
        confirm_command(f"Merge {who}?", yes=yes)
        known.merge_pairs(project, pairs)
    print_result(
        {"project": project, "dry_run": dry_run, "merged": rows},
        output=output,
        rows=rows,
        view=[
            _pairs_table(rows),
            f"{count_noun(len(rows), 'annotator')} {'would be merged' if dry_run else 'merged'}",
        ],
    )


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
