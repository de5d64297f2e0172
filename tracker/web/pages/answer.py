"""The queue of an annotator: one assigned item after the other, to be answered here."""

from __future__ import annotations

import json
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData

from tracker.core.errors import InvalidOption, NotFound, TrackerError
from tracker.web.errors import error_status
from tracker.web.identity import LOCAL, Identity, Role, needs
from tracker.web.middleware import policy_with_media
from tracker.web.request import Asked, AskedLedger, Place
from tracker.web.templating import page, see, see_page
from tracker.web.wording import for_form
from tracker.work.choosing import Given, UnfitAnswer

router = APIRouter(include_in_schema=False)
_QUEUE = "/me/queue/{project:name}/{annotator:name}"
_ANNOTATORS = [needs(Role.ANNOTATOR)]
_LONGEST_MS = 2**31 - 1
_NOTHING = FormData()


def _own(request: Request, project: str, annotator: str) -> None:
    """Raise NotFound for the queue of somebody else.

    At a server without users whoever asks may answer as anybody.
    """
    who: Identity = request.state.identity
    if who is not LOCAL and (project, annotator) not in who.annotators:
        raise NotFound(f"{annotator!r} in {project!r} is not linked to your account")


@router.get(_QUEUE, dependencies=_ANNOTATORS)
def queue_page(request: Request, project: str, annotator: str, asked: AskedLedger) -> HTMLResponse:
    """Show the next item; of others' answers, or why the item was chosen, nothing."""
    _own(request, project, annotator)
    return _queue(request, project, annotator, asked)


def _queue(
    request: Request,
    project: str,
    annotator: str,
    asked: Asked,
    *,
    problem: TrackerError | None = None,
    form: FormData = _NOTHING,
) -> HTMLResponse:
    item = asked.ledger.answering.next(project, annotator)
    same = item is not None and item.assignment == form.get("assignment")
    response = page(
        request, "answer.html", project=project, annotator=annotator, item=item, problem=problem,
        wrong=getattr(problem, "question", None), posted=form if same else _NOTHING,
        status=200 if problem is None else error_status(problem),
    )  # fmt: skip
    if item is not None:
        origins = {medium.origin for medium in item.media}
        response.headers["content-security-policy"] = policy_with_media(origins)
    return response


@router.post(_QUEUE, dependencies=_ANNOTATORS)
async def answer(request: Request, project: str, annotator: str, asked: AskedLedger) -> Response:
    """Keep an answer, and lead to the next item; a form that is sent again changes nothing."""
    _own(request, project, annotator)
    form = await request.form()
    return await run_in_threadpool(_answer, request, project, annotator, asked, form)


def _answer(
    request: Request, project: str, annotator: str, asked: Asked, form: FormData
) -> Response:
    by_script = request.headers.get("x-requested-with") == "fetch"
    try:
        answering, assignment = asked.ledger.answering, str(form.get("assignment", ""))
        answering.answer(project, annotator, assignment, _given(form), _spent(form))
    except (InvalidOption, NotFound) as problem:
        if not by_script:
            return _queue(request, project, annotator, asked, problem=problem, form=form)
        message = for_form("; ".join(str(problem).splitlines()))
        refusal = {"question": getattr(problem, "question", None), "message": message}
        return JSONResponse(refusal, error_status(problem), {"tracker-refused": "yes"})
    if by_script:  # it asks for the next itself
        return Response(status_code=204)
    return see_page(request, "me", "queue", project, annotator)


def _given(form: FormData) -> dict[str, Any]:
    """Return the answers of a form by question: fields are ``answer:NAME`` and their like."""
    skipped = form.get("skip") is not None
    answers = {}
    for name in dict.fromkeys(str(name) for name in form.getlist("question")):
        labels: list[Any] = [str(label) for label in form.getlist(f"answer:{name}") if label]
        marked = form.get(f"spans:{name}")
        if marked is not None:
            labels = _spans(name, str(marked))
        nothing = form.get(f"none:{name}") is not None
        if not (skipped or nothing or labels):
            continue
        if nothing and labels:
            raise UnfitAnswer(name, f"{name} has answers, and none of them", "choose either")
        sure, comment = form.get(f"confidence:{name}"), form.get(f"comment:{name}")
        reason = form.get("reason") if skipped else comment
        answers[name] = Given(
            None if skipped else labels,
            None if skipped or not sure else _percent(name, str(sure)),
            str(reason) if reason else None,
        )
    return answers


def _percent(name: str, text: str) -> float:
    try:
        return float(text) / 100
    except ValueError:
        raise UnfitAnswer(name, f"the confidence {text!r} is not a number") from None


def _spans(name: str, text: str) -> list[tuple[str, int, int]]:
    try:
        spans = json.loads(text or "[]")
        return [(str(category), int(begin), int(end)) for category, begin, end in spans]
    except (ValueError, TypeError):
        raise UnfitAnswer(name, f"what was marked for {name} cannot be read") from None


def _spent(form: FormData) -> int | None:
    text = str(form.get("spent_ms") or "")
    return min(int(text), _LONGEST_MS) if text.isdecimal() and len(text) < 12 else None


@router.post(f"{_QUEUE}/undo", dependencies=_ANNOTATORS)
def undo(request: Request, project: str, annotator: str, asked: AskedLedger) -> RedirectResponse:
    _own(request, project, annotator)
    asked.ledger.answering.undo(project, annotator)
    return see_page(request, "me", "queue", project, annotator)


@router.post(f"{_QUEUE}/finish", dependencies=_ANNOTATORS)
def finish(request: Request, project: str, annotator: str, asked: AskedLedger) -> RedirectResponse:
    _own(request, project, annotator)
    asked.ledger.answering.finish(project, annotator)
    if request.state.identity is LOCAL:  # without accounts there are no answers of their own
        return see(request, Place(project), "assignments")
    return see_page(request, "me")
