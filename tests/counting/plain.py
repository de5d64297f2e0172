"""A project's answers as plain rows, counted by hand: the other opinion on every tally."""

from __future__ import annotations

import io
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from sqlalchemy import Connection

from tests.helpers import csv_text
from tracker import counting
from tracker.catalogue.annotators import annotator_names, set_kind
from tracker.catalogue.categories import category_names
from tracker.catalogue.items import item_names
from tracker.catalogue.projects import ProjectInfo, ProjectOptions, create_project
from tracker.ingest.columns import parse_map
from tracker.ingest.loader import load
from tracker.ingest.source import STDIN, SourceFile
from tracker.schema import NONE_APPLIES
from tracker.tally import Answer, Pattern, answers_in, make_pattern

Rows = Mapping[tuple[str, str, int], frozenset[str] | None]
"""``{(item, annotator, pass): categories}``; None is a skipped answer."""

KINDS = {"M": "model", "R": "reference", "S": "reference"}


@dataclass(frozen=True)
class Plain:
    """The same project by numbers: ``answers[item][annotator]``, each on its lowest pass."""

    answers: dict[int, dict[int, Answer]]
    humans: frozenset[int]
    references: frozenset[int]

    def compared(self, without: frozenset[int] = frozenset()) -> dict[int, dict[int, Answer]]:
        """The humans' answers to each item that has any."""
        kept = {
            item: {who: own for who, own in given.items() if who in self.humans - without}
            for item, given in self.answers.items()
        }
        return {item: given for item, given in kept.items() if given}

    def item_patterns(self) -> Counter[Pattern]:
        return Counter(make_pattern(given.values()) for given in self.compared().values())

    def annotator_tallies(
        self, excluded: frozenset[int] = frozenset()
    ) -> dict[int, Counter[tuple[Answer, Pattern]]]:
        counts: dict[int, Counter[tuple[Answer, Pattern]]] = defaultdict(Counter)
        for given in self.compared().values():
            for annotator, own in given.items():
                pattern = make_pattern(
                    answer
                    for other, answer in given.items()
                    if other == annotator or other not in excluded
                )
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
            truths = sorted(self.references & self.answers[item].keys())
            if truths:
                items += 1
                for annotator, own in given.items():
                    counts[annotator][self.answers[item][truths[0]], own] += 1
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
) -> tuple[ProjectInfo, Plain]:
    """Import the rows into a new project; returns it and the same by hand."""
    options = ProjectOptions(answers=kind, categories=categories)
    project = create_project(connection, "p", options)
    text: list[list[object]] = [["item", "annotator", "pass", "category"]]
    for (item, annotator, number), labels in rows.items():
        text += [[item, annotator, number, label] for label in sorted(labels or [""])]
    source = SourceFile(STDIN, io.BytesIO(csv_text(text).encode()))
    load(connection, project, [source], parse_map([]))
    people = {name: n for n, name in annotator_names(connection, project).items()}
    for name in people.keys() & KINDS.keys():
        set_kind(connection, project, name, KINDS[name])
    items = {name: n for n, name in item_names(connection, project).items()}
    numbers = {name: n for n, name in category_names(connection, project).items()}
    answers: dict[int, dict[int, Answer]] = defaultdict(dict)
    for (item, annotator, _), labels in sorted(rows.items(), key=lambda row: -row[0][2]):
        if labels is not None:
            own = tuple(sorted(numbers[label] for label in labels))
            answers[items[item]][people[annotator]] = own
    return project, Plain(
        dict(answers),
        frozenset(n for name, n in people.items() if name not in KINDS),
        frozenset(n for name, n in people.items() if KINDS.get(name) == "reference"),
    )


def compare(connection: Connection, project: ProjectInfo, plain: Plain) -> None:
    """Assert that the database counts what Python counts."""
    selection = counting.select_answers(connection, project)
    assert counting.annotators_with_answers(connection, selection) == (
        plain.annotators_with_answers()
    )
    assert counting.item_patterns(connection, selection).counts == plain.item_patterns()
    assert counting.annotator_tallies(connection, selection).counts == plain.annotator_tallies()
    assert counting.pair_tallies(connection, selection).counts == plain.pair_tallies()
    assert counting.confusions(connection, selection) == plain.confusions()
    found = list(counting.votes(connection, selection))
    assert {(item, category): number for item, category, number in found} == plain.votes()
    assert found == sorted(found)
    assert counting.answers_per_item(connection, selection) == plain.answers_per_item()
    for excluded in (frozenset(), frozenset(sorted(plain.humans)[:1]), plain.humans):
        recounted = counting.recount(connection, selection, excluded)
        assert shared(recounted.counts) == shared(plain.annotator_tallies(excluded))


def shared(
    counts: Mapping[int, Mapping[tuple[Answer, Pattern], int]],
) -> dict[int, dict[tuple[Answer, Pattern], int]]:
    """Tallies of items that another annotator answered too; no figure needs the others."""
    kept: dict[int, dict[tuple[Answer, Pattern], int]] = {
        annotator: {key: number for key, number in mine.items() if answers_in(key[1]) > 1}
        for annotator, mine in counts.items()
    }
    return {annotator: mine for annotator, mine in kept.items() if mine}


# -- strategies ----------------------------------------------------------------------------

one = st.none() | st.sampled_from("wxyz").map(lambda label: frozenset({label}))
several = st.sets(st.sampled_from("wxyz"), max_size=3).map(frozenset)


def rows_of(labels: st.SearchStrategy[Any]) -> st.SearchStrategy[Rows]:
    """Some answers of four people, a model and two references, on up to three passes."""
    key = st.tuples(st.sampled_from("ijkl"), st.sampled_from("ABCDMRS"), st.integers(1, 3))
    return st.dictionaries(key, labels, min_size=1, max_size=30)
