"""Models beside people: how often each agrees with them, and they with each other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection

from tracker.audit.run import audited_annotator_rows
from tracker.projects.annotators import list_annotators
from tracker.projects.question import QuestionInfo
from tracker.queries import EVERYTHING, AnswerFilter

MOST_MODELS = 12
"""Each is counted with the people alone, so that models do not judge each other."""


@dataclass(frozen=True)
class ModelAgreement:
    """One model and the people who answered the same items.

    Attributes:
        model: its name.
        items: that it and a person answered.
        with_people: mean over these items of the share of people who gave the model's answer;
            None if there is no such item, or no such figure of the question.
        low: lower bound of its 95 % interval over items.
        high: the upper one.
        people: how often two people gave the same answer, on the items that two or more of them
            and the model answered; None if there is none.
        kappa_with_majority: Cohen's kappa with what most people gave; None where undefined.
    """

    model: str
    items: int
    with_people: float | None
    low: float | None
    high: float | None
    people: float | None
    kappa_with_majority: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return the model as JSON."""
        return dict(vars(self))


def models_beside_people(
    connection: Connection, question: QuestionInfo, choice: AnswerFilter = EVERYTHING
) -> list[ModelAgreement]:
    """Return the models that answered a question, by name, `MOST_MODELS` at most.

    If the choice names annotators, they are among these. Two or more statements for each model.
    """
    known = list_annotators(connection, question.project)
    wanted = [
        one
        for one in known
        if one.name not in choice.excluded
        and (not choice.annotators or {one.name, *one.aliases} & set(choice.annotators))
    ]
    people = [one.name for one in wanted if one.kind == "human"]
    models = [one.name for one in wanted if one.kind == "model"][:MOST_MODELS]
    if not people:
        return []
    found = []
    for model in models:
        together = replace(choice, annotators=tuple(sorted([*people, model])))
        rows = audited_annotator_rows(connection, question, choice=together)
        row = next((one for one in rows if one["annotator"] == model), None)
        if row is not None:
            found.append(_of_row(model, row))
    return found


def _of_row(model: str, row: dict[str, Any]) -> ModelAgreement:
    return ModelAgreement(
        model,
        row["items_shared"],
        row["agreement_with_peers"],
        row.get("agreement_low"),
        row.get("agreement_high"),
        row.get("agreement_of_peers"),
        row.get("kappa_with_majority"),
    )
