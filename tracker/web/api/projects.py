"""Projects and their settings."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query, Response

from tracker.core.errors import InvalidOption
from tracker.history.status_json import projects_as_json
from tracker.web.api.bodies.records import DeletedProject, Project, Projects
from tracker.web.api.bodies.requests import ChangedProject, NewName, NewProject
from tracker.web.api.parameters import Question
from tracker.web.api.routing import Answer, Answering, reads, resource, writes
from tracker.web.identity import Role

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


@router.post("/projects", status_code=201, **writes("createProject", Project))
def create_project(answer: Answer, sent: NewProject) -> Response:
    """Create a project; `tracker project create P`."""
    made = answer.ledger.projects.create(sent.project, sent.options, sent.timezone)
    return answer.made(made.to_dict(), "projects", made.project.name)


@router.patch("/projects/{project:segment}", **writes("setProject", Project))
def set_project(
    answer: Answer, project: str, sent: ChangedProject, question: Question = None
) -> Response:
    """Change the settings of a project's question; `tracker project set P`."""
    changed = answer.ledger.projects.set(project, question=question, **sent.changing)
    return answer.done(changed.to_dict())


@router.delete("/projects/{project:segment}", **writes("deleteProject", DeletedProject, Role.ADMIN))
def delete_project(
    answer: Answer,
    project: str,
    confirm: Annotated[str | None, Query(description="The project's name, once more.")] = None,
) -> Response:
    """Delete a project with everything in it for good; `tracker project delete P`."""
    name = answer.ledger.projects.find(project).name
    if confirm != name:
        raise InvalidOption("this deletes everything in the project", "add confirm=NAME, its name")
    answer.ledger.projects.delete(name)
    return answer.done({"project": name, "deleted": True})


@router.post("/projects/{project:segment}/rename", **writes("renameProject", Project))
def rename_project(answer: Answer, project: str, sent: NewName) -> Response:
    """Give a project another name; `tracker project rename P NAME`."""
    made = answer.ledger.projects.rename(project, sent.name)
    return answer.done(_settings(answer.ledger, made.name))


@router.post("/projects/{project:segment}/archive", **writes("archiveProject", Project))
def archive_project(answer: Answer, project: str) -> Response:
    """Take a project off the list of active ones; `tracker project archive P`."""
    return _archived(answer, project, restore=False)


@router.post("/projects/{project:segment}/restore", **writes("restoreProject", Project))
def restore_project(answer: Answer, project: str) -> Response:
    """Put a project back on the list; `tracker project archive P --restore`."""
    return _archived(answer, project, restore=True)


def _archived(answer: Answering, project: str, *, restore: bool) -> Response:
    answer.ledger.projects.archive(project, restore=restore)
    return answer.done(_settings(answer.ledger, project))
