"""The application behind a socket."""

from __future__ import annotations

import asyncio
import logging
import socket
from types import FrameType

import uvicorn

from tracker.core.errors import InvalidOption
from tracker.ledger import Ledger
from tracker.web.access import Access
from tracker.web.app import create_app
from tracker.web.mlflow import MLflowServer

_GRACE = 3  # seconds that open requests get when the server is told to stop


def listening_socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens; raises InvalidOption if the address cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    opened = socket.socket(family)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        opened.bind((host, port))
        opened.listen(128)
    except OSError as error:
        opened.close()
        raise InvalidOption(
            f"{host}:{port} cannot be listened on: {error.strerror or error}",
            "name another: --port N",
        ) from None
    return opened


def run_server(
    ledger: Ledger,
    opened: socket.socket,
    *,
    root_path: str,
    max_upload: int,
    access: Access,
    mlflow: MLflowServer,
) -> None:
    """Serve a ledger until the process is told to stop; its log is on standard error."""
    app = create_app(
        ledger, root_path=root_path, max_upload=max_upload, access=access, mlflow=mlflow
    )
    told = logging.StreamHandler()
    told.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    log = logging.getLogger("tracker.web")
    log.addHandler(told)
    log.setLevel(logging.INFO)
    config = uvicorn.Config(
        app, log_level="warning", server_header=False, timeout_graceful_shutdown=_GRACE
    )
    with ledger.database.keep_connections():
        _Server(config, app.state.stopping).run(sockets=[opened])


class _Server(uvicorn.Server):
    """A server that is told to stop by Ctrl+C or SIGTERM, and then ends as it should."""

    def __init__(self, config: uvicorn.Config, stopping: asyncio.Event) -> None:
        super().__init__(config)
        self._stopping = stopping

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Let streams end, and then the server; at once if it is asked again."""
        self._stopping.set()
        self.force_exit = self.should_exit
        self.should_exit = True
