"""``tracker import`` and ``tracker imports``: recording, and taking it back."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from tracker.cli.context import ledger_of_command
from tracker.cli.import_options import (
    IntoProject,
    OptionalFiles,
    import_rejections_printed,
    print_import_result,
)
from tracker.cli.operations import operation_group
from tracker.cli.output import AsJson
from tracker.cli.signatures import flatten_option_groups
from tracker.cli.terminal import check_output_file, hint, progress_bar, write_output_file
from tracker.core.errors import InvalidOption, Refused
from tracker.imports.choosing import (
    AnswerColumns,
    FileColumns,
    Looking,
    Making,
    Mapped,
    Taking,
)
from tracker.ledger.import_records import Imports
from tracker.projects.choosing import NewSettings

if TYPE_CHECKING:
    from tracker.ledger.imports import Reading


imports, _register = operation_group("imports", "List, show and undo imports.", Imports)


def register(app: typer.Typer) -> None:
    app.command("import")(flatten_option_groups(import_files_command))
    _register(app)


def import_files_command(
    context: typer.Context,
    project: IntoProject,
    files: OptionalFiles = None,
    *,
    mapped: Mapped,
    cells: AnswerColumns,
    reading: FileColumns,
    making: Making,
    taking: Taking,
    looking: Looking,
    save_mapping: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Save how these files are read, for --mapping."),
    ] = None,
    from_sql: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Instead of files: a database, which is only read."),
    ] = None,
    query: Annotated[
        str | None,
        typer.Option(metavar="SQL", help="The rows of --from-sql: a SELECT."),
    ] = None,
    as_json: AsJson = False,
    settings: NewSettings,
) -> None:
    """Import answers from files into a project, as one unit that can be undone.

    Importing a file again changes nothing. A corrected answer replaces the old one, which is kept.

    Examples:
    - `tracker import answers.csv -p reviews`
    - `tracker import export.json -p reviews --preview`
    - `tracker import wide.csv -p reviews --wide --map item=document`
    - `tracker import pages.csv -p reviews --map item=doc+page`
    - `tracker import wide.csv -p r --columns '{annotator}_{question}'`
    - `tracker import rubric.csv -p rubric -q tone=Tone:ordinal -q fair=Fair`
    - `tracker import tags.csv -p tags --answers several --separator '|'`
    - `tracker import a.csv -p reviews --map item=doc --save-mapping m.toml`
    - `tracker import b.csv -p reviews --mapping m.toml`
    - `tracker import -p r --from-sql sqlite:///a.db --query 'SELECT * FROM r'`

    Next: `tracker agreement reviews`
    """
    from tracker.ledger.imports import QuestionOptions
    from tracker.render.nouns import count_noun

    if bool(files) == (from_sql is not None) or (query is None) != (from_sql is None):
        raise InvalidOption(
            "name files, or a database and a query", "such as: --from-sql URL --query 'SELECT …'"
        )
    how: Reading = {
        "options": QuestionOptions(**settings),
        "progress": None,
        **mapped,
        **cells,
        **reading,
        **making,
        **taking,
        **looking,
    }
    ledger = ledger_of_command(context)
    if save_mapping is not None:
        check_output_file(save_mapping, force=False)
        ledger.mapping_text(save_mapping.parent, **how)  # raises what no file can hold
    with (
        import_rejections_printed(as_json=as_json),
        progress_bar("importing", in_bytes=True) as how["progress"],
    ):
        if from_sql is None:
            result = ledger.import_file(files or (), project, **how)
        else:
            result = ledger.import_query(from_sql, query or "", project, **how)
    print_import_result(result, dry_run=taking["dry_run"], as_json=as_json)
    if save_mapping is not None:
        text = ledger.mapping_text(save_mapping.parent, result, **how)
        write_output_file(save_mapping, text)
        saved = f"-p {quote(project)} --mapping {quote(str(save_mapping))}"
        hint(f"next time: tracker import FILE {saved}")
    if looking["preview"] and (undecided := [oddity for oddity in result.odd if oddity.stops]):
        raise Refused("the import would be refused for what looks odd", undecided[0].option)
    if looking["preview"] and result.rejected and not taking["skip_invalid"]:
        raise Refused(
            f"{count_noun(result.rejected, 'row')} would be refused, and with them the import",
            "correct the rows, or leave them out: --skip-invalid",
        )
