"""The fate of every answer, against the same in Python."""

from collections import Counter

from tests.agreement.crowd import equal_statements
from tests.counts.selected import DAY, START, both_kinds, check_each, selected
from tests.helpers import SPANS, undo
from tracker.agreement.counts_sql import count_included_answers
from tracker.counts.filter import AnswerFilter, make_answer_filter, select_answers
from tracker.counts.tallies import count_item_patterns
from tracker.projects.annotators import set_annotator_kind

FATES = ("skipped", "other_kinds", "not_chosen", "later_passes", "counted")
X = frozenset("w")


def fate(chosen, answer):
    """The first that applies."""
    selection = chosen.selection
    if answer.own is None:
        return "skipped"
    human = chosen.raw.kinds[answer.annotator] == "human"
    if not human and answer.annotator not in (selection.only or ()):
        return "other_kinds"
    if not chosen.chosen(answer):
        return "not_chosen"
    before = (
        other
        for other in chosen.raw.given
        if (other.item, other.annotator) == (answer.item, answer.annotator)
        and other.number < answer.number
        and other.own is not None
        and chosen.chosen(other)
    )
    return "later_passes" if any(before) else "counted"


def check_inclusion(chosen):
    result = count_included_answers(chosen.connection, chosen.selection)
    fates = Counter(fate(chosen, answer) for answer in chosen.raw.given)
    assert {name: getattr(result, name) for name in FATES} == {name: fates[name] for name in FATES}
    assert result.standing == len(chosen.raw.given) == sum(fates.values())
    assert result.items == len({answer.item for answer in chosen.raw.given})
    assert (result.past, result.taken_back) == (0, 0)
    assert result.counted == count_item_patterns(chosen.connection, chosen.selection).answers


@both_kinds
def test_each_answer_has_one_fate(ledger, kind):
    check_each(ledger, kind, check_inclusion)


def test_every_fate_at_once(ledger):
    # A answers i again and skips j first; B answers too early first.
    keys = [("i", "A", 1), ("i", "A", 2), ("j", "A", 1), ("j", "A", 2), ("i", "B", 1),
            ("i", "B", 2), ("i", "M", 1), ("i", "R", 1), ("i", "C", 1)]  # fmt: skip
    rows = dict.fromkeys(keys, X) | {("j", "A", 1): None}
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
            result = count_included_answers(chosen.connection, chosen.selection)
            assert tuple(getattr(result, name) for name in FATES) == expected, choice


def numbers(ledger, *names, project="p", **choice):
    with ledger.asking(project) as (connection, question):
        selection = select_answers(connection, question, make_answer_filter(**choice))
        result = count_included_answers(connection, selection)
    assert sum(getattr(result, name) for name in FATES) == result.standing
    assert result.to_dict() == vars(result)
    return tuple(getattr(result, name) for name in names)


def test_answers_that_no_longer_stand(ledger, write):
    header = "item,annotator,category\n"
    names = ("standing", "skipped", "counted", "items", "past", "taken_back")
    ledger.import_file(write(header + "1,A,x\n1,B,x\n2,A,\n3,R,y"), "p")
    with ledger.writing("p") as (connection, project):
        set_annotator_kind(connection, project, "R", "reference")
    assert numbers(ledger, "other_kinds", *names) == (1, 4, 1, 2, 3, 0, 0)
    assert numbers(ledger, "counted", annotators=["A", "R"]) == (2,)
    revised = ledger.import_file(write(header + "1,A,y\n2,A,x"), "p")
    assert numbers(ledger, *names) == (4, 0, 3, 3, 2, 0)
    more = ledger.import_file(write(header + "4,A,x\n4,B,x"), "p")
    assert numbers(ledger, "counted") == (5,)
    undo(ledger, more.id)
    assert numbers(ledger, *names) == (4, 0, 3, 3, 2, 2)
    undo(ledger, revised.id)
    assert numbers(ledger, *names) == (4, 1, 2, 3, 0, 4)
    spans = "item,annotator,category,start,end,pass\nd,A,x,0,2,1\nd,A,y,3,4,1\nd,A,y,3,4,2"
    ledger.import_file(write(spans + "\nd,B,,,,1"), "s", options=SPANS)
    assert numbers(ledger, "standing", "counted", "later_passes", project="s") == (3, 2, 1)


def test_three_statements_for_any_number_of_answers(ledger):
    with equal_statements(ledger, 4) as record:
        for items in (1, 300):
            rows = {(f"i{n}", name, 1): X for n in range(items) for name in "ABM"}
            with selected(ledger, rows, "one") as chosen:
                selection = chosen.selection
                with record():
                    result = count_included_answers(chosen.connection, selection)
                assert result.counted == 2 * items
