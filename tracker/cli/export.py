"""``tracker export``: labels and figures as files of rows."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from tracker.agreement.asking import Measured
from tracker.cli.assignments import Program, Tasks
from tracker.cli.context import (
    ProjectArgument,
    command_group,
    ledger_of_command,
    with_project_argument,
)
from tracker.cli.import_options import (
    STDOUT,
    OutputFile,
    SomeOutputFile,
    Target,
    output_option_target,
    write_document,
)
from tracker.cli.terminal import Force, check_output_file, hint, write_output_file
from tracker.core.errors import InvalidOption
from tracker.counts.choosing import Answers, answers_to_one
from tracker.history.asking import SHOWN, Curving

if TYPE_CHECKING:
    from tracker.ledger.imports import Reading
    from tracker.ledger.reports import Labels

exports, register = command_group(
    "export", "Write labels, facts or figures to a file: CSV, JSONL, Parquet or Excel."
)


@with_project_argument(exports, "labels")
def export_labels_command(
    context: typer.Context,
    project: ProjectArgument,
    output: SomeOutputFile = None,
    force: Force = False,
    partitioned: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Instead of a file: a new folder of Parquet files, each with all answers to its "
            "items, as DuckDB and Spark read it.",
        ),
    ] = None,
    save_mapping: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Save how import makes the same of it, for --mapping."),
    ] = None,
    *,
    answers: Answers,
) -> None:
    """Write every label that stands (or stood): one row each, for all passes and annotators.

    Models and references are included. An unknown value is an empty cell, or null. The rows can be
    imported again; those of a project that asks several questions name theirs. What is known of
    the items goes along: text, length, and a column attribute:NAME for each attribute. A file has
    no place for scale and order: --save-mapping keeps them for the import. An existing file is
    kept unless --force is given.

    Examples:
    - `tracker export labels reviews -o labels.csv`
    - `tracker export labels reviews -o march.parquet --as-of 2026-03-31`
    - `tracker export labels reviews -o - --annotator ada`
    - `tracker export labels rubric -o tone.csv --question tone`
    - `tracker export labels stars -o stars.csv --save-mapping stars.toml`
    - `tracker export labels reviews --partitioned lake`

    Next: `tracker import labels.csv -p copy`
    """
    from tracker.render.nouns import count_noun

    if (output is None) == (partitioned is None):
        raise InvalidOption("one place is needed", "-o FILE, or --partitioned FOLDER")
    to = None if output is None else output_option_target(output, force=force)
    ledger = ledger_of_command(context)
    if save_mapping is not None:
        check_output_file(save_mapping, force=force)
    with ledger.labels(project, **answers) as labels:
        if partitioned is not None:
            number, files = labels.write_parquet_folder(partitioned)
            hint(f"{count_noun(files, 'file')} of Parquet")
        elif to is not None:
            number = to.write_rows(*labels, labels.types)
    place = str(partitioned) if output is None else output
    hint(f"{count_noun(number, 'label')}: {place}")
    how = ledger.projects.import_keywords(project, answers["questions"])
    options = _as_options(how)
    if save_mapping is not None:
        text = ledger.mapping_text(save_mapping.parent, **how)
        write_output_file(save_mapping, text, force=force)
        options = ["--mapping", str(save_mapping)]
    if to is None or to.path is not None:
        files_of = shlex.quote(place) + ("/*.parquet" if to is None else "")
        command = f"{files_of} {shlex.join(['-p', 'NAME', *options])}"
        hint(f"to import them elsewhere: tracker import {command}")


def _as_options(how: Reading) -> list[str]:
    """Return keywords of an import as its options."""
    options = how.get("options")
    settings = {} if options is None else vars(options)
    words = [
        part
        for name in ("answers", "scale", "offsets")
        if settings.get(name)
        for part in (f"--{name}", settings[name])
    ]
    if settings.get("categories"):
        words += ["--categories", ",".join(settings["categories"])]
    words += [part for column in how.get("columns", ()) for part in ("--map", column)]
    return words + [
        part for question in how.get("questions", ()) for part in ("--question", question)
    ]


@with_project_argument(exports, "consensus")
def export_consensus_command(
    context: typer.Context,
    project: ProjectArgument,
    output: OutputFile,
    method: Annotated[
        str,
        typer.Option(
            metavar="majority|weighted|dawid-skene",
            help="How annotators count: alike, by their competence, or by a model of their errors.",
        ),
    ] = "majority",
    soft: Annotated[
        bool,
        typer.Option("--soft", help="A row for each item, with the share of each category."),
    ] = False,
    reader: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="label-studio|conll",
            help="Write what a program reads: predictions (FILE.json), or spans as a column of "
            "tags (FILE.conll).",
        ),
    ] = None,
    control: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Label Studio's control (default: the question)."),
    ] = None,
    on: Annotated[
        str | None,
        typer.Option("--object", metavar="NAME", help="What the control is about (default: text)."),
    ] = None,
    force: Force = False,
    *,
    answers: Answers,
) -> None:
    """Write one answer for each item: the category, its confidence, and the answers' entropy.

    A tie is a row without category that names what is tied. Of several categories an answer, and
    of spans, each is written that more than half of the item's annotators gave. Models and
    references have no vote unless --annotator names them. What was decided of an item goes first.
    With --soft there is one row for each item, with how many answered and skipped it, and a column
    share:CATEGORY for each category, or, of numbers, the mean and the standard deviation.

    Examples:
    - `tracker export consensus reviews -o consensus.csv`
    - `tracker export consensus reviews -o truth.jsonl --method dawid-skene`
    - `tracker export consensus reviews -o soft.csv --soft`
    - `tracker export consensus reviews -o tasks.json --for label-studio`
    - `tracker export consensus notices -o spans.conll --for conll`

    Next: `tracker agreement reviews --by item`
    """
    if reader is not None:
        if soft:
            raise InvalidOption("--soft writes rows, and --for what a program reads", "choose one")
        if reader not in _DOCUMENTS:
            raise InvalidOption(
                f"there is no reader {reader!r} of a consensus", f"one of: {', '.join(_DOCUMENTS)}"
            )
        to = output_option_target(output, force=force, forms=_DOCUMENTS[reader])
        ledger = ledger_of_command(context)
        with ledger.document(
            project, reader, method, control=control, on=on, **answers_to_one(answers)
        ) as document:
            write_document(to, document, output)
        return
    if control is not None or on is not None:
        raise InvalidOption("--control and --object need --for label-studio", "add it")
    to, ledger = output_option_target(output, force=force), ledger_of_command(context)
    with ledger.consensus(project, method, soft=soft, **answers) as rows:
        _write(to, rows, output)


@with_project_argument(exports, "matrix")
def export_matrix_command(
    context: typer.Context,
    project: ProjectArgument,
    output: OutputFile,
    reader: Annotated[
        str,
        typer.Option(
            "--for",
            metavar="irrcac|krippendorff|crowd-kit|lewidi",
            help="The package that reads the matrix; lewidi: soft labels as FILE.json.",
        ),
    ] = "irrcac",
    force: Force = False,
    *,
    answers: Answers,
) -> None:
    """Write the reliability matrix of a question: a row for each item, a column per annotator.

    An annotator's first answer to an item counts; no answer is an empty cell. That is what irrCAC
    reads; `krippendorff` wants a row for each annotator, and `crowd-kit` one for each answer.

    Examples:
    - `tracker export matrix reviews -o matrix.csv`
    - `tracker export matrix reviews -o data.csv --for krippendorff`
    - `tracker export matrix rubric -o tone.csv --question tone`
    - `tracker export matrix reviews -o soft.json --for lewidi`

    Next: `tracker agreement reviews`
    """
    if reader == "lewidi":
        to = output_option_target(output, force=force, forms=(".json",))
        with ledger_of_command(context).document(
            project, reader, **answers_to_one(answers)
        ) as document:
            write_document(to, document, output)
        return
    to, ledger = output_option_target(output, force=force), ledger_of_command(context)
    with ledger.matrix(project, reader, **answers_to_one(answers)) as matrix:
        _write(to, matrix, output)


@with_project_argument(exports, "items")
def export_items_command(
    context: typer.Context, project: ProjectArgument, output: OutputFile, force: Force = False
) -> None:
    """Write every item, also those without an answer: text, length, and each attribute.

    Example:
    - `tracker export items reviews -o items.csv`

    Next: `tracker item import items.csv -p copy`
    """
    _write_facts(context, project, output, "items", force=force)


@with_project_argument(exports, "annotators")
def export_annotators_command(
    context: typer.Context, project: ProjectArgument, output: OutputFile, force: Force = False
) -> None:
    """Write every annotator, also those without an answer: the kind, and each attribute.

    Example:
    - `tracker export annotators reviews -o people.csv`

    Next: `tracker annotator import people.csv -p copy`
    """
    _write_facts(context, project, output, "annotators", force=force)


def _write_facts(
    context: typer.Context,
    project: str,
    output: str,
    subject: Literal["items", "annotators"],
    *,
    force: bool,
) -> None:
    to, ledger = output_option_target(output, force=force), ledger_of_command(context)
    with ledger.facts(project, subject) as facts:
        _write(to, facts, output)
    if output != STDOUT:
        command = f"tracker {subject[:-1]} import {shlex.quote(output)} -p NAME"
        hint(f"to import them elsewhere: {command}")


@with_project_argument(exports, "tasks")
def export_tasks_command(
    context: typer.Context,
    project: ProjectArgument,
    output: OutputFile,
    program: Program = None,
    annotators: Annotated[
        list[str] | None,
        typer.Option("--annotator", metavar="NAME", help="Only of this one (repeatable)."),
    ] = None,
    force: Force = False,
) -> None:
    """Write what is assigned and still to be answered: item, annotator, order and text.

    With {annotator} in the file's name a file is written for each annotator.

    Examples:
    - `tracker export tasks reviews -o 'list-{annotator}.csv'`
    - `tracker export tasks reviews -o tasks.json --for label-studio`

    Next: `tracker assignments list reviews`
    """
    tasks = Tasks(output, program, force)
    tasks.target()
    tasks.write(ledger_of_command(context).assignments.tasks(project, annotators or ()))


@with_project_argument(exports, "approvals")
def export_approvals_command(
    context: typer.Context,
    project: ProjectArgument,
    batch: Annotated[
        str, typer.Argument(metavar="BATCH.csv", help="The batch's results, as downloaded.")
    ],
    output: OutputFile,
    reject: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WORKER=REASON",
            help="Reject this worker's assignments; the worker reads the reason (repeatable).",
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Fill Approve and Reject in a batch's results of Mechanical Turk, for the upload there.

    Only workers named by `--reject` are rejected; all others of the project are approved. Rows of
    unknown workers, and rows approved or rejected before, stay as they are.

    Example:
    - `tracker export approvals reviews batch.csv -o done.csv --reject A2X8=spam`

    Next: `tracker annotator list reviews --csv`
    """
    to = output_option_target(output, force=force, forms=(".csv",))
    rejected = dict(_reason(pair) for pair in reject or ())
    columns, rows, numbers = ledger_of_command(context).approvals(project, batch, rejected)
    to.write_rows(columns, rows)
    counts = ", ".join(f"{number:,} {outcome}" for outcome, number in numbers.items())
    hint(f"{len(rows):,} assignments: {counts or 'none'}: {output}")


def _reason(pair: str) -> tuple[str, str]:
    worker, _, reason = (part.strip() for part in pair.partition("="))
    if not (worker and reason):
        raise InvalidOption(f"--reject {pair!r} names no reason", "for example: A2X8=not read")
    return worker, reason


_DOCUMENTS = {"label-studio": (".json",), "conll": (".conll",)}
"""Who reads documents of a consensus, and the suffixes of their files."""


def _write(to: Target, labels: Labels, output: str) -> None:
    from tracker.render.nouns import count_noun

    hint(f"{count_noun(to.write_rows(*labels, labels.types), 'row')}: {output}")


@with_project_argument(exports, "tallies")
def export_tallies_command(
    context: typer.Context,
    project: ProjectArgument,
    output: OutputFile,
    force: Force = False,
    *,
    answers: Answers,
) -> None:
    """Write the counts that the figures are computed from, so that they can be computed again.

    The column `tally` says what a row counts: items by their pattern of answers (`pattern`), items
    by an annotator's answer (`annotator`), items by the answers of two annotators (`pair`).

    Example:
    - `tracker export tallies reviews -o tallies.csv`

    Next: `tracker agreement reviews --by pair`
    """
    to, ledger = output_option_target(output, force=force), ledger_of_command(context)
    with ledger.tallies(project, **answers) as tallies:
        _write(to, tallies, output)


@with_project_argument(exports, "audit")
def export_audit_command(
    context: typer.Context,
    project: ProjectArgument,
    output: OutputFile,
    force: Force = False,
    *,
    answers: Answers,
) -> None:
    """Write the audit of all annotators: a row for each of them and each test, also those passed.

    Example:
    - `tracker export audit reviews -o audit.csv`

    Next: `tracker audit reviews`
    """
    from tracker.ledger.auditing import audit_rows
    from tracker.ledger.reports import Labels
    from tracker.render.nouns import count_noun

    to, ledger = output_option_target(output, force=force), ledger_of_command(context)
    payload = ledger.audit_by_question(project, **answers).to_dict(clear=True)
    rows = audit_rows(payload)
    columns = list(dict.fromkeys(name for row in rows for name in row))
    cells = (tuple(row.get(name) for name in columns) for row in rows)
    labels = Labels(columns or ["annotator"], cells)
    if to.for_frames:
        hint(f"{count_noun(to.write_frame(ledger.rows_frame(labels)), 'row')}: {output}")
    else:
        _write(to, labels, output)


@with_project_argument(exports, "history")
def export_history_command(
    context: typer.Context,
    project: ProjectArgument,
    output: OutputFile,
    force: Force = False,
    *,
    curve: Annotated[Curving, {"interval": None}],
    measured: Annotated[Measured, SHOWN],
    answers: Annotated[Answers, SHOWN],
) -> None:
    """Write the figures over time: one row per measure and snapshot, or period.

    Options that choose answers need --every. An existing file is kept unless --force is given.

    Examples:
    - `tracker export history reviews -o history.csv`
    - `tracker export history reviews -o weeks.jsonl --every week --force`

    Next: `tracker history reviews`
    """
    from tracker.render.nouns import count_noun

    to = output_option_target(output, force=force)
    ledger, measures = ledger_of_command(context), measured["measures"]
    several = len(answers["questions"] or ledger.question_names(project)) > 1
    history = (
        ledger.history_by_question(project, measures=measures, **curve, **answers)
        if several
        else ledger.history(project, measures=measures, **curve, **answers_to_one(answers))
    )
    rows = history.rows()
    if to.for_frames:
        to.write_frame(history.to_frame())
    else:
        columns = history.columns(rows)
        to.write_rows(columns, ([row.get(name) for name in columns] for row in rows))
    hint(f"{count_noun(len(rows), 'row')}: {output}")
    if not rows and curve["every"] is None:
        hint(f"no snapshot yet: tracker snapshot {shlex.quote(project)}")
