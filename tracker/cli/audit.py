"""``tracker audit``: findings about annotators' answers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer

from tracker.audit.looking import Testing
from tracker.cli.context import ProjectArgument, ledger_of_command, with_project_argument
from tracker.cli.output import Output, print_result
from tracker.cli.terminal import hint, warn
from tracker.core.operations import LARGEST
from tracker.counts.choosing import Answers


def register(app: typer.Typer) -> None:
    """Add the command."""
    with_project_argument(app)(audit)


def audit(
    context: typer.Context,
    project: ProjectArgument,
    everything: Annotated[
        bool, typer.Option("--all", help="Also show the tests that found nothing.")
    ] = False,
    *,
    tests: Testing,
    limit: Annotated[
        int, typer.Option(min=0, metavar="N", help="Findings to show as text; 0 for all.")
    ] = 10,
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Smallest effects worth a flag: the table [audit] of a TOML file."
        ),
    ] = None,
    record: Annotated[bool, typer.Option("--record", help="Record the flagged findings.")] = False,
    fail_on: Annotated[
        str | None,
        typer.Option(metavar="flagged[:KIND]", help="Exit with 1 if there is such a finding."),
    ] = None,
    pseudonyms: Pseudonyms = False,
    suppress_below: SuppressBelow = None,
    answers: Answers,
    output: Output = Output(),
) -> None:
    """Test each annotator against the co-annotators of the same items.

    A finding is flagged if it is significant among all tests of the audit and large enough, and
    if a consensus model of all answers agrees. The strongest are shown first. What a finding means,
    and what it does not mean, is in docs/audit.md. If the project asks several questions, the
    false discovery rate holds over the tests of all of them.

    Examples:
    - `tracker audit reviews`
    - `tracker audit reviews --evidence 5`
    - `tracker audit reviews --record --fail-on flagged`
    - `tracker audit reviews --kind copying --since 7d`
    - `tracker audit rubric --question tone --question clarity`

    Next: `tracker flags list reviews`
    """
    from tracker.audit.tables import audit_by_question_view, recorded_flags_in_words

    ledger = ledger_of_command(context)
    recorded = None
    if record:
        found, recorded = ledger.record_audit_by_question(
            project, config=config, **tests, **answers
        )
    else:
        found = ledger.audit_by_question(project, config=config, **tests, **answers)
    fails = found.failing(fail_on) if fail_on is not None else []
    found = replace(
        found,
        audits=tuple(
            ledger.anonymized(one, pseudonyms=pseudonyms, suppress_below=suppress_below)
            for one in found.audits
        ),
    )
    payload = found.to_dict(clear=everything)
    print_result(
        payload,
        output=output,
        rows=audit_rows(payload),
        view=audit_by_question_view(found, clear=everything, limit=limit or None),
    )
    if recorded is not None:
        hint(
            f"recorded: {recorded_flags_in_words(recorded)}; see: "
            f"tracker flags list {quote(project)}"
        )
    elif found.flagged():
        hint(
            f"to see one: tracker annotator show NAME -p {quote(project)}; "
            f"to keep them: tracker audit {quote(project)} --record"
        )
    elif not everything:
        hint(f"nothing is flagged; to see every test: tracker audit {quote(project)} --all")
    if fails:
        from tracker.render.nouns import count_noun

        warn(
            f"{count_noun(len(fails), 'finding')} "
            f"{'fails' if len(fails) == 1 else 'fail'} {fail_on}"
        )
        raise typer.Exit(1)


def audit_rows(payload: dict[str, Any]) -> list[dict[str, Any]]:
    """Return one row per finding about an annotator, without what has no place in a table."""
    nested = {"refit", "consensus", "details", "evidence"}
    return [
        ({"question": page["question"]} if "question" in page else {})
        | {"annotator": one["annotator"]}
        | {key: value for key, value in flag.items() if key not in nested}
        | {"also": " ".join(flag["also"])}
        for page in payload.get("questions", [payload])
        for one in page["annotators"]
        for flag in one["flags"]
    ]


Pseudonyms = Annotated[
    bool,
    typer.Option(
        "--pseudonyms",
        help="Replace names with pseudonyms that are stable in this database "
        "and meaningless elsewhere.",
    ),
]
SuppressBelow = Annotated[
    int | None,
    typer.Option(
        "--suppress-below",
        metavar="N",
        max=LARGEST,
        help="Leave out figures based on fewer than N answers.",
    ),
]
