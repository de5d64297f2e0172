"""Annotators."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Query, Response

from tracker.ledger import Ledger
from tracker.web.api.bodies.records import Annotator, AnnotatorPage, Annotators
from tracker.web.api.bodies.requests import Alias, AnnotatorKind, Leave, MergeInto, NewName
from tracker.web.api.parameters import Questions
from tracker.web.api.routing import Answer, reads, resource, writes

router = resource("records")

Name = Annotated[str, Path(description="Any name of the annotator.")]


@router.get("/projects/{project:segment}/annotators", **reads("listAnnotators", Annotators))
def list_annotators(answer: Answer, project: str) -> Response:
    """Return a project's annotators by name; `tracker annotator list P`."""

    def compute(ledger: Ledger) -> Any:
        rows = [one.to_dict() for one in ledger.annotators.list(project)]
        return {"project": project, "annotators": rows}

    return answer.figure(project, compute)


@router.get(
    "/projects/{project:segment}/annotators/{annotator:segment}",
    **reads("getAnnotator", AnnotatorPage),
)
def show_annotator(
    answer: Answer,
    project: str,
    annotator: Name,
    competence: Annotated[
        bool, Query(description="Also the competence by Dawid and Skene's model.")
    ] = False,
    question: Questions = (),
) -> Response:
    """Return one annotator's figures beside the others', and findings; `tracker annotator show`."""
    return answer.figure(
        project,
        lambda ledger: ledger.annotator(
            project, annotator, competence=competence, questions=question
        ),
    )


_ONE = "/projects/{project:segment}/annotators/{annotator:segment}"


@router.post(f"{_ONE}/rename", **writes("renameAnnotator", Annotator))
def rename_annotator(answer: Answer, project: str, annotator: Name, sent: NewName) -> Response:
    """Rename an annotator; `tracker annotator rename P A NAME`."""
    made = answer.ledger.annotators.rename(project, annotator, sent.name)
    return answer.done(made.to_dict())


@router.post(f"{_ONE}/kind", **writes("setAnnotatorKind", Annotator))
def set_kind(answer: Answer, project: str, annotator: Name, sent: AnnotatorKind) -> Response:
    """Set what an annotator is; `tracker annotator kind P A KIND`."""
    made = answer.ledger.annotators.kind(project, annotator, sent.kind)
    return answer.done(made.to_dict())


@router.post(f"{_ONE}/leave", **writes("annotatorLeft", Annotator))
def leave(answer: Answer, project: str, annotator: Name, sent: Leave) -> Response:
    """Note that an annotator left; `tracker annotator leave P A --on DATE`."""
    return answer.done(answer.ledger.annotators.leave(project, annotator, sent.on).to_dict())


@router.post(f"{_ONE}/return", **writes("annotatorBack", Annotator))
def back(answer: Answer, project: str, annotator: Name) -> Response:
    """Note that an annotator who left is back; `tracker annotator return P A`."""
    return answer.done(answer.ledger.annotators.back(project, annotator).to_dict())


@router.post(f"{_ONE}/aliases", **writes("addAlias", Annotator))
def add_alias(answer: Answer, project: str, annotator: Name, sent: Alias) -> Response:
    """Add another name of an annotator; `tracker annotator alias P A NAME`."""
    made = answer.ledger.annotators.alias(project, annotator, sent.alias)
    return answer.done(made.to_dict())


@router.post(f"{_ONE}/merge", **writes("mergeAnnotator", Annotator))
def merge_annotator(answer: Answer, project: str, annotator: Name, sent: MergeInto) -> Response:
    """Merge an annotator into another, and return that one; `tracker annotator merge P A INTO`."""
    made = answer.ledger.annotators.merge(project, annotator, sent.into)
    return answer.done(made.to_dict())


@router.post(f"{_ONE}/split", **writes("splitAnnotator", Annotator))
def split_annotator(answer: Answer, project: str, annotator: Name) -> Response:
    """Take a merge back: the alias is an annotator again; `tracker annotator split P ALIAS`."""
    return answer.done(answer.ledger.annotators.split(project, annotator).to_dict())
