"""Projects and their settings."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query, Response

from tracker.render.documents import projects_as_json
from tracker.web.api.answering import Answer, reads, resource
from tracker.web.api.bodies.records import Project, Projects

router = resource("records")

Archived = Annotated[bool, Query(alias="all", description="Also the archived ones.")]


@router.get("/projects", **reads("listProjects", Projects))
def list_projects(answer: Answer, everything: Archived = False) -> Response:
    """Return the projects by name; `tracker project list`."""
    return answer.of_all(lambda ledger: projects_as_json(ledger.projects.list(archived=everything)))


@router.get("/projects/{project:segment}", **reads("getProject", Project))
def show_project(answer: Answer, project: str) -> Response:
    """Return a project's settings and categories; `tracker project show P`."""
    return answer.figure(project, lambda ledger: _settings(ledger, project))


def _settings(ledger: Any, project: str) -> Any:
    return ledger.projects.settings(project).to_dict()
