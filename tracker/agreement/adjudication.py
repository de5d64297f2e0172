"""What was decided where annotators differ: beside an item, counted by reason, as gaps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, and_, func, select

from tracker.agreement.contested import NONE, named_votes, select_whole_answers
from tracker.core.results import Record
from tracker.counts.items import select_votes_on_items
from tracker.counts.selection import Selection, labels, where_counted
from tracker.projects.annotators import annotator_names, list_annotators
from tracker.projects.categories import category_names
from tracker.projects.decisions import (
    ERROR,
    DecisionInfo,
    is_open_gap,
    list_decisions,
    standing_decisions,
)
from tracker.projects.items import find_item, item_of_key
from tracker.storage.schema import NONE_APPLIES, REASONS, Decision
from tracker.storage.schema.labels import of_question, same_answer_key

_decisions = Decision.__table__
_MOST_ALIKE = 10
_KINDS = ("human", "model", "reference")


@dataclass(frozen=True)
class GivenAnswer(Record):
    """What an annotator answered, how sure they were and what they remarked."""

    annotator: str
    kind: str
    answer: str
    confidence: float | None
    comment: str | None


@dataclass(frozen=True)
class ItemToDecide(Record):
    """An item with who said what, what was decided, and about items of the same confusion.

    ``alike`` are the last decisions about other items that show two of this one's answers.
    """

    project: str
    question: str
    item: str
    text: str | None
    votes: Mapping[str, int]
    answers: Sequence[GivenAnswer]
    decision: DecisionInfo | None
    alike: Sequence[DecisionInfo]


def item_to_decide(connection: Connection, selection: Selection, item: str) -> ItemToDecide:
    """Return an item with what a decision about it rests on; raises NotFound."""
    question = selection.question
    record = find_item(connection, question.project, item)
    number = item_of_key(connection, question.project, item).id
    kinds = {info.name: info.kind for info in list_annotators(connection, question.project)}
    given: dict[str, list[Any]] = {}
    for label in record.labels:
        if label.state == "stands" and label.question in {None, question.name}:
            given.setdefault(label.annotator, []).append(label)
    answers = [
        GivenAnswer(name, kinds.get(name, _KINDS[0]), _in_words(of_one),
                    of_one[0].details and of_one[0].details.confidence,
                    of_one[0].details and of_one[0].details.comment)
        for name, of_one in given.items()
    ]  # fmt: skip
    answers.sort(key=lambda answer: (_KINDS.index(answer.kind), answer.answer, answer.annotator))
    votes = select_votes_on_items(connection, selection, [number])[number]
    decisions = list_decisions(connection, question, _decisions.c.item_id == number)
    names = category_names(connection, question) | {NONE_APPLIES: NONE}
    return ItemToDecide(
        question.project.name, question.name, record.name, record.text,
        named_votes(votes, names), answers, next(iter(decisions), None),
        _alike(connection, selection, number, [*votes]),
    )  # fmt: skip


def _in_words(of_one: Sequence[Any]) -> str:
    words = [
        (label.answer if label.category is None else label.category)
        + ("" if label.start is None else f" {label.start}-{label.end}")
        for label in of_one
    ]
    return " + ".join(dict.fromkeys(words))


def _alike(
    connection: Connection, selection: Selection, item: int, categories: Sequence[int]
) -> list[DecisionInfo]:
    """Return the last decisions about other items to which two of these categories were given."""
    if len(categories) < 2:
        return []
    of_item = (where_counted(selection), labels.c.item_id == _decisions.c.item_id)
    both = (
        select(func.count(labels.c.category_id.distinct()))
        .where(*of_item, labels.c.category_id.in_(categories))
        .correlate(_decisions)
        .scalar_subquery()
    )
    which = (_decisions.c.item_id != item, both > 1)
    return list_decisions(connection, selection.question, *which, most=_MOST_ALIKE)


# -- Decisions counted by their reasons, and what they are about ----------------------------------


@dataclass(frozen=True)
class ConfusionsDecided(Record):
    """How many decisions are about items to which both of two categories were given."""

    categories: tuple[str, str]
    decisions: int


@dataclass(frozen=True)
class ErrorsOfAnnotator(Record):
    """How many answers of an annotator differ from the decision, of those to decided items."""

    annotator: str
    errors: int
    answers: int


@dataclass(frozen=True)
class ReasonCounts(Record):
    """The decisions for one reason: by given category, by pair of them and by annotator.

    ``annotators`` has those who answered the items otherwise than was decided, only if that is the
    reason.
    """

    reason: str
    decisions: int
    categories: Mapping[str, int]
    pairs: Sequence[ConfusionsDecided]
    annotators: Sequence[ErrorsOfAnnotator]


@dataclass(frozen=True)
class Reasons(Record):
    """Why annotators differed, as was decided: every reason, also one that nobody gave."""

    project: str
    question: str
    decisions: int
    reasons: Sequence[ReasonCounts]


def reasons_counted(connection: Connection, selection: Selection) -> Reasons:
    question = selection.question
    standing = standing_decisions(question).subquery("standing")
    decided = (
        select(_decisions.c.item_id, _decisions.c.reason)
        .join(standing, same_answer_key(("item_id", "change_id"), standing, _decisions))
        .where(of_question(_decisions, question.key))
        .cte("decided")
    )
    each = select(decided.c.reason, func.count()).group_by(decided.c.reason)
    number: dict[str, int] = dict(connection.execute(each).all())
    names = category_names(connection, question) | {NONE_APPLIES: NONE}
    order = {category: place for place, category in enumerate(names)}
    votes = (
        select(decided.c.item_id, decided.c.reason, labels.c.category_id)
        .join(labels, labels.c.item_id == decided.c.item_id)
        .where(where_counted(selection))
        .distinct()
        .cte("votes")
    )
    other = votes.alias("other")
    of_category = select(votes.c.reason, votes.c.category_id, func.count())
    of_category = of_category.group_by(votes.c.reason, votes.c.category_id)
    pair = (votes.c.reason, votes.c.category_id, other.c.category_id.label("other"))
    of_pair = select(*pair, func.count()).join_from(
        votes, other,
        and_(other.c.item_id == votes.c.item_id, other.c.category_id > votes.c.category_id),
    ).group_by(*pair)  # fmt: skip
    categories: dict[str, dict[int, int]] = {}
    for reason, category, decisions in connection.execute(of_category):
        categories.setdefault(reason, {})[category] = decisions
    pairs: dict[str, list[ConfusionsDecided]] = {}
    for reason, first, second, decisions in connection.execute(of_pair):
        low, high = sorted((first, second), key=lambda category: order.get(category, -1))
        both = names.get(low, ""), names.get(high, "")
        pairs.setdefault(reason, []).append(ConfusionsDecided(both, decisions))
    for of_reason in pairs.values():
        of_reason.sort(key=lambda row: (-row.decisions, row.categories))
    return Reasons(
        question.project.name, question.name, sum(number.values()),
        tuple(
            ReasonCounts(
                reason, number.get(reason, 0), named_votes(categories.get(reason, {}), names),
                pairs.get(reason, ()),
                _errors(connection, selection, decided) if reason == ERROR else (),
            )
            for reason in REASONS
        ),
    )  # fmt: skip


def _errors(connection: Connection, selection: Selection, decided: Any) -> list[ErrorsOfAnnotator]:
    """Return who answered items otherwise than was decided because somebody erred."""
    of_decider = Selection(selection.question, only=frozenset({selection.decider}))
    right = select_whole_answers(of_decider, "right")
    given = select_whole_answers(selection, "given")
    wrong = func.count().filter(given.c.answer != right.c.answer)
    rows = connection.execute(
        select(given.c.annotator_id, wrong, func.count())
        .join_from(decided, right, right.c.item_id == decided.c.item_id)
        .join(given, given.c.item_id == decided.c.item_id)
        .where(decided.c.reason == ERROR)
        .group_by(given.c.annotator_id)
        .having(wrong > 0)
    )
    people = annotator_names(connection, selection.question.project)
    errors = [ErrorsOfAnnotator(people[who], *counts) for who, *counts in rows]
    return sorted(errors, key=lambda row: (-row.errors, row.annotator))


# -- What the guideline must say ------------------------------------------------------------------


@dataclass(frozen=True)
class Gap(Record):
    """An item on which the guideline says too little, what was decided, and what was confused."""

    item: str
    text: str | None
    note: str | None
    categories: tuple[str, ...]
    conflict: Sequence[str]
    made_by: str | None


@dataclass(frozen=True)
class Gaps(Record):
    """The gaps of the guideline that no version closed, the last one first."""

    project: str
    question: str
    gaps: Sequence[Gap]


def open_gaps(connection: Connection, selection: Selection) -> Gaps:
    """Return what the guideline must say, as decisions have it that no version settles."""
    question = selection.question
    decisions = list_decisions(connection, question, is_open_gap(question.project_id))
    items = [decision.item_id for decision in decisions]
    votes = select_votes_on_items(connection, selection, items)
    names = category_names(connection, question) | {NONE_APPLIES: NONE}
    return Gaps(
        question.project.name,
        question.name,
        tuple(
            Gap(one.item, one.text, one.note, one.categories,
                tuple(named_votes(votes[one.item_id], names)), one.made_by)
            for one in decisions
        ),
    )  # fmt: skip
