"""One row per pair of annotators."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Annotated, Any, Final, TypeVar

import numpy as np
from sqlalchemy import Connection

from tracker.agreement.coefficients import count_coefficient_pairs, refuse_study_of_spans
from tracker.agreement.query import Query, check_metric, sample_under_metric
from tracker.agreement.run import span_pair_agreement
from tracker.agreement.spans import SpanPair
from tracker.core.errors import InvalidOption
from tracker.core.made_rows import MadeRows
from tracker.core.results import Json, Record
from tracker.core.tallies import (
    Answer,
    FloatArray,
    IntArray,
    ItemPatterns,
    Pattern,
    answers_in_pattern,
)
from tracker.counts.filter import AnswerFilter, select_answers
from tracker.counts.items import select_answers_to_items
from tracker.counts.selection import Selection
from tracker.counts.tallies import count_item_patterns, pair_tallies, select_items_of_patterns
from tracker.measures.accuracy import NOTHING, Confusion, category_confusions, pattern_confusions
from tracker.measures.intervals import Coefficient
from tracker.measures.numeric import NumericAgreement, numeric_agreement, numeric_whole_numbers
from tracker.measures.words import interval_undefined
from tracker.projects.annotators import annotator_names, find_annotators
from tracker.projects.categories import category_names, find_category
from tracker.projects.items import item_texts_of
from tracker.projects.kept import stored_with_answers
from tracker.projects.names import is_numeric_category_name
from tracker.projects.preferences import PREFERENCE
from tracker.projects.questions import QuestionInfo

PairOf = TypeVar("PairOf")
MOST_PAIRS: Final = 200
"""Pairs that a person may read through."""


def pair_weights(answers: str, scale: str) -> str | None:
    """Return the weights of a question's pairs: answers that are in order may nearly agree."""
    return "quadratic" if answers in {"one", PREFERENCE} and scale != "nominal" else None


@dataclass(frozen=True)
class PairAgreement:
    """Two annotators on the items that both answered; ``numeric`` where the scale has numbers."""

    annotators: tuple[str, str]
    kappa: Coefficient
    numeric: NumericAgreement | None = None

    @property
    def value(self) -> float | None:
        """Return kappa; None if it is undefined."""
        return self.kappa.value

    def to_dict(self) -> dict[str, Any]:
        kappa, unbounded = self.kappa, interval_undefined(self.kappa)
        return {
            "annotators": list(self.annotators),
            "items": kappa.items,
            "observed": kappa.observed,
            "expected": kappa.expected,
            "cohen_kappa": kappa.value,
            "standard_error": kappa.standard_error,
            "ci_low": kappa.ci_low,
            "ci_high": kappa.ci_high,
            "undefined": kappa.undefined,
            **({} if unbounded is None else {"interval_undefined": unbounded}),
            **kappa.details,
        } | ({} if self.numeric is None else {"numeric": self.numeric.to_dict()})


@dataclass(frozen=True, eq=False)
class PairRows(MadeRows[PairOf]):
    """Each two annotators, by name: of a hundred thousand pairs, the rows that are read are made.

    Attributes:
        annotators: the names of both, ascending.
        values: the figure of each pair, NaN if it is undefined, shape (pairs,).
        make: returns the rows of these places.
    """

    annotators: Sequence[tuple[str, str]]
    values: FloatArray
    make: Callable[[IntArray], Iterable[PairOf]] = field(repr=False)

    def __len__(self) -> int:
        return len(self.annotators)

    def made(self, places: IntArray) -> Iterator[PairOf]:
        """Yield the rows of some pairs."""
        return iter(self.make(places))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PairRows) and [*self] == [*other]

    __hash__ = None  # type: ignore[assignment]

    def lowest(self) -> list[PairOf]:
        """Return the pairs that agree least, at most `MOST_PAIRS`, undefined figures last."""
        return [*self.made(np.argsort(self.values, kind="stable")[:MOST_PAIRS])]

    def of(self, *names: str) -> PairRows[PairOf]:
        """Return the pairs of an annotator, or of two."""
        return self._where({*names}.issubset)

    def among(self, names: Collection[str]) -> PairRows[PairOf]:
        """Return the pairs of which both are among some annotators."""
        return self._where({*names}.issuperset)

    def _where(self, wanted: Callable[[tuple[str, str]], bool]) -> PairRows[PairOf]:
        chosen = [place for place, both in enumerate(self.annotators) if wanted(both)]
        places = np.array(chosen, dtype=np.int64)
        annotators = [self.annotators[place] for place in chosen]
        return PairRows(annotators, self.values[places], lambda some: self.make(places[some]))


@stored_with_answers
def agreement_by_pair(
    connection: Connection, question: QuestionInfo, query: Query | None = None
) -> PairRows[PairAgreement]:
    """Cohen's kappa of every two annotators who share an item, by their names.

    On an interval or a ratio scale correlations and differences stand beside it; these are of
    the second less the first by name.
    """
    if question.answers == "spans":
        raise InvalidOption("a project of spans has no kappa of pairs")
    asked = query or Query()
    names = annotator_names(connection, question.project)
    categories = category_names(connection, question)
    check_metric(question, categories, asked.metric)
    selection = select_answers(connection, question, asked.filter)
    # Weights depend on which categories occur; without any, nothing of the items is needed.
    weighted = asked.metric.weighted
    patterns = count_item_patterns(connection, selection) if weighted else ItemPatterns()
    of = sample_under_metric(question, categories, patterns, 0, asked.metric)
    pairs = count_coefficient_pairs(connection, selection, of)
    kappas = pairs.kappas(of, asked.confidence, asked.interval)
    by_name = sorted(names, key=names.__getitem__)
    rank = {annotator: place for place, annotator in enumerate(by_name)}
    ranks = np.array([(rank[a], rank[b]) for a, b in pairs.annotators], dtype=np.int64)
    first, second = ranks.reshape(-1, 2).T
    low, high = np.minimum(first, second), np.maximum(first, second)
    order = np.lexsort((high, low))
    annotators = [
        (names[by_name[a]], names[by_name[b]])
        for a, b in zip(low[order].tolist(), high[order].tolist(), strict=True)
    ]
    values = None
    if asked.metric.scale_of(question) in {"interval", "ratio"}:
        values = numeric_whole_numbers(
            {n: float(name) for n, name in categories.items() if is_numeric_category_name(name)}
        )

    def rows(places: IntArray) -> Iterator[PairAgreement]:
        own = order[places]
        for place, pair, kappa in zip(places.tolist(), own.tolist(), kappas.made(own), strict=True):
            numeric = None
            if values is not None:
                table = pairs.cells.table(pair)
                if first[pair] > second[pair]:
                    table = {(b, a): items for (a, b), items in table.items()}
                numeric = numeric_agreement(table, values, confidence=asked.confidence)
            yield PairAgreement(annotators[place], kappa, numeric)

    return PairRows(annotators, kappas.values[order], rows)


def span_agreement_by_pair(
    connection: Connection, question: QuestionInfo, query: Query
) -> PairRows[SpanPair]:
    """Return each pair of annotators of a project of spans, by name, with their exact F1."""
    pairs = span_pair_agreement(connection, question, query)
    values = [math.nan if pair.value is None else pair.value for pair in pairs]
    return PairRows(
        [pair.annotators for pair in pairs],
        np.array(values, dtype=np.float64),
        lambda places: (pairs[place] for place in places.tolist()),
    )


_MOST_PEOPLE = 40


@dataclass(frozen=True)
class PairsInShort:
    """Those of a question's pairs who agree least.

    Attributes:
        people: the annotators who agree least with the others, at most 40, by name.
        among: each two of them.
        lowest: the pairs that agree least, at most 200, undefined figures last.
        number: the number of all pairs.
        annotators: the number of all annotators in them.
    """

    people: Sequence[str]
    among: Sequence[PairAgreement | SpanPair]
    lowest: Sequence[PairAgreement | SpanPair]
    number: int
    annotators: int

    def to_json(self) -> list[dict[str, Any]]:
        """Return the pairs as JSON, those of ``among`` first."""
        more = [pair for pair in self.lowest if not {*pair.annotators} <= {*self.people}]
        return [pair.to_dict() for pair in (*self.among, *more)]


@stored_with_answers
def pairs_in_short(
    connection: Connection, question: QuestionInfo, query: Query | None = None
) -> PairsInShort:
    """Return the pairs that agree least, of spans by their exact F1."""
    every: PairRows[Any]
    if question.answers == "spans":
        every = span_agreement_by_pair(connection, question, query or Query())
    else:
        every = agreement_by_pair(connection, question, query)
    of_each: dict[str, list[float]] = {}
    for names, value in zip(every.annotators, every.values.tolist(), strict=True):
        for name in names:
            of_each.setdefault(name, []).extend(() if math.isnan(value) else (value,))
    people = sorted(of_each, key=lambda name: (fmean(of_each[name] or [2.0]), name))
    chosen = {*people[:_MOST_PEOPLE]}
    return PairsInShort(
        sorted(chosen),
        [*every.among(chosen)],
        every.lowest(),
        len(every),
        len(of_each),
    )


NONE = "(none)"
"""What an answer without a category is called."""
MOST = 5  # pairs of categories
_EXAMPLES = 3  # items of each
_PATTERNS = 20  # the most telling ones, among whose items examples are looked for


def _as_json(answers: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"annotator": annotator, "answer": answer} for annotator, answer in answers]


@dataclass(frozen=True)
class ConfusedItem(Record):
    """An item that shows a confusion: who gave which answer."""

    name: Annotated[str, Json("item")]
    text: str | None
    answers: Annotated[Sequence[tuple[str, str]], Json(write=_as_json, kind=list)]


@dataclass(frozen=True)
class ConfusedPair(Record):
    """Two categories by name, how often they were confused, and items on which they were."""

    categories: tuple[str, str]
    disagreements: int
    items: int
    share: float
    examples: Sequence[ConfusedItem]


@dataclass(frozen=True)
class Confusions(Record):
    """The confusions of a question, the most frequent first.

    Attributes:
        total: pairs of annotators and items whose answers differ, a pair counted once for each
            two categories that it confuses.
        pairs: the most frequent, `MOST` at most.
    """

    project: str
    question: str
    total: Annotated[int, Json("disagreements")]
    pairs: Annotated[Sequence[ConfusedPair], Json("confusions")]


@stored_with_answers
def confused_categories(
    connection: Connection,
    question: QuestionInfo,
    query: Query | None = None,
    category: str | None = None,
) -> Confusions:
    """Return which categories are confused, or with which ones the category of a name is.

    Raises InvalidOption for a question of spans, NotFound for a category that there is not.
    """
    refuse_study_of_spans(question)
    selection = select_answers(connection, question, (query or Query()).filter)
    patterns = count_item_patterns(connection, selection)
    return confusions_of_patterns(connection, selection, patterns, category)


def confusions_of_patterns(
    connection: Connection,
    selection: Selection,
    patterns: ItemPatterns,
    category: str | None = None,
) -> Confusions:
    """Return likewise the confusions of answers that are counted already."""
    question = selection.question
    every = category_confusions(patterns)
    confusions = every
    if category is not None:
        number = find_category(connection, question, category)
        confusions = [
            confusion for confusion in every if number in {confusion.first, confusion.second}
        ]
    names = {**category_names(connection, question), NOTHING: NONE}
    examples = _examples(connection, selection, patterns, confusions[:MOST], names)
    return Confusions(
        question.project.name,
        question.name,
        sum(confusion.disagreements for confusion in every),
        [
            ConfusedPair(_in_order(names, confusion.first, confusion.second),
                         confusion.disagreements, confusion.items, confusion.share, items)
            for confusion, items in zip(confusions[:MOST], examples, strict=True)
        ],
    )  # fmt: skip


def _in_order(names: Mapping[int, str], *categories: int) -> tuple[str, str]:
    first, second = (name for number, name in names.items() if number in categories)
    return first, second


def _examples(
    connection: Connection,
    selection: Selection,
    patterns: ItemPatterns,
    confusions: Sequence[Confusion],
    names: Mapping[int, str],
) -> list[list[ConfusedItem]]:
    """Return for each confusion the first items of the patterns that show it best."""
    telling = [
        _most_telling(patterns, (confusion.first, confusion.second)) for confusion in confusions
    ]
    wanted = {pattern for some in telling for pattern in some}
    if not wanted:
        return [[] for _ in confusions]
    items = select_items_of_patterns(connection, selection, wanted, _EXAMPLES)
    chosen = [[n for pattern in some for n in items[pattern]][:_EXAMPLES] for some in telling]
    every = sorted({item for some in chosen for item in some})
    project = selection.question.project
    texts = item_texts_of(connection, project, every)
    people = annotator_names(connection, project)
    answers = select_answers_to_items(connection, selection, every)

    def shown(item: int) -> ConfusedItem:
        given = [(people[who], _told(answer, names)) for who, answer in answers[item]]
        return ConfusedItem(*texts[item], sorted(given, key=lambda entry: (entry[1], entry[0])))

    return [[shown(item) for item in some] for some in chosen]


def _most_telling(patterns: ItemPatterns, key: tuple[int, int]) -> list[Pattern]:
    """Return the patterns most of whose pairs of annotators confuse two categories."""

    def share(pattern: Pattern) -> float:
        number = answers_in_pattern(pattern)
        return pattern_confusions(pattern).get(key, 0) / max(number * (number - 1), 1)

    shares = [(share(pattern), pattern) for pattern, items in patterns if items]
    ranked = sorted((-value, pattern) for value, pattern in shares if value)
    return [pattern for _, pattern in ranked[:_PATTERNS]]


def _told(answer: Answer, names: Mapping[int, str]) -> str:
    return " + ".join(names[category] for category in answer if category > NOTHING) or NONE


@dataclass(frozen=True)
class CrossTable:
    """How often one annotator gave each answer where the other gave another.

    Attributes:
        annotators: by name; the first one's answers are the rows.
        answers: all that occur, in the order of the categories.
        items: ``{(answer of the first, of the second): items}``.
    """

    annotators: tuple[str, str]
    answers: Sequence[str]
    items: Mapping[tuple[str, str], int]

    def to_dict(self) -> dict[str, Any]:
        cells = [[self.items.get((answer, other), 0) for other in self.answers]
                 for answer in self.answers]  # fmt: skip
        return {
            "annotators": list(self.annotators), "answers": list(self.answers), "items": cells
        }  # fmt: skip


def cross_table(connection: Connection, question: QuestionInfo, choice: AnswerFilter) -> CrossTable:
    """Return the table of the two annotators of a choice, the first by name in its rows.

    Raises InvalidOption for a question of spans, and unless the choice names two annotators.
    """
    refuse_study_of_spans(question)
    people = find_annotators(connection, question.project, choice.annotators)
    if len({person.id for person in people}) != 2:
        raise InvalidOption("a table of answers is of two annotators")
    selection = select_answers(connection, question, choice)
    names = category_names(connection, question)
    place = {number: n for n, number in enumerate(names)}
    counts = next(iter(pair_tallies(connection, selection).counts.values()), {})
    turned = people[0].id > people[1].id

    def order(answer: Answer) -> list[int]:
        return sorted(place[category] for category in answer if category in place)

    def told(answer: Answer) -> str:
        chosen = [names[category] for category in sorted(answer, key=lambda n: place.get(n, -1))
                  if category in names]  # fmt: skip
        return " + ".join(chosen) or NONE

    used = sorted({answer for cell in counts for answer in cell}, key=order)
    items = {(told(first), told(second)): n for (first, second), n in counts.items()}
    if turned:
        items = {(second, first): n for (first, second), n in items.items()}
    return CrossTable((people[0].name, people[1].name), [told(answer) for answer in used], items)
