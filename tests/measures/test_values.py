"""Coefficients as values, their intervals, and the words of reading scales."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracker.core.errors import InvalidOption
from tracker.measures.benchmarks import (
    SCALES,
    benchmark,
    krippendorff_reading,
    landis_koch,
)
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

values = st.floats(-1, 1)
errors = st.floats(1e-4, 2)
scales = st.sampled_from(sorted(SCALES))


def test_a_coefficient_has_a_value_or_a_reason():
    for value, reason in ((None, None), (0.5, NO_OVERLAP)):
        with pytest.raises(ValueError, match="either"):
            Coefficient("cohen_kappa", value, reason)
    with pytest.raises(InvalidOption, match=r"0\.95"):
        Coefficient("cohen_kappa", 0.5, confidence=95)


def test_student_and_wilson_1927_intervals():
    # From the table: t of 9 degrees of freedom at 97.5% is 2.262.
    assert confidence_interval(0.5, 0.1, 10, 0.95) == pytest.approx((0.2738, 0.7262), abs=1e-4)
    assert confidence_interval(0.95, 0.1, 10, 0.95, low=0.0)[1] == 1.0
    assert confidence_interval(0.05, 0.1, 10, 0.95, low=0.0)[0] == 0.0
    assert confidence_interval(-1.5, 0.1, 10, 0.95)[0] == -1.5  # never past the value itself
    with pytest.raises(ValueError, match="two items"):
        confidence_interval(0.5, 0.1, 1, 0.95)
    assert wilson_interval(0.5, 10, 0.95) == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert wilson_interval(1.0, 4, 0.95)[1] == 1.0
    low, high = wilson_interval(0.5, 10, 0.95, freedom=9)
    assert low < 0.2366
    assert high > 0.7634


@pytest.mark.parametrize("how", INTERVALS)
def test_an_error_of_0_bounds_perfect_agreement_alone(how):
    # With hardly any variation perfect agreement supports little.
    perfect = spread_bounds(Spread(1.0, 0.0, Parts(observed=1.0, expected=0.98), 50, 50), 0.95, how)
    assert (perfect.low, perfect.high, perfect.method) == (-1.0, 1.0, "one-sided exact")
    for value, parts in (
        (0.3, Parts(0.65, 0.5)),  # every item is alike, but not perfect
        (1.0, Parts(None, None, 0.0, 2.0)),  # distances without a limit bound no agreement
    ):
        bounds = spread_bounds(Spread(value, 0.0, parts, 9, 9), 0.95, how)
        assert (bounds.low, bounds.high, bounds.method) == (None, None, None)


# Landis and Koch (1977), Krippendorff (2004), Altman (1991).
WORDS = [
    (landis_koch, {-0.01: "poor", 0.0: "slight", 0.19: "slight", 0.2: "fair", 0.4: "moderate",
                   7 / 15: "moderate", 0.6: "substantial", 0.8: "almost perfect",
                   1.0: "almost perfect"}),
    (krippendorff_reading, {-1: "too low", 0.666: "too low", 0.667: "tentative", 0.8: "definite"}),
    (SCALES["altman"].word, {-0.5: "poor", 0.19: "poor", 0.2: "fair", 0.4: "moderate", 0.6: "good",
                             0.8: "very good", 1.0: "very good"}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("reading", "words"), WORDS, ids=["landis_koch_1977", "krippendorff_2004", "altman_1991"]
)
def test_words_of_a_scale(reading, words):
    assert {value: reading(value) for value in words} == words


def test_a_rounding_below_a_limit_has_reached_it():
    for limit in (0.0, 0.2, 0.4, 0.6, 0.8):
        for value in (limit - 2e-16, limit - 1.2e-16, limit):
            assert landis_koch(value) == landis_koch(limit)
            assert benchmark(value, None).word == benchmark(limit, None).word
        assert landis_koch(limit - 1e-9) != landis_koch(limit)


@pytest.mark.parametrize(
    ("scale", "words"),
    [("landis_koch", ["almost perfect", "substantial", "moderate", "fair", "slight"]),
     ("altman", ["very good", "good", "moderate", "fair"])],
)  # fmt: skip
def test_gwet_2014_chapter_6(scale, words):
    # AC1 of four raters, as in the vignette "benchmarking" of Gwet's R package irrCAC.
    result = benchmark(0.77544, 0.14295, scale)
    cumulative = 0.0
    published = zip(words, [0.39674, 0.88336, 0.99542, 0.99997, 1.0], strict=False)
    for (word, share), (name, expected) in zip(result.memberships, published, strict=False):
        cumulative += share
        assert (word, cumulative) == (name, pytest.approx(expected, abs=6e-6))
    assert (result.word, result.scale, result.undefined) == ("moderate", scale, None)
    assert result.probability == pytest.approx(0.99542, abs=6e-6)
    if scale == "landis_koch":  # a lower level allows a better word
        assert benchmark(0.77544, 0.14295, level=0.88).word == "substantial"
        assert benchmark(0.77544, 0.14295, level=0.3).word == "almost perfect"


@given(values, errors, scales)
def test_the_word_is_the_best_that_reaches_the_level(value, error, scale):
    result = benchmark(value, error, scale)
    shares = [share for _, share in result.memberships]
    assert sum(shares) == pytest.approx(1)
    assert all(0 <= share <= 1 for share in shares)
    place = [word for word, _ in result.memberships].index(str(result.word))
    assert result.probability == pytest.approx(sum(shares[: place + 1]))
    assert result.probability >= 0.95
    assert sum(shares[:place]) < 0.95 + 1e-12
    steps = [word for _, word in SCALES[scale].steps]
    assert steps.index(str(result.word)) >= steps.index(SCALES[scale].word(value))
    certain = benchmark(value, 0.0, scale)
    assert (certain.word, certain.probability) == (SCALES[scale].word(value), 1.0)
    assert dict(certain.memberships)[str(certain.word)] == 1.0
    assert SCALES["landis_koch"].word(value) == landis_koch(value)
    assert SCALES["krippendorff"].word(value) == krippendorff_reading(value)


def test_benchmarks_of_special_figures():
    # Half of the normal lies above 1; of the other half 68.27% are within one error.
    assert benchmark(1.0, 0.2).memberships[0][1] == pytest.approx(0.6827, abs=1e-4)
    nothing = benchmark(0.7, None)
    assert (nothing.word, nothing.probability, nothing.undefined) == (None, None, "too_few_items")
    with pytest.raises(InvalidOption, match="landis_koch, altman, krippendorff"):
        benchmark(0.5, 0.1, "fleiss")
    with pytest.raises(InvalidOption):
        benchmark(0.5, 0.1, level=1.0)
