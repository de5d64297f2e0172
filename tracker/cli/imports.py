"""``tracker import`` and ``tracker imports``: recording, and taking it back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tracker.cli.context import (
    NewProject,
    ProjectOption,
    SomeProject,
    Yes,
    confirm_command,
    ledger_of_command,
    project_argument_or_option,
)
from tracker.cli.import_options import (
    AnswerColumns,
    ImportOptions,
    IntoProject,
    OptionalFiles,
    import_rejections_printed,
    print_import_result,
)
from tracker.cli.output import AsJson, Output, print_json, print_result
from tracker.cli.signatures import flatten_option_groups
from tracker.cli.terminal import check_output_file, hint, progress_bar, say, write_output_file
from tracker.core.errors import InvalidOption, Refused
from tracker.core.operations import LARGEST

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tracker.ledger.imports import Reading


_COUNTS = ("rows", "inserted", "changed", "unchanged", "older", "rejected")

imports = typer.Typer(help="List, show and undo imports.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("import")(flatten_option_groups(import_files_command))
    app.add_typer(imports, name="imports")


def import_files_command(
    context: typer.Context,
    project: IntoProject,
    files: OptionalFiles = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="ROLE=COLUMN",
            help="Column that holds a role: item, annotator, category, … (repeatable). "
            "item=doc+page joins columns, item=# is the row's number, annotators=A,B,C names one "
            "column each.",
        ),
    ] = None,
    wide: Annotated[
        bool, typer.Option("--wide", help="The file has one column per annotator.")
    ] = False,
    asked: AnswerColumns = AnswerColumns(),
    given: ImportOptions = ImportOptions(),
    settings: NewProject = NewProject(),
    preview: Annotated[
        bool,
        typer.Option(
            "--preview", help="Show how the file is read, and its first rows; store nothing."
        ),
    ] = False,
    mapping: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Options of an import before, from --save-mapping."),
    ] = None,
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
    from tracker.render.nouns import count_noun

    if bool(files) == (from_sql is not None) or (query is None) != (from_sql is None):
        raise InvalidOption(
            "name files, or a database and a query", "such as: --from-sql URL --query 'SELECT …'"
        )
    how: Reading = {
        "options": settings.options,
        "columns": columns or (),
        "wide": wide,
        "preview": preview,
        "mapping": mapping,
        **asked.reading,
        **given.reading,
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
    print_import_result(result, dry_run=given.dry_run, as_json=as_json)
    if save_mapping is not None:
        text = ledger.mapping_text(save_mapping.parent, result, **how)
        write_output_file(save_mapping, text)
        saved = f"-p {quote(project)} --mapping {quote(str(save_mapping))}"
        hint(f"next time: tracker import FILE {saved}")
    if preview and result.rejected and not given.skip_invalid:
        raise Refused(
            f"{count_noun(result.rejected, 'row')} would be refused, and with them the import",
            "correct the rows, or leave them out: --skip-invalid",
        )


@imports.command("list")
@flatten_option_groups
def list_imports_command(
    context: typer.Context,
    argument: SomeProject = None,
    project: ProjectOption = None,
    output: Output = Output(),
) -> None:
    """List the imports of a project, or of all, oldest first.

    Example:
    - `tracker imports list reviews`

    Next: `tracker imports show 3`
    """
    name = project_argument_or_option(argument, project)
    found = [one.to_dict() for one in ledger_of_command(context).imports.list(name)]
    rows = [
        one | {"sources": " ".join(source["name"] for source in one["sources"])} for one in found
    ]
    print_result({"imports": found}, output=output, rows=rows, view=_imports_table(rows))


def _imports_table(rows: list[dict[str, Any]]) -> Iterator[RenderableType]:
    from tracker.render.cells import count_cell, minute_cell
    from tracker.render.tables import table

    cells = [
        (
            str(row["import"]),
            row["project"],
            minute_cell(row["recorded_at"]),
            *(count_cell(row[name]) for name in _COUNTS),
            minute_cell(row["undone_at"]),
            row["sources"],
        )
        for row in rows
    ]
    heads = ("import", "project ", "recorded ", *_COUNTS, "undone ", "sources ")
    yield table(heads, cells)


@imports.command("show")
@flatten_option_groups
def show_import_command(
    context: typer.Context,
    number: Annotated[
        int, typer.Argument(metavar="IMPORT", max=LARGEST, help="The import's number.")
    ],
    output: Output = Output(),
) -> None:
    """Show one import: its files, how they were read, and the outcome of its rows.

    Example:
    - `tracker imports show 3`

    Next: `tracker imports undo 3`
    """
    from tracker.imports.preview import reading_rows
    from tracker.render.cells import count_cell, minute_cell
    from tracker.render.tables import table

    found = ledger_of_command(context).imports.show(number).to_dict()
    rows = [
        ("import", str(number)),
        ("project", found["project"]),
        ("recorded", minute_cell(found["recorded_at"])),
        *((name, count_cell(found[name])) for name in _COUNTS),
        ("undone", minute_cell(found["undone_at"])),
        *reading_rows(found),
    ]
    files = [(source["name"], source["sha256"]) for source in found["sources"]]
    print_result(found, output, view=[table((" ", " "), rows), table(("file", "sha256 "), files)])
    if found["undone_at"] is None:
        hint(f"to take it back: tracker imports undo {number}")


@imports.command("undo")
def undo_import_command(
    context: typer.Context,
    number: Annotated[
        int, typer.Argument(metavar="IMPORT", max=LARGEST, help="The import's number.")
    ],
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Undo an import as if it had never happened; the answers it replaced stand again.

    Examples:
    - `tracker imports undo 3`
    - `tracker imports undo 3 --yes --json`

    Next: `tracker imports list`
    """
    known = ledger_of_command(context).imports
    found = known.show(number)
    confirm_command(
        f"Undo import {number} into {found.project} ({found.counts['rows']:,} rows)?", yes=yes
    )
    undone = known.undo(number)
    if as_json:
        print_json(undone.to_dict())
    else:
        say(f"import {number} is undone; it stays in: tracker imports list")
