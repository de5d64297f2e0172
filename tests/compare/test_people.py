"""Whether other people would differ, too: the jackknife over the annotators of both sides."""

from __future__ import annotations

import math

import pandas as pd
import pytest
from scipy.stats import t

from tests.audit.crowds import seeded
from tracker.ledger import Ledger
from tracker.measures.difference_tests import Comparison

TEAMS = ("abcd", "wxyz")


@pytest.fixture
def teams(ledger: Ledger) -> Ledger:
    """Two teams of different skill, each on forty items of its own; three answers an item."""
    draw = seeded(4)
    rows = []
    for side, team in enumerate(TEAMS):
        for item in range(40):
            truth = draw.choice("pqr")
            for place, who in enumerate(draw.sample(team, 3)):
                good = draw.random() < 0.9 - 0.15 * side - 0.05 * place
                rows.append((f"{side}-{item}", who, truth if good else draw.choice("pqr")))
    ledger.import_frame(pd.DataFrame(rows, columns=["item", "annotator", "category"]), "p")
    return ledger


def jackknifed(ledger: Ledger, team: str) -> float:
    """The squared error of alpha over annotators, from what is counted without each."""
    values = []
    for who in team:
        kept = [one for one in team if one != who]
        (alpha,) = ledger.agreement("p", annotators=kept, measures=["alpha"]).measures
        assert alpha.value is not None
        values.append(alpha.value)
    mean = sum(values) / len(values)
    return sum((value - mean) ** 2 for value in values) * (len(values) - 1) / len(values)


def alpha_of(ledger: Ledger, first: str, second: str) -> Comparison:
    found = ledger.against("p", {"annotators": [*second]}, annotators=[*first], measures=["alpha"])
    (alpha,) = found.measures
    return alpha.comparison


def test_the_variance_is_the_larger_of_the_items_and_the_annotators(teams: Ledger) -> None:
    found = alpha_of(teams, *TEAMS)
    assert found.standard_error is not None
    assert found.difference is not None
    people = math.sqrt(sum(jackknifed(teams, team) for team in TEAMS))
    error = max(people, found.standard_error)
    expected = 2 * t.sf(abs(found.difference) / error, 2 * (4 - 1))
    assert found.p_value_annotators == pytest.approx(expected, rel=1e-9)
    assert found.p_value_annotators > (found.p_value or 0)
    assert found.undefined_annotators is None


def test_the_same_people_are_compared_with_themselves(teams: Ledger) -> None:
    """Nothing differs, of whomever is left out."""
    found = alpha_of(teams, TEAMS[0], TEAMS[0])
    assert (found.difference, found.p_value_annotators) == (0.0, 1.0)


def test_two_annotators_of_a_side_are_too_few_to_tell(teams: Ledger) -> None:
    found = alpha_of(teams, "ab", TEAMS[1])
    assert found.p_value is not None
    assert (found.p_value_annotators, found.undefined_annotators) == (None, "too_few_annotators")
