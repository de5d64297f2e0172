"""Annotators against themselves: the same item answered again on a later pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

from sqlalchemy import Connection

from tracker.agreement.coefficients import (
    Pairs,
    check_agreement_measures,
    coefficients,
    finish_coefficients,
)
from tracker.agreement.query import Query, check_metric, sample_under_metric
from tracker.core.errors import InvalidOption
from tracker.core.results import Json, Record
from tracker.core.tallies import Answer, ItemPatterns, Pattern, make_pattern
from tracker.counts.filter import select_answers
from tracker.counts.retest import Repeated, count_unrepeated_passes, select_repeated_answers
from tracker.measures.cohen import kappa_cells
from tracker.measures.intervals import Coefficient
from tracker.projects.annotators import annotator_names
from tracker.projects.categories import category_names
from tracker.projects.questions import QuestionInfo

_LEFT_OUT: Final = {"scott_pi", "light_kappa", "conger_kappa"}
"""Of two answers these are the same number as Fleiss' and Cohen's kappa."""


@dataclass(frozen=True)
class SelfAgreement(Record):
    """One annotator's later answers against the earlier ones; ``repeats`` answers given again.

    ``days_between`` is the mean time between two passes, None where times are not known.
    """

    repeats: int
    days_between: float | None
    measures: tuple[Coefficient, ...]


def _named(annotators: Sequence[tuple[str, SelfAgreement]]) -> list[dict[str, Any]]:
    return [{"annotator": name, **agreement.to_dict()} for name, agreement in annotators]


@dataclass(frozen=True)
class Themselves(Record):
    """All annotators' repeats pooled, and each annotator's by name.

    ``alone`` answers on a later pass have none before them, and enter nothing.
    """

    project: str
    alone: int
    pooled: SelfAgreement
    annotators: Annotated[tuple[tuple[str, SelfAgreement], ...], Json(write=_named, kind=list)]


def self_agreement(
    connection: Connection, question: QuestionInfo, query: Query | None = None
) -> Themselves:
    """Agreement of each annotator with the own earlier pass, and of all pooled.

    The coefficients are those of two annotators, the earlier pass and the later; one item of
    theirs is one repeated answer. Nothing of this enters agreement between annotators.

    Raises InvalidOption for a project of spans, or a measure or reading that does not fit.
    """
    if question.answers == "spans":
        raise InvalidOption(
            f"{question.project.name!r} is a project of spans, whose passes are not compared"
        )
    asked = query or Query()
    names, categories = (
        annotator_names(connection, question.project),
        category_names(connection, question),
    )
    check_metric(question, categories, asked.metric)
    wanted = check_agreement_measures(question, asked.measures, asked.metric, few=False)
    if asked.measures and _LEFT_OUT & set(wanted):
        raise InvalidOption(
            "of two passes Scott's pi is Fleiss' kappa, Conger's and Light's are Cohen's",
            "name fleiss_kappa or cohen_kappa",
        )
    wanted = [name for name in wanted if name not in _LEFT_OUT]
    selection = select_answers(connection, question, asked.filter)
    rows = list(select_repeated_answers(connection, selection))
    by_annotator: dict[int, list[Repeated]] = {}
    for row in rows:
        by_annotator.setdefault(row.annotator, []).append(row)

    def figures(of: Sequence[Repeated]) -> SelfAgreement:
        return _figures(question, categories, of, wanted, asked)

    return Themselves(
        question.project.name,
        count_unrepeated_passes(connection, selection),
        figures(rows),
        tuple(sorted((names[who], figures(mine)) for who, mine in by_annotator.items())),
    )


def _figures(
    question: QuestionInfo,
    categories: Mapping[int, str],
    rows: Sequence[Repeated],
    wanted: Sequence[str],
    asked: Query,
) -> SelfAgreement:
    table: Counter[tuple[Answer, Answer]] = Counter()
    patterns: Counter[Pattern] = Counter()
    for row in rows:
        table[row.earlier, row.later] += row.times
        patterns[make_pattern((row.earlier, row.later))] += row.times
    of = sample_under_metric(question, categories, ItemPatterns(patterns), 2, asked.metric)
    pair = Pairs([(0, 1)], kappa_cells([table], of.table.answers))
    timed = sum(row.timed for row in rows)
    figures = coefficients(wanted, of, pair, asked.confidence, asked.interval)
    return SelfAgreement(
        sum(row.times for row in rows),
        sum(row.days for row in rows) / timed if timed else None,
        tuple(finish_coefficients(figures, asked.confidence, asked.interval)),
    )
