"""Exports of annotation tools hold the answers that were submitted, with faults or without."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from tests.formats.mutations import FILES, fate_of_export
from tests.formats.reading import EXPORTS
from tracker.core.clock import parse_timestamp

OF_EXPORT: dict[Path, dict[Path, str | None]] = {}
"""Of each export the files of its answers, and their control if it has several."""
for _answers in sorted(EXPORTS.glob("*/*.expected.csv")):
    _name, _control = _answers.name.removesuffix(".expected.csv"), None
    if not _answers.with_name(_name).exists():
        _name, _, _control = _name.rpartition(".")
    OF_EXPORT.setdefault(_answers.with_name(_name), {})[_answers] = _control
OF_EACH_TOOL = [*{path.parent: path for path in OF_EXPORT}.values()]
LOGS = ["hand-written/promptfoo-results.json", "hand-written/openai-evals.jsonl"]
"""Exports whose answers are all of models."""
OF_EXPORT |= {EXPORTS / name: {} for name in LOGS}
TWICE = {*OF_EACH_TOOL, *(EXPORTS / name for name in (*LOGS, "inspect/inspect-log.json"))}

TEXTS = ("item", "annotator", "category", "start", "end")


def plain(row: dict[str, Any], *, timed: bool) -> tuple[object, ...]:
    texts = [str("" if row.get(name) is None else row[name]) for name in TEXTS]
    when = parse_timestamp(row["labeled_at"]) if timed and row["labeled_at"] else -1
    return *texts, when, round(float(row["seconds"] or -1), 3)


@pytest.mark.parametrize("export", OF_EXPORT, ids=lambda path: path.name)
def test_an_export_holds_the_answers_that_were_submitted(sqlite_ledger, export):
    first = sqlite_ledger.import_file(export, "p")
    assert not first.rejected
    if export in TWICE:
        again = sqlite_ledger.import_file(export, "p")
        assert (again.inserted, again.changed) == (0, 0)
        assert again.unchanged + again.older == first.rows > 0, "what was overridden stays older"
    with sqlite_ledger.labels("p") as (names, rows):
        labels = [dict(zip(names, row, strict=True)) for row in rows]
    people = [label for label in labels if label["kind"] == "human"]
    for answers, control in OF_EXPORT[export].items():
        with answers.open(encoding="utf-8", newline="") as file:
            wanted = list(csv.DictReader(file))
        timed = any(row["labeled_at"] for row in wanted)
        asked = [row for row in people if control in {None, row.get("question")}]
        found = sorted(plain(row, timed=timed) for row in asked)
        assert found == sorted(plain(row, timed=timed) for row in wanted), answers.name


@pytest.mark.parametrize("export", FILES, ids=lambda path: path.name)
def test_an_export_with_a_fault_is_imported_or_refused(sqlite_ledger, tmp_path, export):
    """``python benchmarks/fuzz.py --exports 2000`` tries more of them."""
    exports = sum(other.parent == export.parent for other in FILES)
    for seed in range(max(1, 4 // exports)):
        assert fate_of_export(export, seed, tmp_path, sqlite_ledger) in {"imported", "refused"}
