"""A ledger whose project p has annotators to find something about."""

from __future__ import annotations

import pandas as pd
import pytest

from tests.filled import Filled
from tracker.ledger import Ledger


@pytest.fixture
def people(ledger: Ledger, filled: Filled) -> Ledger:
    """The annotators ada, bo and cy, numbered 1 to 3, and the categories x and y, 1 and 2."""
    return filled(ledger, load_people)


def load_people(ledger: Ledger) -> None:
    answers = [("i", "ada", "x"), ("i", "bo", "y"), ("i", "cy", "x"), ("j", "ada", "x"),
               ("j", "bo", "x")]  # fmt: skip
    ledger.import_frame(pd.DataFrame(answers, columns=["item", "annotator", "category"]), "p")
