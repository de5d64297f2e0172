"""What one category is confused with, among many that are confused."""

from __future__ import annotations

import pandas as pd
import pytest

from tracker.core.errors import NotFound
from tracker.ledger import Ledger


@pytest.fixture
def answered(ledger: Ledger) -> Ledger:
    """Six categories, each two of them confused: the later ones more often."""
    letters = "abcdef"
    pairs = [(one, other) for one in letters for other in letters if one < other]
    rows = []
    for often, (one, other) in enumerate(pairs, 1):
        for n in range(often):
            rows += [(f"{one}{other}{n}", "p", one), (f"{one}{other}{n}", "q", other)]
    ledger.import_frame(pd.DataFrame(rows, columns=["item", "annotator", "category"]), "p")
    return ledger


def test_the_rarest_are_found_with_the_same_numbers_as_among_all(answered):
    every = answered.confusions("p").to_dict()
    assert all("a" not in row["categories"] for row in every["confusions"])
    found = answered.confusions("p", category="a").to_dict()
    assert found["disagreements"] == every["disagreements"] == 120
    assert [(row["categories"], row["disagreements"]) for row in found["confusions"]] == [
        (["a", other], often) for often, other in zip((5, 4, 3, 2, 1), "fedcb", strict=True)
    ]
    assert found["confusions"][0]["share"] == pytest.approx(5 / 120)
    assert found["confusions"][-1]["examples"][0]["item"] == "ab0"


def test_a_category_that_there_is_not_is_told(answered):
    with pytest.raises(NotFound, match="category 'z'"):
        answered.confusions("p", category="z")
