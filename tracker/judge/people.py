"""A model beside each person, and both beside the truth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from tracker.agreement.query import sample_under_metric
from tracker.core.beside_columns import BesideColumns
from tracker.core.tallies import Answer, FloatArray, IntArray
from tracker.judge.bench import Bench
from tracker.judge.result import AgainstTruths, PersonBeside
from tracker.measures.cohen import Cells, cohen_kappas
from tracker.measures.intervals import NO_OVERLAP, Coefficient, wilson_interval
from tracker.measures.sample import Table

_LEFT_OUT = 50  # people, each in turn, for the error over people


def against_truths(
    model: int, golds: Mapping[int, Mapping[tuple[Answer, Answer], int]], confidence: float
) -> AgainstTruths | None:
    """Return how often a model, and the people, gave the truths; None if it met none."""
    own = golds.get(model)
    if own is None:
        return None
    tables = [Counter(table) for annotator, table in golds.items() if annotator != model]
    people = sum(tables, Counter[tuple[Answer, Answer]]())
    accuracies = (
        _accuracy(
            sum(n for (truth, given), n in table.items() if truth == given),
            sum(table.values()),
            confidence,
        )
        for table in (own, people)
    )
    return AgainstTruths(sum(own.values()), *accuracies)


def _accuracy(right: int, answers: int, confidence: float) -> Coefficient:
    if not answers:
        return Coefficient("accuracy", None, NO_OVERLAP)
    share = right / answers
    low, high = wilson_interval(share, answers, confidence)
    return Coefficient(
        "accuracy", share, ci_low=low, ci_high=high, confidence=confidence, items=answers
    )


def people_beside(bench: Bench, rows: BesideColumns) -> list[PersonBeside]:
    """Return the model beside each person, those it agrees with least first."""
    confidence = bench.query.confidence
    persons, person = np.unique(rows.person, return_inverse=True)
    # Every answer as an item of its own, so that each has its weights.
    every = [(((answer, 1),), 1) for answer in rows.answers]
    read = sample_under_metric(bench.question, bench.names, every, 2, bench.query.metric)
    code = {answer: place for place, answer in enumerate(read.table.answers)}
    place = np.array([code[answer] for answer in rows.answers], dtype=np.int64)
    shape = (len(persons), len(rows.answers), len(rows.answers))
    cell, of_cell = np.unique(
        np.ravel_multi_index((person, rows.given, rows.own), shape), return_inverse=True
    )
    pair, given, own = np.unravel_index(cell, shape)
    items = np.bincount(of_cell, rows.items, len(cell)).astype(np.int64)
    cells = Cells(read.table.answers, pair, place[given], place[own], items, len(persons))
    kappas = cohen_kappas(cells, confidence, read.weighting)
    answered = np.bincount(person, rows.items, len(persons))
    alike = np.bincount(person, rows.items * (rows.given == rows.own), len(persons))
    shared, others = _with_others(rows, person, len(persons))
    people = [
        PersonBeside(
            bench.known[number].name,
            int(answered[n]),
            _accuracy(int(alike[n]), int(answered[n]), confidence),
            kappa,
            float(others[n] / shared[n]) if shared[n] else None,
        )
        for n, (number, kappa) in enumerate(zip(persons.tolist(), kappas, strict=True))
    ]
    people.sort(key=lambda row: (row.agreement.ci_high or 0.0, row.annotator))
    return people


def without_each(rows: BesideColumns, rater: Table, group: Table) -> Iterator[tuple[Table, Table]]:
    """Yield the answers of the model and of the others, without each of the people.

    ``rater`` and ``group`` are the answers of all, as in ``given_to_patterns`` of the rows. Of very
    many, fifty are left out in turn, spread evenly over the numbers of their answers.
    """
    persons, person = np.unique(rows.person, return_inverse=True)
    _, cell = np.unique(rows.pattern * len(rows.answers) + rows.given, return_inverse=True)
    every, nothing = np.arange(len(group.items)), np.full(len(group.items), -1)
    order = np.bincount(person, rows.items, len(persons)).argsort(kind="stable")
    sample = order[np.linspace(0, len(order) - 1, _LEFT_OUT).astype(np.int64)]
    for place in sample if len(order) > _LEFT_OUT else range(len(order)):
        theirs = person == place
        # An item that the person answered moves to a row of its own, of one answer less.
        less = np.bincount(cell[theirs], rows.items[theirs], len(every)).astype(np.int64)
        items = np.concatenate([group.items - less, rows.items[theirs]])
        source = np.concatenate([every, cell[theirs]])
        without = np.concatenate([nothing, rows.own[theirs]])
        left = group.take(source)
        count = left.count - (left.answer == without[left.owner])
        sizes = left.sizes - (without >= 0)
        entries = (column[count > 0] for column in (left.owner, left.answer, count))
        places = np.flatnonzero((items > 0) & (sizes > 0))
        yield (
            replace(rater.take(source[places]), items=items[places]),
            Table(group.answers, items, sizes, *entries).take(places),
        )


def _with_others(
    rows: BesideColumns, person: IntArray, people: int
) -> tuple[FloatArray, FloatArray]:
    """Return each person's items that others answered, and a sum over these items, (people,).

    It is that of the share of the others who gave the person's answer.
    """
    width = max(len(rows.answers), 1)
    keys, place = np.unique(rows.pattern * width + rows.own, return_inverse=True)
    same = np.array(
        [dict(rows.patterns[key // width])[rows.answers[key % width]] - 1 for key in keys.tolist()],
        dtype=np.float64,
    )
    others = rows.sizes[rows.pattern] - 1
    share = np.divide(same[place], others, out=np.zeros(len(place)), where=others > 0)
    return (
        np.bincount(person, rows.items * (others > 0), people).astype(np.float64),
        np.bincount(person, rows.items * share, people).astype(np.float64),
    )
