"""Fleiss, Cohen and Everitt (1969), Large sample standard errors, Psychol. Bull. 72, 323-327.

The worked example is that of Fleiss, Levin and Paik (2003), Statistical Methods for Rates and
Proportions, 3rd ed., table 18.1: two raters' diagnoses of 100 subjects.
"""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.measures.answered import Table, cross_table
from tests.measures.strategies import one_category
from tracker.measures.cohen import cohen_kappa

DIAGNOSES = cross_table([[75, 1, 4], [5, 4, 1], [0, 0, 10]])

tables = st.dictionaries(st.tuples(one_category, one_category), st.integers(1, 9), max_size=12)


def test_the_error_of_kappa_in_the_worked_example() -> None:
    kappa = cohen_kappa(DIAGNOSES)
    assert kappa.observed == pytest.approx(0.89, abs=1e-12)  # hundredths, without a remainder
    assert kappa.expected == pytest.approx(0.66, abs=1e-12)
    assert kappa.value == pytest.approx(0.68, abs=5e-3)  # printed with two digits
    assert kappa.standard_error == pytest.approx(0.087, abs=1e-3)  # from rounded products


def moments(counts: Table) -> tuple[int, Fraction, Fraction, dict[object, tuple[Fraction, ...]]]:
    """Items, observed and expected agreement, and per answer both annotators' shares."""
    n = sum(counts.values())
    share = {
        c: tuple(
            sum((Fraction(k, n) for cell, k in counts.items() if cell[side] == c), Fraction(0))
            for side in (0, 1)
        )
        for c in {answer for cell in counts for answer in cell}
    }
    observed = sum((Fraction(k, n) for (a, b), k in counts.items() if a == b), Fraction(0))
    return n, observed, sum((a * b for a, b in share.values()), Fraction(0)), dict(share)


@given(tables)
def test_equation_13(counts: Table) -> None:
    kappa = cohen_kappa(counts)
    assume(kappa.value is not None and sum(counts.values()) > 1)
    n, po, pe, share = moments(counts)
    inner, outer = Fraction(0), Fraction(0)
    for (a, b), count in counts.items():
        if a == b:
            inner += Fraction(count, n) * ((1 - pe) - sum(share[a]) * (1 - po)) ** 2
        else:
            outer += Fraction(count, n) * (share[a][1] + share[b][0]) ** 2
    variance = inner + (1 - po) ** 2 * outer - (po * pe - 2 * pe + po) ** 2
    exact = sqrt(variance / n) / float((1 - pe) ** 2)
    assert kappa.standard_error == pytest.approx(exact, abs=1e-7)  # the root of a rounding
