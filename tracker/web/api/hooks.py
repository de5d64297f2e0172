"""Events that other programs send by themselves.

FastAPI reads the annotations of these classes as they are, so they are no texts here.
"""

import shlex
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field, create_model

from tracker.ledger import Ledger
from tracker.web.api.routing import Answer, known_parameters, resource, stores_nothing, writes
from tracker.web.api.schema import model_of, schema_of
from tracker.web.identity import Role
from tracker.web.jobs import Job, JobJson, Jobs, Outcome, Step
from tracker.web.mlflow import MLflowServer, NeedsSignature

router = resource("hooks")

_Words = tuple[str, ...]
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


_STATUS = {"imported": 201, "for_sync": 202}
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


@dataclass(frozen=True)
class EventOptions:
    """How an event is read, as the options of `tracker sync label-studio`."""

    url: Annotated[
        str | None,
        Query(
            description="Where Label Studio runs, as in a sync; the next sync then withdraws what "
            "was deleted there.",
            examples=["https://labels.example.org"],
        ),
    ] = None
    item: Annotated[
        str | None,
        Query(description="Field of a task's data that is its key; else its number."),
    ] = None
    question: Annotated[
        _Words, Query(description="Only this control, NAME=CONTROL[:WORD] (repeatable).")
    ] = ()
    keep: Annotated[_Words, Query(description="Field kept as an attribute (repeatable).")] = ()
    repeat: Annotated[str | None, Query(description="revision or pass")] = None
    create: Annotated[bool, Query(description="Make the project if it is not there.")] = True
    skip_invalid: Annotated[bool, Query(description="Leave out what cannot be read.")] = False

    @property
    def taking(self) -> dict[str, Any]:
        """The keywords of the ledger."""
        told = dict(vars(self))
        return {"questions": told.pop("question"), **told}


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
    options: Annotated[EventOptions, Depends()],
) -> Response:
    """Import the annotations of an event, as a sync of Label Studio would.

    `outcome` is `imported`, `known`, `ignored` (it concerns no answers), or `for_sync`: answers
    were deleted, but the event does not say which.
    """
    told = answer.ledger.take_label_studio_event(sent.model_dump(), project, **options.taking)
    body = told.to_dict()
    if told.outcome == "imported":
        return answer.made(body, "imports", str(body["import"]))
    return answer.done(body, _STATUS.get(told.outcome, 200))


@dataclass(frozen=True)
class SyncOptions:
    """How an experiment is read, as the options of `tracker sync mlflow`."""

    item: Annotated[
        str | None, Query(description="Field of a trace that is its item's key, as tags.case.")
    ] = None
    question: Annotated[
        _Words, Query(description="Only this assessment, NAME=NAME[:WORD] (repeatable).")
    ] = ()
    keep: Annotated[_Words, Query(description="Field kept as an attribute (repeatable).")] = ()

    @property
    def reading(self) -> dict[str, Any]:
        """The keywords of the ledger."""
        return {"item": self.item, "questions": self.question, "keep": self.keep}

    def __str__(self) -> str:
        """The options as the command has them; in brackets, if there are any."""
        words = [] if self.item is None else ["--item", self.item]
        for name, values in (("--question", self.question), ("--keep", self.keep)):
            words += [word for value in values for word in (name, value)]
        return f" ({shlex.join(words)})" if words else ""


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
    options: Annotated[SyncOptions, Depends()],
) -> Response:
    """Start a sync of an experiment, whatever the event says; `tracker sync mlflow`.

    `Location` has the address of the job, which says what comes of it. MLflow's
    signature admits its events; other programs send a token.
    """
    server: MLflowServer = request.app.state.mlflow
    how: dict[str, Any] = options.reading | server.reading()
    title = f"Sync of MLflow's experiment {experiment}{options}"
    jobs, ledger = request.app.state.jobs, answer.ledger

    def work(step: Step) -> Outcome:
        return _outcome(
            ledger.sync_mlflow(experiment=experiment, project=project, progress=step, **how)
        )

    job = _waiting(jobs, title, project) or jobs.start(title, project, answer.by, work)
    payload = {"experiment": experiment, **job.to_dict()}
    return answer.made(payload, "jobs", str(job.number), status=202)


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
    shown = ("projects", payload["project"], "imports")
    return Outcome(f"{sentence}, {payload['withdrawn']:,} withdrawn.", shown, payload)
