"""The webhooks of a project: addresses that are told of its events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Form, Path, Request
from fastapi.responses import HTMLResponse, Response
from pydantic import BaseModel, Field

from tracker.core.errors import NotFound, TrackerError
from tracker.core.operations import LARGEST
from tracker.ledger.webhooks import COLUMNS, EVENTS, webhook_rows
from tracker.web.errors import error_status
from tracker.web.identity import Role, needs
from tracker.web.request import Asked, AskedLedger, At, Place
from tracker.web.templating import page, see

if TYPE_CHECKING:
    from tracker.sync.webhooks import WebhookInfo

router = APIRouter(include_in_schema=False)
_ADMINS = [needs(Role.ADMIN)]
_ALL = "/projects/{project:name}/webhooks"
Number = Annotated[int, Path(ge=1, le=LARGEST)]


class NewWebhook(BaseModel):
    """What a form says of a new webhook."""

    url: str = ""
    event: list[str] = Field(default_factory=list, max_length=100)
    allow_private: bool = False


@router.get(_ALL, dependencies=_ADMINS)
def webhooks_page(request: Request, place: At, asked: AskedLedger) -> HTMLResponse:
    asked.ledger.projects.find(place.project)
    return _webhooks(request, place, asked)


def _webhooks(
    request: Request,
    place: Place,
    asked: Asked,
    *,
    problem: TrackerError | None = None,
    form: NewWebhook | None = None,
    secret: str | None = None,
    outcome: str | None = None,
) -> HTMLResponse:
    """Return the page; ``problem`` is why a form was refused, ``form`` what it said.

    ``secret`` is that of a webhook that was just added, ``outcome`` what came of a message.
    """
    return page(
        request, "webhooks.html", place=place, tab="settings", columns=COLUMNS, events=EVENTS,
        rows=webhook_rows(_of(asked, place)), form=form or NewWebhook(), problem=problem,
        secret=secret, outcome=outcome, status=200 if problem is None else error_status(problem),
    )  # fmt: skip


def _of(asked: Asked, place: Place) -> list[WebhookInfo]:
    webhooks = asked.ledger.webhooks.list()
    return [webhook for webhook in webhooks if webhook.project in {None, place.project}]


@router.post(_ALL, dependencies=_ADMINS)
def add_webhook(
    request: Request, place: At, asked: AskedLedger, form: Annotated[NewWebhook, Form()]
) -> HTMLResponse:
    """Add a webhook; the page that answers shows its secret, and no other ever does."""
    asked.ledger.projects.find(place.project)
    try:
        webhook = asked.ledger.webhooks.add(
            form.url, form.event, project=place.project, allow_private=form.allow_private
        )
    except TrackerError as error:
        return _webhooks(request, place, asked, problem=error, form=form)
    return _webhooks(request, place, asked, secret=webhook.secret)


@router.post(f"{_ALL}/{{number}}/test", dependencies=_ADMINS)
def try_webhook(request: Request, place: At, asked: AskedLedger, number: Number) -> HTMLResponse:
    """Send a webhook a message now, and show what came of it."""
    _check_known(asked, place, number)
    trial = asked.ledger.webhooks.test(number)
    return _webhooks(request, place, asked, outcome=" ".join(trial.view()))


@router.post(f"{_ALL}/{{number}}/remove", dependencies=_ADMINS)
def remove_webhook(request: Request, place: At, asked: AskedLedger, number: Number) -> Response:
    _check_known(asked, place, number)
    asked.ledger.webhooks.remove(number)
    return see(request, place, "webhooks")


def _check_known(asked: Asked, place: Place, number: int) -> None:
    """Raise NotFound for a webhook that is not told of the project."""
    if number not in {webhook.id for webhook in _of(asked, place)}:
        raise NotFound(f"there is no webhook {number} of {place.project!r}")
