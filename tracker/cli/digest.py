"""``tracker digest``."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from tracker.cli.context import ProjectArgument, ledger_of_command, with_project_argument
from tracker.cli.operations import operation_help
from tracker.cli.output import Output, print_answer
from tracker.core.errors import InvalidOption
from tracker.core.results import Answer
from tracker.ledger.digests import Digests
from tracker.plan.asking import DigestAsked

Send = Annotated[
    list[str] | None,
    typer.Option(
        metavar="URL",
        help="Send it instead of printing it (repeatable): smtp://USER@HOST?from=A&to=B,C with "
        "the password in TRACKER_SMTP_PASSWORD; https://… of Slack, of Teams, or of a program that "
        "takes JSON.",
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="With --send: print what would be sent, and to whom.")
]


def register(app: typer.Typer) -> None:
    with_project_argument(app, "digest")(digest_command)


def digest_command(
    context: typer.Context,
    project: ProjectArgument,
    send: Send = None,
    dry_run: DryRun = False,
    output: Output = Output(),
    *,
    asked: DigestAsked,
) -> None:
    if dry_run and not send:
        raise InvalidOption("--dry-run needs an address", "add: --send URL")
    digests = Digests(ledger_of_command(context))
    if not send:
        print_answer(digests.digest(project, **asked), output)
        return
    password = os.environ.get("TRACKER_SMTP_PASSWORD", "")
    sending = digests.send(project, send, password=password, dry_run=dry_run, **asked)
    payload, texts = sending.to_dict(), [*sending.view()]
    print_answer(Answer(lambda: payload, lambda: payload["sent"], texts=texts), output)


digest_command.__doc__ = operation_help(Digests.digest)
