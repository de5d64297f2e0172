"""Events that other programs send by themselves.

FastAPI reads the annotations of these classes as they are, so they are no texts here.
"""

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Query, Response

from tracker.web.api.answering import Answer, resource, writes
from tracker.web.api.bodies.records import EventResult
from tracker.web.api.bodies.requests import LabelStudioEvent

router = resource("hooks")

_Words = tuple[str, ...]
_STATUS = {"imported": 201, "for_sync": 202}
_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"description": "It brought nothing new, or concerns no answers.", "model": EventResult},
    202: {"description": "A sync must find out what it took back.", "model": EventResult},
}


@dataclass(frozen=True)
class EventOptions:
    """How an event is read, as the options of `tracker sync label-studio`."""

    url: Annotated[
        str | None,
        Query(
            description="Where Label Studio runs, as a sync is told it, which then withdraws what "
            "is deleted there.",
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

    `outcome` is `imported`, `known`, `ignored` (it concerns no answers), or `for_sync`: it took
    answers back, and does not say which.
    """
    told = answer.ledger.take_label_studio_event(sent.model_dump(), project, **options.taking)
    body = told.to_dict()
    if told.outcome == "imported":
        return answer.made(body, "imports", str(body["import"]))
    return answer.done(body, _STATUS.get(told.outcome, 200))
