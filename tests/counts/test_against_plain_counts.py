"""Every tally of drawn projects and of what choices leave, against the same counted in Python."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from itertools import combinations, groupby, pairwise
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sqlalchemy import Integer, literal, select

from tests.counts.plain import LATE, Given, Rows, compare, compare_groups, store, store_raw
from tests.counts.selected import DAY, START, Selected, check_each, selected
from tests.helpers import SPANS
from tests.profiles import both
from tracker.agreement.groups_sql import count_patterns_by_cluster, count_patterns_by_group
from tracker.core.errors import InvalidOption
from tracker.core.tallies import Answer, Pattern, make_pattern
from tracker.counts import annotator_patterns, kept_counts, retest, tallies
from tracker.counts.filter import AnswerFilter, select_answers
from tracker.counts.pattern_codes import Packing
from tracker.counts.timeline import count_timeline_blocks, count_transitions
from tracker.ledger import Ledger
from tracker.projects.categories import category_names
from tracker.projects.projects import rename_project

Counts = dict[int, Counter[Any]]
NOWHERE = make_pattern([(98,), (99,)])


def counts() -> Counts:
    return defaultdict[int, Counter[Any]](Counter)


def check_tallies(chosen: Selected) -> None:
    compare(chosen.connection, chosen.question, chosen.plain, chosen.choice)
    if any("lang" in values for values in chosen.raw.values.values()):
        compare_groups(chosen.connection, chosen.question, chosen.plain, "lang", chosen.choice)
    check_joint_patterns(chosen)
    check_pairs(chosen)
    check_items_of_patterns(chosen)
    check_skips(chosen)


def check_joint_patterns(chosen: Selected) -> None:
    at, marginals = (chosen.connection, chosen.selection), counts()
    for item in chosen.compared.values():
        for annotator, answer in item.items():
            marginals[annotator][answer] += 1
    assert annotator_patterns.count_annotator_marginals(*at) == marginals
    joint_patterns: Counter[Any] = Counter()
    for joint, items in annotator_patterns.count_joint_patterns(*at):
        assert list(joint) == sorted(joint)
        joint_patterns[joint] += items
    assert joint_patterns == Counter(tuple(sorted(item.items()))
                                     for item in chosen.compared.values())  # fmt: skip


def check_pairs(chosen: Selected) -> None:
    """The cross-tables of pairs, as arrays; each cell of each pair once."""
    expected = chosen.plain.pair_tallies()
    declared = [(n,) for n in category_names(chosen.connection, chosen.question)]
    for answers in ((), tuple(declared[::-1]), tuple(declared[-1:])):
        pairs, cells = tallies.count_pair_cells(chosen.connection, chosen.selection, answers)
        assert pairs == sorted(set(pairs))
        assert len(pairs) == cells.pairs
        assert (np.diff(cells.pair) >= 0).all()
        tables: dict[Any, dict[Any, int]] = {pair: {} for pair in pairs}
        columns = (cells.pair, cells.first, cells.second, cells.items)
        for pair, first, second, items in zip(*map(np.ndarray.tolist, columns), strict=True):
            cell = cells.answers[first], cells.answers[second]
            assert cell not in tables[pairs[pair]]
            tables[pairs[pair]][cell] = items
        assert tables == expected
        assert cells.answers[: len(answers)] == answers
        assert len(set(cells.answers)) == len(cells.answers)
        rest = cells.answers[len(answers) :]
        assert list(rest) == sorted(rest)
        met = {answer for table in expected.values() for cell in table for answer in cell}
        assert set(rest) == met - set(answers)


def check_items_of_patterns(chosen: Selected) -> None:
    items: dict[Pattern, list[int]] = defaultdict(list)
    for item, answers in sorted(chosen.compared.items()):
        items[make_pattern(answers.values())].append(item)
    every = sorted(items)
    for wanted, most in (({*every}, 2), ({*every[:2], NOWHERE}, 100), (set[Pattern](), 1)):
        by_pattern = tallies.select_items_of_patterns(
            chosen.connection, chosen.selection, wanted, most
        )
        assert by_pattern.keys() == wanted
        assert by_pattern.get(NOWHERE, []) == []
        for pattern in wanted & items.keys():
            assert by_pattern[pattern] == items[pattern][:most]


def check_skips(chosen: Selected) -> None:
    first: dict[tuple[int, int], Given] = {}
    for answer in sorted(chosen.raw.given, key=lambda answer: -answer.number):
        if chosen.chosen(answer):
            first[answer.item, answer.annotator] = answer
    skipped = {key: not one.own for key, one in first.items()}  # None or, in several, empty
    skipping, seeing, expected = Counter[int](), Counter[int](), counts()
    for (item, _), is_skipped in skipped.items():
        skipping[item] += is_skipped
        seeing[item] += 1
    for (item, annotator), is_skipped in skipped.items():
        expected[annotator][is_skipped, skipping[item], seeing[item]] += 1
    assert tallies.skip_tallies(chosen.connection, chosen.selection) == expected
    # There may be an empty answer on a later pass only.
    any_skipped = any(key[0] for by_key in expected.values() for key in by_key)
    assert tallies.select_label_contents(chosen.connection, chosen.selection).empty >= any_skipped


def check_evidence(chosen: Selected) -> None:
    at = chosen.connection, chosen.selection
    plain, pattern = chosen.plain, chosen.pattern
    held = {item: sorted(plain.references & given.keys()) for item, given in plain.truths.items()}
    truths = {item: plain.truths[item][people[0]] for item, people in held.items() if people}
    gold, repeats, transitions = counts(), counts(), counts()
    for answer in chosen.counted():
        if answer.item in truths and answer.annotator not in plain.references:
            others = pattern(answer.item, plain.references)
            gold[answer.annotator][truths[answer.item], answer.own, others] += 1
    assert annotator_patterns.gold_tallies(*at) == gold
    for passes in chosen.passes():
        for earlier, later in pairwise(passes):
            repeats[later.annotator][earlier.own, later.own, pattern(later.item)] += 1
    assert retest.repeat_tallies(*at) == repeats
    known = [answer for answer in chosen.counted() if answer.at != LATE]
    timed = [[*answers] for _, answers in groupby(known, key=lambda answer: answer.annotator)]
    for answers in timed:
        for previous, answer in pairwise(answers):
            if previous.at < answer.at:
                key = previous.own, answer.own, pattern(answer.item)
                transitions[answer.annotator][key] += 1
    assert count_transitions(*at) == transitions
    times = any(answer.at != LATE for passes in chosen.passes() for answer in passes)
    assert tallies.select_label_contents(*at).times == times
    check_blocks(chosen, timed, truths)
    check_passes(chosen)
    check_examples(chosen)
    check_order(chosen)


def check_blocks(chosen: Selected, timed: list[list[Given]], truths: Mapping[int, Answer]) -> None:
    """As equal parts of each annotator's answers in their order, the first ones longer."""
    for number in (1, 2, 3, 7):
        blocks, began = counts(), dict[int, dict[int, int]]()
        for answers in timed:
            size, longer = divmod(len(answers), number)
            places = [n for n in range(number) for _ in range(size + (n < longer))]
            for block, answer in zip(places, answers, strict=True):
                reference = answer.annotator in chosen.plain.references
                truth = None if reference else truths.get(answer.item)
                key = block, truth, answer.own, chosen.pattern(answer.item)
                blocks[answer.annotator][key] += 1
                began.setdefault(answer.annotator, {}).setdefault(block, answer.at)
        counted = count_timeline_blocks(chosen.connection, chosen.selection, number)
        assert (counted.tallies, counted.began) == (blocks, began)


def check_passes(chosen: Selected) -> None:
    at, every = (chosen.connection, chosen.selection), chosen.passes()
    times, timed, days = Counter[Any](), Counter[Any](), Counter[Any]()
    for passes in every:
        for earlier, later in pairwise(passes):
            key = later.annotator, earlier.own, later.own
            known = LATE not in {earlier.at, later.at}
            times[key] += 1
            timed[key] += known
            days[key] += (later.at - earlier.at) // DAY if known else 0
    for row in retest.select_repeated_answers(*at):  # a set may be spelled in two ways: rows add up
        key = row.annotator, row.earlier, row.later
        assert 0 <= row.timed <= row.times > 0
        times[key] -= row.times
        timed[key] -= row.timed
        days[key] -= round(row.days)
    assert not any((*times.values(), *timed.values(), *days.values()))
    assert tallies.select_label_contents(*at).repeats == any(
        passes[-1].number > 1 for passes in every
    )
    assert retest.count_unrepeated_passes(*at) == sum(passes[0].number > 1 for passes in every)


def check_examples(chosen: Selected) -> None:
    at = chosen.connection, chosen.selection
    items = defaultdict[tuple[int, Answer, Pattern], list[int]](list)
    for answer in sorted(chosen.counted(), key=lambda answer: answer.item):
        assert answer.own is not None
        items[answer.annotator, answer.own, chosen.pattern(answer.item)].append(answer.item)
    every = sorted(items)
    for keys, most in ((every, 2), (every[::2], 100), (every[:1], 1)):
        wanted = defaultdict[int, list[tuple[Answer, Pattern]]](lambda: [((98,), NOWHERE)])
        for annotator, own, pattern in keys:
            wanted[annotator].append((own, pattern))
        assert retest.select_example_items(*at, wanted, most) == {
            key: items[key][:most] for key in keys
        }
    assert retest.select_example_items(*at, {}, 3) == {}
    changed = defaultdict[int, list[Any]](list)
    for passes in sorted(chosen.passes(), key=lambda passes: passes[0].item):
        for earlier, later in pairwise(passes):
            if earlier.own != later.own:
                changed[later.annotator].append((later.item, earlier.own, later.own))
    people = sorted({answer.annotator for answer in chosen.counted()})
    for names, most in ((people, 1), (people, 100), (people[:1], 2), ([], 1)):
        examples = retest.select_changed_examples(*at, names, most)
        assert examples == {name: changed[name][:most] for name in names if changed[name]}


def check_order(chosen: Selected) -> None:
    answers = chosen.counted()
    every = list(combinations(sorted({answer.annotator for answer in answers}), 2))
    for pairs in (every, every[::2], every[:1], []):
        expected = {pair: [0, 0, 0] for pair in pairs}
        for one, other in ((a, b) for a in answers for b in answers if a.item == b.item):
            if (one.annotator, other.annotator) in expected and one.own == other.own:
                unknown = LATE in {one.at, other.at} or one.at == other.at
                place = 2 if unknown else int(one.at > other.at)
                expected[one.annotator, other.annotator][place] += 1
        orders = retest.count_pair_order(chosen.connection, chosen.selection, pairs)
        assert {pair: [*order] for pair, order in orders.items()} == expected


@both
@pytest.mark.parametrize(
    ("backend", "kind", "check"),
    [
        ("sqlite", "one", check_tallies),
        ("sqlite", "one", check_evidence),
        ("sqlite", "several", check_tallies),
        ("sqlite", "several", check_evidence),
        ("postgresql", "one", check_evidence),
        ("postgresql", "several", check_tallies),
    ],
)
def test_drawn_projects(ledger: Ledger, kind: str, check: Any) -> None:
    check_each(ledger, kind, check)


@both
@pytest.mark.parametrize(
    ("backend", "owner", "name", "value", "checks"),
    [
        ("sqlite", Packing, "fits", False, (check_tallies, check_evidence)),
        ("postgresql", Packing, "fits", False, (check_tallies,)),
        ("sqlite", kept_counts, "_MOST_PAIRS", 0, (check_pairs,)),
        ("postgresql", kept_counts, "_MOST_PAIRS", 0, (check_tallies,)),
    ],
    ids=["integer", "integer on a server", "text", "text on a server"],
)
def test_codes_that_do_not_fit(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, value: Any, checks: Any
) -> None:
    """They are columns in place of one integer, and rows in place of one text."""
    monkeypatch.setattr(owner, name, value)
    for check, kind in zip(checks, ("one", "several"), strict=False):
        check_each(ledger, kind, check, examples=1)


def x(labels: str) -> frozenset[str]:
    return frozenset(labels)


PASSES: Rows = {
    ("i", "A", 1): x("w"), ("i", "A", 5): x("z"),  # after a gap
    ("i", "B", 1): x("w"), ("i", "B", 2): None, ("i", "B", 3): x("w"),  # one skipped
    ("i", "C", 1): None, ("i", "C", 2): x("w"), ("j", "C", 2): x("w"),  # nothing before
    ("i", "D", 1): x("w"), ("i", "D", 2): None,  # nothing after
    ("i", "R", 1): x("w"), ("i", "R", 2): x("w"), ("i", "S", 1): x("z"), ("j", "S", 1): x("w"),
    ("k", "A", 1): x("w"), ("k", "A", 2): x("x"), ("k", "A", 3): x("w"), ("k", "B", 1): x("x"),
    ("l", "A", 1): x("w"), ("l", "B", 1): x("w"), ("l", "D", 1): x("w"), ("l", "C", 1): None,
}  # fmt: skip
TIMES = {key: START + DAY * key[2] for key in PASSES if key[:2] != ("l", "B")}
"""Many of one moment; some unknown, and some on one pass only."""
TIMES |= {("l", "A", 1): START + 2 * DAY, ("l", "D", 1): START}
del TIMES["i", "B", 3]
CHOICES = [
    AnswerFilter(),
    AnswerFilter(since=START + 2 * DAY),
    AnswerFilter(since=START + 3 * DAY),
    AnswerFilter(until=START + DAY),
    AnswerFilter(annotators=("A", "R", "S")),
]


@pytest.mark.parametrize(
    ("kind", "rows", "times", "choices"),
    [
        ("one", PASSES, TIMES, CHOICES),
        ("one", {("i", "A", 1): x("w"), ("j", "A", 1): x("w"), ("j", "B", 1): None}, {}, CHOICES),
        ("one", {("i", "A", 1): None, ("j", "R", 1): x("x")}, {}, [AnswerFilter()]),
        ("several", {("i", "M", 1): x("")}, {}, [AnswerFilter()]),
    ],
    ids=["passes", "no times", "no answers", "no people"],
)
def test_projects_by_hand(
    ledger: Ledger, kind: str, rows: Rows, times: Any, choices: list[AnswerFilter]
) -> None:
    with selected(ledger, rows, kind, times=times) as whole:
        for choice in choices:
            if {*choice.annotators} <= {who for _, who, _ in rows}:
                chosen = Selected(whole.connection, whole.question, whole.raw, choice)
                check_tallies(chosen)
                check_evidence(chosen)


def test_documents_without_a_span(ledger: Ledger, write: Any) -> None:
    file = write(
        """doc,coder,tag,start,end,pass
        d,A,PER,0,2,1
        d,A,LOC,4,5,1
        d,B,,,,1
        d,B,LOC,4,5,2
        e,A,,,,1
        e,B,,,,1
        f,A,PER,0,2,1"""
    )
    ledger.import_file(file, "p", options=SPANS)
    with ledger.asking("p") as (connection, question):
        selection = select_answers(connection, question)
        assert tallies.select_label_contents(connection, selection).empty
        assert tallies.skip_tallies(connection, selection) == {
            1: {(False, 1, 2): 1, (True, 2, 2): 1, (False, 0, 1): 1},
            2: {(True, 1, 2): 1, (True, 2, 2): 1},
        }


def wide(annotators: int, names: str | list[str], items: int, most: int = 1) -> dict[Any, Any]:
    """Random answers, many to some items; one unanimous item, and one with a single answer."""
    random = Random(annotators)  # noqa: S311 - no secret is made with it
    rows = {
        (f"i{item}", f"a{who:03}", 1): frozenset(random.sample(names, random.randint(1, most)))
        for item in range(items)
        for who in range(annotators if item % 3 else 3)
        if random.random() < 0.9 or who < 2
    }
    rows |= {("unanimous", f"a{who:03}", 1): frozenset(names[-1:]) for who in range(annotators)}
    return rows | {("alone", "a000", 1): frozenset(names[:1])}


@both
@pytest.mark.parametrize(("backend", "kind", "annotators", "items"), [
    ("sqlite", "one", 15, 5), ("sqlite", "one", 16, 8), ("postgresql", "one", 16, 8),
    ("sqlite", "several", 20, 5), ("sqlite", "one", 260, 2),
])  # fmt: skip
def test_items_of_very_many_answers(ledger: Ledger, kind: str, annotators: int, items: int) -> None:
    """More than a digit of a code holds, and a language for most items."""
    values = {f"i{n}": {"lang": f"d{n % 3}"} for n in range(items) if n % 4}
    names, most = ("wxyz", 1) if kind == "one" else ([f"c{n:02}" for n in range(30)], 4)
    rows = wide(annotators, names, items, most)
    with selected(ledger, rows, kind, values=values) as whole:
        for choice in (AnswerFilter(), AnswerFilter(where=(("lang", ("d1",)),))):
            chosen = Selected(whole.connection, whole.question, whole.raw, choice)
            if annotators < 100:
                check_tallies(chosen)
                check_examples(chosen)
            else:
                compare(chosen.connection, chosen.question, chosen.plain, choice)


@pytest.mark.parametrize(("annotators", "categories", "items"), [
    (4, 15, 40), (4, 16, 40), (4, 120, 40), (4, 121, 40), (4, 400, 40), (9, 300, 5), (33, 33, 4),
])  # fmt: skip
def test_projects_of_very_many_categories(
    ledger: Ledger, annotators: int, categories: int, items: int
) -> None:
    names = [f"c{n:03}" for n in range(categories)]
    rows = wide(annotators, names, items)
    with selected(ledger, rows, "one", tuple(names)) as chosen:
        check_tallies(chosen)


@pytest.mark.parametrize(
    ("kind", "annotators", "labels"), [("one", 40, "xyz"), ("several", 20, "abcdefghijklmnopq")]
)
def test_evidence_of_very_many_answers(
    ledger: Ledger, kind: str, annotators: int, labels: str
) -> None:
    """Some items of very many answers, a truth for most, and times of which many are equal."""
    random = Random(annotators)  # noqa: S311 - no secret is made with it
    rows = {
        (f"i{item:03}", who, n): frozenset(random.choice(labels))
        for item in range(6)
        for who in ["R", *(f"a{n:02}" for n in range(annotators if item % 3 else 2))]
        for n in (1, 2)
        if random.random() < (0.9 if n == 1 else 0.2)
    }
    times = {key: START + random.randrange(12) * DAY for key in rows}
    with selected(ledger, rows, kind, times=times) as chosen:
        check_evidence(chosen)


def test_an_attribute_of_very_many_values(ledger: Ledger) -> None:
    """A thousand, and items without any."""
    rows: Rows = {(f"i{n}", "A", 1): x("w") for n in range(1002)}
    for most, there in ((1000, 1001), (1001, None)):
        values: dict[str, Mapping[str, str]] = {f"i{n}": {"lang": str(n)} for n in range(most)}
        with ledger.database.write(keep=False) as connection:
            project, _ = store_raw(connection, rows, "one", values=values)
            selection = select_answers(connection, project)
            if there is not None:
                assert len(count_patterns_by_group(connection, selection, "lang")) == there
                continue
            with pytest.raises(InvalidOption, match="more than 1,000 values"):
                count_patterns_by_group(connection, selection, "lang")
            assert len(list(count_patterns_by_cluster(connection, selection, "lang"))) == 1002


def test_projects_do_not_mix(ledger: Ledger) -> None:
    with ledger.database.write() as connection:
        other, _ = store(connection, wide(4, "wxyz", 5), "one")
        rename_project(connection, other.project, "other")
        rows: Rows = {("i1", "a000", 1): x("x"), ("i1", "a001", 1): x("y")}
        project, plain = store(connection, rows, "one")
        compare(connection, project, plain)


def test_the_rows_of_a_cluster_follow_each_other_in_any_plan(
    emptied_postgres_ledger: Ledger,
) -> None:
    values = {f"i{n}": {"lang": f"d{n % 40}"} for n in range(300) if n % 4}
    with emptied_postgres_ledger.database.write(keep=False) as connection:
        project, raw = store_raw(connection, wide(5, "wxyz", 300), "one", values=values)
        connection.exec_driver_sql("SET LOCAL enable_sort = off")
        connection.exec_driver_sql("ANALYZE labels, item_attributes")
        compare_groups(connection, project, raw.plain(), "lang", AnswerFilter())


@given(st.lists(st.integers(1, 30), min_size=2, max_size=5))
@example([30, 30, 2])  # all bits of an integer
@example([30, 30, 3])
def test_a_key_of_the_database_gives_the_columns_back(ledger: Ledger, widths: list[int]) -> None:
    row = tuple((1 << width) - 1 - place % 2 for place, width in enumerate(widths))
    packing = Packing(tuple(widths))
    key = packing.key([literal(value, Integer) for value in row])
    with ledger.database.read() as connection:
        found = tuple(connection.execute(select(*key)).one())
    assert len(key) == (1 if sum(widths) <= 62 else len(widths))
    assert packing.unpack(found) == row
    before, last = packing.split_last(found)
    assert (*packing.but_last.unpack(before), last) == row
