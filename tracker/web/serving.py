"""The application behind a socket, and how long and of how many it waits for a request."""

from __future__ import annotations

import asyncio
import logging
import socket
from itertools import islice
from types import FrameType
from typing import TYPE_CHECKING, Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from tracker.core.errors import InvalidOption
from tracker.ledger import Ledger
from tracker.web.access import Access
from tracker.web.app import create_app
from tracker.web.mlflow import MLflowServer

if TYPE_CHECKING:
    from fastapi import FastAPI
    from uvicorn._types import HTTPScope

_GRACE = 3  # seconds that open requests get when the server is told to stop
_MOST = 1000  # connections
_LOOK = 10.0  # seconds between looks at a connection
_LEAST = 1000  # bytes of a body between two looks


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
    app.state.staging.close()  # what a server left that was killed
    ledger.requests.purge(under_way=True)
    told = logging.StreamHandler()
    told.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    log = logging.getLogger("tracker.web")
    log.addHandler(told)
    log.setLevel(logging.INFO)
    config = server_config(app)
    with ledger.database.keep_connections():
        _Server(config, app.state.stopping).run(sockets=[opened])


def server_config(app: FastAPI) -> uvicorn.Config:
    """Return how the application is served: no client holds a connection without using it."""
    most = min(_MOST, _descriptors() // 2)
    at_once = max(1, most // 8)  # what is accepted before one of those before it is ended
    return uvicorn.Config(
        app, http=_Connection, ws="none", limit_concurrency=most, backlog=at_once,
        log_level="warning", server_header=False, timeout_graceful_shutdown=_GRACE,
    )  # fmt: skip


def _descriptors() -> int:
    """Return how many files and connections the process may have open."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return 2 * _MOST
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 2 * _MOST if soft == resource.RLIM_INFINITY else soft


class _Connection(H11Protocol):
    """A connection that ends if a request does not come on, or if others need its place.

    A request's head has to come between two looks, and its body must not stand still between two.
    """

    _received = 0
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to look after the connection."""
        super().connection_made(transport)
        if len(self.connections) > (self.limit_concurrency or 0) - 2 * self.config.backlog:
            others = (one for one in self.connections if one is not self)
            idle = (one for one in others if isinstance(one, _Connection) and one.is_idle)
            for one in islice(idle, 1):
                one.transport.abort()
        self._look_later()

    @property
    def is_idle(self) -> bool:
        """Whether no whole head of a request is being answered, nor its body awaited."""
        return self.conn.their_state is h11.IDLE and not self.transport.is_closing()

    def data_received(self, data: bytes) -> None:
        """Take a part of a request."""
        self._received += len(data)
        super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """End the looks with the connection."""
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def _look_later(self) -> None:
        seen = self.scope, self.conn.their_state, self._received
        self._timer = self.loop.call_later(_LOOK, self._look, *seen)

    def _look(self, request: HTTPScope, state: Any, received: int) -> None:
        """End the connection if nothing came of it since the last look."""
        ours = self.flow.read_paused or self.conn.they_are_waiting_for_100_continue
        stands = not ours and self._received - received < _LEAST
        same = self.scope is request and self.conn.their_state is state
        if same and (self.is_idle or (state is h11.SEND_BODY and stands)):
            self.transport.abort()
        else:
            self._look_later()


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
