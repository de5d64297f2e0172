"""Models as judges: whether each may be trusted beside people, and where it answers otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from tracker.core.errors import NotFound
from tracker.judge.tables import (
    COMPARED,
    CONFUSED,
    DISTANCES,
    HUMANS,
    MEASURES,
    PEOPLE,
    RATES,
    distance_rows,
    rates_rows,
)
from tracker.judge.words import (
    better_sentences,
    confidence_sentence,
    judge_sentence,
    main_measure,
    next_step,
    stand_in_sentence,
    verdict_sentence,
    verdict_title,
)
from tracker.web import known
from tracker.web.identity import Role, needs
from tracker.web.request import AskedLedger, At
from tracker.web.templating import page, page_links

router = APIRouter(include_in_schema=False)


@router.get("/projects/{project:name}/judges", dependencies=[needs(Role.VIEWER)])
def judges_page(request: Request, place: At, asked: AskedLedger) -> HTMLResponse:
    found = known.judges_of(asked, place)
    people = asked.ledger.annotators.list(place.project)
    judged = {judge["model"] for judge in found.judges}
    return page(
        request, "judges.html", place=place, tab="judges",
        rows=[with_pill(judge) for judge in found.judges],
        several=len({judge["question"] for judge in found.judges}) > 1,
        better=[*better_sentences(found.compared)], compared=found.compared,
        compared_columns=COMPARED, unfit=found.unfit,
        others=[row.annotator.name for row in people
                if row.annotator.kind == "model" and row.annotator.name not in judged],
    )  # fmt: skip


@router.get("/projects/{project:name}/judges/{model:name}", dependencies=[needs(Role.VIEWER)])
def judge_page(
    request: Request, place: At, model: str, asked: AskedLedger, question: str = ""
) -> HTMLResponse:
    """Show one model as a judge of one question, of the first that it answered if none is named."""
    of_model = [judge for judge in known.judges_of(asked, place).judges if judge["model"] == model]
    judge = next((one for one in of_model if question in {"", one["question"]}), None)
    if judge is None:
        raise NotFound(f"no answer of a model {model!r} can be set beside people's here")
    here = page_links(request, place)

    def confused_items(row: Mapping[str, Any]) -> str | None:
        """Return where items with both answers are; None of an answer that is no category."""
        if not judge["rates"].keys() >= {row["truth"], row["given"]}:
            return None
        return here("items", question=judge["question"], annotator=model, category=row["given"],
                    others=row["truth"])  # fmt: skip

    measures = {row["measure"]: row for row in judge["measures"]}
    return page(
        request, "judge.html", place=place, tab="judges", judge=with_pill(judge),
        same=measures.get("percent_agreement"),
        questions=[one["question"] for one in of_model],
        sentence=verdict_sentence(judge), step=next_step(judge), stand_in=stand_in_sentence(judge),
        biases=[{**bias, "why": judge_sentence(judge, bias["why"])} for bias in judge["biases"]],
        reservations=[judge_sentence(judge, text) for text in judge["reservations"]],
        confused_items=confused_items, confidence=confidence_sentence, rates=rates_rows(judge),
        columns={"humans": HUMANS, "rates": RATES, "confused": CONFUSED, "people": PEOPLE,
                 "measures": MEASURES, "distances": DISTANCES},
        distances=distance_rows(judge),
        links={
            "annotator": lambda row: here("annotators", row["annotator"]),
            "category": lambda row: here(
                "questions", judge["question"], "categories", row["category"]
            ),
            "confused items": confused_items,
        },
    )  # fmt: skip


def with_pill(judge: Mapping[str, Any]) -> dict[str, Any]:
    """Return a judge's JSON with what is shown of it first: the coefficient of its verdict."""
    pill = {"state": judge["verdict"], "title": verdict_title(judge)}
    return {**judge, "main": main_measure(judge), "pill": pill}
