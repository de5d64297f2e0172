"""What the loader proves of staged rows, since SQLite does not look up their references."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers import write_file
from tracker.imports.validate import validate_staged_references
from tracker.ledger import Ledger


@pytest.mark.parametrize(
    "extremes",
    [
        {"item_id": (1, 3)},
        {"item_id": (0, 2)},
        {"annotator_id": (1, 4)},
        {"given_as": (4, 4)},
        {"category_id": (-2, 1)},
        {"category_id": (1, 3)},
    ],
)
def test_a_number_that_nothing_has_is_a_fault_of_the_program(
    extremes: dict[str, tuple[int, int]], ledger: Ledger, tmp_path: Path
) -> None:
    file = write_file(tmp_path / "answers.csv", "item,annotator,label\ni,A,x\ni,B,y\nj,C,x\n")
    ledger.import_file(file, "p")
    with ledger.asking("p") as (connection, question):
        sound = {"item_id": (1, 2), "annotator_id": (1, 3), "category_id": (-1, 2)}
        validate_staged_references(connection, sound, question.key)
        with pytest.raises(RuntimeError, match="there are but"):
            validate_staged_references(connection, extremes, question.key)
