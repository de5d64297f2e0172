"""What became of every answer, against the same told in Python."""

from __future__ import annotations

from collections import Counter

from tests.counts.plain import Given
from tests.counts.selected import DAY, START, Selected, both_kinds, check_each, selected
from tests.helpers import count_statements, undo
from tracker.agreement.counts_sql import Inclusion, count_included_answers
from tracker.counts.filter import AnswerFilter, make_answer_filter, select_answers
from tracker.counts.tallies import count_item_patterns
from tracker.ledger import Ledger
from tracker.projects.annotators import set_annotator_kind

FATES = ("skipped", "other_kinds", "not_chosen", "later_passes", "counted")


def fate(chosen: Selected, one: Given) -> str:
    """The first that applies."""
    selection = chosen.selection
    if one.own is None:
        return "skipped"
    if chosen.raw.kinds[one.annotator] != "human" and one.annotator not in (selection.only or ()):
        return "other_kinds"
    if not chosen.chosen(one):
        return "not_chosen"
    before = (
        other
        for other in chosen.raw.given
        if (other.item, other.annotator) == (one.item, one.annotator)
        and other.number < one.number
        and other.own is not None
        and chosen.chosen(other)
    )
    return "later_passes" if any(before) else "counted"


def check_inclusion(chosen: Selected) -> None:
    found = count_included_answers(chosen.connection, chosen.selection)
    fates = Counter(fate(chosen, one) for one in chosen.raw.given)
    assert {name: getattr(found, name) for name in FATES} == {name: fates[name] for name in FATES}
    assert found.standing == len(chosen.raw.given) == sum(fates.values())
    assert found.items == len({one.item for one in chosen.raw.given})
    assert (found.past, found.taken_back) == (0, 0)
    patterns = count_item_patterns(chosen.connection, chosen.selection)
    assert found.counted == patterns.answers


@both_kinds
def test_each_answer_has_one_fate(ledger, kind):
    check_each(ledger, kind, check_inclusion)


def x(label: str) -> frozenset[str]:
    return frozenset(label)


def test_every_fate_at_once(ledger):
    rows = {
        ("i", "A", 1): x("w"),
        ("i", "A", 2): x("w"),  # again
        ("j", "A", 1): None,  # skipped
        ("j", "A", 2): x("w"),
        ("i", "B", 1): x("w"),  # too early
        ("i", "B", 2): x("w"),
        ("i", "M", 1): x("w"),
        ("i", "R", 1): x("w"),
        ("i", "C", 1): x("w"),
    }
    times = dict.fromkeys(rows, START + 2 * DAY) | {("i", "B", 1): START}
    for choice, expected in (
        (AnswerFilter(), (1, 2, 0, 2, 4)),
        (AnswerFilter(since=START + DAY), (1, 2, 1, 1, 4)),
        (AnswerFilter(annotators=("A", "R")), (1, 1, 3, 1, 3)),
        (AnswerFilter(annotators=("A", "R"), excluded=("R",)), (1, 2, 3, 1, 2)),
        (AnswerFilter(excluded=("C",)), (1, 2, 1, 2, 3)),
    ):
        with selected(ledger, rows, "one", choice=choice, times=times) as chosen:
            check_inclusion(chosen)
            found = count_included_answers(chosen.connection, chosen.selection)
            assert tuple(getattr(found, name) for name in FATES) == expected, choice


def of(ledger: Ledger, choice: AnswerFilter | None = None) -> Inclusion:
    with ledger.asking("p") as (connection, question):
        selection = select_answers(connection, question, choice or make_answer_filter())
        found = count_included_answers(connection, selection)
    assert sum(getattr(found, name) for name in FATES) == found.standing
    return found


def test_what_no_longer_stands_is_told_apart(ledger, write):
    header = "item,annotator,category\n"
    ledger.import_file(write(header + "1,A,x\n1,B,x\n2,A,\n3,R,y"), "p")
    with ledger.writing("p") as (connection, project):
        set_annotator_kind(connection, project, "R", "reference")
    first = of(ledger)
    assert (first.standing, first.skipped, first.other_kinds, first.counted) == (4, 1, 1, 2)
    assert (first.items, first.past, first.taken_back) == (3, 0, 0)
    assert of(ledger, make_answer_filter(annotators=["A", "R"])).counted == 2

    revised = ledger.import_file(write(header + "1,A,y\n2,A,x"), "p")
    second = of(ledger)
    assert (second.standing, second.skipped, second.counted) == (4, 0, 3)
    assert (second.past, second.taken_back) == (2, 0)

    more = ledger.import_file(write(header + "4,A,x\n4,B,x"), "p")
    assert of(ledger).counted == 5
    undo(ledger, more.id)
    third = of(ledger)
    assert (third.standing, third.counted) == (4, 3)
    assert (third.past, third.taken_back) == (2, 2)

    undo(ledger, revised.id)
    last = of(ledger)
    assert (last.standing, last.skipped, last.counted) == (4, 1, 2)
    assert last.taken_back == 4
    assert last.to_dict() == vars(last)


def test_spans_are_answers_too(ledger, write):
    from tests.helpers import SPANS

    text = """item,annotator,category,start,end,pass
    d,A,x,0,2,1
    d,A,y,3,4,1
    d,A,y,3,4,2
    d,B,,,,1"""
    ledger.import_file(write(text), "p", options=SPANS)
    found = of(ledger)
    assert (found.standing, found.counted, found.later_passes) == (3, 2, 1)


def test_as_many_statements_whatever_the_answers(ledger):
    numbers = []
    for items in (1, 300):
        rows = {(f"i{n}", who, 1): x("w") for n in range(items) for who in "ABM"}
        with selected(ledger, rows, "one") as chosen:
            selection = chosen.selection
            with count_statements(ledger.database.engine) as statements:
                assert count_included_answers(chosen.connection, selection).counted == 2 * items
        numbers.append(statements.number)
    assert numbers == [3, 3]
