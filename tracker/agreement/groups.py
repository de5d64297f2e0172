"""The figures of a project apart by an attribute of its items."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, groupby
from operator import itemgetter
from typing import Annotated, Any

from sqlalchemy import Connection

from tracker.agreement.coefficients import (
    Pairs,
    check_agreement_measures,
    coefficients,
    finish_coefficients,
)
from tracker.agreement.counts_sql import select_span_documents
from tracker.agreement.groups_sql import (
    GroupAnnotators,
    GroupPatterns,
    count_patterns_by_annotator_group,
    count_patterns_by_group,
    pair_tallies_by_group,
    select_annotators_by_group,
)
from tracker.agreement.query import Query, check_metric, sample_under_metric
from tracker.agreement.result import Assessment
from tracker.agreement.run import assessment_of
from tracker.core.errors import InvalidOption
from tracker.core.results import Json, Record
from tracker.core.tallies import Answer, ItemPatterns, Pattern
from tracker.counts.annotator_patterns import select_answering_annotators, select_first_truths
from tracker.counts.filter import EVERYTHING, AnswerFilter, select_answers
from tracker.counts.items import count_votes
from tracker.counts.selection import (
    Selection,
    read_selected_answer,
    stream_rows,
)
from tracker.measures.cohen import kappa_cells
from tracker.measures.estimate import Estimate
from tracker.measures.intervals import Coefficient
from tracker.measures.krippendorff import (
    cross_replication_reliability,
    krippendorff_alpha,
)
from tracker.measures.registry import MEASURES
from tracker.measures.sample import Table, pattern_table_of
from tracker.measures.spans.f1 import SPAN_MEASURES
from tracker.measures.spans.overlap import mark_span_sets
from tracker.measures.spans.tallies import SpanTally
from tracker.projects.annotators import annotators_by_attribute
from tracker.projects.categories import category_names
from tracker.projects.items import check_item_attribute, item_names
from tracker.projects.questions import QuestionInfo
from tracker.storage.schema import NONE_APPLIES


@dataclass(frozen=True)
class GroupedAgreement:
    """The assessment of the items of each value; None stands for items without the attribute."""

    project: str
    attribute: str
    groups: tuple[tuple[str | None, Assessment], ...]
    selection: Mapping[str, Any] | None

    def to_dict(self) -> dict[str, Any]:
        return {
            "project": self.project,
            "attribute": self.attribute,
            "selection": None if self.selection is None else dict(self.selection),
            "groups": [
                {"value": value} | assessment.figures() for value, assessment in self.groups
            ],
        }


def agreement_by_attribute(
    connection: Connection, question: QuestionInfo, attribute: str | None, query: Query
) -> GroupedAgreement:
    """The figures of the items of each value of an attribute, by value; those without one last.

    Without an attribute, those of the items with answers of each import, by its number; an item
    counts with each import that brought an answer, with all its answers.
    Figures that depend on who of many annotators answered what are not among them.

    Raises InvalidOption for an attribute that no item has, or that has too many values.
    """
    if question.answers == "spans":
        raise InvalidOption("a project of spans has no agreement by an attribute of its items")
    names = category_names(connection, question)
    check_metric(question, names, query.metric)
    wanted = _wanted(question, query)
    if attribute is not None:
        check_item_attribute(connection, question.project, attribute)
    selection = select_answers(connection, question, query.filter)
    patterns = count_patterns_by_group(connection, selection, attribute)
    annotators = select_annotators_by_group(connection, selection, attribute)
    tables = _pairs(connection, selection, attribute, annotators) if "cohen_kappa" in wanted else {}
    groups = []
    for value in sorted(patterns, key=partial(_place, numbers=attribute is None)):
        number = annotators[value].number
        of = sample_under_metric(question, names, patterns[value], number, query.metric)
        pair = Pairs([(0, 1)], kappa_cells([tables.get(value, {})], of.table.answers))
        figures = coefficients(wanted, of, pair, query.confidence, query.interval)
        assessment = assessment_of(
            question,
            of,
            patterns[value],
            names,
            finish_coefficients(figures, query.confidence, query.interval),
            query,
        )
        groups.append((value, assessment))
    name = "import" if attribute is None else attribute
    return GroupedAgreement(question.project.name, name, tuple(groups), selection.told)


def _place(value: str | None, *, numbers: bool) -> tuple[bool, int, str]:
    return value is None, int(value) if numbers and value else 0, value or ""


def _wanted(question: QuestionInfo, query: Query) -> list[str]:
    wanted = check_agreement_measures(question, query.measures, query.metric, few=False)
    fitting = [name for name in wanted if MEASURES[name].needs in {"patterns", "pair"}]
    if query.measures and fitting != wanted:
        raise InvalidOption(
            f"{next(name for name in wanted if name not in fitting)} is not computed by attribute",
            "choose the items instead: --where attribute=value",
        )
    return fitting


def _pairs(
    connection: Connection,
    selection: Selection,
    attribute: str | None,
    annotators: Mapping[str | None, GroupAnnotators],
) -> dict[str | None, Mapping[tuple[Answer, Answer], int]]:
    pairs = {value: (who.first, who.last) for value, who in annotators.items() if who.number == 2}
    if not pairs:
        return {}
    tables = pair_tallies_by_group(connection, selection, attribute, list(pairs))
    return {
        value: tables[value].counts.get(pair, {}) if value in tables else {}
        for value, pair in pairs.items()
    }


def agreement_by_item(
    connection: Connection, question: QuestionInfo, *, choice: AnswerFilter = EVERYTHING
) -> Iterator[dict[str, Any]]:
    """The votes on each item, as JSON; one dictionary per item that has an answer.

    ``entropy`` is of the votes' shares, in bits; ``vote_score``, in a project of two
    categories, the share of the second; ``gold`` the reference annotator's category.
    """
    selection = select_answers(connection, question, choice)
    categories = category_names(connection, question)
    items = item_names(connection, question.project)
    truths = _truths(connection, selection, categories)
    rows = count_votes(connection, selection)
    for item, group in groupby(rows, key=itemgetter(0)):
        votes = {category: number for _, category, number in group if category != NONE_APPLIES}
        total = sum(votes.values())
        yield {
            "item": items[item],
            "votes": {name: votes[c] for c, name in categories.items() if c in votes},
            "vote_score": _vote_score(votes, list(categories)),
            "entropy": _entropy(list(votes.values()), total),
            "gold": truths.get(item),
        }


def span_agreement_by_item(
    connection: Connection, question: QuestionInfo, *, choice: AnswerFilter = EVERYTHING
) -> Iterator[dict[str, Any]]:
    """Yield the votes on each document, its answers and spans, its exact and token F1 of pairs."""
    selection = select_answers(connection, question, choice)
    names = item_names(connection, question.project)
    votes = {row["item"]: row for row in agreement_by_item(connection, question, choice=choice)}
    for item, _, answers in select_span_documents(connection, selection):
        tally = SpanTally()
        tally.add(mark_span_sets({str(number): spans for number, spans in answers.items()}))
        figures = dict(zip(SPAN_MEASURES, tally.pooled, strict=True))
        yield votes[names[item]] | {
            "answers": tally.answers,
            "spans": tally.labels,
            **{name: figures[name].value for name in ("span_f1_exact", "token_f1")},
        }


def _truths(
    connection: Connection, selection: Selection, categories: Mapping[int, str]
) -> dict[int, str]:
    if not selection.references:
        return {}
    rows = stream_rows(connection, select_first_truths(selection))
    answers = ((item, read_selected_answer(truth)) for item, truth in rows)
    return {
        item: "|".join(name for number, name in categories.items() if number in answer)
        for item, answer in answers
        if any(number in categories for number in answer)
    }


def _vote_score(votes: Mapping[int, int], categories: Sequence[int]) -> float | None:
    total = sum(votes.values())
    if len(categories) != 2 or not total:
        return None
    return votes.get(categories[1], 0) / total


def _entropy(votes: Sequence[int], total: int) -> float | None:
    if not total:
        return None
    return abs(sum(-vote / total * math.log2(vote / total) for vote in votes))


MOST_GROUPS = 50
_ALPHA = "krippendorff_alpha"


@dataclass(frozen=True)
class WithinGroup(Record):
    """The annotators with one value, None for those without; alpha among their own answers."""

    value: str | None
    annotators: int
    items: int
    answers: int
    alpha: Annotated[Coefficient, Json("within")]


@dataclass(frozen=True)
class BetweenGroups(Record):
    """Two groups and the agreement of one's answers with the other's."""

    first: str | None
    second: str | None
    reliability: Annotated[Coefficient, Json("between")]


@dataclass(frozen=True)
class AnnotatorGroups(Record):
    """Alpha within each group, and cross-replication reliability between every two."""

    project: str
    attribute: Annotated[str, Json("annotator_attribute")]
    selection: Mapping[str, Any] | None
    groups: Sequence[WithinGroup]
    pairs: Annotated[Sequence[BetweenGroups], Json("between")]


def agreement_by_annotator_attribute(
    connection: Connection, question: QuestionInfo, attribute: str, query: Query
) -> AnnotatorGroups:
    """Return the agreement within and between groups by an attribute; those without it last.

    Raises InvalidOption for an attribute that no annotator has, or of more than `MOST_GROUPS`
    values; for a question of spans; and for another measure than Krippendorff's alpha.
    """
    if question.answers == "spans":
        raise InvalidOption("spans have no agreement by an attribute of annotators")
    names = category_names(connection, question)
    check_metric(question, names, query.metric)
    measures = check_agreement_measures(question, query.measures, query.metric, few=False)
    if query.measures and measures != [_ALPHA]:
        raise InvalidOption(
            f"{next(name for name in measures if name != _ALPHA)} is not computed by "
            "attributes of annotators",
            f"leave it out, or --measure {_ALPHA}",
        )
    selection = select_answers(connection, question, query.filter)
    members = annotators_by_attribute(connection, question.project, attribute)
    if len(members) > MOST_GROUPS:
        raise InvalidOption(
            f"the attribute {attribute!r} has more than {MOST_GROUPS} values",
            "choose an attribute of few values",
        )
    answering = set(select_answering_annotators(connection, selection))
    sizes = [len(answering & set(numbers)) for numbers in members.values()]
    sizes.append(len(answering) - sum(sizes))
    counts = count_patterns_by_annotator_group(
        connection, selection, [frozenset(numbers) for numbers in members.values()]
    )
    values: list[str | None] = [*members, None]
    used = [place for place, size in enumerate(sizes) if size]

    def made(estimate: Estimate) -> Coefficient:
        return estimate.coefficient(query.confidence, query.interval)

    groups = []
    for place in used:
        patterns = _of_group(counts, place)
        sample = sample_under_metric(question, names, patterns, sizes[place], query.metric)
        alpha = made(krippendorff_alpha(sample))
        groups.append(
            WithinGroup(values[place], sizes[place], patterns.items, patterns.answers, alpha)
        )
    pairs = []
    for first, second in combinations(used, 2):
        both, number = _of_both(counts, first, second), sizes[first] + sizes[second]
        pooled = sample_under_metric(question, names, both[0] + both[1], number, query.metric)
        reliability = made(cross_replication_reliability(*both, pooled))
        pairs.append(BetweenGroups(values[first], values[second], reliability))
    return AnnotatorGroups(question.project.name, attribute, selection.told, groups, pairs)


def _of_group(counts: Mapping[GroupPatterns, int], group: int) -> ItemPatterns:
    patterns: Counter[Pattern] = Counter()
    for group_patterns, items in counts.items():
        patterns.update({pattern: items for place, pattern in group_patterns if place == group})
    return ItemPatterns(dict(sorted(patterns.items())))


def _of_both(counts: Mapping[GroupPatterns, int], first: int, second: int) -> tuple[Table, Table]:
    """Return the answers of two groups to the items that both answered, row for row."""
    rows = [(dict(patterns), items) for patterns, items in counts.items()]
    shared = [(row, items) for row, items in rows if row.keys() >= {first, second}]
    left, right = (
        pattern_table_of((row[place], items) for row, items in shared) for place in (first, second)
    )
    return left, right
