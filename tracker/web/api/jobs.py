"""Jobs: work in the background, watched and cancelled."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Request, Response

from tracker.core.operations import LARGEST
from tracker.web import jobs
from tracker.web.api.routing import Answer, reads, resource, stores_nothing, writes
from tracker.web.api.schema import listing_model, schema_of

router = resource("jobs")

Number = Annotated[int, Path(description="The job's number.", ge=1, le=LARGEST)]


@router.get("/jobs", **reads("listJobs", listing_model("jobs", jobs.Job)))
def list_jobs(request: Request, answer: Answer) -> Response:
    """Return the jobs of this server, the last one first: imports of its pages, syncs, audits.

    Of those that are over it keeps the last hundred, until it stops.
    """
    return answer.done({"jobs": [one.to_dict() for one in _jobs(request).list()]})


@router.get("/jobs/{number}", **reads("getJob", schema_of(jobs.Job)))
def show_job(request: Request, answer: Answer, number: Number) -> Response:
    """Return a job: its state, how much is done, what came of it."""
    return answer.done(_jobs(request).get(number).to_dict())


@router.post("/jobs/{number}/cancel", **writes("cancelJob", schema_of(jobs.Job)))
@stores_nothing
def cancel_job(request: Request, answer: Answer, number: Number) -> Response:
    """Cancel a job: it ends after the part that runs, and nothing of it is kept.

    One that ends before that is done, and stays so.
    """
    found = _jobs(request).get(number)
    found.cancelled.set()
    return answer.done(found.to_dict())


def _jobs(request: Request) -> jobs.Jobs:
    kept: jobs.Jobs = request.app.state.jobs
    return kept
