"""``tracker annotator``."""

from __future__ import annotations

from pathlib import Path
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
from tracker.cli.identities import Name, identities
from tracker.cli.import_options import (
    Files,
    import_rejections_printed,
    print_import_result,
)
from tracker.cli.options import QuestionNames
from tracker.cli.output import (
    AsJson,
    Output,
    print_json,
    print_result,
    printed_json_text,
)
from tracker.cli.signatures import flatten_option_groups
from tracker.cli.terminal import Force, check_output_file, hint, new_output_file, say, warn
from tracker.core.errors import InvalidOption
from tracker.core.operations import LARGEST

annotators, register = command_group(
    "annotator", "List, import, show, rename, merge and erase annotators; set kinds; note who left."
)
annotators.add_typer(identities)


@with_project_argument(annotators, "list")
def list_annotators_command(
    context: typer.Context,
    project: ProjectArgument,
    output: Output = Output(),
) -> None:
    """List a project's annotators with their kind, other names and number of labels.

    Example:
    - `tracker annotator list reviews`

    Next: `tracker annotator show ada -p reviews`
    """
    from tracker.render.cells import count_cell
    from tracker.render.tables import table

    rows = [one.to_dict() for one in ledger_of_command(context).annotators.list(project)]
    left = ["left on "] if any(row["left_on"] for row in rows) else []
    names = sorted({name for row in rows for name in row.get("attributes", ())})
    flat = [
        {key: value for key, value in row.items() if key != "attributes"}
        | {"aliases": "; ".join(row["aliases"])}
        | {name: row["attributes"].get(name) for name in names if name not in row}
        for row in rows
    ]
    print_result(
        {"project": project, "annotators": rows},
        output=output,
        rows=flat,
        view=[
            table(
                (
                    "annotator",
                    "kind ",
                    "labels",
                    "also known as ",
                    *left,
                    *(f"{one} " for one in names),
                ),
                [
                    (
                        row["annotator"],
                        row["kind"],
                        count_cell(row["labels"]),
                        "; ".join(row["aliases"]),
                        *(row["left_on"] or "" for _ in left),
                        *(row["attributes"].get(name, "") for name in names),
                    )
                    for row in rows
                ],
            )
        ],
    )


@annotators.command("import")
@flatten_option_groups
def import_annotators_command(
    context: typer.Context,
    files: Files,
    project: Annotated[
        str | None,
        typer.Option("--project", "-p", help="The project; the only one if left out."),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--map", metavar="ROLE=COLUMN", help="Which column is the annotator or the kind."
        ),
    ] = None,
    skip_invalid: Annotated[
        bool,
        typer.Option(
            "--skip-invalid", help="Skip invalid rows instead of refusing the whole import."
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would happen; store nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Import what annotators are: each further column is an attribute, such as the team.

    It is one import, which can be undone; what a later file says of the same attribute holds.

    Example:
    - `tracker annotator import people.csv -p reviews`

    Next: `tracker agreement reviews --by annotator-attribute:team`
    """
    with import_rejections_printed(as_json=as_json):
        made = ledger_of_command(context).import_annotators(
            files, project, columns=columns or (), skip_invalid=skip_invalid, dry_run=dry_run
        )
    print_import_result(made, dry_run=dry_run, as_json=as_json, people=True)


@with_project_argument(annotators, "show")
def show_annotator_command(
    context: typer.Context,
    project: ProjectArgument,
    name: Name,
    competence: Annotated[
        bool,
        typer.Option(
            "--competence", help="Add the competence estimated by Dawid and Skene's model."
        ),
    ] = False,
    question: QuestionNames = None,
    output: Output = Output(),
) -> None:
    """Show one annotator: figures beside the co-annotators', findings, and their items.

    Examples:
    - `tracker annotator show bob -p reviews`
    - `tracker annotator show bob -p rubric --question tone`

    Next: `tracker annotator report ada -p reviews`
    """
    from tracker.audit.annotator_tables import annotator_view

    told = ledger_of_command(context).annotator(
        project, name, competence=competence, questions=question or ()
    )
    print_result(told, output, view=annotator_view(told, told["recorded"]))
    hint(
        "for the annotator's own eyes: "
        f"tracker annotator report {quote(told['annotator'])} -p {quote(project)}"
    )


@with_project_argument(annotators, "report")
def report_annotator_command(
    context: typer.Context,
    project: ProjectArgument,
    name: Name,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="File to make: .html, .md, .pdf, .ipynb or .json.",
        ),
    ] = None,
    force: Force = False,
    suppress_below: Annotated[
        int,
        typer.Option(
            "--suppress-below",
            metavar="N",
            max=LARGEST,
            help="Leave out figures based on fewer than N answers.",
        ),
    ] = 5,
    question: QuestionNames = None,
    as_json: AsJson = False,
) -> None:
    """Write a report for an annotator: their own figures beside the others', without names.

    It holds only that person's figures and findings, and the range of the middle half of the
    others.

    Examples:
    - `tracker annotator report bob -p reviews -o bob.md`
    - `tracker annotator report bob -p rubric --question tone`

    Next: `tracker flags list reviews --annotator ada`
    """
    from tracker.audit.annotator_tables import own_report_view
    from tracker.report.annotators import own_document
    from tracker.report.report import FORMATS

    kind = "" if output is None else output.suffix.lower().removeprefix(".")
    if output is not None:
        check_output_file(output, force=force)
        if kind not in {*FORMATS, "json"}:
            raise InvalidOption(
                f"{str(output)!r} does not say which format to write",
                f"end it in one of: {', '.join(f'.{one}' for one in (*FORMATS, 'json'))}",
            )
    found = ledger_of_command(context).annotator_report_by_question(
        project, name, suppress_below=suppress_below, questions=question or ()
    )
    told = found.to_dict()
    if output is None:
        if as_json:
            print_json(told)
        else:
            print_result(told, view=own_report_view(told))
            _report_next(project, name)
        return
    made = printed_json_text(told).encode() if kind == "json" else FORMATS[kind](own_document(told))
    with new_output_file(output, force=force) as file:
        file.write(made)
    if as_json:
        print_json(told)
    else:
        say(f"wrote {output}")
        _report_next(project, name)


def _report_next(project: str, name: str) -> None:
    hint(f"next: tracker flags list {quote(project)} --annotator {quote(name)}")


@with_project_argument(annotators, "rename")
def rename_annotator_command(
    context: typer.Context,
    project: ProjectArgument,
    name: Name,
    new: Annotated[str, typer.Argument(metavar="NAME", help="The new name.")],
) -> None:
    """Rename an annotator; files with the old name still match.

    Example:
    - `tracker annotator rename reviews ann ada`

    Next: `tracker annotator list reviews`
    """
    made = ledger_of_command(context).annotators.rename(project, name, new)
    say(f"{name} is now {made.name}, also known as {', '.join(made.aliases)}")


@with_project_argument(annotators, "kind")
def annotator_kind_command(
    context: typer.Context,
    project: ProjectArgument,
    name: Name,
    what: Annotated[str, typer.Argument(metavar="human|model|reference")],
) -> None:
    """Set what an annotator is; only humans enter inter-annotator figures.

    A reference annotator's answers are the truth that others are compared with.

    Examples:
    - `tracker annotator kind reviews gpt model`
    - `tracker annotator kind reviews expert reference`

    Next: `tracker agreement reviews --gold`
    """
    made = ledger_of_command(context).annotators.kind(project, name, what)
    say(f"{made.name} is now a {made.kind} annotator in {project}")


@with_project_argument(annotators, "leave")
def annotator_leave_command(
    context: typer.Context,
    project: ProjectArgument,
    name: Name,
    on: Annotated[
        str | None,
        typer.Option(metavar="DATE", help="The day they left, such as 2026-11-30. Default: today."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Note that an annotator left; their answers count as before.

    Nobody is told to ask them for more answers, and estimates of completion leave them out.

    Example:
    - `tracker annotator leave reviews carla --on 2026-11-30`

    Next: `tracker status reviews`
    """
    made = ledger_of_command(context).annotators.leave(project, name, on)
    if as_json:
        print_json(made.to_dict())
        return
    say(f"{made.name} left {project} on {made.left_on}")
    hint(f"to undo: tracker annotator return {quote(made.name)} -p {quote(project)}")


@with_project_argument(annotators, "return")
def annotator_return_command(
    context: typer.Context, project: ProjectArgument, name: Name, as_json: AsJson = False
) -> None:
    """Note that an annotator who left is back, or never left.

    Example:
    - `tracker annotator return reviews carla`

    Next: `tracker annotator list reviews`
    """
    made = ledger_of_command(context).annotators.back(project, name)
    if as_json:
        print_json(made.to_dict())
    else:
        say(f"{made.name} is in {project}")


@with_project_argument(annotators, "erase", guess=False)
def erase_annotator_command(
    context: typer.Context,
    project: ProjectArgument,
    name: Name,
    all_projects: Annotated[
        bool, typer.Option("--all-projects", help="In every project of the database.")
    ] = False,
    yes: Yes = False,
) -> None:
    """Permanently delete an annotator's answers and names, as data protection law may require.

    Snapshots stay as they are: they hold numbers. Those taken before can no longer be recounted
    from the labels. Texts that people wrote stay, too; those that hold the name are counted.

    Examples:
    - `tracker annotator erase reviews ann`
    - `tracker annotator erase ann --all-projects`

    Next: `tracker snapshots list reviews`
    """
    from tracker.render.nouns import count_noun

    if all_projects and project:
        raise InvalidOption(f"--all-projects, or {project!r}?", "leave one of them out")
    where = " in all projects" if all_projects else ""
    confirm_command(f"Permanently delete all answers of {name}{where}, and the name?", yes=yes)
    known = ledger_of_command(context).annotators
    erased = known.erase_everywhere(name) if all_projects else known.erase(project, name)
    for where, labels in erased.labels.items():
        say(f"{count_noun(labels, 'label')} gone from {where}")
    if erased.mentions:
        say("the name may still be in:")
        for one in erased.mentions:
            say(f"  {one.project or 'the database'}, {one.what}: {one.rows:,}")
    warn(
        "it is also in backups, exports and reports made before; on Postgres in the server's "
        "write-ahead log, and in its statistics until it renews them"
    )
    if erased.unfinished is not None:
        raise erased.unfinished
