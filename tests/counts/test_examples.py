"""The items that show a finding, against the same found in Python."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations, pairwise
from random import Random

from tests.counts.plain import LATE, Rows
from tests.counts.selected import DAY, START, Selected, both_kinds, check_each, selected
from tests.profiles import both
from tracker.core.tallies import Answer, Pattern, make_pattern
from tracker.counts.retest import count_pair_order, select_changed_examples, select_example_items
from tracker.ledger import Ledger

Items = dict[tuple[int, Answer, Pattern], list[int]]
NOWHERE = (98,), make_pattern([(98,), (99,)])


def items_of(chosen: Selected) -> Items:
    found: Items = defaultdict(list)
    for one in sorted(chosen.counted(), key=lambda one: one.item):
        assert one.own is not None
        found[one.annotator, one.own, chosen.pattern(one.item)].append(one.item)
    return dict(found)


def check_items(chosen: Selected) -> None:
    at = chosen.connection, chosen.selection
    known = items_of(chosen)
    every = sorted(known)
    for some, most in ((every, 2), (every[::2], 100), (every[:1], 1)):
        wanted = defaultdict[int, list[tuple[Answer, Pattern]]](lambda: [NOWHERE])
        for who, own, pattern in some:
            wanted[who].append((own, pattern))
        found = select_example_items(*at, wanted, most)
        assert found == {key: known[key][:most] for key in some}
    assert select_example_items(*at, {}, 3) == {}


def check_changed(chosen: Selected) -> None:
    changed = defaultdict[int, list[tuple[int, Answer, Answer]]](list)
    for given in sorted(chosen.passes(), key=lambda given: given[0].item):
        for earlier, later in pairwise(given):
            assert earlier.own is not None
            assert later.own is not None
            if earlier.own != later.own:
                changed[later.annotator].append((later.item, earlier.own, later.own))
    everyone = sorted({one.annotator for one in chosen.counted()})
    for asked, most in ((everyone, 1), (everyone, 100), (everyone[:1], 2), ([], 1)):
        found = select_changed_examples(chosen.connection, chosen.selection, asked, most)
        assert found == {who: changed[who][:most] for who in asked if changed[who]}


def check_order(chosen: Selected) -> None:
    answers = chosen.counted()
    everyone = sorted({one.annotator for one in answers})
    every = list(combinations(everyone, 2))
    for pairs in (every, every[::2], every[:1], []):
        expected = {pair: [0, 0, 0] for pair in pairs}
        for one, other in ((a, b) for a in answers for b in answers if a.item == b.item):
            if (one.annotator, other.annotator) in expected and one.own == other.own:
                unknown = LATE in {one.at, other.at} or one.at == other.at
                place = 2 if unknown else int(one.at > other.at)
                expected[one.annotator, other.annotator][place] += 1
        found = count_pair_order(chosen.connection, chosen.selection, pairs)
        assert {pair: [*counts] for pair, counts in found.items()} == expected


@both
@both_kinds
def test_what_is_shown(ledger: Ledger, kind: str) -> None:
    def check(chosen: Selected) -> None:
        check_items(chosen)
        check_changed(chosen)
        check_order(chosen)

    check_each(ledger, kind, check)


@both_kinds
def test_items_of_very_many_answers(ledger: Ledger, kind: str) -> None:
    random = Random(70)  # noqa: S311 - no secret is made with it
    rows: Rows = {
        (f"i{item:02}", f"a{who:02}", 1): frozenset(random.choice("xy"))
        for item in range(9)
        for who in range((3, 17, 70)[item % 3])
    }
    with selected(ledger, rows, kind) as chosen:
        check_items(chosen)


def test_sets_are_one_answer_however_they_are_spelled(ledger: Ledger) -> None:
    rows: Rows = {
        (f"i{item}", who, n): frozenset("wxyz"[:3]) if who == "A" else frozenset("yz")
        for item in range(9)
        for who in "ABC"
        for n in (1, 2)
    }
    times = {key: START + DAY * place for place, key in enumerate(rows)}
    with selected(ledger, rows, "several", times=times) as chosen:
        check_items(chosen)
        check_changed(chosen)
        check_order(chosen)
        at = chosen.connection, chosen.selection
        assert count_pair_order(*at, [(2, 3)]) == {(2, 3): (9, 0, 0)}
