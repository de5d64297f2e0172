"""The audit of a database against the audit of plain counts of the same answers, every kind."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from tests.audit.records import Record, recorded
from tests.audit.test_planted import PLANTED
from tracker.audit.findings import Evidence, Finding, audit
from tracker.ledger import Ledger
from tracker.projects.questions import QuestionOptions

START = 1_760_000_000
DAY = 86_400


def rows_of(record: Record) -> pd.DataFrame:
    """The answers as a file would hold them: a second pass later, skipped answers empty."""
    rows: list[tuple[Any, ...]] = []

    def add(item: int, who: int, category: object, at: int, seconds: float | None, n: int) -> None:
        truth = record.truths[item]
        gold = "" if truth is None else str(truth)
        rows.append((f"i{item:04}", f"a{who:02}", category, at, seconds, n, gold))

    for who, order in record.order.items():
        for place, item in enumerate(order):
            at = START + 60 * place
            add(item, who, record.items[item][who], at, record.seconds[who, item], 1)
            if (who, item) in record.again:
                add(item, who, record.again[who, item], at + 30 * DAY, None, 2)
    for item, skipped in enumerate(record.skipped):
        for who in skipped:
            add(item, who, "", START, None, 1)
    columns = ["item", "annotator", "category", "labeled_at", "seconds", "pass", "gold"]
    return pd.DataFrame(rows, columns=columns)


def figures(
    flags: list[Finding], names: dict[int, str], categories: dict[int, str]
) -> dict[Any, Any]:
    """What is said, by whom and what it is about."""
    found = {}
    for flag in flags:
        other = None if flag.other is None else names[flag.other]
        about = None if flag.category is None else categories[flag.category]
        refit = flag.refit
        again = [] if refit is None else [refit.observed, refit.effect.value, refit.n,
                                          refit.p_value, refit.q_value]  # fmt: skip
        found[names[flag.annotator], flag.kind, about, other] = (
            flag.state,
            flag.severity,
            flag.also,
            [
                *(flag.observed, flag.expected, flag.peers, flag.n, flag.informative),
                *(flag.p_value, flag.q_value),
                *(flag.effect.value, flag.effect.low, flag.effect.high),
                *again,
            ],
        )
    return found


def gathered(record: Record) -> Evidence:
    """The plain counts; the first place of a scale is 1, and all came in one file."""
    evidence = record.evidence()
    points = evidence.points and {
        category: place + 1 for category, place in evidence.points.items()
    }
    return replace(evidence, points=points, files=None)


CROWDS = {
    "how": ({5: "constant_category", 6: "random_answers", 7: "too_fast", 8: "empty_answers"}, {}),
    "when": (
        {5: "copying", 6: "straight_lining", 7: "drift", 8: "low_agreement", 9: "category_bias"},
        {"together": (1, 5), "gold": 0.9},
    ),
    "again": ({5: "severity_bias", 6: "low_self_agreement"}, {"ordinal": True, "categories": 5}),
}


@pytest.mark.parametrize("crowd", CROWDS)
def test_the_database_finds_what_plain_counts_find(ledger: Ledger, crowd: str) -> None:
    planted, options = CROWDS[crowd]
    persons = {who: PLANTED[kind][0] for who, kind in planted.items()}
    record = recorded(3, persons, people=16, answers=90, **options)
    record = replace(
        record, seconds={key: round(value, 3) for key, value in record.seconds.items()}
    )
    names = tuple(map(str, range(record.categories)))
    scale = "ordinal" if record.ordinal else "nominal"
    ledger.import_frame(rows_of(record), "p", options=QuestionOptions("one", scale, None, names))
    found = ledger.audit("p")
    told = figures(
        list({id(flag): flag for one in found.annotators for flag in one.flags}.values()),
        {one.id: one.name for one in found.annotators},
        dict(found.categories),
    )
    expected = figures(
        audit(gathered(record), consult=record.consult),
        {who: f"a{who:02}" for who in record.order},
        dict(enumerate(names)),
    )
    assert told.keys() == expected.keys()
    for key, (state, severity, also, numbers) in expected.items():
        assert told[key][:3] == (state, severity, also), key
        close = [
            other if other is None else pytest.approx(other, rel=1e-9, abs=1e-12)
            for other in numbers
        ]
        assert told[key][3] == close, key
    flagged = {key[1] for key, value in told.items() if value[0] == "flagged"}
    assert len(flagged & set(planted.values())) > 1


def test_as_many_statements_for_few_annotators_as_for_many(ledger: Ledger) -> None:
    from tests.helpers import count_statements

    numbers = []
    for people in (6, 30):
        project = f"of {people}"
        ledger.import_frame(rows_of(recorded(1, people=people, answers=40)), project)
        with count_statements(ledger.database.engine) as counted:
            found = ledger.audit(project, evidence=3)
        assert found.flagged() == []
        numbers.append(counted.number)
    assert numbers[0] == numbers[1] <= 49
