"""The application: what it is made of, and what it keeps while it runs."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from itertools import count, islice
from types import FrameType
from typing import TYPE_CHECKING, Any

import h11
import uvicorn
from fastapi import FastAPI
from fastapi.concurrency import run_in_threadpool
from fastapi.staticfiles import StaticFiles
from uvicorn.protocols.http.h11_impl import H11Protocol

from tracker.core.errors import InvalidOption, TrackerError
from tracker.core.kept import KeptResults
from tracker.core.version import VERSION
from tracker.ledger import Ledger
from tracker.web import health, sign_in, style
from tracker.web.api import API
from tracker.web.api.routing import NameSegments
from tracker.web.errors import add_error_responses
from tracker.web.health import CountRequests, Observed
from tracker.web.identity import Attempts, Sessions
from tracker.web.jobs import Jobs
from tracker.web.middleware import BehindPath, Guard, HeadAsGet, SecureHeaders
from tracker.web.mlflow import NO_MLFLOW, MLflowServer
from tracker.web.pages import PAGES
from tracker.web.request import PATIENCE
from tracker.web.sign_in import HERE_ONLY, Access
from tracker.web.templating import HERE
from tracker.web.uploads import Staging
from tracker.web.waiting import WaitingRoom

if TYPE_CHECKING:
    from fastapi import FastAPI
    from uvicorn._types import HTTPScope


_EVERY = 5.0  # seconds between looks at the database
_WAIT = 10.0  # seconds for a lock, on Postgres, too: a held one stops no delivery
_LATE_EVERY = 120  # looks between two at what is late


@asynccontextmanager
async def delivering(ledger: Ledger, forget: Callable[[], None]) -> AsyncIterator[None]:
    """Deliver what is due until the block ends; call ``forget`` after an erasure."""
    stopping = asyncio.Event()
    task = asyncio.create_task(_deliver(ledger, forget, stopping))
    try:
        yield
    finally:
        stopping.set()
        await asyncio.wait({task}, timeout=_GRACE)  # its thread may be using the database
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _deliver(ledger: Ledger, forget: Callable[[], None], stopping: asyncio.Event) -> None:
    erasures: int | None = None
    with suppress(TrackerError):  # there is no folder for the file
        ledger = ledger.acting_for(None)
        ledger.database.wait = _WAIT
    for looks in count():
        with suppress(TrackerError):
            before, erasures = erasures, await run_in_threadpool(ledger.annotators.erasures)
            if before is not None and before != erasures:
                forget()
            await run_in_threadpool(ledger.requests.purge)
            await run_in_threadpool(ledger.answering.record_due)
        with suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), _EVERY)
            return
        deliver = ledger.webhooks.send if looks % _LATE_EVERY else ledger.webhooks.deliver
        with suppress(TrackerError):  # busy, or gone: the next time will tell
            await run_in_threadpool(deliver)


MAX_UPLOAD = 1_000_000_000
ROUTERS = (health.router, style.router, sign_in.router, *API, *(page.router for page in PAGES))
"""All routes; each says whom it admits (`needs`)."""


def create_app(
    ledger: Ledger,
    *,
    root_path: str = "",
    max_upload: int = MAX_UPLOAD,
    access: Access = HERE_ONLY,
    mlflow: MLflowServer = NO_MLFLOW,
) -> FastAPI:
    """Return the application that serves a ledger, at ``root_path`` of a proxy.

    It takes at most ``max_upload`` bytes in a request, and messages of ``mlflow``.
    """

    @asynccontextmanager
    async def running(app: FastAPI) -> AsyncIterator[None]:
        app.state.revisions = health.Revisions(ledger)

        def forget() -> None:
            for clear in (app.state.figures.clear, app.state.jobs.forget, app.state.staging.clear):
                clear()

        async with delivering(ledger, forget):
            yield
        app.state.stopping.set()
        app.state.jobs.close()
        app.state.staging.close()

    app = FastAPI(
        title="tracker", version=VERSION, lifespan=running,
        docs_url=None, redoc_url=None, openapi_url=None,
        redirect_slashes=False,  # such a redirect leads to whatever host the request names
    )  # fmt: skip
    app.state.ledger, app.state.patience = ledger, PATIENCE
    app.state.figures, app.state.waiting = KeptResults(), WaitingRoom(ledger)
    app.state.stopping = asyncio.Event()
    app.state.max_upload = max_upload
    app.state.observed = Observed(ledger)
    app.state.jobs, app.state.staging = Jobs(), Staging(ledger)
    app.state.sessions = Sessions(ledger, access.secret_key)
    app.state.mlflow = mlflow
    app.state.attempts, app.state.oidc = Attempts(), access.oidc
    add_error_responses(app)
    app.add_middleware(Guard, ledger=ledger, access=access, sessions=app.state.sessions)
    app.add_middleware(CountRequests, observed=app.state.observed)
    app.add_middleware(NameSegments)
    app.add_middleware(SecureHeaders)
    app.add_middleware(BehindPath, root_path=root_path)
    app.add_middleware(HeadAsGet)
    app.mount("/static", StaticFiles(directory=HERE / "static"))
    # The routes themselves: `include_router` would make each of them anew at the first request.
    app.router.routes.extend(route for router in ROUTERS for route in router.routes)
    return app


_GRACE = 3  # seconds that open requests get when the server is told to stop
_MOST = 1000  # connections
_LOOK = 10.0  # seconds between looks at a connection
_LEAST = 1000  # bytes of a body between two looks


def listening_socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens; raises InvalidOption if the address cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named, answers in two parts are not held back until the first is received.
    opened = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
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
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    log = logging.getLogger("tracker.web")
    log.addHandler(handler)
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
        super().connection_made(transport)
        if len(self.connections) > (self.limit_concurrency or 0) - 2 * self.config.backlog:
            others = (connection for connection in self.connections if connection is not self)
            idle = (other for other in others if isinstance(other, _Connection) and other.is_idle)
            for connection in islice(idle, 1):
                connection.transport.abort()
        self._look_later()

    @property
    def is_idle(self) -> bool:
        """Whether no whole head of a request is being answered, nor its body awaited."""
        return self.conn.their_state is h11.IDLE and not self.transport.is_closing()

    def data_received(self, data: bytes) -> None:
        self._received += len(data)
        super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
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
