"""Rounds: the same items for all, and what moved from one to the next."""

from __future__ import annotations

import pytest

from tests.helpers import give
from tests.work.test_assignments import by_person, import_items
from tracker.core.errors import InvalidOption, NotFound, Refused
from tracker.ledger import Ledger

PEOPLE = ("ada", "bo", "cleo")


def answer(ledger: Ledger, *, agreeing: int) -> None:
    """Answer what is open: alike on the first items, each in turn differently on the others."""
    rows = []
    for turn, (who, items) in enumerate(sorted(by_person(ledger).items())):
        for n, row in enumerate(items):
            alike = n < agreeing or n % 3 != turn
            rows.append((row.item, who, "xy"[n % 2] if alike else "yx"[n % 2]))
    give(ledger, rows)


def test_a_round_is_held_against_the_one_before(ledger: Ledger) -> None:
    import_items(ledger, [f"i{n}" for n in range(80)])
    first = ledger.rounds.start("p", guideline="v1", items=40, to=PEOPLE)
    assert (first.round, first.items, first.annotators, first.open) == ("v1", 40, 3, 120)
    lists = by_person(ledger)
    assert len({tuple(row.item for row in items) for items in lists.values()}) == 1
    answer(ledger, agreeing=0)
    assert ledger.rounds.show("p").json()["round"]["done"] == 120
    second = ledger.rounds.start("p", guideline="v2", items=100)
    assert second.items == 40
    assert set(by_person(ledger)) == {*PEOPLE}
    answer(ledger, agreeing=34)
    shown = ledger.rounds.show("p").json()
    assert (shown["round"]["round"], shown["before"]["round"]) == ("v2", "v1")
    (alpha,) = [row for row in shown["questions"][0]["measures"]
                if row["measure"] == "krippendorff_alpha"]  # fmt: skip
    assert alpha["difference"] > 0.3
    assert alpha["p_value"] < 0.001
    alone = ledger.agreement("p", where={"round": ["v1"]}).to_dict()
    assert alone["counts"]["items"] == 40


def test_what_is_no_round_is_refused(ledger: Ledger) -> None:
    import_items(ledger, ["i1", "i2"])
    with pytest.raises(NotFound, match="'p' has no round"):
        ledger.rounds.show("p")
    with pytest.raises(Refused, match="two annotators at least"):
        ledger.rounds.start("p", to=["ada"])
    ledger.rounds.start("p", to=PEOPLE)
    with pytest.raises(InvalidOption, match="has a round '1'"):
        ledger.rounds.start("p", name="1")
    with pytest.raises(Refused, match="every item of 'p' has an answer, or is to get one"):
        ledger.rounds.start("p")
    assert len(ledger.imports.list("p")) == 2  # of the items, and of their round
