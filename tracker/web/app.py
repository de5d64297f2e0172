"""The application: what it is made of, and what it keeps while it runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles

from tracker.core.version import VERSION
from tracker.ledger import Ledger
from tracker.web import live, oidc, sign_in, style
from tracker.web.access import HERE_ONLY, Access
from tracker.web.api import API
from tracker.web.api.names import NameSegments
from tracker.web.asking import PATIENCE
from tracker.web.attempts import Attempts
from tracker.web.behind import BehindPath
from tracker.web.delivering import delivering
from tracker.web.errors import add_error_responses
from tracker.web.figures import Figures
from tracker.web.guard import Guard
from tracker.web.head import HeadAsGet
from tracker.web.headers import SecureHeaders
from tracker.web.jobs import Jobs
from tracker.web.mlflow import NO_MLFLOW, MLflowServer
from tracker.web.observed import CountRequests, Observed
from tracker.web.observed import router as observed_router
from tracker.web.pages import PAGES
from tracker.web.sessions import Sessions
from tracker.web.staging import Staging
from tracker.web.templating import HERE

MAX_UPLOAD = 1_000_000_000
ROUTERS = (
    live.router,
    observed_router,
    style.router,
    sign_in.router,
    oidc.router,
    *API,
    *(one.router for one in PAGES),
)
"""All routes; each says whom it admits (`needs`)."""


def create_app(
    ledger: Ledger,
    *,
    root_path: str = "",
    max_upload: int = MAX_UPLOAD,
    access: Access = HERE_ONLY,
    mlflow: MLflowServer = NO_MLFLOW,
) -> FastAPI:
    """Return the application that serves a ledger.

    ``root_path`` is the path at which a proxy serves it, ``max_upload`` the most bytes that are
    taken in one request, ``access`` whom it lets in, ``mlflow`` the MLflow that sends messages.
    """

    @asynccontextmanager
    async def running(app: FastAPI) -> AsyncIterator[None]:
        app.state.revisions = live.Revisions(ledger)

        def forget() -> None:
            for kept in (app.state.figures.clear, app.state.jobs.forget, app.state.staging.clear):
                kept()

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
    app.state.ledger = ledger
    app.state.figures, app.state.patience = Figures(), PATIENCE
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
