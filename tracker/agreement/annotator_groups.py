"""Agreement within groups of annotators, and between them, by an attribute of theirs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from sqlalchemy import Connection

from tracker import queries
from tracker.agreement.coefficients import check_agreement_measures
from tracker.agreement.metric import check_metric, sample_under_metric
from tracker.agreement.query import Query
from tracker.core.each_question import ByQuestion, ask_each_question
from tracker.core.errors import InvalidOption
from tracker.core.tallies import ItemPatterns, Pattern
from tracker.measures.coefficient import Coefficient
from tracker.measures.cross_replication import cross_replication_reliability, pool_two_patterns
from tracker.measures.estimate import Estimate
from tracker.measures.krippendorff import krippendorff_alpha
from tracker.projects.annotator_attributes import annotators_by_attribute
from tracker.projects.categories import category_names
from tracker.projects.question import QuestionInfo

MOST_GROUPS = 50
_ALPHA = "krippendorff_alpha"


@dataclass(frozen=True)
class WithinGroup:
    """The annotators with one value, None for those without; alpha among their own answers."""

    value: str | None
    annotators: int
    items: int
    answers: int
    alpha: Coefficient

    def to_dict(self) -> dict[str, Any]:
        """Return the group as JSON."""
        return {
            "value": self.value,
            "annotators": self.annotators,
            "items": self.items,
            "answers": self.answers,
            "within": self.alpha.to_dict(),
        }


@dataclass(frozen=True)
class BetweenGroups:
    """Two groups and the agreement of one's answers with the other's."""

    first: str | None
    second: str | None
    reliability: Coefficient

    def to_dict(self) -> dict[str, Any]:
        """Return the two as JSON."""
        return {
            "first": self.first,
            "second": self.second,
            "between": self.reliability.to_dict(),
        }


@dataclass(frozen=True)
class AnnotatorGroups:
    """Alpha within each group, and cross-replication reliability between every two."""

    project: str
    attribute: str
    selection: Mapping[str, Any] | None
    groups: Sequence[WithinGroup]
    pairs: Sequence[BetweenGroups]

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of ``tracker agreement --by annotator-attribute:NAME``."""
        return {
            "project": self.project,
            "annotator_attribute": self.attribute,
            "selection": None if self.selection is None else dict(self.selection),
            "groups": [one.to_dict() for one in self.groups],
            "between": [one.to_dict() for one in self.pairs],
        }


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
    selection = queries.select_answers(connection, question, query.filter)
    members = annotators_by_attribute(connection, question.project, attribute)
    if len(members) > MOST_GROUPS:
        raise InvalidOption(
            f"the attribute {attribute!r} has more than {MOST_GROUPS} values",
            "choose an attribute of few values",
        )
    answering = set(queries.select_answering_annotators(connection, selection))
    sizes = [len(answering & set(numbers)) for numbers in members.values()]
    sizes.append(len(answering) - sum(sizes))
    counts = queries.count_patterns_by_annotator_group(
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
    for one, other in combinations(used, 2):
        both = _of_both(counts, one, other)
        number = sizes[one] + sizes[other]
        pooled = sample_under_metric(question, names, pool_two_patterns(both), number, query.metric)
        found = made(cross_replication_reliability(both, pooled))
        pairs.append(BetweenGroups(values[one], values[other], found))
    return AnnotatorGroups(question.project.name, attribute, selection.told, groups, pairs)


def annotator_attribute_by_question(
    connection: Connection, questions: Sequence[QuestionInfo], attribute: str, query: Query
) -> ByQuestion[AnnotatorGroups]:
    """Return the agreement within and between groups for each question, in order of making.

    Raises InvalidOption if the query fits none of them.
    """
    made, unfit = ask_each_question(
        questions, lambda one: agreement_by_annotator_attribute(connection, one, attribute, query)
    )
    return ByQuestion(questions[0].project.name, made, unfit)


def _of_group(counts: Mapping[queries.GroupPatterns, int], group: int) -> ItemPatterns:
    patterns: Counter[Pattern] = Counter()
    for found, items in counts.items():
        patterns.update({pattern: items for place, pattern in found if place == group})
    return ItemPatterns(dict(sorted(patterns.items())))


def _of_both(
    counts: Mapping[queries.GroupPatterns, int], one: int, other: int
) -> dict[tuple[Pattern, Pattern], int]:
    """Return the items that both groups answered, by the patterns of their answers."""
    patterns: Counter[tuple[Pattern, Pattern]] = Counter()
    for found, items in counts.items():
        by_group = dict(found)
        if one in by_group and other in by_group:
            patterns[by_group[one], by_group[other]] += items
    return dict(sorted(patterns.items()))
