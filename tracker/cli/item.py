"""``tracker item``."""

from __future__ import annotations

from typing import Annotated

import typer

from tracker.cli.context import ledger_of_command
from tracker.cli.import_options import (
    Files,
    IntoProject,
    import_rejections_printed,
    print_import_result,
)
from tracker.cli.operations import operation_group
from tracker.cli.output import AsJson
from tracker.cli.signatures import flatten_option_groups
from tracker.cli.terminal import say
from tracker.core.errors import InvalidOption
from tracker.imports.choosing import FileColumns, Making, Mapped, Taking
from tracker.ledger.items import Items

items, register = operation_group(
    "item", "List and register items; show the answers to one.", Items
)


@items.command("import")
@flatten_option_groups
def import_items_command(
    context: typer.Context,
    files: Files,
    project: IntoProject,
    *,
    mapped: Annotated[Mapped, {"columns": "Which column is the item or the text."}],
    reading: FileColumns,
    making: Making,
    taking: Taking,
    as_json: AsJson = False,
) -> None:
    """Register items that have no answers yet, as one import that can be taken back.

    Status and coverage count them. Importing the list again changes nothing.

    Example:
    - `tracker item import items.csv -p reviews --keep source`

    Next: `tracker status reviews`
    """
    with import_rejections_printed(as_json=as_json):
        result = ledger_of_command(context).import_items(
            files, project, **mapped, **reading, **making, **taking
        )
    print_import_result(result, dry_run=taking["dry_run"], as_json=as_json, items=True)


Project = Annotated[
    str | None, typer.Option("--project", "-p", help="The project; the only one if left out.")
]
FromFile = Annotated[
    str | None,
    typer.Option("--from", metavar="FILE", help="File of pairs with the columns item and alias."),
]


@items.command("alias")
def item_alias_command(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ITEM ALIAS…]", help="The item's key, then its other keys."),
    ] = None,
    project: Project = None,
    file: FromFile = None,
) -> None:
    """Add other keys of an item, under which other tools know it.

    What is imported under them from now on is about the item. A key that has answers already is
    refused, with the commands that import them anew. To end it: tracker item unalias.

    Example:
    - `tracker item alias -p reviews item_0001 4711`
    - `tracker item alias -p reviews --from keys.csv`

    Next: `tracker item show reviews item_0001`
    """
    from tracker.render.nouns import count_noun

    known = ledger_of_command(context).items
    if file is not None and not words:
        say(f"{count_noun(known.alias_file(project, file), 'other key')} recorded")
        return
    if file is not None or words is None or len(words) < 2:
        raise InvalidOption("name an item and its other keys, or a file of pairs", "see: --help")
    record = known.alias(project, words[0], *words[1:])
    say(f"{record.name} is also known as {', '.join(record.aliases)}")


@items.command("unalias")
def item_unalias_command(
    context: typer.Context,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[ALIAS…]", help="Other keys of items.")
    ] = None,
    project: Project = None,
    file: FromFile = None,
) -> None:
    """End other keys of items: what is imported under them from now on is no longer theirs.

    Answers imported under them so far stay with the item. To move them, undo their imports and
    import the files again.

    Example:
    - `tracker item unalias -p reviews 4711`

    Next: `tracker item list reviews`
    """
    from tracker.render.nouns import count_noun

    known = ledger_of_command(context).items
    if (file is None) == (not words):
        raise InvalidOption("name other keys of items, or a file of pairs", "see: --help")
    if file is None:
        number = known.unalias(project, *(words or ()))
    else:
        number = known.unalias_file(project, file)
    say(f"{count_noun(number, 'other key')} ended; answers imported so far stay where they are")
