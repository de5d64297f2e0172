"""Gwet (2016), Educ. Psychol. Meas. 76, 609: the error of a difference on the same items."""

from __future__ import annotations

import math
from collections import Counter
from random import Random
from typing import Any

import numpy as np
import pytest

from tests.compare.stories import day, figure, on, tell
from tracker.core.tallies import ItemPatterns, Pattern, make_pattern
from tracker.ledger import Ledger
from tracker.measures.chance_corrected import percent_agreement
from tracker.measures.difference_tests import dependent_t_test
from tracker.measures.krippendorff import krippendorff_alpha
from tracker.measures.sample import sample_for_measures

# -- by hand -------------------------------------------------------------------------------


AGREE = on(1, "i A x", "i B x", "j A x", "j B y")


@pytest.mark.parametrize(
    ("answers", "name", "values", "influences"),
    [
        # An item that agrees adds (1 - Po) / 4 to agreement, one that does not takes Po / 4.
        ((on(1, "i A x", "i B x", "j A y", "j B y", "k A x", "k B y", "l A x", "l B y"),
          on(3, "l B x")), "percent_agreement", (0.5, 0.75),
         ([0.125, 0.125, -0.125, -0.125], [0.25 / 4, 0.25 / 4, -0.75 / 4, 0.25 / 4])),
        # An item that is new had no influence before.
        ((AGREE, on(3, "k A x", "k B x", "l A x", "l B x")), "percent_agreement", (0.5, 0.75),
         ([0.25, -0.25, 0, 0], [0.25 / 4, -0.75 / 4, 0.25 / 4, 0.25 / 4])),
        # The rate of x: one agreement of two pairs with it; then two of three.
        ((AGREE, on(3, "k A x", "k B x")), "x", (0.5, 2 / 3),
         ([0.25, -0.25, 0], [(1 - 2 / 3) / 3, (0 - 2 / 3) / 3, (1 - 2 / 3) / 3])),
    ],
    ids=["revised", "new items", "category"],
)  # fmt: skip
def test_error_follows_from_influences_by_hand(
    ledger: Ledger, answers: Any, name: str, values: Any, influences: Any
) -> None:
    tell(ledger, *answers)
    row = figure(ledger.compare("p", day(2), day(4)), name)
    assert (row.before, row.after) == pytest.approx(values)
    before, after = influences
    expected = dependent_t_test(after, before, [1] * len(after), values[1] - values[0])
    assert row.comparison.test == expected.test == "dependent_t"
    for key in ("difference", "standard_error", "ci_low", "ci_high", "p_value", "freedom"):
        assert getattr(row.comparison, key) == pytest.approx(getattr(expected, key))
    if len(answers[1]) == 1:
        # Of four differences -1, -1, -1 and 3 sixteenths: 12 / 256 times 4 / 3.
        assert row.comparison.standard_error == pytest.approx(0.25)
        assert (row.comparison.freedom, row.comparison.n_first) == (3, 4)


def test_without_an_item_in_common_the_two_are_independent(sqlite_ledger: Ledger) -> None:
    tell(
        sqlite_ledger,
        on(1, "i A x", "i B x", "j A x", "j B y", "k A y", "k B y"),
        on(3, "m A x", "m B x", "n A y", "n B y", "o A y", "o B y", "q A y", "q B x"),
    )
    found = sqlite_ledger.compare("p", f"..{day(2)}", f"{day(3)}..")
    assert found.items.both == 0
    one, other = (
        sqlite_ledger.agreement("p", until=day(2)),
        sqlite_ledger.agreement("p", since=day(3)),
    )
    for measure in found.measures:
        first, second = (state.measure(measure.name) for state in (one, other))
        assert (measure.before, measure.after) == (first.value, second.value)
        assert measure.comparison.test == "independent_t"
        error = math.hypot(first.standard_error, second.standard_error)
        assert measure.comparison.standard_error == pytest.approx(error)
    rates = [one.comparison.test for one in found.categories]
    assert rates == ["independent_t"] * 2


def test_items_of_one_answer_change_nothing_about_alpha(sqlite_ledger: Ledger) -> None:
    """Alpha drops them, and so does its own error."""
    answers = on(1, "i A x", "i B x", "j A x", "j B y", "k A y", "k B y")
    alone = on(1, *(f"alone{n} A x" for n in range(50)))
    later = on(3, "j B x", "k B x")
    tell(sqlite_ledger, answers, later, project="p")
    tell(sqlite_ledger, answers + alone, later, project="q")
    one, other = (
        figure(sqlite_ledger.compare(project, day(2), day(4)), "krippendorff_alpha").comparison
        for project in "pq"
    )
    assert one.difference == pytest.approx(other.difference)
    assert (one.freedom, one.standard_error) == (other.freedom, pytest.approx(other.standard_error))


# -- by drawing again ----------------------------------------------------------------------

ITEMS = 150


def story() -> list[tuple[dict[str, str], dict[str, str]]]:
    """The answers to each item before and after: a few are new, some are answered again."""
    random = Random(11)  # noqa: S311 - no secret is made with it

    def said(truth: str, accuracy: float) -> str:
        return truth if random.random() < accuracy else random.choice("xyz")

    items = []
    for n in range(ITEMS):
        truth = random.choice("xxyz")
        before = {who: said(truth, 0.6) for who in "ABC"} if n >= ITEMS // 5 else {}
        after = {who: before.get(who) or said(truth, 0.9) for who in "ABCD"}
        if n % 3 == 0:
            after["B"] = said(truth, 0.9)
        items.append((before, after))
    return items


STORY = story()


def pattern(given: dict[str, str]) -> Pattern:
    return make_pattern(("xyz".index(label) + 1,) for label in given.values())


@pytest.fixture
def compared(sqlite_ledger: Ledger) -> dict[str, tuple[float, float]]:
    """Difference and standard error of two measures, and what was drawn again for them."""
    tell(
        sqlite_ledger,
        *(
            on(
                2 * side + 1,
                *(f"i{n} {who} {label}" for n, both in enumerate(STORY)
                  for who, label in both[side].items()),
            )
            for side in (0, 1)
        ),
    )  # fmt: skip
    found = sqlite_ledger.compare("p", day(2), day(4))
    assert found.items.both == ITEMS - ITEMS // 5
    told = {}
    for name in ("percent_agreement", "krippendorff_alpha"):
        one = figure(found, name).comparison
        told[name] = (one.difference, one.standard_error)
    return told


MEASURES = {"percent_agreement": percent_agreement, "krippendorff_alpha": krippendorff_alpha}


def differences(counts: np.ndarray) -> dict[str, float]:
    """The differences where each item is there so many times."""
    sides: list[Counter[Pattern]] = [Counter(), Counter()]
    for times, both in zip(counts, STORY, strict=True):
        for side, given in zip(sides, both, strict=True):
            if given and times:
                side[pattern(given)] += int(times)
    found = {}
    for name, measure in MEASURES.items():
        before, after = (
            measure(sample_for_measures(ItemPatterns(dict(side)), 4, categories=[1, 2, 3])).value
            for side in sides
        )
        found[name] = after - before
    return found


def test_the_error_is_that_of_a_jackknife(compared: dict[str, tuple[float, float]]) -> None:
    left_out = [differences(np.arange(ITEMS) != n) for n in range(ITEMS)]
    for name, (difference, error) in compared.items():
        assert difference == pytest.approx(differences(np.ones(ITEMS))[name])
        values = np.array([one[name] for one in left_out])
        jackknife = math.sqrt((ITEMS - 1) / ITEMS * ((values - values.mean()) ** 2).sum())
        assert error == pytest.approx(jackknife, rel=0.05)
