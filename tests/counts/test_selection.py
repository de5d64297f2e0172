"""What a choice leaves in every tally, against the same counted in Python."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.counts.plain import LATE, Rows, compare, compare_groups, store_raw
from tests.helpers import count_statements
from tests.profiles import examples
from tracker.agreement.groups_sql import count_patterns_by_cluster, count_patterns_by_group
from tracker.core import clock
from tracker.core.errors import InvalidOption
from tracker.counts.filter import AnswerFilter, make_answer_filter, select_answers
from tracker.counts.selection import Selection, where_counted
from tracker.counts.tallies import count_item_patterns
from tracker.ledger import Ledger
from tracker.projects.annotators import annotator_names

DAY = 86_400_000_000
START = clock.parse_human_time("2020-01-01", now=0, end_of_day=False)

ATTRIBUTES = {"lang": ("nl", "de", ""), "source": ("nl", "web")}
CHOICES = 4  # from the answers of one seed


@dataclass(frozen=True)
class Drawn:
    """Many answers to few items, so that every limit of a choice meets some on either side."""

    random: Random

    def maybe(self, share: float) -> bool:
        return self.random.random() < share

    def answers(self, kind: str) -> Rows:
        def label() -> frozenset[str] | None:
            if kind == "one":
                return None if self.maybe(0.15) else frozenset(self.random.choice("wxyz"))
            return frozenset(self.random.sample("wxyz", self.random.randint(0, 2)))

        keys = [(item, who, n) for item in "ijkl" for who in "ABCDMRS" for n in (1, 2, 3)]
        density = self.random.choice([0.2, 0.5, 0.8])
        return {key: label() for key in keys if self.maybe(density)} or {keys[0]: label()}

    def times(self, rows: Rows) -> dict[tuple[str, str, int], int]:
        return {key: START + self.random.randrange(6) * DAY for key in rows if self.maybe(0.9)}

    def values(self) -> dict[str, dict[str, str]]:
        return {
            item: {k: self.random.choice(v) for k, v in ATTRIBUTES.items() if self.maybe(0.8)}
            for item in "ijkl"
        }

    def choice(self, people: Set[str], there: Set[tuple[str, str]]) -> AnswerFilter:
        """Some of the limits, each seldom enough that something is left."""

        def some(most: int, share: float) -> tuple[str, ...]:
            if not self.maybe(share):
                return ()
            return tuple(self.random.sample(sorted(people), min(most, len(people))))

        where = {name: [v for k, v in sorted(there) if k == name] for name in ATTRIBUTES}
        since, until = sorted(START + self.random.randrange(6) * DAY for _ in range(2))
        return AnswerFilter(
            annotators=some(4, 0.3),
            excluded=some(self.random.randint(1, 2), 0.3),
            since=since if self.maybe(0.4) else None,
            until=until if self.maybe(0.4) else None,
            where=tuple(
                (name, tuple(self.random.sample(values, self.random.randint(1, len(values)))))
                for name, values in where.items()
                if values and self.maybe(0.3)
            ),
        )


def check(ledger: Ledger, seed: int, kind: str) -> None:
    """Compare every tally of some choices from the answers of a seed."""
    drawn = Drawn(Random(seed))  # noqa: S311 - no secret is made with it
    rows, values = drawn.answers(kind), drawn.values()
    with ledger.database.write(keep=False) as connection:
        project, raw = store_raw(connection, rows, kind, times=drawn.times(rows), values=values)
        people = {name: n for n, name in annotator_names(connection, project.project).items()}
        there = {pair for item, _, _ in rows for pair in values[item].items()}
        for _ in range(CHOICES):
            choice = drawn.choice(people.keys(), there)
            plain = raw.plain(
                only=frozenset(people[name] for name in choice.annotators),
                excluded=frozenset(people[name] for name in choice.excluded),
                since=0 if choice.since is None else choice.since,
                until=LATE if choice.until is None else choice.until,
                where={name: frozenset(some) for name, some in choice.where},
            )
            compare(connection, project, plain, choice)
            if "lang" in {name for name, _ in there}:
                compare_groups(connection, project, plain, "lang", choice)


seeds = st.integers(0, 2**32 - 1)
kinds = pytest.mark.parametrize("kind", ["one", "several"])


@kinds
def test_on_sqlite(sqlite_ledger: Ledger, kind: str) -> None:
    examples(4)(given(seeds)(lambda seed: check(sqlite_ledger, seed, kind)))()


@kinds
def test_on_postgres(emptied_postgres_ledger: Ledger, kind: str) -> None:
    examples(1)(given(seeds)(lambda seed: check(emptied_postgres_ledger, seed, kind)))()


def x(label: str) -> frozenset[str]:
    return frozenset({label})


def test_the_lowest_pass_is_that_within_the_times(ledger: Ledger) -> None:
    rows: Rows = {("i", "A", 1): x("w"), ("i", "A", 2): x("z"), ("i", "B", 1): x("z")}
    times = {key: START + DAY * key[2] for key in rows} | {("i", "B", 1): START + 2 * DAY}
    with ledger.database.write(keep=False) as connection:
        project, raw = store_raw(connection, rows, "one", times=times)

        def agree(choice: AnswerFilter) -> bool:
            patterns = count_item_patterns(connection, select_answers(connection, project, choice))
            ((pattern, _),) = patterns.counts.items()
            assert patterns.answers == 2
            return len(pattern) == 1

        assert not agree(AnswerFilter())
        assert agree(AnswerFilter(since=START + 2 * DAY))
        compare(connection, project, raw.plain(until=START + DAY), AnswerFilter(until=START + DAY))


def wide(annotators: int, items: int) -> tuple[dict[Any, Any], dict[str, dict[str, str]]]:
    """More answers to an item than a narrow digit holds, and a document for most items."""
    random = Random(annotators)  # noqa: S311 - no secret is made with it
    rows = {
        (f"i{item}", f"a{who:03}", 1): x(random.choice("wxyz"))
        for item in range(items)
        for who in range(annotators if item % 2 else 3)
    }
    values = {f"i{n}": {"lang": f"d{n % 3}"} for n in range(items) if n % 4}
    return rows, values


@pytest.mark.parametrize("annotators", [15, 16, 40])
def test_very_many_answers_to_an_item(ledger: Ledger, annotators: int) -> None:
    rows, values = wide(annotators, 12)
    with ledger.database.write(keep=False) as connection:
        project, raw = store_raw(connection, rows, "one", values=values)
        for choice, plain in (
            (AnswerFilter(), raw.plain()),
            (
                AnswerFilter(where=(("lang", ("d1",)),)),
                raw.plain(where={"lang": frozenset({"d1"})}),
            ),
        ):
            compare(connection, project, plain, choice)
            compare_groups(connection, project, plain, "lang", choice)


def test_an_attribute_of_very_many_values(ledger: Ledger) -> None:
    rows: Rows = {(f"i{n}", "A", 1): x("w") for n in range(1002)}
    values = {f"i{n}": {"lang": str(n)} for n in range(1001)}
    with ledger.database.write(keep=False) as connection:
        project, _ = store_raw(connection, rows, "one", values=values)
        selection = select_answers(connection, project)
        with pytest.raises(InvalidOption, match="more than 1,000 values"):
            count_patterns_by_group(connection, selection, "lang")
        assert len(list(count_patterns_by_cluster(connection, selection, "lang"))) == 1002
        some = AnswerFilter(where=(("lang", tuple(str(n) for n in range(1000))),))
        selection = select_answers(connection, project, some)
        assert len(count_patterns_by_group(connection, selection, "lang")) == 1000


def test_a_thousand_values_and_items_without_any(ledger: Ledger) -> None:
    rows: Rows = {(f"i{n}", "A", 1): x("w") for n in range(1001)}
    values = {f"i{n}": {"lang": str(n)} for n in range(1000)}
    with ledger.database.write(keep=False) as connection:
        project, _ = store_raw(connection, rows, "one", values=values)
        selection = select_answers(connection, project)
        assert len(count_patterns_by_group(connection, selection, "lang")) == 1001


def test_nothing_chosen_is_asked_as_before(sqlite_ledger: Ledger) -> None:
    with sqlite_ledger.database.write(keep=False) as connection:
        project, _ = store_raw(connection, {("i", "A", 1): x("w"), ("i", "R", 1): x("w")}, "one")
        with count_statements(sqlite_ledger.database.engine) as statements:
            selection = select_answers(connection, project, make_answer_filter())
        assert statements.number == 1
        assert selection == Selection(project, selection.left_out, selection.references)
        assert selection.told is None
        condition = str(where_counted(selection))
    assert "labeled_at" not in condition
    assert "item_attributes" not in condition


def test_a_clusters_rows_follow_each_other_whatever_the_plan(
    emptied_postgres_ledger: Ledger,
) -> None:
    rows, values = wide(5, 300)
    values = {item: {"lang": f"d{int(item[1:]) % 40}"} for item in values}
    with emptied_postgres_ledger.database.write(keep=False) as connection:
        project, raw = store_raw(connection, rows, "one", values=values)
        connection.exec_driver_sql("SET LOCAL enable_sort = off")
        connection.exec_driver_sql("ANALYZE labels, item_attributes")
        compare_groups(connection, project, raw.plain(), "lang", AnswerFilter())
