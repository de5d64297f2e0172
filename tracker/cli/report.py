"""``tracker report``: one page about a project, made to be sent."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tracker.cli.context import ProjectArgument, ledger_of_command, with_project_argument
from tracker.cli.terminal import Force, check_output_file, hint, new_output_file, say, steps_shown
from tracker.core.errors import InvalidOption
from tracker.core.operations import LARGEST
from tracker.counts.choosing import Answers

if TYPE_CHECKING:
    from tracker.ledger import Ledger

_OWN_LEAST = 5  # answers behind a figure that others have, too
_KINDS = ("html", "md", "pdf", "ipynb")


_ANNOTATORS = (
    "The page for this annotator: their figures and findings, nobody else's name. Of several: only "
    "their answers."
)


def register(app: typer.Typer) -> None:
    with_project_argument(app)(report)


def report(
    context: typer.Context,
    project: ProjectArgument,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILE", help="File to make; its ending says the format."
        ),
    ],
    form: Annotated[
        str | None,
        typer.Option(
            "--format", metavar="|".join(_KINDS), help="Format, if the file's ending is another."
        ),
    ] = None,
    pseudonyms: Annotated[
        bool,
        typer.Option(
            "--pseudonyms", help="Number annotators instead of naming them; hide what they wrote."
        ),
    ] = False,
    suppress_below: Annotated[
        int | None,
        typer.Option(
            "--suppress-below",
            metavar="N",
            min=0,
            max=LARGEST,
            help="Leave out figures and items based on fewer than N answers or items (default: "
            "none; on the page for one annotator, 5).",
        ),
    ] = None,
    no_texts: Annotated[
        bool, typer.Option("--no-texts", help="Leave out the texts of items.")
    ] = False,
    *,
    answers: Annotated[Answers, {"annotators": _ANNOTATORS}],
    force: Force = False,
) -> None:
    """Write one page to send: the verdict, what to do, and every figure with its reasons.

    It is a single file that opens from disk. All figures are of one state of the ledger.

    Examples:
    - `tracker report reviews -o report.html`
    - `tracker report reviews -o report.pdf --since 30d`
    - `tracker report reviews -o page.html --pseudonyms --no-texts`
    - `tracker report reviews -o bob.html --annotator bob`

    Next: `tracker agreement reviews`
    """
    kind = _format(output, form)
    check_output_file(output, force=force)
    ledger = ledger_of_command(context)
    only, *others = answers["annotators"] or [""]
    if only and not others:
        least = _OWN_LEAST if suppress_below is None else suppress_below
        content = _own_file(ledger, project, only, kind, answers, least, pseudonyms=pseudonyms)
    else:
        from tracker.report.gathered import Asked
        from tracker.report.report import report_file

        questions = answers.pop("questions")
        asked = Asked(
            project, questions, answers, pseudonyms, suppress_below or 0, texts=not no_texts
        )
        with steps_shown() as step:
            content = report_file(ledger, asked, kind, step)
        if pseudonyms and not no_texts:
            hint("texts of items are on it, and may name people; to leave them out: --no-texts")
    with new_output_file(output, force=force) as file:
        file.write(content)
    say(f"wrote {output}")
    hint(f"next: tracker agreement {shlex.quote(project)}")


def _own_file(
    ledger: Ledger,
    project: str,
    name: str,
    kind: str,
    answers: Answers,
    least: int,
    *,
    pseudonyms: bool,
) -> bytes:
    """Return the page for one annotator's own eyes in a format."""
    from tracker.report.annotators import own_document
    from tracker.report.privacy import numbered_annotators, own_with_number
    from tracker.report.report import FORMATS

    answers["annotators"] = ()
    own_report = ledger.annotator_report_by_question(project, name, suppress_below=least, **answers)
    payload = own_report.to_dict()
    if pseudonyms:
        payload = own_with_number(payload, numbered_annotators(ledger, project))
    return FORMATS[kind](own_document(payload))


def _format(output: Path, form: str | None) -> str:
    kind = form or output.suffix.lower().removeprefix(".")
    if kind not in _KINDS:
        message = f"there is no format {form!r}" if form else f"{str(output)!r} names no format"
        raise InvalidOption(message, f"choose one of: {', '.join(_KINDS)}")
    return kind
