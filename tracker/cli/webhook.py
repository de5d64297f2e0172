"""``tracker webhook``: addresses that receive events."""

from __future__ import annotations

from typing import Annotated

import typer

from tracker.cli.context import command_group, ledger_of_command
from tracker.cli.output import AsJson, Output, print_json, print_result
from tracker.cli.signatures import flatten_option_groups
from tracker.cli.terminal import hint, say
from tracker.core.errors import CheckFailed
from tracker.core.operations import LARGEST

webhooks, register = command_group(
    "webhook", "Add, list, test and remove webhooks; deliver their messages."
)

Number = Annotated[int, typer.Argument(metavar="WEBHOOK", max=LARGEST, help="Its number.")]


@webhooks.command("add")
def add_webhook_command(
    context: typer.Context,
    url: Annotated[str, typer.Argument(metavar="URL", help="Where messages are sent.")],
    event: Annotated[
        list[str],
        typer.Option(
            "--event",
            metavar="snapshot_taken|finding_raised|gate_failed",
            help="What it is told of (repeatable).",
        ),
    ],
    project: Annotated[
        str | None, typer.Option("--project", "-p", help="Only of this project; else of all.")
    ] = None,
    allow_private: Annotated[
        bool, typer.Option("--allow-private", help="The address may be in a private network.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Add a webhook, and print the secret that its messages are signed with, this once.

    `tracker serve` delivers the messages; without it, run `tracker webhook deliver` by cron.

    Examples:
    - `tracker webhook add https://example.org/hook --event snapshot_taken`
    - `tracker webhook add https://example.org/x --event gate_failed -p reviews`

    Next: `tracker webhook test 1`
    """
    made = ledger_of_command(context).webhooks.add(
        url, event, project=project, allow_private=allow_private
    )
    if as_json:
        print_json(made.to_dict())
    else:
        say(f"webhook {made.webhook.id}: {made.secret}")
    hint(f"keep the secret: it is not shown again; to try: tracker webhook test {made.webhook.id}")


@webhooks.command("list")
@flatten_option_groups
def list_webhooks_command(context: typer.Context, output: Output = Output()) -> None:
    """List the webhooks, with the messages that wait for each or were given up after a day.

    Example:
    - `tracker webhook list`

    Next: `tracker webhook remove 1`
    """
    from tracker.render.cells import count_cell
    from tracker.render.tables import table

    told = [one.to_dict() for one in ledger_of_command(context).webhooks.list()]
    rows = [one | {"events": " ".join(one["events"])} for one in told]
    heads = ("webhook", "project ", "events ", "waiting", "given up")
    cells = [
        (
            str(one["webhook"]),
            one["project"] or "all",
            one["events"],
            count_cell(one["waiting"]),
            count_cell(one["given_up"]),
        )
        for one in rows
    ]
    # Not in the table: an address may be as long as it likes, and must not be broken.
    addresses = [f"webhook {one['webhook']} at {one['url']}" for one in rows]
    faults = [f"webhook {one['webhook']}: {one['fault']}" for one in rows if one["fault"]]
    print_result(
        {"webhooks": told}, output, rows=rows, view=(table(heads, cells), *addresses, *faults)
    )


@webhooks.command("test")
def test_webhook_command(context: typer.Context, number: Number) -> None:
    """Send a webhook a message now; exits with 1 if it does not arrive.

    Example:
    - `tracker webhook test 1`

    Next: `tracker webhook list`
    """
    fault = ledger_of_command(context).webhooks.test(number)
    if fault is not None:
        raise CheckFailed(f"webhook {number}: {fault}")
    say(f"webhook {number} has got a message")


@webhooks.command("remove")
def remove_webhook_command(context: typer.Context, number: Number) -> None:
    """Remove a webhook; messages that wait for it are not sent.

    Example:
    - `tracker webhook remove 1`

    Next: `tracker webhook list`
    """
    removed = ledger_of_command(context).webhooks.remove(number)
    say(f"webhook {number} is removed: {removed.url}")


@webhooks.command("deliver")
def deliver_webhooks_command(context: typer.Context, as_json: AsJson = False) -> None:
    """Send the messages that are due, as `tracker serve` does by itself.

    One that does not arrive is sent again later, less and less often, for a day.

    Example:
    - `tracker webhook deliver`

    Next: `tracker webhook list`
    """
    sent = ledger_of_command(context).webhooks.deliver()
    if as_json:
        print_json(sent.to_dict())
    else:
        say(f"delivered: {sent.delivered}, failed: {sent.failed}, given up: {sent.given_up}")
