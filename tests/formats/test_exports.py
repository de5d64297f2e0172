"""Exports of annotation tools hold the answers that were submitted."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from tracker.ledger import Ledger

EXPORTS = Path(__file__).parents[1] / "data" / "exports"
EXPECTED = sorted(EXPORTS.glob("*/*.expected.csv"))
OF_EACH_TOOL = list({path.parent: path for path in EXPECTED}.values())


def export_of(expected: Path) -> tuple[Path, str | None]:
    """Return the export that has these answers, and the control if it has several."""
    name = expected.name.removesuffix(".expected.csv")
    if (path := expected.with_name(name)).exists():
        return path, None
    name, _, control = name.rpartition(".")
    return expected.with_name(name), control


def rows(frame: pd.DataFrame) -> list[tuple[object, ...]]:
    """Return labels as sorted values, times and seconds as such."""
    names = ["item", "annotator", "category", "start", "end"]
    texts = frame.reindex(columns=names).astype(object).fillna("")
    when = pd.to_datetime(frame["labeled_at"], utc=True, format="ISO8601")
    seconds = pd.to_numeric(frame["seconds"])
    return sorted(
        zip(*(texts[name].astype(str) for name in texts), when.astype(str),
            seconds.round(3).fillna(-1), strict=True)
    )  # fmt: skip


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda path: path.name)
def test_an_export_holds_the_answers_that_were_submitted(
    sqlite_ledger: Ledger, expected: Path
) -> None:
    check(sqlite_ledger, expected)


@pytest.mark.parametrize("expected", OF_EACH_TOOL, ids=lambda path: path.name)
def test_on_postgres(emptied_postgres_ledger: Ledger, expected: Path) -> None:
    check(emptied_postgres_ledger, expected)


def check(ledger: Ledger, expected: Path) -> None:
    """Import an export twice, and compare its labels with the answers that were submitted."""
    export, control = export_of(expected)
    first = ledger.import_file(export, "p")
    assert not first.rejected
    again = ledger.import_file(export, "p")
    assert (again.inserted, again.changed) == (0, 0)
    assert again.unchanged + again.older == first.rows, "what was overridden stays older"
    wanted = pd.read_csv(expected, dtype=str)
    labels = ledger.export_frame("p")
    found = labels[labels["kind"] == "human"]
    if control is not None:
        found = found[found["question"] == control]
    if wanted["labeled_at"].isna().all():
        found = found.assign(labeled_at=None)
    assert rows(found) == rows(wanted)


def test_there_are_exports() -> None:
    assert len(EXPECTED) >= 4
