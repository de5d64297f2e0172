"""Reading scales, and Gwet's (2014) probabilistic benchmarking."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracker.core.errors import InvalidOption
from tracker.measures.benchmarks import (
    ALTMAN,
    KRIPPENDORFF,
    LANDIS_KOCH,
    SCALES,
    benchmark,
    krippendorff_reading,
    landis_koch,
)

values = st.floats(-1, 1)
errors = st.floats(1e-4, 2)
scales = st.sampled_from(sorted(SCALES))


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (-0.5, "poor"),
        (0.19, "poor"),
        (0.2, "fair"),
        (0.4, "moderate"),
        (0.6, "good"),
        (0.8, "very good"),
        (1.0, "very good"),
    ],
)
def test_altman_1991(value, word):
    assert SCALES["altman"].word(value) == word


@pytest.mark.parametrize("limit", [0.0, 0.2, 0.4, 0.6, 0.8])
def test_a_rounding_below_a_limit_has_reached_it(limit):
    for value in (limit - 2e-16, limit - 1.2e-16, limit):
        assert landis_koch(value) == landis_koch(limit)
        assert benchmark(value, None).word == benchmark(limit, None).word
    assert landis_koch(limit - 1e-9) != landis_koch(limit)


@given(values)
def test_scales_are_the_functions_of_the_same_name(value):
    assert SCALES["landis_koch"].word(value) == landis_koch(value)
    assert SCALES["krippendorff"].word(value) == krippendorff_reading(value)


def test_every_scale_says_whose_it_is_and_descends():
    assert [scale.source for scale in SCALES.values()] == [LANDIS_KOCH, ALTMAN, KRIPPENDORFF]
    for scale in SCALES.values():
        assert "convention" in scale.source
        assert all(upper > lower for (upper, _), (lower, _) in pairwise(scale.steps))
        assert scale.steps[-1][0] == float("-inf")


@pytest.mark.parametrize(
    ("scale", "words"),
    [
        ("landis_koch", ["almost perfect", "substantial", "moderate", "fair", "slight"]),
        ("altman", ["very good", "good", "moderate", "fair"]),
    ],
)
def test_gwet_2014_chapter_6(scale, words):
    # AC1 of four raters, as in the vignette "benchmarking" of Gwet's R package irrCAC.
    result = benchmark(0.77544, 0.14295, scale)
    cumulative = 0.0
    published = zip(words, [0.39674, 0.88336, 0.99542, 0.99997, 1.0], strict=False)
    for (word, share), (expected_word, expected) in zip(
        result.memberships, published, strict=False
    ):
        cumulative += share
        assert word == expected_word
        assert cumulative == pytest.approx(expected, abs=6e-6)
    assert (result.word, result.scale, result.undefined) == ("moderate", scale, None)
    assert result.probability == pytest.approx(0.99542, abs=6e-6)


def test_a_lower_level_allows_a_better_word():
    assert benchmark(0.77544, 0.14295, level=0.88).word == "substantial"
    assert benchmark(0.77544, 0.14295, level=0.3).word == "almost perfect"


@given(values, errors, scales)
def test_probabilities_add_up_and_the_word_is_the_best_that_reaches_the_level(value, error, scale):
    result = benchmark(value, error, scale)
    assert sum(share for _, share in result.memberships) == pytest.approx(1)
    assert all(0 <= share <= 1 for _, share in result.memberships)
    words = [word for word, _ in result.memberships]
    place = words.index(str(result.word))
    reached = sum(share for _, share in result.memberships[: place + 1])
    assert result.probability == pytest.approx(reached)
    assert result.probability >= 0.95
    assert sum(share for _, share in result.memberships[:place]) < 0.95 + 1e-12


@given(values, errors, scales)
def test_an_error_never_earns_a_better_word_at_the_usual_level(value, error, scale):
    words = [word for _, word in SCALES[scale].steps]
    plain = words.index(SCALES[scale].word(value))
    assert words.index(str(benchmark(value, error, scale).word)) >= plain


@given(values, scales)
def test_no_error_gives_the_plain_word_with_certainty(value, scale):
    result = benchmark(value, 0.0, scale)
    assert (result.word, result.probability) == (SCALES[scale].word(value), 1.0)
    assert dict(result.memberships)[str(result.word)] == 1.0


def test_perfect_value_with_an_error_is_truncated_at_1():
    # Half of the normal lies above 1; of the other half 68.27% are within one error.
    assert benchmark(1.0, 0.2).memberships[0][1] == pytest.approx(0.6827, abs=1e-4)


def test_without_an_error_undefined():
    result = benchmark(0.7, None)
    assert (result.word, result.probability, result.memberships) == (None, None, ())
    assert result.undefined == "too_few_items"
    assert result.to_dict() == {
        "scale": "landis_koch",
        "word": None,
        "probability": None,
        "level": 0.95,
        "memberships": {},
        "undefined": "too_few_items",
    }


def test_unknown_scale_and_level_are_refused():
    with pytest.raises(InvalidOption, match="landis_koch, altman, krippendorff"):
        benchmark(0.5, 0.1, "fleiss")
    with pytest.raises(InvalidOption):
        benchmark(0.5, 0.1, level=1.0)
