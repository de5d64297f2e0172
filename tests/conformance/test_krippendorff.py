"""Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, and (1980), Content Analysis.

Observed and expected disagreement are exact: fractions of the coincidences that the papers print.
Alphas are printed with three digits.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.measures.answered import Answered
from tests.measures.oracles import load

PRINTED = 5e-4  # the papers' third digit
EXACT = 1e-12


def two_observers(first: str, second: str) -> Answered:
    """One letter per unit and observer."""
    pairs = zip(first, second, strict=True)
    return Answered([{1: (ord(one),), 2: (ord(other),)} for one, other in pairs])


def test_2011_section_a_two_observers_and_two_values() -> None:
    alpha = two_observers("0100000010", "1110010000").estimate("krippendorff_alpha")
    assert alpha.parts.observed_disagreement == pytest.approx(8 / 20, abs=EXACT)
    assert alpha.parts.expected_disagreement == pytest.approx(2 * 14 * 6 / (20 * 19), abs=EXACT)
    assert alpha.value == pytest.approx(0.095, abs=PRINTED)
    assert (alpha.parts.observed, alpha.items) == (pytest.approx(12 / 20, abs=EXACT), 10)


def test_2011_section_b_two_observers_and_many_values() -> None:
    alpha = two_observers("aabbdcccedda", "babbbccceddd").estimate("krippendorff_alpha")
    same = 4 * 3 + 6 * 5 + 6 * 5 + 6 * 5 + 2 * 1
    assert alpha.parts.observed_disagreement == pytest.approx(6 / 24, abs=EXACT)
    assert alpha.parts.expected_disagreement == pytest.approx(1 - same / (24 * 23), abs=EXACT)
    assert alpha.value == pytest.approx(0.692, abs=PRINTED)


# Units of 2, 3 or 4 answers, and one of a single answer, which does not count: 40 answers.
RELIABILITY = load("c25_kripp_4x12")


@pytest.mark.parametrize(
    ("scale", "observed", "expected", "printed"),
    [
        ("nominal", 8 / 40, 1216 / 1560, 0.743),
        ("ordinal", 47.275, 256.076923077, 0.815),
        ("interval", 17.333333333333 / 40, 4480 / 1560, 0.849),
        ("ratio", 0.022432728647, 0.110725744714, 0.797),
    ],
)
def test_2011_sections_c_to_e(scale: str, observed: float, expected: float, printed: float) -> None:
    alpha = RELIABILITY.estimate("krippendorff_alpha", scale=scale, **RELIABILITY.reading)
    # Ordinal and ratio disagreements are no short fractions: twelve digits of two programs.
    assert alpha.parts.observed_disagreement == pytest.approx(observed, rel=1e-11)
    assert alpha.parts.expected_disagreement == pytest.approx(expected, rel=1e-11)
    assert alpha.value == pytest.approx(printed, abs=PRINTED)
    assert (alpha.items, RELIABILITY.patterns.items) == (11, 12)


@pytest.mark.parametrize(
    ("scale", "printed"), [("nominal", 0.642), ("interval", 0.547), ("ratio", 0.483)]
)
def test_1980_page_139(scale: str, printed: float) -> None:
    case = load("c24_kripp1980")
    reading: dict[str, Any] = case.reading | {"scale": scale}
    alpha = case.estimate("krippendorff_alpha", **reading)
    assert alpha.value == pytest.approx(printed, abs=PRINTED)
    assert alpha.parts.observed_disagreement is not None
    assert alpha.parts.expected_disagreement is not None
    assert 1 - alpha.parts.observed_disagreement / alpha.parts.expected_disagreement == alpha.value
    if scale == "nominal":
        assert alpha.parts.observed == pytest.approx(0.74, abs=5e-3)  # printed with two digits
