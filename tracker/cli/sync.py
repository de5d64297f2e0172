"""``tracker sync``: projects kept like those of another program."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from tracker.cli.context import command_group, ledger_of_command
from tracker.cli.import_options import (
    IntoProject,
    import_rejections_printed,
    print_import_result,
)
from tracker.cli.output import AsJson, print_json
from tracker.cli.signatures import flatten_option_groups
from tracker.cli.terminal import hint, progress_bar, say, warn
from tracker.imports.choosing import SyncOptions, Tasks, Traces

if TYPE_CHECKING:
    from tracker.sync.run import SyncResult

sync, register = command_group("sync", "Read what is new in another program, live.")


Options = Annotated[
    SyncOptions,
    {"skip_invalid": "Skip what cannot be read instead of refusing the whole sync."},
]


@sync.command("label-studio")
@flatten_option_groups
def sync_label_studio_command(
    context: typer.Context,
    url: Annotated[str, typer.Option(metavar="URL", help="Where Label Studio runs.")],
    project_id: Annotated[
        int, typer.Option(metavar="NUMBER", min=1, help="The number of the project there.")
    ],
    project: IntoProject,
    *,
    tasks: Tasks,
    whole: Annotated[
        bool, typer.Option("--all", help="Read everything again, not only what was updated.")
    ] = False,
    options: Options,
    as_json: AsJson = False,
) -> None:
    """Import what was answered, corrected or deleted in Label Studio since the last sync.

    The access token is read from LABEL_STUDIO_API_KEY; it is neither stored nor shown. What was
    deleted there is withdrawn: it stands no more, and is still to be seen with `--known-at`.

    Examples:
    - `tracker sync label-studio --url http://ls:8080 --project-id 7 -p parcels`
    - `tracker sync label-studio --url http://ls:8080 --project-id 7 -p r --all`

    Next: `tracker agreement parcels`
    """
    token = os.environ.get("LABEL_STUDIO_API_KEY", "")
    with import_rejections_printed(as_json=as_json), progress_bar("reading") as progress:
        ledger = ledger_of_command(context)
        done = ledger.sync_label_studio(
            url, project_id, project, token=token, whole=whole, progress=progress,
            **tasks, **options,
        )  # fmt: skip
    _print_result(done, dry_run=options["dry_run"], as_json=as_json)


@sync.command("mlflow")
@flatten_option_groups
def sync_mlflow_command(
    context: typer.Context,
    url: Annotated[str, typer.Option(metavar="URL", help="Where MLflow's tracking server runs.")],
    experiment: Annotated[
        str, typer.Option(metavar="NAME|NUMBER", help="The experiment that has the traces.")
    ],
    project: IntoProject,
    *,
    traces: Traces,
    options: Options,
    as_json: AsJson = False,
) -> None:
    """Import what was assessed, corrected or deleted in MLflow since the last sync.

    For a server that asks who you are, MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, or
    MLFLOW_TRACKING_TOKEN are read; they are neither stored nor shown. What was deleted there is
    withdrawn: it stands no more, and is still to be seen with `--known-at`.

    Examples:
    - `tracker sync mlflow --url http://ml:5000 --experiment manners -p answers`
    - `tracker sync mlflow --url http://ml --experiment 7 -p a --item tags.case`

    Next: `tracker agreement answers`
    """
    token, username, password = (
        os.environ.get(f"MLFLOW_TRACKING_{name}", "") for name in ("TOKEN", "USERNAME", "PASSWORD")
    )
    with import_rejections_printed(as_json=as_json), progress_bar("reading") as progress:
        ledger = ledger_of_command(context)
        done = ledger.sync_mlflow(
            url, experiment, project, token=token, username=username, password=password,
            progress=progress, **traces, **options,
        )  # fmt: skip
    _print_result(done, dry_run=options["dry_run"], as_json=as_json)


def _print_result(done: SyncResult, *, dry_run: bool, as_json: bool) -> None:
    from tracker.render.nouns import count_noun

    if as_json:
        for sentence in done.imported.warnings if done.imported else ():
            warn(sentence)
        print_json(done.to_dict())
        return
    if done.imported is None:
        say(f"nothing new in {done.source}")
        return
    if done.withdrawn:
        verb = "would withdraw" if dry_run else "withdrawn:"
        say(f"{verb} {count_noun(done.withdrawn, 'answer')} that {done.source} has no longer")
    print_import_result(done.imported, dry_run=dry_run, as_json=False)
    if not dry_run:
        hint(f"to take it back: tracker imports undo {done.imported.id}")
