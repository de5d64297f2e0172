"""Coefficients as values, intervals, conventions, and the registry."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tracker.errors import InvalidOption
from tracker.measures import MEASURES
from tracker.measures.coefficient import NO_OVERLAP, Coefficient, estimate, interval
from tracker.measures.conventions import krippendorff_reading, landis_koch
from tracker.measures.intervals import wilson


def test_keys_of_the_json_in_order() -> None:
    assert list(Coefficient("cohen_kappa", None, NO_OVERLAP).to_dict()) == [
        "measure",
        "value",
        "standard_error",
        "ci_low",
        "ci_high",
        "confidence",
        "items",
        "undefined",
        "observed",
        "expected",
    ]


@pytest.mark.parametrize(("value", "reason"), [(None, None), (0.5, NO_OVERLAP)])
def test_a_value_or_a_reason_never_both_or_neither(value: float | None, reason: str | None) -> None:
    with pytest.raises(ValueError, match="either"):
        Coefficient("cohen_kappa", value, reason)


def test_a_level_outside_0_to_1_is_no_coefficient() -> None:
    with pytest.raises(InvalidOption, match=r"0\.95"):
        Coefficient("cohen_kappa", 0.5, confidence=95)


def test_student_interval_from_the_table() -> None:
    # t of 9 degrees of freedom at 97.5 % is 2.262.
    assert interval(0.5, 0.1, 10, 0.95) == pytest.approx((0.2738, 0.7262), abs=1e-4)


def test_interval_is_clipped_to_what_the_figure_can_be() -> None:
    assert interval(0.95, 0.1, 10, 0.95, low=0.0)[1] == 1.0
    assert interval(0.05, 0.1, 10, 0.95, low=0.0)[0] == 0.0
    assert interval(-1.5, 0.1, 10, 0.95)[0] == -1.5  # never past the value itself


def test_interval_of_one_item_is_refused() -> None:
    with pytest.raises(ValueError, match="two items"):
        interval(0.5, 0.1, 1, 0.95)


def test_wilson_1927_interval_from_the_formula() -> None:
    assert wilson(0.5, 10, 0.95) == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert wilson(1.0, 4, 0.95)[1] == 1.0
    low, high = wilson(0.5, 10, 0.95, freedom=9)
    assert low < 0.2366
    assert high > 0.7634


def test_perfect_agreement_with_hardly_any_variation_supports_little() -> None:
    result = estimate(
        "fleiss_kappa",
        1.0,
        0.0,
        observed=1.0,
        expected=0.98,
        items=50,
        compared=50,
        confidence=0.95,
    )
    assert (result.ci_low, result.ci_high) == (-1.0, 1.0)


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (-0.01, "poor"),
        (0.0, "slight"),
        (0.19, "slight"),
        (0.2, "fair"),
        (0.4, "moderate"),
        (7 / 15, "moderate"),
        (0.6, "substantial"),
        (0.8, "almost perfect"),
        (1.0, "almost perfect"),
    ],
)
def test_landis_and_koch_1977(value: float, word: str) -> None:
    assert landis_koch(value) == word


@pytest.mark.parametrize(
    ("value", "word"),
    [(-1, "discard"), (0.666, "discard"), (0.667, "tentative"), (0.8, "definite")],
)
def test_krippendorff_2004(value: float, word: str) -> None:
    assert krippendorff_reading(value) == word


def test_registry_order_and_names() -> None:
    assert list(MEASURES) == [
        "percent_agreement",
        "scott_pi",
        "cohen_kappa",
        "fleiss_kappa",
        "krippendorff_alpha",
    ]
    assert all(name == measure.name for name, measure in MEASURES.items())
    assert all(measure.function.__name__ == name for name, measure in MEASURES.items())


def test_the_room_loads_neither_scipy_nor_numpy() -> None:
    program = "import sys, tracker.measures.rates; print({'scipy', 'numpy'} & set(sys.modules))"
    shown = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert shown.stdout == "set()\n"
