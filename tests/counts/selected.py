"""A drawn project under drawn choices, stored and as plain rows: for tallies of their own tests."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection

from tests.counts.plain import LATE, Given, Plain, Raw, Rows, store_raw
from tracker.core import clock
from tracker.core.tallies import Answer, Pattern, make_pattern
from tracker.counts.filter import EVERYTHING, AnswerFilter, select_answers
from tracker.counts.selection import Selection
from tracker.ledger import Ledger
from tracker.projects.annotators import annotator_names
from tracker.projects.questions import QuestionInfo

__all__ = ["DAY", "START", "Selected", "both_kinds", "check_each", "selected"]

DAY = 86_400_000_000  # microseconds
START = clock.parse_human_time("2020-01-01", now=0, end_of_day=False)
EXAMPLES = {"sqlite": 2, "postgresql": 1}
CHOICES = 2  # of each drawn project
VALUES = ("nl", "de", "")
SPENT = (0, 1, 1500, 1500, 2000, 10_000)  # milliseconds


@dataclass(frozen=True)
class Selected:
    """A project in the database, what is chosen of it, and the same by hand."""

    connection: Connection
    question: QuestionInfo
    raw: Raw
    choice: AnswerFilter = EVERYTHING

    @cached_property
    def selection(self) -> Selection:
        return select_answers(self.connection, self.question, self.choice)

    @cached_property
    def plain(self) -> Plain:
        return self.raw.plain(
            only=self.numbers(self.choice.annotators),
            excluded=self.numbers(self.choice.excluded),
            since=self.choice.since or 0,
            until=self.choice.until or LATE,
            where={name: frozenset(some) for name, some in self.choice.where},
        )

    def numbers(self, names: tuple[str, ...]) -> frozenset[int]:
        people = annotator_names(self.connection, self.question.project)
        known = {name: n for n, name in people.items()}
        return frozenset(known[name] for name in names)

    def chosen(self, one: Given) -> bool:
        """Whether an answer is of the times, the items and the annotators chosen."""
        mine = self.raw.values.get(one.item, {})
        in_time = (self.choice.since or 0) <= one.at <= (self.choice.until or LATE)
        return (
            in_time
            and all(mine.get(name) in some for name, some in self.choice.where)
            and one.annotator in self.plain.humans
        )

    def passes(self) -> list[list[Given]]:
        """The answers of each annotator to each item, by pass, those chosen and not skipped."""
        given: dict[tuple[int, int], list[Given]] = defaultdict(list)
        for one in sorted(self.raw.given, key=lambda one: one.number):
            if one.own is not None and self.chosen(one):
                given[one.item, one.annotator].append(one)
        return list(given.values())

    def counted(self) -> list[Given]:
        """The answers that count, by annotator, time and item."""
        return sorted(
            (given[0] for given in self.passes()), key=lambda one: (one.annotator, one.at, one.item)
        )

    @cached_property
    def compared(self) -> dict[int, dict[int, Answer]]:
        return self.plain.compared()

    def pattern(self, item: int, excluded: frozenset[int] = frozenset()) -> Pattern:
        """The pattern of an item without the answers of some."""
        given = self.compared[item]
        return make_pattern(own for who, own in given.items() if who not in excluded)


@contextmanager
def selected(
    ledger: Ledger,
    rows: Rows,
    kind: str,
    categories: tuple[str, ...] | None = None,
    choice: AnswerFilter = EVERYTHING,
    **asked: Any,
) -> Iterator[Selected]:
    with ledger.database.write(keep=False) as connection:
        question, raw = store_raw(connection, rows, kind, categories, **asked)
        yield Selected(connection, question, raw, choice)


def check_each(
    ledger: Ledger,
    kind: str,
    check: Callable[[Selected], None],
    examples: int | None = None,
    seeds: Iterable[int] = (),
) -> None:
    """Call ``check`` with drawn projects, all of each and what some choices leave of it.

    ``seeds`` are those of projects that failed once.
    """
    if examples is None:
        examples = EXAMPLES[ledger.database.engine.dialect.name]

    @settings(max_examples=examples)
    @given(st.integers(0, 2**32 - 1))
    def checked(seed: int) -> None:
        random = Random(seed)  # noqa: S311 - no secret is made with it
        rows = _answers(random, kind)
        times = {key: _moment(random) for key in rows if random.random() < 0.9}
        spent = {key: random.choice(SPENT) for key in rows if random.random() < 0.8}
        values = {item: {"lang": random.choice(VALUES)} for item in "ijkl" if random.random() < 0.8}
        with selected(ledger, rows, kind, times=times, values=values, spent=spent) as everything:
            check(everything)
            people = sorted({who for _, who, _ in rows})
            there = sorted({mine["lang"] for mine in everything.raw.values.values()})
            for _ in range(CHOICES):
                choice = _choice(random, people, there)
                check(Selected(everything.connection, everything.question, everything.raw, choice))

    for seed in seeds:
        checked = example(seed)(checked)
    checked()


both_kinds = pytest.mark.parametrize("kind", ["one", "several"])


def _answers(random: Random, kind: str) -> Rows:
    """Many answers to few items, on up to three passes of which some are skipped or missing."""

    def label() -> frozenset[str] | None:
        if kind == "one":
            return None if random.random() < 0.15 else frozenset(random.choice("wxyz"))
        return frozenset(random.sample("wxyz", random.randint(0, 2)))

    keys = [(item, who, n) for item in "ijkl" for who in "ABCDMRS" for n in (1, 2, 3)]
    density = random.choice([0.2, 0.5, 0.8])
    return {key: label() for key in keys if random.random() < density} or {keys[0]: label()}


def _moment(random: Random) -> int:
    return START + random.randrange(6) * DAY


def _choice(random: Random, people: list[str], there: list[str]) -> AnswerFilter:
    """Some of the limits, each seldom enough that something is left."""

    def some(names: list[str]) -> tuple[str, ...]:
        return tuple(random.sample(names, random.randint(1, min(4, len(names)))))

    def maybe(share: float) -> bool:
        return random.random() < share

    since, until = sorted(_moment(random) for _ in range(2))
    return AnswerFilter(
        annotators=some(people) if maybe(0.3) else (),
        excluded=some(people)[:2] if maybe(0.3) else (),
        since=since if maybe(0.4) else None,
        until=until if maybe(0.4) else None,
        where=(("lang", some(there)),) if there and maybe(0.3) else (),
    )
