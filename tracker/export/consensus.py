"""One answer for each item, from those of all annotators."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from itertools import groupby
from statistics import fmean, stdev
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, literal, select

from tracker.audit.annotator_report import MOST_ANSWERS
from tracker.audit.statistics.dawid_skene import dawid_skene_competences, dawid_skene_shares
from tracker.core.errors import InvalidOption
from tracker.core.tallies import Answer, JointPattern
from tracker.counts.annotator_patterns import count_joint_patterns, select_item_joint_patterns
from tracker.counts.filter import EVERYTHING, AnswerFilter, select_answers
from tracker.counts.items import count_answers_per_item
from tracker.counts.selection import (
    Selection,
    labels,
    read_selected_answer,
    select_answer_rows,
    stream_rows,
    where_counted,
)
from tracker.export.labels import Rows, item_columns, rows_with_items
from tracker.projects.categories import category_names
from tracker.projects.items import item_names
from tracker.projects.questions import QuestionInfo
from tracker.storage.schema import NONE_APPLIES, SKIPPED

METHODS = ("majority", "weighted", "dawid-skene")
"""The ways to a consensus; competences of the second are those of the third's model."""
DECISION = "decision"
"""What stands in place of the method where somebody decided."""

CONSENSUS_COLUMNS = ("item", "question", "category", "confidence", "method", "entropy", "tied")
SPAN_COLUMNS = ("start", "end")
"""Further columns, if a question is answered with spans."""

_TIE = 1e-9  # shares that differ by less are equal
_HALF = 0.5

Shares = Mapping[Answer, float]
"""How likely, or how often given, each answer to an item is; they add up to 1."""


class _Consensus(NamedTuple):
    categories: Sequence[tuple[int | None, float]]
    tied: Sequence[int] = ()


def consensus_columns(questions: Sequence[QuestionInfo]) -> tuple[str, ...]:
    spans = any(question.answers == "spans" for question in questions)
    return CONSENSUS_COLUMNS + (SPAN_COLUMNS if spans else ())


def consensus_rows(
    connection: Connection,
    questions: Sequence[QuestionInfo],
    method: str = METHODS[0],
    choice: AnswerFilter = EVERYTHING,
) -> Rows:
    """Yield the consensus of each item that has an answer, a row for each category of it.

    What was decided of an item is its consensus, with the confidence 1; a decision without a
    category claims nothing. A tie is a row without category that names what is tied. Of several
    categories an answer, and of spans, each is in the consensus that more than half of the item's
    answers have, whatever the method. The entropy is that of the item's answers, in bits. Raises
    InvalidOption for a method that there is not, or that does not fit.
    """
    _check_method(method)
    more = (None, None) if len(consensus_columns(questions)) > len(CONSENSUS_COLUMNS) else ()
    for question in questions:
        if question.answers == "spans":
            yield from _span_rows(connection, question, method, choice)
        else:
            for row in _rows(connection, question, method, choice):
                yield (*row, *more)


def _check_method(method: str) -> None:
    if method not in METHODS:
        raise InvalidOption(
            f"there is no method {method!r}", f"choose one of: {', '.join(METHODS)}"
        )


def _rows(
    connection: Connection, question: QuestionInfo, method: str, choice: AnswerFilter
) -> Rows:
    names = category_names(connection, question)
    selection = select_answers(connection, question, choice)
    for _, item, pattern, consensus, by in _each_item(connection, selection, method):
        entropy = _entropy(Counter(answer for _, answer in pattern))
        tied = "|".join(names[category] for category in sorted(consensus.tied, key=[*names].index))
        for category, confidence in consensus.categories:
            name = None if category is None else names[category]
            yield item, question.name, name, confidence, by, entropy, tied or None


def _each_item(
    connection: Connection, selection: Selection, method: str
) -> Generator[tuple[int, str, JointPattern, _Consensus, str], None, None]:
    question = selection.question
    items = item_names(connection, question.project)
    shares = _shares_by(method, connection, selection)
    decide = _most_likely if question.answers == "one" else _more_than_half
    decisions = _decisions(connection, selection)
    for item, pattern in select_item_joint_patterns(connection, selection):
        consensus = decisions.get(item) or decide(shares(pattern))
        by = DECISION if item in decisions else method
        yield item, items[item], pattern, consensus, by


def _decisions(connection: Connection, selection: Selection) -> dict[int, _Consensus]:
    if not selection.decider:
        return {}
    rows = select_answer_rows(Selection(selection.question, only=frozenset({selection.decider})))
    return {
        item: _Consensus([(category, 1.0) for category in read_selected_answer(answer) or [None]])
        for item, answer in stream_rows(connection, select(rows.c.item_id, rows.c.answer))
    }


def _shares_by(
    method: str, connection: Connection, selection: Selection
) -> Callable[[JointPattern], Shares]:
    if method == "majority":
        return _shares
    per_item = count_answers_per_item(connection, selection)
    answers = sum(number * items for number, items in per_item.items())
    if answers > MOST_ANSWERS:
        raise InvalidOption(
            f"a model of {answers:,} answers takes too long; {MOST_ANSWERS:,} are the most",
            "choose fewer, or the method majority",
        )
    patterns = count_joint_patterns(connection, selection)
    if method == "dawid-skene":
        return dawid_skene_shares(patterns).__getitem__
    competences = dawid_skene_competences(patterns)
    return lambda pattern: _shares(pattern, competences)


def _shares(pattern: JointPattern, weights: Mapping[int, float] | None = None) -> Shares:
    """Return the share of each answer; those of annotators without any weight count alike."""
    votes: defaultdict[Answer, float] = defaultdict(float)
    for annotator, answer in pattern:
        votes[answer] += 1.0 if weights is None else weights.get(annotator, 0.0)
    total = math.fsum(votes.values())
    if not total:
        return _shares(pattern)
    return {answer: vote / total for answer, vote in votes.items()}


def _most_likely(shares: Shares) -> _Consensus:
    most = max(shares.values())
    best = [answer[0] for answer, share in shares.items() if share >= most - _TIE]
    return _Consensus([(best[0] if len(best) == 1 else None, most)], best if len(best) > 1 else ())


def _more_than_half(shares: Shares) -> _Consensus:
    """Return the categories that are in more than half of the answers; tied is what is in half."""
    each: defaultdict[int, float] = defaultdict(float)
    for answer, share in shares.items():
        for category in answer:
            each[category] += share
    more = sorted((category, share) for category, share in each.items() if share > _HALF + _TIE)
    tied = [category for category, share in each.items() if abs(share - _HALF) <= _TIE]
    without = 1.0 - max(each.values(), default=0.0)
    return _Consensus(more or [(None, max(without, 0.0))], tied)


def _entropy(votes: Counter[Answer]) -> float:
    total = votes.total()
    return abs(math.fsum(-n / total * math.log2(n / total) for n in votes.values()))


def _span_rows(
    connection: Connection, question: QuestionInfo, method: str, choice: AnswerFilter
) -> Rows:
    if method != METHODS[0]:
        raise InvalidOption(
            f"{question.description} of spans, has no {method} consensus", "majority has"
        )
    names, items = category_names(connection, question), item_names(connection, question.project)
    selection = select_answers(connection, question, choice)
    who = func.count(labels.c.annotator_id.distinct())
    key = (labels.c.item_id, labels.c.span_start, labels.c.span_end, labels.c.category_id)
    counted = select(labels.c.item_id, who).where(where_counted(selection))
    counts = connection.execute(counted.group_by(labels.c.item_id))
    answered = {item: number for item, number in counts}  # noqa: C416 - a row is no pair
    votes = select(*key, who).where(where_counted(selection)).group_by(*key).order_by(*key)
    with closing(stream_rows(connection, votes)) as stream:
        for item, group in groupby(stream, key=lambda row: row[0]):
            spans: list[tuple[str | None, float, int | None, int | None]] = [
                (names[category], number / answered[item], start, end)
                for _, start, end, category, number in group
                if category != NONE_APPLIES
            ]
            most = [span for span in spans if span[1] > _HALF]
            tied = "|".join(
                f"{category} {start}-{end}"
                for category, share, start, end in spans
                if share == _HALF
            )
            nothing = (None, 1.0 - max((share for _, share, *_ in spans), default=0.0), None, None)
            for category, share, start, end in most or [nothing]:
                row = (items[item], question.name, category, share, method, None, tied or None)
                yield (*row, start, end)


# -- Soft labels: beside the consensus, how many of an item's people gave each category -----------


SOFT_COLUMNS = (*CONSENSUS_COLUMNS[:5], "people", "skipped")
NUMBER_COLUMNS = ("mean", "sd")
"""Of questions of numbers, in place of shares."""
SHARE = "share:"
"""Begins the name of a column with the share of a category."""


def soft_columns(connection: Connection, questions: Sequence[QuestionInfo]) -> tuple[str, ...]:
    shares: dict[str, None] = {}
    for question in questions:
        if question.answers == "spans":
            raise InvalidOption(
                f"{question.description} of spans, has no shares", "leave out --soft"
            )
        if not _are_numbers(question):
            names = category_names(connection, question).values()
            shares |= dict.fromkeys(f"{SHARE}{name}" for name in names)
    numbers = NUMBER_COLUMNS if any(map(_are_numbers, questions)) else ()
    return (*SOFT_COLUMNS, *numbers, *shares)


def _are_numbers(question: QuestionInfo) -> bool:
    return question.answers == "one" and question.scale in {"interval", "ratio"}


def soft_rows(
    connection: Connection,
    questions: Sequence[QuestionInfo],
    method: str = METHODS[0],
    choice: AnswerFilter = EVERYTHING,
) -> Rows:
    """Yield one row for each item that has an answer, with the share of its people by category.

    Of several categories a share is that of the people who gave it. Numbers have their mean and
    standard deviation instead (n - 1; none of one answer). Who skipped is counted beside, and in no
    share; nothing is smoothed.
    """
    _check_method(method)
    columns = soft_columns(connection, questions)
    for question in questions:
        names = category_names(connection, question)
        selection = select_answers(connection, question, choice)
        skipped = _skipped(connection, selection)
        given: dict[str, Any]
        for number, item, pattern, consensus, by in _each_item(connection, selection, method):
            chosen = [(c, share) for c, share in consensus.categories if c is not None]
            confidence = min(share for _, share in consensus.categories)
            votes = Counter(category for _, answer in pattern for category in answer)
            category = "|".join(names[category] for category, _ in chosen) or None
            given = dict(zip(SOFT_COLUMNS, (item, question.name, category, confidence, by,
                                            len(pattern), skipped.get(number, 0)),
                             strict=True))  # fmt: skip
            if _are_numbers(question):
                given |= zip(NUMBER_COLUMNS, _mean_and_deviation(votes, names), strict=True)
            else:
                given |= {f"{SHARE}{name}": votes[c] / len(pattern) for c, name in names.items()}
            yield tuple(map(given.get, columns))


def _mean_and_deviation(
    votes: Counter[int], names: Mapping[int, str]
) -> tuple[float, float | None]:
    numbers = [float(names[category]) for category in votes.elements()]
    return fmean(numbers), stdev(numbers) if len(numbers) > 1 else None


def _skipped(connection: Connection, selection: Selection) -> dict[int, int]:
    skips = labels.alias("skips")
    chosen = (where_counted(selection, skips, skipped=True), skips.c.category_id == SKIPPED)
    answered = (
        select(literal(1))
        .where(where_counted(selection), labels.c.item_id == skips.c.item_id,
               labels.c.annotator_id == skips.c.annotator_id)
        .correlate(skips)
        .exists()
    )  # fmt: skip
    people = func.count(skips.c.annotator_id.distinct())
    statement = select(skips.c.item_id, people).where(*chosen, ~answered)
    return {row[0]: row[1] for row in connection.execute(statement.group_by(skips.c.item_id))}


# -- The consensus item by item, with what is known of the item -----------------------------------


class ConsensusItem(NamedTuple):
    name: str
    rows: Sequence[dict[str, Any]]
    known: dict[str, Any]

    @property
    def text(self) -> str | None:
        text: str | None = self.known.get("text")
        return text


def consensus_by_item(
    connection: Connection, question: QuestionInfo, method: str, choice: AnswerFilter
) -> Generator[ConsensusItem, None, None]:
    """Yield each item that has an answer, in the order of the items."""
    columns = consensus_columns([question])
    known = item_columns(connection, question.project)
    consensus = consensus_rows(connection, [question], method, choice)
    with closing(rows_with_items(connection, question.project, consensus, known)) as rows:
        for name, of_item in groupby(rows, lambda row: row[0]):
            group = list(of_item)
            yield ConsensusItem(
                name,
                [dict(zip(columns, row, strict=False)) for row in group],
                dict(zip(known, group[0][len(columns) :], strict=True)),
            )
