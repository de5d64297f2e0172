"""``tracker serve``: the ledger in a browser."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from tracker.cli.context import ledger_of_command
from tracker.cli.terminal import say
from tracker.ledger.users import ROLES

if TYPE_CHECKING:
    from tracker.web.mlflow import MLflowServer


def register(app: typer.Typer) -> None:
    app.command()(serve)


def serve(
    context: typer.Context,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Address to listen on.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65535, help="Port; 0 for any free one.")
    ] = 8000,
    root_path: Annotated[
        str, typer.Option(metavar="PATH", help="Path at which a proxy serves it, such as /tracker.")
    ] = "",
    max_upload: Annotated[
        int, typer.Option(metavar="MB", min=1, help="Largest file that may be sent, in megabytes.")
    ] = 1000,
    oidc_issuer: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Service at which users sign in (OpenID Connect)."),
    ] = None,
    oidc_client_id: Annotated[
        str | None, typer.Option(metavar="ID", help="What that service calls this server.")
    ] = None,
    oidc_role: Annotated[
        str | None,
        typer.Option(metavar=ROLES, help="Make a user of this role of who is none (else refused)."),
    ] = None,
) -> None:
    """Serve the dashboard and the interface for programs.

    Without users, whoever uses this machine may do everything. With users (`tracker user add`) all
    must sign in; only then may it listen to other machines. Sessions are signed with a key in the
    database, or with TRACKER_SECRET_KEY. The secret for an OpenID Connect service is read from
    TRACKER_OIDC_CLIENT_SECRET. MLFLOW_TRACKING_URI and TRACKER_MLFLOW_WEBHOOK_SECRET let an MLflow
    begin syncs by its webhooks.

    Examples:
    - `tracker serve`
    - `tracker serve --port 8080 --root-path /labels`
    - `tracker serve --oidc-issuer https://id.example --oidc-client-id tracker`

    Next: `tracker status`
    """
    from tracker.web.app import listening_socket, run_server
    from tracker.web.sign_in import checked_access, checked_service

    ledger = ledger_of_command(context)
    secret = os.environ.get("TRACKER_OIDC_CLIENT_SECRET")
    access = checked_access(
        ledger,
        host,
        secret_key=os.environ.get("TRACKER_SECRET_KEY"),
        oidc=checked_service(oidc_issuer, oidc_client_id, secret, oidc_role),
    )
    with listening_socket(host, port) as opened:
        is_new = ledger.database.make_ledger()
        bound = opened.getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        say(f"tracker is at http://{shown}:{bound}{root_path} (stop it: Ctrl+C)")
        say(f"the ledger is {ledger.database.place}{', which is new' * is_new}")
        run_server(
            ledger,
            opened,
            root_path=root_path,
            max_upload=max_upload * 1_000_000,
            access=access,
            mlflow=_mlflow(),
        )


def _mlflow() -> MLflowServer:
    from tracker.web.mlflow import SECRET, MLflowServer

    known = {
        name: os.environ.get(f"MLFLOW_TRACKING_{name.upper()}", "")
        for name in ("token", "username", "password")
    }
    url = os.environ.get("MLFLOW_TRACKING_URI", "")
    return MLflowServer(url=url, secret=os.environ.get(SECRET, ""), **known)
