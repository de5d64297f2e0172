"""Work in the background, with its progress; its project's page of imports lists it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request, Response
from fastapi.responses import RedirectResponse

from tracker.web.identity import Role, needs
from tracker.web.jobs import Job, Jobs
from tracker.web.templating import page, page_address, see_page

router = APIRouter(include_in_schema=False)
Number = Annotated[int, Path(ge=1, lt=2**31)]
_SOON = 1.0
"""Seconds that a reader waits for a job before they are shown its progress."""


@router.get("/jobs/{number}", dependencies=[needs(Role.VIEWER)])
def job_page(request: Request, number: Number) -> Response:
    """Show a job; whoever watches its progress is led on at its end."""
    job = _jobs(request).get(number)
    shown = page(request, "job.html", job=job)
    if job.outcome is not None and "hx-request" in request.headers:
        shown.headers["hx-redirect"] = outcome_link(request, job)
    return shown


@router.post("/jobs/{number}/cancel", dependencies=[needs(Role.MANAGER)])
def cancel_job(request: Request, number: Number) -> RedirectResponse:
    """Cancel a job: nothing of it is kept, unless it ends before that."""
    _jobs(request).get(number).cancelled.set()
    return see_page(request, "jobs", str(number))


def see_job(request: Request, job: Job) -> RedirectResponse:
    """Return the answer to a form that began a job: its outcome, or its progress."""
    job.wait(_SOON)
    over = job.outcome is not None
    address = outcome_link(request, job) if over else page_address(request, "jobs", str(job.number))
    return RedirectResponse(address, 303)


def outcome_link(request: Request, job: Job) -> str:
    """Return the address of the page that shows what came of a job."""
    return page_address(request, *(job.outcome.link if job.outcome else ()))


def _jobs(request: Request) -> Jobs:
    jobs: Jobs = request.app.state.jobs
    return jobs
