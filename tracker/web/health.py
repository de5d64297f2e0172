"""What a server says of itself: whether it lives, and its metrics."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from contextlib import suppress
from time import perf_counter

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse
from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tracker.core.errors import TrackerError
from tracker.ledger import Ledger
from tracker.web.identity import Identity, Role, needs

router = APIRouter(include_in_schema=False)
_EVERY = 1.0  # seconds between looks at the database, while somebody listens
_RETRY = 2000  # milliseconds after which a browser comes again
_ALIVE = 15  # looks without a change after which a comment keeps proxies from hanging up


class Revisions:
    """The revisions of all projects, looked at once for all who listen."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._seen: dict[str, str] = {}
        self._looked = -_EVERY
        self._lock = asyncio.Lock()

    async def now(self) -> dict[str, str]:
        """Return the revision of each project, at most a second old."""
        async with self._lock:
            time = asyncio.get_running_loop().time()
            if time - self._looked >= _EVERY:
                with suppress(TrackerError):  # busy: the next look will tell
                    self._seen = await run_in_threadpool(self._ledger.revisions)
                self._looked = time
            return self._seen


@router.get("/events", dependencies=[needs(Role.VIEWER)])
async def events(request: Request) -> StreamingResponse:
    """Stream the names of projects that changed, as they change."""
    return StreamingResponse(
        _changes(request), media_type="text/event-stream", headers={"x-accel-buffering": "no"}
    )


def _may_listen(request: Request) -> bool:
    """Return whether who listens still may; that the database is busy does not end a stream."""
    with suppress(TrackerError):
        who: Identity | None = request.state.ask_again()
        return who is not None and who.sees_projects
    return True


async def _changes(request: Request) -> AsyncIterator[str]:
    revisions: Revisions = request.app.state.revisions
    known, quiet = await revisions.now(), 0
    yield f": listening\nretry: {_RETRY}\n\n"
    while not (await request.is_disconnected() or request.app.state.stopping.is_set()):
        await asyncio.sleep(_EVERY)
        if not await run_in_threadpool(_may_listen, request):
            return  # who comes again is told to sign in
        current = await revisions.now()
        changed = sorted(
            name for name in {*known, *current} if known.get(name) != current.get(name)
        )
        known, quiet = current, quiet + 1
        if changed:
            yield f"event: changed\ndata: {json.dumps(changed)}\n\n"
        elif quiet >= _ALIVE:
            yield ": alive\n\n"
            quiet = 0


# -- For programs that watch: whether the server works, and what it has to tell in numbers --------


_SECONDS = 1_000_000  # of microseconds
_limiter = CapacityLimiter(2)


@router.get("/healthz", dependencies=[needs(Role.EVERYONE)])
async def healthz(request: Request) -> Response:
    """Say whether the database can be used, and nothing else; others' requests take no thread."""
    ready = await to_thread.run_sync(request.app.state.ledger.is_ready, limiter=_limiter)
    return Response("ok\n" if ready else "", 200 if ready else 503, media_type="text/plain")


@router.get("/metrics", dependencies=[needs(Role.VIEWER)])
def metrics(request: Request) -> Response:
    """Return the recorded figures and the counts of requests, as Prometheus reads them."""
    return Response(
        generate_latest(request.app.state.observed.registry), media_type=CONTENT_TYPE_LATEST
    )


class Observed:
    """Numbers of one application: those of the ledger as they were recorded, and of requests."""

    def __init__(self, ledger: Ledger) -> None:
        self.registry = CollectorRegistry()
        self.registry.register(_Recorded(ledger))
        labels = ("method", "route")
        self.requests = Counter(
            "tracker_requests", "Requests answered.", (*labels, "status"), registry=self.registry
        )
        self.durations = Histogram(
            "tracker_request_duration_seconds", "How long answers took.", labels,
            registry=self.registry,
        )  # fmt: skip


class _Recorded:
    """The figures of the ledger, read when they are asked for."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def describe(self) -> Iterable[Metric]:
        """Return nothing: the ledger is not read as the application is made."""
        return []

    def collect(self) -> Iterable[Metric]:
        recorded = self._ledger.recorded_figures()
        of_question = ("project", "question")
        items = _gauge("snapshot_items", "Items of the last snapshot.", of_question)
        answers = _gauge("snapshot_answers", "Answers of the last snapshot.", of_question)
        taken = _gauge("snapshot_timestamp_seconds", "When it was taken.", of_question)
        alpha = _gauge("alpha", "Krippendorff's alpha of the last snapshot.", of_question)
        bounds = _gauge("alpha_bound", "Its interval.", (*of_question, "bound"))
        for snapshot in recorded.snapshots:
            names = (snapshot.project, snapshot.question)
            items.add_metric(names, snapshot.items)
            answers.add_metric(names, snapshot.answers)
            taken.add_metric(names, snapshot.taken_at / _SECONDS)
            if snapshot.value is not None:
                alpha.add_metric(names, snapshot.value)
            for bound, value in (("low", snapshot.ci_low), ("high", snapshot.ci_high)):
                if value is not None:
                    bounds.add_metric((*names, bound), value)
        findings = _gauge("open_findings", "Findings to act on.", (*of_question, "kind"))
        for finding in recorded.findings:
            findings.add_metric((finding.project, finding.question, finding.kind), finding.number)
        imported = _gauge("last_import_timestamp_seconds", "When one was recorded.", ("project",))
        for last in recorded.imports:
            imported.add_metric((last.project,), last.recorded_at / _SECONDS)
        yield from (items, answers, taken, alpha, bounds, findings, imported)


def _gauge(name: str, about: str, labels: tuple[str, ...]) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"tracker_{name}", about, labels=labels)


class CountRequests:
    """Counts what is answered, by the template of the route: names of projects are no labels."""

    def __init__(self, app: ASGIApp, observed: Observed) -> None:
        self._app, self._observed = app, observed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = perf_counter(), 500

        async def seen(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, seen)
        finally:
            route = getattr(scope.get("route"), "path_format", "none")
            method = scope["method"] if route != "none" else "any"
            self._observed.requests.labels(method, route, str(status)).inc()
            self._observed.durations.labels(method, route).observe(perf_counter() - began)
