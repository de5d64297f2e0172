"""What is counted in files is what a ledger counts that holds the same labels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.counts.counted import everything
from tests.lake.lakes import DAY, FIRST, Row, drawn_rows, make_both, some_rows
from tests.profiles import both, examples
from tests.storage.as_of.plain import Clock
from tracker.counts import import_tallies
from tracker.counts.filter import AnswerFilter, select_answers
from tracker.lake import connection as lake_connection
from tracker.lake import recorded
from tracker.ledger import Ledger

CHOICES = [
    AnswerFilter(),
    AnswerFilter(since=FIRST + 9 * DAY, until=FIRST + 40 * DAY),
    AnswerFilter(annotators=("A", "D")),
    AnswerFilter(excluded=("A",)),
]


def counted(ledger: Ledger, project: str, choice: AnswerFilter) -> dict[str, Any]:
    with ledger.asking(project) as (connection, question):
        counts = everything(connection, select_answers(connection, question, choice))
    files = counts.pop("files") or ()
    return counts | {"files": [(who, file.number, own) for who, file, own in files]}


@both
def test_every_count_is_that_of_the_ledger(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite or Postgres beside DuckDB over Parquet; items may have answers in several files."""
    monkeypatch.setattr(import_tallies, "LEAST_ROWS", 1)
    monkeypatch.setattr(recorded, "PART", 1)  # each file is one, but for items in common
    Clock(monkeypatch).moment = FIRST + 1000 * DAY  # of answers without a time of their own

    @examples(25)
    @example([some_rows(), some_rows(20, 40, 2)])
    @example([some_rows(), some_rows(20, 40, 2), [Row("item 001", "Z", "x")]])
    @given(
        drawn_rows().flatmap(lambda rows: st.just([rows[: len(rows) // 2], rows[len(rows) // 2 :]]))
    )
    def check(files: Sequence[Sequence[Row]]) -> None:
        files = [rows for rows in files if rows]
        with TemporaryDirectory() as folder:
            try:
                make_both(ledger, Path(folder), files)
                for choice in CHOICES:
                    known = {row.annotator for rows in files for row in rows}
                    if {*choice.annotators, *choice.excluded} <= known:
                        assert counted(ledger, "q", choice) == counted(ledger, "p", choice)
            finally:
                for project in ledger.projects.list():
                    ledger.projects.delete(project.project.name)

    check()


@both
@pytest.mark.parametrize("held", [True, False])
def test_figures_are_those_of_the_ledger(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held: bool
) -> None:
    """Whether DuckDB holds the rows or, if they are too many, reads the files each time."""
    if not held:
        monkeypatch.setattr(lake_connection, "MOST_HELD", 1)
    make_both(ledger, tmp_path, [some_rows(60), some_rows(60, 60, 2)])

    def told(project: str) -> list[Any]:
        figures: list[Any] = [
            ledger.agreement(project),
            ledger.audit(project),
            ledger.by_pair(project),
            ledger.agreement(project, as_of="2026-01-20"),
            ledger.history(project, "week"),
        ]
        assert ledger.moments(project, 9) == ledger.moments("p", 9)
        payloads = [figure.to_dict() for figure in figures]
        assert ("manifest" in payloads[0]) == (project == "q")
        texts = [str(payload | {"manifest": None}) for payload in payloads]
        return [text.replace(f"'{project}'", "'r'") for text in texts]

    assert told("q") == told("p")
