"""Projects and their settings."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Response

from tracker.core.errors import InvalidOption
from tracker.ledger.projects import Projects
from tracker.web.api.operations import add_routes
from tracker.web.api.routing import Answer, resource, writes
from tracker.web.api.schema import model_of
from tracker.web.identity import Role

router = add_routes(resource("records"), Projects)
_DELETED = model_of(Projects.delete)


@router.delete("/projects/{project:segment}", **writes("deleteProject", _DELETED, Role.ADMIN))
def delete_project(
    answer: Answer,
    project: str,
    confirm: Annotated[str | None, Query(description="The project's name, once more.")] = None,
) -> Response:
    """Delete a project with everything in it for good; `tracker project delete P`."""
    name = answer.ledger.projects.find(project).name
    if confirm != name:
        raise InvalidOption("this deletes everything in the project", "add confirm=NAME, its name")
    return answer.done(answer.ledger.projects.delete(name).to_dict())
