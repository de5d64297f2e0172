"""What several models are worth together, and the items that still need people."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np
from sqlalchemy import Connection

from tracker.core.errors import InvalidOption, NotFound, Refused
from tracker.core.results import Record
from tracker.core.tallies import Answer
from tracker.counts.filter import AnswerFilter, select_answers
from tracker.counts.selection import Selection
from tracker.judge.panel import (
    Folds,
    Judgement,
    ModelOfPanel,
    Routing,
    RuleOfPanel,
    best_model,
    error_correlations,
    judgement,
    models_of_panel,
    panel_of,
    parted,
    route,
    rules_of_panel,
)
from tracker.judge.panel_sql import count_panel, select_unanswered, without_tuning
from tracker.measures.intervals import check_confidence
from tracker.projects.annotators import AnnotatorInfo, find_models, list_annotators
from tracker.projects.categories import category_names
from tracker.projects.items import item_names
from tracker.projects.questions import QuestionInfo

ROUTED: Final = ("item", "route", "answer", "probability")
PEOPLE, PANEL = "people", "panel"
"""Where an item goes."""
MOST_MODELS: Final = 12


@dataclass(frozen=True)
class ErrorsAlike(Record):
    """How alike two models err, given the truth: 1 for a copy, about 0 if each errs by itself."""

    models: tuple[str, str]
    correlation: float


@dataclass(frozen=True)
class PanelResult(Record):
    """Several models together.

    Attributes:
        project, question: by name.
        confidence: the level of the intervals.
        labeled: how many items have a truth, and an answer by a model.
        waiting: how many have an answer by a model, and none by people.
        best: the model that is right most often; None if nothing is known.
        models: what is known of each.
        rules: ways to take one answer from several.
        errors_alike: of every two models.
        routing: which items still need people.
    """

    project: str
    question: str
    confidence: float
    labeled: int
    waiting: int
    best: str | None
    models: tuple[ModelOfPanel, ...]
    rules: tuple[RuleOfPanel, ...]
    errors_alike: tuple[ErrorsAlike, ...]
    routing: Routing


@dataclass(frozen=True)
class _Asked:
    people: Selection
    models: Sequence[AnnotatorInfo]
    folds: Folds
    judged: Judgement


def _asked(
    connection: Connection, question: QuestionInfo, names: Sequence[str], choice: AnswerFilter
) -> _Asked:
    """Return the models and what they say; raises InvalidOption for a question of spans."""
    if question.answers == "spans":
        raise InvalidOption(f"{question.description} of spans, has no panel", "name another")
    if names:
        named = find_models(connection, question.project, names)
        models = list({model.id: model for model in named}.values())
    else:
        everybody = list_annotators(connection, question.project)
        models = [annotator for annotator in everybody if annotator.kind == "model"]
    if not models:
        raise NotFound(
            f"{question.project.name!r} has no model",
            "say who is one: tracker annotator kind NAME model",
        )
    if len(models) > MOST_MODELS:
        raise InvalidOption(
            f"{len(models)} models are too many for one panel", "name some: --model NAME"
        )
    people = without_tuning(select_answers(connection, question, choice))
    cells = count_panel(connection, people, [model.id for model in models])
    panel = panel_of(cells)
    if not len(panel.items):
        raise Refused(f"no model answered an item of {question.project.name!r}")
    folds = parted(panel)
    return _Asked(people, models, folds, judgement(folds))


def panel_result(
    connection: Connection,
    question: QuestionInfo,
    choice: AnswerFilter,
    *,
    models: Sequence[str] = (),
    cost: Mapping[str, float] | None = None,
    error: float = 0.05,
    confidence: float = 0.95,
) -> PanelResult:
    """Return what models are worth together; of all models if none are named.

    Raises NotFound for a model that there is not, InvalidOption for what does not fit.
    """
    check_confidence(confidence)
    asked = _asked(connection, question, models, choice)
    names, panel = [model.name for model in asked.models], asked.judged.panel
    strange = {*(cost or {})} - {*names}
    if strange:
        raise InvalidOption(f"--cost names {min(strange)!r}, which is no model of the panel",
                            f"its models: {', '.join(names)}")  # fmt: skip
    known = models_of_panel(panel, names, cost or {}, confidence)
    best, alike = best_model(known), error_correlations(panel)
    labeled = int(panel.labeled.sum())
    return PanelResult(
        question.project.name, question.name, confidence, labeled,
        int(panel.items.sum()) - labeled, None if best is None else names[best], tuple(known),
        tuple(rules_of_panel(asked.folds, known, confidence)),
        tuple(
            ErrorsAlike((names[first], names[second]), float(alike[first, second]))
            for first, second in zip(*np.triu_indices(len(names), 1), strict=True)
        ),
        route(asked.judged, error, confidence),
    )  # fmt: skip


def routed_rows(
    connection: Connection,
    question: QuestionInfo,
    choice: AnswerFilter,
    *,
    models: Sequence[str] = (),
    error: float = 0.05,
    confidence: float = 0.95,
    **_: Any,
) -> Generator[tuple[str, str, str, float], None, None]:
    """Yield where each item goes that people did not answer: item, route, answer, probability."""
    asked = _asked(connection, question, models, choice)
    threshold = route(asked.judged, error, confidence).threshold
    names, items = category_names(connection, question), item_names(connection, question.project)
    panel = asked.judged.panel
    rows = {tuple(given): n for n, given in enumerate(panel.given.tolist()) if panel.truth[n] < 0}
    place: dict[Answer | None, int] = {answer: n for n, answer in enumerate(panel.categories)}

    @cache
    def routed(given: tuple[Answer | None, ...]) -> tuple[str, str, float]:
        row = rows[tuple(place.get(answer, -1) for answer in given)]
        sure = float(asked.judged.sure[row])
        answer = panel.categories[asked.judged.choice[row]]
        accepted = threshold is not None and sure >= threshold - 1e-9
        text = "|".join(names[category] for category in answer)
        return PANEL if accepted else PEOPLE, text, sure

    ids = [model.id for model in asked.models]
    for item, given in select_unanswered(connection, asked.people, ids):
        if any(answer is not None for answer in given):
            yield items[item], *routed(given)
