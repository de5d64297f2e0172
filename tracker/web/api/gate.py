"""Gates: thresholds, and whether a project holds them."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote

from fastapi import Body, Query, Request, Response

from tracker.core.errors import NotFound, Refused
from tracker.ledger import Ledger
from tracker.web.api.parameters import AskedAnswers
from tracker.web.api.routing import PREFIX, Answer, reads, resource, stores_nothing
from tracker.web.api.schema import model_of
from tracker.web.identity import NotAdmitted, Role

router = resource("figures")

_TOML = "application/toml"
_EXAMPLE = "[[check]]\nitems_at_least = 200\n"


@router.get("/projects/{project:segment}/gate", include_in_schema=False, **reads("getGate", None))
def gate_of_project(answer: Answer, project: str) -> Response:
    """Say that a project keeps no file of checks, and where there is one to begin with."""
    answer.ledger.revision(project)  # raises, if there is no project
    raise NotFound(
        "the server keeps no file of checks",
        f"begin with what passes now: GET {PREFIX}/projects/{quote(project, safe='')}/gate/sample; "
        "send a file: POST it to this address",
    )


@router.get(
    "/projects/{project:segment}/gate/sample",
    **reads("getGateConfig", None),
    responses={
        200: {"description": "The file.", "content": {_TOML: {"schema": {"type": "string"}}}}
    },
    response_class=Response,
)
def gate_config(answer: Answer, project: str, answers: AskedAnswers) -> Response:
    """Return a file of checks that the project passes as it is; `tracker gate P --init`."""
    text = answer.ledger.gate_config(project, **answers)
    return Response(text, media_type=_TOML)


@router.post("/projects/{project:segment}/gate", **reads("runGate", model_of(Ledger.gate_text)))
@stores_nothing
def run_gate(
    request: Request,
    answer: Answer,
    project: str,
    answers: AskedAnswers,
    config: Annotated[bytes, Body(media_type=_TOML, examples=[_EXAMPLE])],
    notify: Annotated[
        bool, Query(description="Tell the webhooks if a check fails; needs the role manager.")
    ] = False,
) -> Response:
    """Hold a project to the checks in the body, a TOML file; `tracker gate P`.

    The answer is 200 also if a check fails: `passed` says it.
    """
    if notify and request.state.identity.role < Role.MANAGER:
        raise NotAdmitted(403, "notify needs the role manager", "ask without notify")
    try:
        text = config.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Refused("the file of checks is no UTF-8 text", "save it as UTF-8") from None
    found = answer.ledger.gate_text(project, text, **answers)
    if notify:
        answer.ledger.webhooks.tell_of_gate(found)
    return answer.done(found.to_dict())
