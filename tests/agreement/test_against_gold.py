"""Annotators against the reference, against the same counted in Python."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pandas as pd
import pytest

from tests.agreement.crowd import KINDS, Kind, answers, asked, assessed, close
from tests.helpers import SPANS, count_statements
from tracker.agreement.gold import NONE, AgainstTruth, agreement_against_gold
from tracker.core.errors import InvalidOption
from tracker.ledger import Ledger
from tracker.measures.accuracy import GoldAgreement
from tracker.measures.intervals import wilson_interval
from tracker.projects.annotators import set_annotator_kind

KIND = pytest.mark.parametrize("kind", [KINDS["one"], KINDS["several"]], ids=["one", "several"])
Pairs = list[tuple[tuple[str, ...], tuple[str, ...]]]


def store(ledger: Ledger, kind: Kind, **drawn: Any) -> dict[str, Pairs]:
    """Answers of three people and of a reference; returns truth and answer of each person."""
    people = ("ann", "bob", "cat", "ref")
    given = kind.store(ledger, people=people, **drawn)
    with ledger.writing("p") as (connection, project):
        set_annotator_kind(connection, project, "ref", "reference")
    met: dict[str, Pairs] = {}
    for (item, who), own in sorted(given.items()):
        if who != "ref" and (item, "ref") in given:
            met.setdefault(who, []).append((given[item, "ref"], own))
    return met


def truth(ledger: Ledger, **asking: Any) -> AgainstTruth:
    with ledger.asking("p") as (connection, question):
        return agreement_against_gold(connection, question, asked(**asking))


def check(found: AgainstTruth, own: GoldAgreement, pairs: Pairs) -> None:
    told = found.detail(own)
    right = sum(one == other for one, other in pairs)
    assert told["answers"] == len(pairs)
    assert told["observed"] == close(right / len(pairs))
    cells = {(row["truth"], row["answer"]): row["answers"] for row in told["confusion"]}
    assert cells == Counter(
        ("|".join(one) or NONE, "|".join(other) or NONE) for one, other in pairs
    )
    totals = [Counter(pair[side] for pair in pairs) for side in (0, 1)]
    chance = sum(totals[0][label] * totals[1][label] for label in totals[0]) / len(pairs) ** 2
    assert told["expected"] == close(chance)
    assert told["cohen_kappa"] == close((right / len(pairs) - chance) / (1 - chance))
    for row in told["categories"]:
        label = row["category"]
        true = sum(label in one for one, _ in pairs)
        given = sum(label in other for _, other in pairs)
        both = sum(label in one and label in other for one, other in pairs)
        assert (row["true"], row["given"], row["right"]) == (true, given, both)
        precision, recall = (both / n if n else None for n in (given, true))
        assert (row["precision"], row["recall"]) == (close(precision), close(recall))
        if precision and recall:
            assert row["f1"] == close(2 * precision * recall / (precision + recall))
        else:
            assert row["f1"] == (0 if true + given else None)


@KIND
def test_each_and_all(ledger: Ledger, kind: Kind) -> None:
    met = store(ledger, kind)
    found = truth(ledger)
    assert {name for name, _ in found.annotators} == met.keys()
    for name, own in found.annotators:
        check(found, own, met[name])
        assert own.items == own.answers
        assert own.observed is not None
        assert (own.ci_low, own.ci_high) == wilson_interval(own.observed, own.answers, 0.95)
    check(found, found.pooled, [pair for pairs in met.values() for pair in pairs])
    assert found.pooled.ci_low is found.pooled.ci_high is None
    assert found.pooled.items <= 24 < found.pooled.answers
    accuracies = [own.observed for _, own in found.annotators]
    assert accuracies == sorted(accuracies)
    whole = assessed(ledger).gold
    assert whole is not None
    assert whole.to_dict() == found.pooled.to_dict()


def test_a_choice(ledger: Ledger) -> None:
    met = store(ledger, KINDS["one"])
    found = truth(ledger, annotators=["ann", "cat"], confidence=0.5)
    assert {name for name, _ in found.annotators} == {"ann", "cat"}
    check(found, found.pooled, met["ann"] + met["cat"])
    for _, own in found.annotators:
        assert (own.ci_low, own.ci_high) == wilson_interval(own.observed or 0.0, own.answers, 0.5)
    few = truth(ledger, where={"doc": "d0"})
    assert few.pooled.items <= 3
    both = truth(ledger, annotators=["ann", "ref"])
    assert [name for name, _ in both.annotators] == ["ann"], "never itself"


def test_what_nobody_gave_or_nothing_is(ledger: Ledger) -> None:
    rows = [("i1", "ann", "x", "x"), ("i2", "ann", "x", "y"), ("i3", "ann", "z", "")]
    columns = ["item", "annotator", "category", "gold"]
    ledger.import_frame(pd.DataFrame(rows, columns=columns), "p")
    ((name, own),) = truth(ledger).annotators
    assert (name, own.answers, own.observed) == ("ann", 2, 0.5)
    x, y, z = own.categories
    assert (x.precision, x.recall, x.f1) == (0.5, 1, 2 / 3)
    assert (y.precision, y.recall, y.f1) == (None, 0, 0)
    assert (z.precision, z.recall, z.f1) == (None, None, None)


def test_a_truth_that_no_answer_meets(ledger: Ledger) -> None:
    rows = [("i1", "ann", "x", ""), ("i2", "", "", "y")]
    ledger.import_frame(
        pd.DataFrame(rows[:1], columns=["item", "annotator", "category", "gold"]), "p"
    )
    truths = pd.DataFrame([("i2", "y")], columns=["item", "gold"])
    ledger.import_frame(truths, "p")
    found = truth(ledger)
    assert found.annotators == ()
    assert (found.pooled.answers, found.pooled.observed) == (0, None)
    assert found.pooled.undefined == "no_overlap"
    assert found.to_dict()["pooled"]["confusion"] == []


def test_the_less_accurate_come_first(ledger: Ledger) -> None:
    given = answers(people=("ann", "bob"), density=1, accuracy=1)
    rows = [
        (item, who, "x" if who == "ann" else own[0], own[0]) for (item, who), own in given.items()
    ]
    ledger.import_frame(pd.DataFrame(rows, columns=["item", "annotator", "category", "gold"]), "p")
    found = truth(ledger)
    assert [name for name, _ in found.annotators] == ["ann", "bob"]
    assert found.annotators[1][1].observed == 1


def test_without_a_reference(sqlite_ledger: Ledger) -> None:
    KINDS["one"].store(sqlite_ledger)
    with pytest.raises(
        InvalidOption,
        match=r"'p' has no reference annotator to compare with\nimport truths in a column gold, "
        r"or: tracker annotator kind NAME reference -p p",
    ):
        truth(sqlite_ledger)
    with sqlite_ledger.writing("p") as (connection, project):
        set_annotator_kind(connection, project, "dot", "reference")
    assert truth(sqlite_ledger).annotators
    with pytest.raises(InvalidOption, match="no reference annotator"):
        truth(sqlite_ledger, exclude_annotators="dot")
    spans = pd.DataFrame(
        [("d", "A", "x", 0, 1)], columns=["item", "annotator", "category", "start", "end"]
    )
    sqlite_ledger.import_frame(spans, "s", options=SPANS)
    with (
        sqlite_ledger.asking("s") as (connection, question),
        pytest.raises(InvalidOption) as raised,
    ):
        agreement_against_gold(connection, question)
    assert "--annotator REFERENCE --annotator NAME --by pair" in str(raised.value)


def test_as_many_statements_whatever_the_items(ledger: Ledger) -> None:
    numbers = []
    for items in (10, 99):
        kind = KINDS["one"]
        kind.store(ledger, f"p{items}", items=items, people=("ann", "bob", "ref"))
        with ledger.writing(f"p{items}") as (connection, project):
            set_annotator_kind(connection, project, "ref", "reference")
        engine, name = ledger.database.engine, f"p{items}"
        with count_statements(engine) as statements, ledger.asking(name) as (connection, question):
            agreement_against_gold(connection, question)
        numbers.append(statements.number)
    assert numbers[0] == numbers[1] < 20


def test_one_wrong_answer_is_less_than_many_of_a_hundred(sqlite_ledger: Ledger) -> None:
    """Those of whom little is known do not come before those who are surely often wrong."""
    given = {"often": (100, 60), "never": (100, 0), "once": (1, 1)}
    rows = [
        {"item": n, "annotator": who, "category": "b" if n < wrong else "a", "gold": "a"}
        for who, (answers, wrong) in given.items()
        for n in range(answers)
    ]
    sqlite_ledger.import_frame(pd.DataFrame(rows), "p")
    assert [name for name, _ in truth(sqlite_ledger).annotators] == ["often", "once", "never"]
