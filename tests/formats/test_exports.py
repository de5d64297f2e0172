"""Exports of annotation tools hold the answers that were submitted."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from tracker.core.clock import parse_timestamp
from tracker.ledger import Ledger

EXPORTS = Path(__file__).parents[1] / "data" / "exports"
EXPECTED = sorted(EXPORTS.glob("*/*.expected.csv"))


def export_of(expected: Path) -> tuple[Path, str | None]:
    """Return the export that has these answers, and the control if it has several."""
    name = expected.name.removesuffix(".expected.csv")
    if (path := expected.with_name(name)).exists():
        return path, None
    name, _, control = name.rpartition(".")
    return expected.with_name(name), control


OF_EXPORT: dict[Path, dict[Path, str | None]] = {}
for _expected in EXPECTED:
    _export, _control = export_of(_expected)
    OF_EXPORT.setdefault(_export, {})[_expected] = _control
OF_EACH_TOOL = {path.parent: path for path in OF_EXPORT}.values()


TEXTS = ("item", "annotator", "category", "start", "end")


def plain(row: dict[str, Any], *, timed: bool) -> tuple[object, ...]:
    """Return a label as values that can be compared, its time and seconds as such."""
    texts = [str("" if row.get(name) is None else row[name]) for name in TEXTS]
    when = parse_timestamp(row["labeled_at"]) if timed and row["labeled_at"] else -1
    return *texts, when, round(float(row["seconds"] or -1), 3)


@pytest.mark.parametrize("export", OF_EXPORT, ids=lambda path: path.name)
def test_an_export_holds_the_answers_that_were_submitted(
    sqlite_ledger: Ledger, export: Path
) -> None:
    first = sqlite_ledger.import_file(export, "p")
    assert not first.rejected
    if export in OF_EACH_TOOL:
        again = sqlite_ledger.import_file(export, "p")
        assert (again.inserted, again.changed) == (0, 0)
        assert again.unchanged + again.older == first.rows, "what was overridden stays older"
    with sqlite_ledger.labels("p") as (names, rows):
        labels = [dict(zip(names, row, strict=True)) for row in rows]
    people = [label for label in labels if label["kind"] == "human"]
    for expected, control in OF_EXPORT[export].items():
        with expected.open(encoding="utf-8", newline="") as file:
            wanted = list(csv.DictReader(file))
        timed = any(row["labeled_at"] for row in wanted)
        asked = [row for row in people if control in {None, row.get("question")}]
        found = sorted(plain(row, timed=timed) for row in asked)
        assert found == sorted(plain(row, timed=timed) for row in wanted), expected.name
