"""What a choice leaves in every tally, against the same counted in Python."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from tests.counts.plain import Rows, compare, compare_groups, store_raw
from tests.counts.selected import DAY, START, Selected, both_kinds, check_each
from tests.helpers import count_statements
from tests.profiles import both
from tracker.agreement.groups_sql import count_patterns_by_cluster, count_patterns_by_group
from tracker.core.errors import InvalidOption
from tracker.counts.filter import AnswerFilter, make_answer_filter, select_answers
from tracker.counts.selection import Selection, where_counted
from tracker.counts.tallies import count_item_patterns
from tracker.ledger import Ledger


@both
@both_kinds
def test_every_tally_of_all_and_of_what_some_choices_leave(ledger: Ledger, kind: str) -> None:
    def check(chosen: Selected) -> None:
        at = chosen.connection, chosen.question, chosen.plain
        compare(*at, chosen.choice)
        if any("lang" in mine for mine in chosen.raw.values.values()):
            compare_groups(*at, "lang", chosen.choice)

    check_each(ledger, kind, check, 4 if ledger.database.file else 1)


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


@both
@pytest.mark.parametrize("annotators", [16, 40])
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
    values.pop("i1000")  # a thousand, and items without any
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
