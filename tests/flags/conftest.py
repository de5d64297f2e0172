"""A ledger whose project p has annotators to find something about."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tracker.ledger import Ledger


@pytest.fixture
def people(ledger: Ledger, write: Callable[..., Path]) -> Ledger:
    """The annotators ada, bo and cy, numbered 1 to 3, and the categories x and y, 1 and 2."""
    ledger.import_file(
        write("item,annotator,category\n i,ada,x\n i,bo,y\n i,cy,x\n j,ada,x\n j,bo,x"), "p"
    )
    return ledger
