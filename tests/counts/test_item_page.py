"""Lists of items, chosen and in parts, against plain rows."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

from tests.counts.plain import Rows
from tests.counts.selected import Selected, both_kinds, check_each, selected
from tests.profiles import both
from tracker.core.tallies import Answer
from tracker.counts.items import ORDERS, ItemChoice, ItemVotes, select_item_page
from tracker.ledger import Ledger
from tracker.projects.items import item_names
from tracker.storage.schema import NONE_APPLIES

ALL = ItemChoice()


def listed(chosen: Selected, choice: ItemChoice, most: int = 100) -> list[int]:
    """The numbers of the items of all pages."""
    found: list[int] = []
    while True:
        page = select_item_page(
            chosen.connection, chosen.selection, choice, found[-1] if found else 0, most
        )
        assert len(page) <= most
        found += [one.id for one in page]
        if len(page) < most:
            return found


def given(answer: Answer) -> set[int]:
    return set(answer) or {NONE_APPLIES}


def by_hand(chosen: Selected, choice: ItemChoice) -> list[int]:
    """The same from plain rows."""

    def fits(item: int) -> bool:
        said = chosen.compared.get(item, {})
        if not set(choice.annotators) <= set(said):
            return False
        among = {w: a for w, a in said.items() if not choice.annotators or w in choice.annotators}
        if choice.differ and len({frozenset(given(a)) for a in among.values()}) < 2:
            return False
        others = [given(a) for w, a in said.items() if w not in choice.annotators]
        if not all(any(one in answer for answer in others) for one in choice.of_others):
            return False
        if choice.fewer_than is not None and len(said) >= choice.fewer_than:
            return False
        wanted = sorted(choice.categories)
        if len(wanted) == 1:
            return any(wanted[0] in given(a) for a in among.values())
        return not wanted or any(
            wanted[0] in given(among[w]) and wanted[1] in given(among[v])
            for w in among
            for v in among
            if w != v
        )

    return [item for item in sorted({one.item for one in chosen.raw.given}) if fits(item)]


def in_order(chosen: Selected, order: str) -> list[ItemVotes]:
    """The items of all pages of two, in an order."""
    choice, found = ItemChoice(order=order), list[ItemVotes]()
    while page := select_item_page(chosen.connection, chosen.selection, choice, len(found), 2):
        found += page
    return found


def key_by_hand(chosen: Selected, item: int, order: str) -> float:
    """By what an item is ordered, the first the least, from plain rows."""
    said = chosen.compared.get(item, {})
    if order == "answers":
        return len(said)
    if order == "recent":
        return 0.0  # these rows have no times of their own
    given_labels = [one for answer in said.values() for one in given(answer)]
    pairs = [*combinations(given_labels, 2)]
    return -sum(a != b for a, b in pairs) / len(pairs) if pairs else 1.0


@both
@both_kinds
def test_items_are_those_that_fit_in_pages_of_any_size_with_their_votes(
    ledger: Ledger, kind: str
) -> None:
    def check(chosen: Selected) -> None:
        people = sorted(chosen.plain.humans)
        categories = sorted({c for given in chosen.compared.values() for a in given.values()
                             for c in a})  # fmt: skip
        choices = [ALL, ItemChoice(differ=True), ItemChoice(fewer_than=3)]
        choices += [ItemChoice(categories=[one]) for one in [*categories[:2], NONE_APPLIES]]
        choices += [ItemChoice(categories=pair) for pair in [*combinations(categories, 2)][:2]]
        choices += [ItemChoice(annotators=people[:1])]
        choices += [ItemChoice(annotators=people[:2], differ=True)]
        choices += [ItemChoice(annotators=people[1:3], categories=categories[:2])]
        choices += [
            ItemChoice(annotators=people[:1], categories=[one], of_others=[two])
            for one, two in [*combinations(categories, 2)][:2]
        ]
        for choice in choices:
            expected = by_hand(chosen, choice)
            assert listed(chosen, choice) == expected
            assert listed(chosen, choice, 2) == expected
        for order in ORDERS[1:]:
            ordered = [one.id for one in in_order(chosen, order)]
            assert sorted(ordered) == listed(chosen, ALL)
            keys = [key_by_hand(chosen, item, order) for item in ordered]
            assert keys == sorted(keys), order
        for one in select_item_page(chosen.connection, chosen.selection, ALL, 0, 100):
            said = chosen.compared.get(one.id, {})
            assert one.answers == len(said)
            assert one.votes == Counter(c for answer in said.values() for c in given(answer))

    check_each(ledger, kind, check)


ROWS: Rows = {
    (item, who, 1): frozenset("x") for item in ("Ä 50%", "b_2", "BX2") for who in ("A", "B")
}


@both
def test_a_search_takes_every_sign_as_it_is(ledger: Ledger) -> None:
    with selected(ledger, ROWS, "one") as chosen:
        known = item_names(chosen.connection, chosen.question.project)
        for search, names in (
            ("B", ["b_2", "BX2"]),
            ("b_", ["b_2"]),
            ("50%", ["Ä 50%"]),
            ("é", []),
        ):
            found = listed(chosen, ItemChoice(search=search))
            assert sorted(known[one] for one in found) == sorted(names), search
