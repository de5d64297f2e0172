"""Two periods that do not overlap: other items, other people, and nothing that was taken away."""

from __future__ import annotations

import json
import math

import pytest

from tests.compare.stories import day, figure, note, on, tell
from tests.filled import FillOnce
from tracker.ledger import Ledger

FIRST = on(1, "i A x", "i B x", "j A x", "j B y", "k A y", "k B y", "l A x", "l B x")
SECOND = on(3, "i A y", "i B x", "m A x", "m B y", "n A y", "n B y", "n C y", "o B x", "o C y")
APART = (f"..{day(1)}", f"{day(2)}..")


def story(ledger: Ledger) -> None:
    """Two days; one item is answered on both, by the same people."""
    tell(ledger, FIRST, SECOND)


@pytest.fixture
def told(ledger: Ledger, fill_once: FillOnce) -> Ledger:
    return fill_once(ledger, story)


def test_nothing_was_added_or_taken_away(told: Ledger) -> None:
    found = told.compare("p", *APART)
    shown = json.loads(json.dumps(found.to_dict()))
    assert shown["changes"] is None
    assert shown["periods"] == {"items_only_a": 3, "items_only_b": 3, "items_in_both": 1}
    assert shown["shared_items"] == 1
    assert not found.is_unchanged
    because = shown["because"]
    kinds = ("new_items", "new_answers", "revised_answers", "removed_answers")
    assert {because[kind] for kind in kinds} == {None}
    assert because["undefined"] is None


def test_a_guideline_bounds_periods_like_the_text_of_its_note(told: Ledger) -> None:
    note(told, "new rules", 2, guideline="v2")
    by_day = told.compare("p", f"..{day(1)}", f"{day(2)}..").to_dict()
    for name in ("new rules", "v2", "guideline v2"):
        by_name = told.compare("p", f"..{name}", f"{name}..").to_dict()
        assert by_name["measures"] == by_day["measures"], name


def test_every_way_of_sharing_out_adds_up_to_the_difference(told: Ledger) -> None:
    for sides in (APART, APART[::-1], (day(2), day(4)), (f"..{day(3)}", f"{day(2)}..")):
        shown = told.compare("p", *sides).to_dict()
        defined = [one for one in shown["measures"] if one["because"] is not None]
        assert len(defined) >= 5
        for one in defined:
            assert math.fsum(one["because"].values()) == pytest.approx(one["difference"])
        (lead,) = (o for o in shown["measures"] if o["measure"] == shown["because"]["measure"])
        for parts in ("annotators", "categories"):
            total = math.fsum(part["contribution"] for part in shown["because"][parts])
            assert total == pytest.approx(lead["difference"])


def test_shares_by_hand(told: Ledger) -> None:
    """Of agreement: i, j, k, l were 1, 0, 1, 1; i, m, n, o are 0, 0, 1, 0.

    With the other items but i as before: 1, 0, 1, 0; with i as after but the items of before:
    0, 0, 1, 1.
    """
    agreement = figure(told.compare("p", *APART), "percent_agreement")
    assert (agreement.before, agreement.after) == (0.75, 0.25)
    assert agreement.shares == pytest.approx({"other_items": -0.25, "same_items": -0.25})
    back = figure(told.compare("p", *APART[::-1]), "percent_agreement")
    assert back.shares == pytest.approx({"other_items": 0.25, "same_items": 0.25})


def test_periods_without_a_common_item(told: Ledger) -> None:
    tell(told, on(5, "q A x", "q B x", "r A y", "r B y"))
    found = told.compare("p", f"..{day(1)}", f"{day(5)}..")
    assert found.items.both == 0
    alpha = figure(found, "krippendorff_alpha")
    place = found.measures.index(alpha)
    assert alpha.comparison.test == "independent_t"
    assert found.to_dict()["measures"][place]["because"] == {
        "other_items": pytest.approx(alpha.comparison.difference),
        "same_items": 0.0,
    }


def test_an_item_that_was_answered_alike_on_both_days_is_the_same_item(told: Ledger) -> None:
    tell(told, on(5, "k A y", "k B y", "s A x", "s B y"))
    found = told.compare("p", f"..{day(1)}", f"{day(5)}..")
    assert (found.items, found.changes) == ((3, 1, 1), None)
    assert figure(found, "percent_agreement").shares == pytest.approx(
        {"other_items": 0.5 - 0.75, "same_items": 0.0}, abs=1e-12
    )


def test_recorded_periods(told: Ledger) -> None:
    """Snapshots of a time are periods, too; of all answers they are states."""
    told.snapshot("p", name="first", until=day(1))
    told.snapshot("p", name="second", since=day(2))
    told.snapshot("p", name="all")
    assert told.compare("p", "first", "second").changes is None
    assert told.compare("p", "first", "all").changes is not None
    assert told.compare("p", "second", "all").to_dict()["periods"] is None
    at_the_end = told.compare("p", f"..{day(1)}", "second")
    assert figure(at_the_end, "percent_agreement").shares == pytest.approx(
        {"other_items": -0.25, "same_items": -0.25}
    )


def test_periods_that_overlap_are_states(told: Ledger) -> None:
    for sides in ((f"..{day(3)}", f"{day(3)}.."), (day(2), f"{day(2)}.."), ("..", f"{day(2)}..")):
        found = told.compare("p", *sides)
        assert found.changes is not None
        assert found.to_dict()["periods"] is None
    assert told.compare("p", day(2), f"{day(3)}..").changes is None
