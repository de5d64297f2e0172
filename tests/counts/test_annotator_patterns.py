"""What audits look at besides the annotator tallies, against the same counted in Python."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from itertools import groupby, pairwise
from random import Random
from typing import Any

import pytest

from tests.counts.plain import LATE, Given, Rows
from tests.counts.selected import DAY, START, Selected, both_kinds, check_each, selected
from tests.profiles import both
from tracker.core.tallies import Answer
from tracker.counts.annotator_patterns import gold_tallies
from tracker.counts.filter import AnswerFilter
from tracker.counts.pattern_codes import Packing
from tracker.counts.retest import repeat_tallies
from tracker.counts.tallies import select_label_contents
from tracker.counts.timeline import count_timeline_blocks, count_transitions
from tracker.ledger import Ledger

Counts = dict[int, Counter[Any]]


def truths(chosen: Selected) -> dict[int, Answer]:
    plain = chosen.plain
    known = {item: sorted(plain.references & given.keys()) for item, given in plain.truths.items()}
    return {item: plain.truths[item][who[0]] for item, who in known.items() if who}


def gold(chosen: Selected) -> Counts:
    true, counts = truths(chosen), defaultdict[int, Counter[Any]](Counter)
    references = chosen.plain.references
    for one in chosen.counted():
        if one.item in true and one.annotator not in references:
            pattern = chosen.pattern(one.item, references)
            counts[one.annotator][true[one.item], one.own, pattern] += 1
    return counts


def repeats(chosen: Selected) -> Counts:
    counts = defaultdict[int, Counter[Any]](Counter)
    for given in chosen.passes():
        for earlier, later in pairwise(given):
            pattern = chosen.pattern(later.item)
            counts[later.annotator][earlier.own, later.own, pattern] += 1
    return counts


def timed(chosen: Selected) -> list[list[Given]]:
    """The timed answers of each annotator in order."""
    known = [one for one in chosen.counted() if one.at != LATE]
    return [list(given) for _, given in groupby(known, key=lambda one: one.annotator)]


def sequences(chosen: Selected) -> Counts:
    counts = defaultdict[int, Counter[Any]](Counter)
    for given in timed(chosen):
        for previous, one in pairwise(given):
            if previous.at < one.at:
                pattern = chosen.pattern(one.item)
                counts[one.annotator][previous.own, one.own, pattern] += 1
    return counts


def blocks(chosen: Selected, number: int) -> tuple[Counts, Any]:
    true, counts = truths(chosen), defaultdict[int, Counter[Any]](Counter)
    began: dict[int, dict[int, int]] = defaultdict(dict)
    for given in timed(chosen):
        size, longer = divmod(len(given), number)
        sizes = [size + (n < longer) for n in range(number)]
        place = [n for n in range(number) for _ in range(sizes[n])]
        for block, one in zip(place, given, strict=True):
            pattern = chosen.pattern(one.item)
            reference = one.annotator in chosen.plain.references
            truth = None if reference else true.get(one.item)
            counts[one.annotator][block, truth, one.own, pattern] += 1
            began[one.annotator].setdefault(block, one.at)
    return counts, began


def check_evidence(chosen: Selected) -> None:
    at = chosen.connection, chosen.selection
    known = any(one.at != LATE for given in chosen.passes() for one in given)
    assert select_label_contents(*at).times == known
    assert gold_tallies(*at) == gold(chosen)
    assert repeat_tallies(*at) == repeats(chosen)
    assert count_transitions(*at) == sequences(chosen)
    for number in (1, 2, 3, 7):
        counts, began = blocks(chosen, number)
        found = count_timeline_blocks(*at, number)
        assert found.tallies == counts
        assert found.began == began


@both
@both_kinds
def test_evidence(ledger: Ledger, kind: str) -> None:
    check_each(ledger, kind, check_evidence)


@both
def test_what_does_not_fit_into_one_integer(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Packing, "fits", False)
    check_each(ledger, "one", check_evidence, examples=1)


def crowd(annotators: int, items: int, labels: str) -> tuple[Rows, dict[Any, int]]:
    """Some items of very many answers, a truth for most, and times of which many are equal."""
    random = Random(annotators)  # noqa: S311 - no secret is made with it
    keys = [
        (f"i{item:03}", who, n)
        for item in range(items)
        for who in ["R", *(f"a{n:02}" for n in range(annotators if item % 3 else 2))]
        for n in (1, 2)
        if random.random() < (0.9 if n == 1 else 0.2)
    ]
    rows = {key: frozenset(random.choice(labels)) for key in keys}
    return rows, {key: START + random.randrange(12) * DAY for key in keys}


@pytest.mark.parametrize(
    ("kind", "annotators", "labels"), [("one", 40, "xyz"), ("several", 20, "abcdefghijklmnopq")]
)
def test_items_of_very_many_answers(
    ledger: Ledger, kind: str, annotators: int, labels: str
) -> None:
    rows, times = crowd(annotators, 12, labels)
    with selected(ledger, rows, kind, times=times) as chosen:
        check_evidence(chosen)


def x(label: str) -> frozenset[str]:
    return frozenset(label)


def test_sets_are_one_answer_however_they_are_spelled(ledger: Ledger) -> None:
    rows: Rows = {
        (item, who, n): frozenset("wxyz"[: 2 + (who == "B")])
        for item in "ijk"
        for who in "ABR"
        for n in (1, 2)
    }
    times = {key: START + DAY * place for place, key in enumerate(sorted(rows))}
    with selected(ledger, rows, "several", times=times) as chosen:
        check_evidence(chosen)
        at = chosen.connection, chosen.selection
        for tallies in (gold_tallies(*at), count_transitions(*at)):
            assert [len(mine) for mine in tallies.values()] == [1, 1]


def test_an_answer_of_the_same_moment_comes_after_none(ledger: Ledger) -> None:
    rows: Rows = {(item, "A", 1): x(item) for item in "ijkl"}
    times = {(item, "A", 1): START + DAY * (item > "j") for item in "ijk"}
    with selected(ledger, rows, "one", times=times) as chosen:
        check_evidence(chosen)
        ((_, found),) = count_transitions(chosen.connection, chosen.selection).items()
        assert [items for _, items in found.items()] == [1]


def test_fewer_answers_than_blocks(ledger: Ledger) -> None:
    rows: Rows = {(item, "A", 1): x("w") for item in "ij"}
    times = {key: START + DAY * place for place, key in enumerate(rows)}
    with selected(ledger, rows, "one", times=times) as chosen:
        found = count_timeline_blocks(chosen.connection, chosen.selection, 5)
        assert [*found.began.values()] == [{0: START, 1: START + DAY}]
        assert found.numbers.tolist() == [2]


def test_a_reference_asked_into_the_comparison_has_no_truth(ledger: Ledger) -> None:
    rows: Rows = {(item, who, 1): x("w") for item in "ij" for who in "ARS"}
    times = dict.fromkeys(rows, START)
    choice = AnswerFilter(annotators=("A", "R", "S"))
    with selected(ledger, rows, "one", times=times, choice=choice) as chosen:
        check_evidence(chosen)
        held = gold_tallies(chosen.connection, chosen.selection)
        assert held == {1: {((1,), (1,), (((1,), 1),)): 2}}


def test_without_times_or_references_there_is_nothing(ledger: Ledger) -> None:
    rows: Rows = {("i", "A", 1): x("w"), ("j", "A", 1): x("w"), ("j", "B", 1): None}
    with selected(ledger, rows, "one") as chosen:
        at = chosen.connection, chosen.selection
        empty: list[Mapping[int, Any]] = [
            gold_tallies(*at),
            repeat_tallies(*at),
            count_transitions(*at),
            count_timeline_blocks(*at, 4).tallies,
        ]
        assert not any(empty)
        assert not select_label_contents(*at).times
