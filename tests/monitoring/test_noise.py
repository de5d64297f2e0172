"""Figures that differ by no more than chance."""

from __future__ import annotations

from random import Random

import pytest
from scipy.stats import chi2

from tracker.monitoring import are_within_noise


@pytest.mark.parametrize("number", [2, 5, 30])
def test_it_is_the_chi_square_of_homogeneity(number: int) -> None:
    chance = Random(number)  # noqa: S311 - no secret is made with it
    for _ in range(200):
        figures = [(chance.gauss(0.7, 0.06), chance.uniform(0.04, 0.06)) for _ in range(number)]
        weights = [error**-2 for _, error in figures]
        mean = sum(w * v for w, (v, _) in zip(weights, figures, strict=True)) / sum(weights)
        square = sum(w * (v - mean) ** 2 for w, (v, _) in zip(weights, figures, strict=True))
        p_value = chi2.sf(square, number - 1)
        if abs(p_value - 0.05) > 0.004:
            assert are_within_noise(figures) == (p_value > 0.05)


def test_one_that_lies_far_from_the_others_is_none_of_noise() -> None:
    assert are_within_noise([(0.8, 0.02)] * 10)
    assert not are_within_noise([*[(0.8, 0.02)] * 10, (0.6, 0.03)])


def test_errors_that_are_missing_or_zero_are_the_usual_one() -> None:
    assert are_within_noise([(0.8, 0.05), (0.82, None), (0.84, 0.0)])
    assert not are_within_noise([(0.8, 0.05), (0.82, 0.05), (1.4, 0.0)])
    assert are_within_noise([(1.0, 0.0), (1.0, None)])
    assert not are_within_noise([(1.0, 0.0), (0.9, None)])
    assert are_within_noise([])
