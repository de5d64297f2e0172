"""Events that other programs send by themselves.

FastAPI reads the annotations of these classes as they are, so they are no texts here.
"""

import shlex
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Depends, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field, create_model

from tracker.core.operations import fields_of_group
from tracker.imports.choosing import EventOptions, ExperimentOptions
from tracker.ledger import Ledger
from tracker.web.api.parameters import query_of
from tracker.web.api.routing import Answer, known_parameters, resource, stores_nothing, writes
from tracker.web.api.schema import model_of, schema_of
from tracker.web.identity import Role
from tracker.web.jobs import Job, JobJson, Jobs, Outcome, Step
from tracker.web.mlflow import MLflowServer, NeedsSignature

router = resource("hooks")

_Some = dict[str, Any] | list[dict[str, Any]] | None


class LabelStudioEvent(BaseModel):
    """What Label Studio sends by a webhook that sends the payload; there may be further fields."""

    model_config = ConfigDict(extra="allow")

    action: str = Field(examples=["ANNOTATION_CREATED"])
    project: dict[str, Any] | None = None
    task: _Some = None
    annotation: _Some = None
    tasks: _Some = Field(None, description="Tasks that were deleted.")
    annotations: _Some = Field(None, description="Annotations that were deleted.")


EventResult: Any = create_model(
    "EventResult",
    __base__=model_of(Ledger.import_uploads),
    __doc__="What came of an event that another program sent.",
    event=(str, ...), outcome=(str, ...), withdrawn=(int, ...), why=(str | None, None),
)  # fmt: skip


class SyncBegun(JobJson):
    """A sync that goes on in the background."""

    experiment: str


_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The event has nothing new, or concerns no answers.",
        "model": EventResult,
    },
    202: {
        "description": "The next sync must find out which answers were deleted.",
        "model": EventResult,
    },
}


@router.post(
    "/hooks/label-studio/{project:segment}",
    status_code=201,
    **writes("takeLabelStudioEvent", EventResult),
    responses=_RESPONSES,
)
def take_label_studio_event(
    answer: Answer,
    project: str,
    sent: LabelStudioEvent,
    options: Annotated[EventOptions, query_of(EventOptions)],
) -> Response:
    """Import the annotations of an event, as a sync of Label Studio would.

    `outcome` is `imported`, `known`, `ignored` (it concerns no answers), or `for_sync`: answers
    were deleted, but the event does not say which.
    """
    result = answer.ledger.take_label_studio_event(sent.model_dump(), project, **options)
    payload = result.to_dict()
    if result.outcome == "imported":
        return answer.made(payload, "imports", str(payload["import"]))
    return answer.done(payload, 202 if result.outcome == "for_sync" else 200)


_ANY = {"requestBody": {"content": {"application/json": {"schema": {"type": "object"}}}}}
_SIGNED_OR_MANAGER = Depends(NeedsSignature(Role.MANAGER))


@router.post(
    "/hooks/mlflow/{project:segment}",
    status_code=202,
    operation_id="takeMlflowEvent",
    response_model=schema_of(SyncBegun),
    dependencies=[_SIGNED_OR_MANAGER, Depends(known_parameters)],
    openapi_extra=_ANY,
)
@stores_nothing
def take_mlflow_event(
    request: Request,
    answer: Answer,
    project: str,
    experiment: Annotated[str, Query(description="The experiment, by name or number.")],
    options: Annotated[ExperimentOptions, query_of(ExperimentOptions)],
) -> Response:
    """Start a sync of an experiment, whatever the event says; `tracker sync mlflow`.

    `Location` has the address of the job, which says what comes of it. MLflow's
    signature admits its events; other programs send a token.
    """
    server: MLflowServer = request.app.state.mlflow
    how: dict[str, Any] = options | server.reading()
    title = f"Sync of MLflow's experiment {experiment}{_as_command({**options})}"
    jobs, ledger = request.app.state.jobs, answer.ledger
    ledger.database.wait = None

    def work(step: Step) -> Outcome:
        return _outcome(
            ledger.sync_mlflow(experiment=experiment, project=project, progress=step, **how)
        )

    job = _waiting(jobs, title, project) or jobs.start(title, project, answer.by, work)
    payload = {"experiment": experiment, **job.to_dict()}
    return answer.made(payload, "jobs", str(job.number), status=202)


def _as_command(options: Mapping[str, Any]) -> str:
    """Return the options as a command has them, in brackets, if there are any."""
    words = [word for field in fields_of_group(ExperimentOptions) if (value := options[field.name])
             for one in (value if field.repeated else [value])
             for word in (f"--{field.face_name}", one)]  # fmt: skip
    return f" ({shlex.join(words)})" if words else ""


def _waiting(jobs: Jobs, title: str, project: str) -> Job | None:
    """Return a sync that has not begun, which will see what another event is about, too."""
    for one in jobs.list():
        waits = one.state == "waiting" and not one.cancelled.is_set()
        if waits and (one.title, one.project) == (title, project):
            return one
    return None


def _outcome(done: Any) -> Outcome:
    payload = done.to_dict()
    if payload["import"] is None:
        return Outcome("There is nothing new.", (), payload)
    sentence = f"{payload['inserted']:,} answers are new, {payload['changed']:,} corrected"
    sentence = f"{sentence}, {payload['withdrawn']:,} withdrawn."
    return Outcome(sentence, ("projects", payload["project"], "imports"), payload, done.imported)
