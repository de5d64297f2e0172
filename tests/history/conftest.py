"""A ledger that all tests of a module use; what they change they take back."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tracker.ledger import Ledger


@pytest.fixture(scope="module")
def module_ledger(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Ledger:
    """A ledger of the module's own; that both databases keep the same is tested with digests."""
    file = shutil.copy(sqlite_template, tmp_path_factory.mktemp("module") / "ledger.db")
    return Ledger(f"sqlite:///{file}")
