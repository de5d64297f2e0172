"""A project's answers as plain rows, counted by hand: the other opinion on every tally."""

from __future__ import annotations

import io
import itertools
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from operator import itemgetter

from sqlalchemy import Connection, insert

from tests.helpers import AS_THEY_ARE, csv_text
from tracker.agreement.groups_sql import (
    count_patterns_by_cluster,
    count_patterns_by_group,
    pair_tallies_by_group,
    select_annotators_by_group,
)
from tracker.core import clock
from tracker.core.tallies import Answer, Pattern, make_pattern
from tracker.counts.annotator_patterns import count_gold_confusions, select_answering_annotators
from tracker.counts.filter import EVERYTHING, AnswerFilter, select_answers
from tracker.counts.items import count_answers_per_item, count_votes
from tracker.counts.tallies import count_annotator_tallies, count_item_patterns, pair_tallies
from tracker.formats.mappings import parse_column_roles
from tracker.formats.source import STDIN, SourceFile
from tracker.imports.loader import load_import
from tracker.projects.annotators import annotator_names, set_annotator_kind
from tracker.projects.categories import category_names
from tracker.projects.items import item_names
from tracker.projects.questions import QuestionInfo, QuestionOptions, create_project
from tracker.storage.schema import NONE_APPLIES, ItemAttribute

Rows = Mapping[tuple[str, str, int], frozenset[str] | None]
"""``{(item, annotator, pass): categories}``; None is a skipped answer."""

KINDS = {"M": "model", "R": "reference", "S": "reference"}
LATE = 10**18  # later than every moment that a test chooses


@dataclass(frozen=True)
class Given:
    """One answer by numbers; skipped where ``own`` is None, ``LATE`` where it has no time.

    ``spent`` is in milliseconds.
    """

    item: int
    annotator: int
    number: int
    at: int
    own: Answer | None
    spent: int | None = None


@dataclass(frozen=True)
class Raw:
    """The same project by numbers, before anything is chosen: every answer on every pass."""

    given: tuple[Given, ...]
    kinds: Mapping[int, str]
    values: Mapping[int, Mapping[str, str]] = field(default_factory=dict)

    def plain(
        self,
        *,
        only: frozenset[int] = frozenset(),
        excluded: frozenset[int] = frozenset(),
        since: int = 0,
        until: int = LATE,
        where: Mapping[str, frozenset[str]] | None = None,
    ) -> Plain:
        humans = frozenset(n for n, kind in self.kinds.items() if kind == "human")
        references = frozenset(n for n, kind in self.kinds.items() if kind == "reference")
        answers: dict[int, dict[int, Answer]] = defaultdict(dict)
        truths: dict[int, dict[int, Answer]] = defaultdict(dict)
        for one in sorted(self.given, key=lambda one: -one.number):  # the lowest pass comes last
            mine = self.values.get(one.item, {})
            if one.own is None or any(mine.get(k) not in v for k, v in (where or {}).items()):
                continue
            truths[one.item][one.annotator] = one.own
            if since <= one.at <= until:
                answers[one.item][one.annotator] = one.own
        compared = (only or humans) - excluded
        return Plain(dict(answers), compared, references - excluded, dict(truths), self.values)


@dataclass(frozen=True)
class Plain:
    """What is counted: ``answers[item][annotator]``, each on its lowest pass."""

    answers: dict[int, dict[int, Answer]]
    humans: frozenset[int]
    references: frozenset[int]
    truths: dict[int, dict[int, Answer]]
    values: Mapping[int, Mapping[str, str]]

    def compared(self, without: frozenset[int] = frozenset()) -> dict[int, dict[int, Answer]]:
        """The answers to each item of those who are compared, humans as a rule."""
        kept = {
            item: {who: own for who, own in given.items() if who in self.humans - without}
            for item, given in self.answers.items()
        }
        return {item: given for item, given in kept.items() if given}

    def item_patterns(self) -> Counter[Pattern]:
        return Counter(make_pattern(given.values()) for given in self.compared().values())

    def _of(self, attribute: str, value: str | None) -> Plain:
        answers = {
            item: given
            for item, given in self.answers.items()
            if self.values.get(item, {}).get(attribute) == value
        }
        return replace(self, answers=answers)

    def groups(self, attribute: str) -> dict[str | None, Plain]:
        met = {self.values.get(item, {}).get(attribute) for item in self.compared()}
        return {value: self._of(attribute, value) for value in met}

    def clusters(self, attribute: str) -> Counter[tuple[str | int, Pattern]]:
        return Counter(
            (self.values.get(item, {}).get(attribute, item), make_pattern(given.values()))
            for item, given in self.compared().items()
        )

    def annotator_tallies(self) -> dict[int, Counter[tuple[Answer, Pattern]]]:
        counts: dict[int, Counter[tuple[Answer, Pattern]]] = defaultdict(Counter)
        for given in self.compared().values():
            pattern = make_pattern(given.values())
            for annotator, own in given.items():
                counts[annotator][own, pattern] += 1
        return dict(counts)

    def pair_tallies(self) -> dict[tuple[int, int], Counter[tuple[Answer, Answer]]]:
        counts: dict[tuple[int, int], Counter[tuple[Answer, Answer]]] = defaultdict(Counter)
        for given in self.compared().values():
            for first, one in given.items():
                for second, other in given.items():
                    if first < second:
                        counts[first, second][one, other] += 1
        return dict(counts)

    def confusions(self) -> tuple[dict[int, Counter[tuple[Answer, Answer]]], int]:
        counts: dict[int, Counter[tuple[Answer, Answer]]] = defaultdict(Counter)
        items = 0
        for item, given in self.compared().items():
            truths = sorted(self.references & self.truths[item].keys())
            held = {who: own for who, own in given.items() if who not in self.references}
            items += bool(truths and held)
            for annotator, own in held.items() if truths else ():
                counts[annotator][self.truths[item][truths[0]], own] += 1
        return dict(counts), items

    def votes(self) -> Counter[tuple[int, int]]:
        return Counter(
            (item, category)
            for item, given in self.compared().items()
            for own in given.values()
            for category in own or (NONE_APPLIES,)
        )

    def answers_per_item(self) -> Counter[int]:
        return Counter(len(given) for given in self.compared().values())

    def annotators_with_answers(self) -> list[int]:
        return sorted({annotator for given in self.compared().values() for annotator in given})


def store(
    connection: Connection, rows: Rows, kind: str, categories: tuple[str, ...] | None = None
) -> tuple[QuestionInfo, Plain]:
    """Import the rows into a new project; returns it and the same by hand."""
    question, raw = store_raw(connection, rows, kind, categories)
    return question, raw.plain()


def store_raw(
    connection: Connection,
    rows: Rows,
    kind: str,
    categories: tuple[str, ...] | None = None,
    *,
    times: Mapping[tuple[str, str, int], int] | None = None,
    values: Mapping[str, Mapping[str, str]] | None = None,
    spent: Mapping[tuple[str, str, int], int] | None = None,
) -> tuple[QuestionInfo, Raw]:
    """The same with the moments of the answers, in microseconds, and the items' attributes.

    ``spent`` says how many milliseconds an answer took.
    """
    options = QuestionOptions(answers=kind, categories=categories)
    question = create_project(connection, "p", options)
    text: list[list[object]] = [["item", "annotator", "pass", "labeled_at", "seconds", "category"]]
    for key, labels in rows.items():
        at = (times or {}).get(key)
        when = "" if at is None else clock.iso(at)
        took = (spent or {}).get(key)
        seconds = "" if took is None else took / 1000
        text += [[*key, when, seconds, label] for label in sorted(labels or [""])]
    source = SourceFile(STDIN, io.BytesIO(csv_text(text).encode()))
    load_import(connection, question, [source], parse_column_roles([]), options=AS_THEY_ARE)
    people = {name: n for n, name in annotator_names(connection, question.project).items()}
    for name in people.keys() & KINDS.keys():
        set_annotator_kind(connection, question.project, name, KINDS[name])
    items = {name: n for n, name in item_names(connection, question.project).items()}
    numbers = {name: n for n, name in category_names(connection, question).items()}
    kept = {items[item]: mine for item, mine in (values or {}).items() if item in items}
    attributes = [
        {"project_id": question.project_id, "item_id": item, "name": name, "value": value}
        for item, mine in kept.items()
        for name, value in mine.items()
    ]
    if attributes:
        connection.execute(insert(ItemAttribute), attributes)
    given = tuple(
        Given(
            items[key[0]],
            people[key[1]],
            key[2],
            (times or {}).get(key, LATE),
            None if labels is None else tuple(sorted(numbers[label] for label in labels)),
            (spent or {}).get(key),
        )
        for key, labels in rows.items()
    )
    kinds = {n: KINDS.get(name, "human") for name, n in people.items()}
    return question, Raw(given, kinds, kept)


def compare(
    connection: Connection, question: QuestionInfo, plain: Plain, choice: AnswerFilter = EVERYTHING
) -> None:
    """Assert that the database counts what Python counts."""
    selection = select_answers(connection, question, choice)
    assert select_answering_annotators(connection, selection) == (plain.annotators_with_answers())
    assert count_item_patterns(connection, selection).counts == plain.item_patterns()
    assert count_annotator_tallies(connection, selection).counts == plain.annotator_tallies()
    assert pair_tallies(connection, selection).counts == plain.pair_tallies()
    assert count_gold_confusions(connection, selection) == plain.confusions()
    found = list(count_votes(connection, selection))
    assert {(item, category): number for item, category, number in found} == plain.votes()
    assert found == sorted(found)
    assert count_answers_per_item(connection, selection) == plain.answers_per_item()


def compare_groups(
    connection: Connection,
    question: QuestionInfo,
    plain: Plain,
    attribute: str,
    choice: AnswerFilter,
) -> None:
    """Assert that the database counts the same apart by an attribute."""
    selection = select_answers(connection, question, choice)
    groups = plain.groups(attribute)
    patterns = count_patterns_by_group(connection, selection, attribute)
    assert {value: found.counts for value, found in patterns.items()} == {
        value: group.item_patterns() for value, group in groups.items()
    }
    people = select_annotators_by_group(connection, selection, attribute)
    met = {value: group.annotators_with_answers() for value, group in groups.items()}
    assert {value: (who.number, who.first, who.last) for value, who in people.items()} == {
        value: (len(who), who[0], who[-1]) for value, who in met.items()
    }
    pairs = {value: group.pair_tallies() for value, group in groups.items()}
    for wanted in ([*groups], [*groups][:1], [None]):
        found = pair_tallies_by_group(connection, selection, attribute, wanted)
        assert {value: tallies.counts for value, tallies in found.items()} == {
            value: pairs[value] for value in wanted if pairs.get(value)
        }
    rows = list(count_patterns_by_cluster(connection, selection, attribute))
    clusters: Counter[tuple[str | int, Pattern]] = Counter()
    for cluster, pattern, items in rows:
        clusters[cluster, pattern] += items
    assert clusters == plain.clusters(attribute)
    names = [cluster for cluster, _ in itertools.groupby(rows, key=itemgetter(0))]
    assert len(names) == len(set(names)), "a cluster's rows follow each other"
