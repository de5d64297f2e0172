"""Small projects with something of everything: items of one answer, gaps, documents, a truth."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import contextmanager
from dataclasses import replace
from random import Random
from typing import Any

import pandas as pd
import pytest

from tests.helpers import count_statements
from tracker.agreement.query import Metric, Query, Uncertainty
from tracker.agreement.result import Assessment
from tracker.agreement.run import assess
from tracker.counts.choosing import Selecting
from tracker.counts.filter import make_answer_filter
from tracker.ledger import Ledger
from tracker.measures.intervals import Coefficient
from tracker.measures.registry import MEASURES
from tracker.projects.questions import QuestionOptions

COLUMNS = ["item", "annotator", "category", "doc", "name"]
PEOPLE = ("ann", "bob", "cat", "dot")
Answers = dict[tuple[str, str], tuple[str, ...]]


def answers(
    seed: int = 1,
    *,
    items: int = 24,
    people: Sequence[str] = PEOPLE,
    categories: Sequence[str] = ("x", "y", "z"),
    several: bool = False,
    density: float = 0.8,
    accuracy: float = 0.7,
) -> Answers:
    """``{(item, annotator): categories}``; an annotator without the truth answers at random."""
    random = Random(seed)  # noqa: S311

    def label() -> tuple[str, ...]:
        number = random.randint(0, 2) if several else 1
        return tuple(sorted(random.sample(list(categories), number)))

    drawn = {}
    for n in range(items):
        truth = label()
        for name in people:
            if random.random() < density:
                drawn[f"i{n:02}", name] = truth if random.random() < accuracy else label()
    return drawn


def frame(drawn: Answers) -> pd.DataFrame:
    """The same as rows, three items to a document; an answer without a category is empty."""
    rows = [
        (item, name, label, f"d{int(item[1:]) // 3}", item)
        for (item, name), labels in drawn.items()
        for label in (labels or ("",))
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


class Kind:
    """A kind of project with the readings that fit it."""

    def __init__(self, options: QuestionOptions, *readings: Metric, **drawn: Any) -> None:
        self.options, self.readings, self.drawn = options, readings, drawn

    def store(self, ledger: Ledger, project: str = "p", seed: int = 1, **drawn: Any) -> Any:
        several = self.options.answers == "several"
        rows = answers(seed, several=several, **self.drawn | drawn)
        self.load(ledger, rows, project)
        return rows

    def readings_on(self, ledger: Ledger) -> Sequence[Metric]:
        """The readings; what depends on them is no query, so the first is enough on Postgres."""
        sqlite = ledger.database.engine.dialect.name == "sqlite"
        return self.readings if sqlite else self.readings[:1]

    def load(self, ledger: Ledger, rows: Answers, project: str) -> None:
        ledger.import_frame(frame(rows), project, options=self.options, keep=["doc", "name"])


LEVELS = ("low", "middle", "high", "top")
KINDS = {
    "one": Kind(QuestionOptions(categories=("x", "y", "z")), Metric()),
    "learnt": Kind(QuestionOptions(), Metric()),
    "several": Kind(QuestionOptions(answers="several"), Metric(), Metric(distance="jaccard")),
    "ordinal": Kind(
        QuestionOptions(scale="ordinal", categories=LEVELS),
        *(Metric(), Metric(weights="ordinal")),
        categories=LEVELS,
    ),
    "ratio": Kind(
        QuestionOptions(scale="ratio"),
        *(Metric(), Metric("quadratic", "ordinal")),
        categories=("0", "1", "2.5", "10"),
    ),
}

# Of the kinds without declared categories numbers are enough.
EACH = ("one", "several", "ordinal", "ratio")
# The other kinds differ in how the same tallies are read.
_ON_EACH = [("sqlite", kind) for kind in EACH] + [("postgresql", "one"), ("postgresql", "several")]
each_kind_stored = pytest.mark.parametrize(
    ("backend", "kind"),
    [(backend, KINDS[kind]) for backend, kind in _ON_EACH],
    indirect=["backend"],
    ids=["-".join(pair) for pair in _ON_EACH],
)
"""Each kind of project on SQLite, and the kinds that Postgres counts by other statements."""


def assessed(
    ledger: Ledger, project: str = "p", *measures: str, metric: Metric | None = None, **more: Any
) -> Assessment:
    uncertainty = Uncertainty(**more.pop("uncertainty", {}))
    query = replace(asked(*measures, metric=metric, **more), uncertainty=uncertainty)
    with ledger.asking(project) as (connection, question):
        return assess(connection, question, query)


def asked(*measures: str, metric: Metric | None = None, **more: Any) -> Query:
    confidence, interval = more.pop("confidence", 0.95), more.pop("interval", "asymmetric")
    selecting: Selecting = more  # type: ignore[assignment]
    return Query(
        measures, confidence, metric or Metric(), make_answer_filter(**selecting), interval
    )


def answer(ledger: Ledger, function: Any, *args: Any, project: str = "p", **asking: Any) -> Any:
    measures = asking.pop("measures", ())
    with ledger.asking(project) as (connection, question):
        return function(connection, question, *args, asked(*measures, **asking))


def values(found: Assessment | Iterable[Coefficient]) -> dict[str, float | None]:
    measures = found.measures if isinstance(found, Assessment) else found
    return {figure.measure: figure.value for figure in measures}


def close(value: Any) -> Any:
    return pytest.approx(value, abs=1e-9) if isinstance(value, float | int) else value


@contextmanager
def equal_statements(ledger: Ledger, at_most: int = 25) -> Any:
    """``record(block)`` for each size of data: as many statements for all of them."""
    numbers: list[int] = []

    @contextmanager
    def record() -> Any:
        with count_statements(ledger.database.engine) as statements:
            yield
        numbers.append(statements.number)

    yield record
    assert len({*numbers}) == 1 < len(numbers)
    assert numbers[0] < at_most


def measures_of(kind: Kind, metric: Metric) -> list[str]:
    """The measures that follow from item patterns, of a project of this kind."""
    other = "gwet_ac1" if metric.weighted else "gwet_ac2"
    return [
        name
        for name, measure in MEASURES.items()
        if measure.needs == "patterns"
        and (kind.options.answers or "one") in measure.answers
        and name not in {other, "scott_pi"}
    ]
