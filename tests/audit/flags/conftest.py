"""A ledger whose project p has annotators to find something about."""

from __future__ import annotations

import pandas as pd
import pytest

from tests.filled import FillOnce
from tracker.ledger import Ledger


@pytest.fixture
def people(ledger: Ledger, fill_once: FillOnce) -> Ledger:
    """The annotators ada, bo and cy, numbered 1 to 3, and the categories x and y, 1 and 2."""
    return fill_once(ledger, load_people)


def load_people(ledger: Ledger) -> None:
    answers = [("i", "ada", "x"), ("i", "bo", "y"), ("i", "cy", "x"), ("j", "ada", "x"),
               ("j", "bo", "x")]  # fmt: skip
    ledger.import_frame(pd.DataFrame(answers, columns=["item", "annotator", "category"]), "p")
