"""Coefficients as values, their intervals, their customary words, and the registry."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

from tracker.core.errors import InvalidOption
from tracker.measures.benchmarks import krippendorff_reading, landis_koch
from tracker.measures.citations import SOURCES
from tracker.measures.intervals import (
    INTERVALS,
    NO_OVERLAP,
    Coefficient,
    Parts,
    Spread,
    confidence_interval,
    spread_bounds,
    wilson_interval,
)
from tracker.measures.registry import MEASURES


def test_keys_of_the_json_in_order():
    plain = Coefficient("cohen_kappa", None, NO_OVERLAP, details={"weights": "linear"})
    assert list(plain.to_dict()) == [
        "measure", "value", "standard_error", "ci_low", "ci_high", "confidence", "items",
        "undefined", "observed", "expected", "method", "weights",
    ]  # fmt: skip


@pytest.mark.parametrize(("value", "reason"), [(None, None), (0.5, NO_OVERLAP)])
def test_a_value_or_a_reason_never_both_or_neither(value, reason):
    with pytest.raises(ValueError, match="either"):
        Coefficient("cohen_kappa", value, reason)


def test_a_level_outside_0_to_1_is_no_coefficient():
    with pytest.raises(InvalidOption, match=r"0\.95"):
        Coefficient("cohen_kappa", 0.5, confidence=95)


def test_student_interval_from_the_table():
    # t of 9 degrees of freedom at 97.5% is 2.262.
    assert confidence_interval(0.5, 0.1, 10, 0.95) == pytest.approx((0.2738, 0.7262), abs=1e-4)


def test_interval_is_clipped_to_what_the_figure_can_be():
    assert confidence_interval(0.95, 0.1, 10, 0.95, low=0.0)[1] == 1.0
    assert confidence_interval(0.05, 0.1, 10, 0.95, low=0.0)[0] == 0.0
    assert confidence_interval(-1.5, 0.1, 10, 0.95)[0] == -1.5  # never past the value itself


def test_interval_of_one_item_is_refused():
    with pytest.raises(ValueError, match="two items"):
        confidence_interval(0.5, 0.1, 1, 0.95)


def test_wilson_1927_interval_from_the_formula():
    assert wilson_interval(0.5, 10, 0.95) == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert wilson_interval(1.0, 4, 0.95)[1] == 1.0
    low, high = wilson_interval(0.5, 10, 0.95, freedom=9)
    assert low < 0.2366
    assert high > 0.7634


def test_perfect_agreement_with_hardly_any_variation_supports_little():
    parts = Parts(observed=1.0, expected=0.98)
    for how in INTERVALS:
        found = spread_bounds(Spread(1.0, 0.0, parts, 50, 50), 0.95, how)
        assert (found.low, found.high, found.method) == (-1.0, 1.0, "one-sided exact")


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        (0.3, Parts(0.65, 0.5)),  # every item is alike, but not perfect
        (1.0, Parts(None, None, 0.0, 2.0)),  # distances without a limit bound no agreement
    ],
)
def test_an_error_of_0_bounds_no_other_figure(value, parts):
    for how in INTERVALS:
        found = spread_bounds(Spread(value, 0.0, parts, 9, 9), 0.95, how)
        assert (found.low, found.high, found.method) == (None, None, None)


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
def test_landis_and_koch_1977(value, word):
    assert landis_koch(value) == word


@pytest.mark.parametrize(
    ("value", "word"),
    [(-1, "too low"), (0.666, "too low"), (0.667, "tentative"), (0.8, "definite")],
)
def test_krippendorff_2004(value, word):
    assert krippendorff_reading(value) == word


def test_registry_order_and_names():
    assert list(MEASURES) == [
        "percent_agreement", "scott_pi", "cohen_kappa", "light_kappa", "conger_kappa",
        "fleiss_kappa", "krippendorff_alpha", "gwet_ac1", "gwet_ac2", "brennan_prediger",
        "span_f1_exact", "span_f1_unlabelled", "span_f1_overlap", "token_f1",
        "token_f1_unlabelled", "unitizing_alpha",
    ]  # fmt: skip
    assert all(name == measure.name for name, measure in MEASURES.items())


@pytest.mark.parametrize("name", MEASURES)
def test_an_entry_says_what_its_function_does(name):
    measure = MEASURES[name]
    assert measure.publication is SOURCES[measure.cite]
    assert measure.publication.fields["year"] in measure.source
    if measure.function is None:
        assert measure.needs in {"pair", "pairs", "documents"}
        return
    assert measure.needs in {"patterns", "marginals"}
    assert measure.function.__name__ == {"gwet_ac2": "gwet_ac1"}.get(name, name)
    told = inspect.getdoc(measure.function) or ""
    assert "Undefined:" in told
    assert "Source:" in told


def test_the_room_loads_neither_scipy_nor_pandas():
    program = "import sys, tracker.measures\nprint({'scipy', 'pandas'} & set(sys.modules))"
    shown = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert shown.stdout == "set()\n"
