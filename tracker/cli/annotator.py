"""``tracker annotator``."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from tracker.cli.context import (
    ProjectArgument,
    Yes,
    confirm_command,
    ledger_of_command,
    with_project_argument,
)
from tracker.cli.import_options import (
    Files,
    import_rejections_printed,
    print_import_result,
)
from tracker.cli.operations import operation_group
from tracker.cli.output import AsJson, Output, print_json, print_result, printed_json_text
from tracker.cli.signatures import flatten_option_groups
from tracker.cli.terminal import Force, check_output_file, hint, new_output_file, say, warn
from tracker.core.errors import InvalidOption
from tracker.core.operations import LARGEST
from tracker.counts.choosing import QuestionsOfTable
from tracker.imports.choosing import Mapped, Taking
from tracker.ledger.annotators import PAIRS, Annotators
from tracker.render.blocks import listing_table

annotators, register = operation_group(
    "annotator",
    "List, import, show, rename, merge and erase annotators; set kinds; note who left.",
    Annotators,
)
Name = Annotated[str, typer.Argument(metavar="ANNOTATOR", help="Any name of the annotator.")]


@annotators.command("import")
@flatten_option_groups
def import_annotators_command(
    context: typer.Context,
    files: Files,
    project: Annotated[
        str | None,
        typer.Option("--project", "-p", help="The project; the only one if left out."),
    ] = None,
    *,
    mapped: Annotated[Mapped, {"columns": "Which column is the annotator or the kind."}],
    taking: Taking,
    as_json: AsJson = False,
) -> None:
    """Import what annotators are: each further column is an attribute, such as the team.

    It is one import, which can be undone; what a later file says of the same attribute holds.

    Example:
    - `tracker annotator import people.csv -p reviews`

    Next: `tracker agreement reviews --by annotator-attribute:team`
    """
    with import_rejections_printed(as_json=as_json):
        result = ledger_of_command(context).import_annotators(files, project, **mapped, **taking)
    print_import_result(result, dry_run=taking["dry_run"], as_json=as_json, people=True)


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
    questions: QuestionsOfTable = (),
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
                f"end it in one of: {', '.join(f'.{ending}' for ending in (*FORMATS, 'json'))}",
            )
    reports = ledger_of_command(context).annotator_report_by_question(
        project, name, suppress_below=suppress_below, questions=questions
    )
    payload = reports.to_dict()
    if output is None:
        if as_json:
            print_json(payload)
        else:
            print_result(payload, view=own_report_view(payload))
            _report_next(project, name)
        return
    content = (
        printed_json_text(payload).encode()
        if kind == "json"
        else FORMATS[kind](own_document(payload))
    )
    with new_output_file(output, force=force) as file:
        file.write(content)
    if as_json:
        print_json(payload)
    else:
        say(f"wrote {output}")
        _report_next(project, name)


def _report_next(project: str, name: str) -> None:
    hint(f"next: tracker flags list {quote(project)} --annotator {quote(name)}")


@with_project_argument(annotators, "merge", file=True)
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
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would happen; store nothing.")
    ] = False,
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
    rows = [pair.to_dict() for pair in known.merge_pairs(project, pairs, dry_run=True)]
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
            listing_table(PAIRS, rows),
            f"{count_noun(len(rows), 'annotator')} {'would be merged' if dry_run else 'merged'}",
        ],
    )


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
        for mention in erased.mentions:
            say(f"  {mention.project or 'the database'}, {mention.what}: {mention.rows:,}")
    warn(
        "it is also in backups, exports and reports made before; on Postgres in the server's "
        "write-ahead log, and in its statistics until it renews them"
    )
    if erased.unfinished is not None:
        raise erased.unfinished
