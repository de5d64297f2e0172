"""Annotators against their own earlier pass, as two annotators on as many items."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import Any

import pandas as pd
import pytest

from tests.agreement.crowd import KINDS, Kind, asked, assessed, close, each_kind_stored, frame
from tests.helpers import SPANS, count_statements
from tracker.agreement.intra_annotator import SelfAgreement, Themselves, self_agreement
from tracker.agreement.query import Metric
from tracker.core.errors import InvalidOption
from tracker.ledger import Ledger

LEFT_OUT = {"scott_pi", "light_kappa", "conger_kappa"}
Passes = dict[tuple[str, str], list[tuple[str, ...]]]


def passes(seed: int, kind: Kind) -> Passes:
    """Up to three passes of three people over eighteen items."""
    random = Random(seed)  # noqa: S311 - no secret is made with it
    categories = list(kind.drawn.get("categories", ("x", "y", "z")))
    several = kind.options.answers == "several"

    def label() -> tuple[str, ...]:
        return tuple(sorted(random.sample(categories, random.randint(0, 2) if several else 1)))

    given: Passes = {}
    for item in range(18):
        for who in ("ann", "bob", "cat"):
            first = label()
            again = [first if random.random() < 0.7 else label() for _ in range(2)]
            given[f"i{item:02}", who] = [first, *again[: random.randint(0, 2)]]
    return given


def store(ledger: Ledger, kind: Kind, given: Passes, project: str = "p") -> None:
    for number in (1, 2, 3):
        rows = frame({key: own[number - 1] for key, own in given.items() if len(own) >= number})
        ledger.import_frame(rows.assign(**{"pass": number}), project, options=kind.options)


def themselves(ledger: Ledger, project: str = "p", *measures: str, **asking: Any) -> Themselves:
    with ledger.asking(project) as (connection, question):
        return self_agreement(connection, question, asked(*measures, **asking))


def apart(given: Passes, *people: str) -> dict[tuple[str, str], tuple[str, ...]]:
    """Each later pass beside the one before as an item of two annotators."""
    rows = {}
    repeats = [two for (_, who), own in given.items() if who in people for two in pairwise(own)]
    for n, (earlier, later) in enumerate(repeats):
        rows[f"i{n:03}", "earlier"] = earlier
        rows[f"i{n:03}", "later"] = later
    return rows


@each_kind_stored
def test_the_passes_are_two_annotators(ledger: Ledger, kind: Kind) -> None:
    given = passes(1, kind)
    store(ledger, kind, given)
    everybody = ("ann", "bob", "cat")
    for name in ("pooled", *everybody):
        kind.load(ledger, apart(given, *(everybody if name == "pooled" else (name,))), name)
    for metric in kind.readings_on(ledger):
        found = themselves(ledger, metric=metric, interval="t")
        assert [name for name, _ in found.annotators] == [*everybody]
        assert found.alone == 0
        for name, own in (("pooled", found.pooled), *found.annotators):
            two = assessed(ledger, name, metric=metric, interval="t")
            assert own.repeats == two.counts.items
            check(own, list(two.measures))


def check(own: SelfAgreement, expected: list[Any]) -> None:
    alike = [one for one in expected if one.measure not in LEFT_OUT]
    assert [one.measure for one in own.measures] == [one.measure for one in alike]
    for one, other in zip(own.measures, alike, strict=True):
        for part in ("value", "standard_error", "ci_low", "ci_high", "observed", "expected"):
            assert getattr(one, part) == close(getattr(other, part)), (one.measure, part)
        assert (one.undefined, one.items) == (other.undefined, other.items)
    assert own.days_between is None


def test_the_left_out_are_the_same_numbers(ledger: Ledger) -> None:
    given = passes(2, KINDS["one"])
    KINDS["one"].load(ledger, apart(given, "ann"), "p")
    found = assessed(ledger)
    for left, same in (
        ("scott_pi", "fleiss_kappa"),
        ("conger_kappa", "cohen_kappa"),
        ("light_kappa", "cohen_kappa"),
    ):
        assert found.measure(left).value == close(found.measure(same).value)


def test_days_between(ledger: Ledger) -> None:
    rows = [
        ("i1", "ann", 1, "x", "2020-03-01T12:00Z"),
        ("i1", "ann", 2, "x", "2020-03-03T12:00Z"),
        ("i1", "ann", 3, "y", "2020-03-03T18:00Z"),
        ("i2", "ann", 1, "x", ""),
        ("i2", "ann", 2, "x", "2020-03-09T12:00Z"),
        ("i1", "bob", 1, "x", ""),
        ("i1", "bob", 2, "x", ""),
        ("i2", "bob", 2, "x", ""),  # nothing before it
    ]
    columns = ["item", "annotator", "pass", "category", "labeled_at"]
    ledger.import_frame(pd.DataFrame(rows, columns=columns), "p")
    found = themselves(ledger)
    days = {name: (own.repeats, own.days_between) for name, own in found.annotators}
    assert days == {"ann": (3, pytest.approx((2 + 0.25) / 2)), "bob": (1, None)}
    assert (found.pooled.repeats, found.pooled.days_between) == (4, pytest.approx(1.125))
    assert found.alone == 1
    some = themselves(ledger, since="2020-03-03", annotators="ann")
    assert (some.pooled.repeats, some.alone) == (2, 1), "without a time it counts as of now"
    told = found.to_dict()
    assert told["pooled"]["repeats"] == 4
    assert [row["annotator"] for row in told["annotators"]] == ["ann", "bob"]


def test_nobody_was_asked_twice(ledger: Ledger) -> None:
    KINDS["one"].store(ledger)
    found = themselves(ledger)
    assert (found.annotators, found.pooled.repeats, found.alone) == ((), 0, 0)
    assert {one.undefined for one in found.pooled.measures} == {"too_few_items"}


def test_nothing_of_it_is_between_annotators(ledger: Ledger) -> None:
    given = passes(3, KINDS["one"])
    store(ledger, KINDS["one"], given)
    KINDS["one"].load(ledger, {key: own[0] for key, own in given.items()}, "q")
    assert assessed(ledger).measures == assessed(ledger, "q").measures


@pytest.mark.parametrize("measure", sorted(LEFT_OUT))
def test_what_is_the_same_by_another_name(sqlite_ledger: Ledger, measure: str) -> None:
    KINDS["one"].store(sqlite_ledger)
    with pytest.raises(InvalidOption, match=r"of two passes .*\nname fleiss_kappa or cohen_kappa"):
        themselves(sqlite_ledger, "p", "percent_agreement", measure)


def test_what_cannot_be_asked(sqlite_ledger: Ledger) -> None:
    KINDS["one"].store(sqlite_ledger)
    with pytest.raises(InvalidOption, match="linear weights need numbers"):
        themselves(sqlite_ledger, metric=Metric(weights="linear"))
    spans = pd.DataFrame(
        [("d", "A", "x", 0, 1)], columns=["item", "annotator", "category", "start", "end"]
    )
    sqlite_ledger.import_frame(spans, "s", options=SPANS)
    with pytest.raises(InvalidOption, match="passes are not compared"):
        themselves(sqlite_ledger, "s")


def test_as_many_statements_whatever_the_repeats(ledger: Ledger) -> None:
    numbers = []
    for seed, items in ((1, 2), (2, 18)):
        given = {k: v for k, v in passes(seed, KINDS["one"]).items() if k[0] < f"i{items:02}"}
        store(ledger, KINDS["one"], given, f"p{items}")
        with count_statements(ledger.database.engine) as statements:
            themselves(ledger, f"p{items}")
        numbers.append(statements.number)
    assert numbers[0] == numbers[1] < 20
