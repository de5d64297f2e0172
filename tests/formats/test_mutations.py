"""An export with a fault is imported, or refused in one clear sentence; nothing is half stored.

``python benchmarks/fuzz.py --exports 2000`` tries more of them.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.formats.mutations import FILES, fate_of_export
from tracker.ledger import Ledger

A_TOOL = 8


@pytest.fixture
def sqlite(sqlite_template: Path, tmp_path: Path) -> Ledger:
    path = tmp_path / "ledger.db"
    path.write_bytes(sqlite_template.read_bytes())
    return Ledger(f"sqlite:///{path}")


@pytest.mark.parametrize("export", FILES, ids=lambda path: path.name)
def test_an_export_with_a_fault_is_imported_or_refused(
    sqlite: Ledger, tmp_path: Path, export: Path
) -> None:
    beside = sum(one.parent == export.parent for one in FILES)
    runs = range(max(1, A_TOOL // beside))
    fates = Counter(fate_of_export(export, seed, tmp_path, sqlite) for seed in runs)
    assert fates.total() == len(runs)
