"""Questions, categories and people under another name, and those that are one with another."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from tracker.core.errors import InvalidOption, TrackerError
from tracker.web import known
from tracker.web.identity import Role, needs
from tracker.web.request import AskedLedger, At
from tracker.web.templating import page, see

router = APIRouter(include_in_schema=False)
_MANAGERS = [needs(Role.MANAGER)]
_QUESTION = "/projects/{project:name}/questions/{question:name}"
_CATEGORY = f"{_QUESTION}/categories/{{category:name}}"
_ANNOTATOR = "/projects/{project:name}/annotators/{annotator:name}"
Name = Annotated[str, Form()]


@router.get(f"{_QUESTION}/merge", dependencies=_MANAGERS)
def merge_page(
    request: Request, place: At, asked: AskedLedger, question: str, category: str, into: str
) -> HTMLResponse:
    """Show what agreement would be if two categories were one, and ask whether to merge them."""
    labels = {
        row.category: row.labels
        for row in asked.ledger.categories.list(place.project, question=question).categories
    }
    for name in (category, into):
        if name not in labels:
            raise InvalidOption(f"there is no category {name!r}", "choose two that there are")
    if category == into:
        raise InvalidOption("the two categories are one", "choose two")
    now = next(one for one in known.agreement_of(asked, place).questions
               if one.question.name == question)  # fmt: skip
    figures, unknown = [("Now", now.assessment)], ""
    merges, measures = [f"{category}+{into}"], [now.main.measure]
    try:
        merged = asked.figure(
            place.project, "merged", question, category, into,
            compute=lambda it: it.merged(
                place.project, merges, question=question, measures=measures
            ),
        )  # fmt: skip
        figures.append(("As one", merged))
    except TrackerError as error:
        unknown = error.message
    rows = [
        {"title": title, "readiness": figure.readiness, "main": figure.main.to_dict(),
         "categories": len(figure.categories)}
        for title, figure in figures
    ]  # fmt: skip
    return page(
        request, "merge.html", place=place, question=question, category=category, into=into,
        labels=labels[category], rows=rows, unknown=unknown,
    )  # fmt: skip


@router.post(f"{_QUESTION}/rename", dependencies=_MANAGERS)
def rename_question(
    request: Request, place: At, asked: AskedLedger, question: str, name: Name
) -> RedirectResponse:
    asked.ledger.questions.rename(place.project, question, name)
    return see(request, place, "settings")


@router.post(f"{_QUESTION}/merge", dependencies=_MANAGERS)
def merge_categories(
    request: Request, place: At, asked: AskedLedger, question: str, category: Name, into: Name
) -> RedirectResponse:
    asked.ledger.categories.merge(place.project, category, into, question=question)
    return see(request, place, "questions", question, "categories", into, merged=category)


@router.post(f"{_CATEGORY}/split", dependencies=_MANAGERS)
def split_category(
    request: Request, place: At, asked: AskedLedger, question: str, category: str
) -> RedirectResponse:
    asked.ledger.categories.split(place.project, category, question=question)
    return see(request, place, "questions", question, "categories", category)


@router.post(f"{_CATEGORY}/rename", dependencies=_MANAGERS)
def rename_category(
    request: Request, place: At, asked: AskedLedger, question: str, category: str, name: Name
) -> RedirectResponse:
    asked.ledger.categories.rename(place.project, category, name, question=question)
    return see(request, place, "questions", question, "categories", name.strip())


@router.post(f"{_ANNOTATOR}/merge", dependencies=_MANAGERS)
def merge_annotators(
    request: Request, place: At, asked: AskedLedger, annotator: str, into: Name
) -> RedirectResponse:
    person = asked.ledger.annotators.merge(place.project, annotator, into)
    return see(request, place, "annotators", person.name, merged=annotator)


@router.post(f"{_ANNOTATOR}/split", dependencies=_MANAGERS)
def split_annotator(
    request: Request, place: At, asked: AskedLedger, annotator: str
) -> RedirectResponse:
    person = asked.ledger.annotators.split(place.project, annotator)
    return see(request, place, "annotators", person.name)


@router.post(f"{_ANNOTATOR}/rename", dependencies=_MANAGERS)
def rename_annotator(
    request: Request, place: At, asked: AskedLedger, annotator: str, name: Name
) -> RedirectResponse:
    person = asked.ledger.annotators.rename(place.project, annotator, name)
    return see(request, place, "annotators", person.name)
