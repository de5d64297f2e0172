"""What is counted in files is what a ledger counts that holds the same labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.counts.counted import everything, part
from tests.lake.lakes import DAY, FIRST, Row, drawn_rows, make_both, some_rows
from tests.profiles import both, examples, exhaustive
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
ODD = [
    Row("ü'", "A", "x", day=None, seconds=0.0),
    Row("ü'", "C", "y", 3, seconds=7.0),
    Row("item 001", "Z", "x"),
]


@pytest.fixture
def compare(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Compare the counts of files of labels with those of a ledger, and take both back."""
    monkeypatch.setattr(import_tallies, "LEAST_ROWS", 1)
    monkeypatch.setattr(recorded, "PART", 1)  # each file is one, but for items in common
    Clock(monkeypatch).moment = FIRST + 1000 * DAY  # of answers without a time of their own

    def counts(project: str, choice: AnswerFilter, names: list[str]) -> dict[str, Any]:
        with ledger.asking(project) as (connection, question):
            found = everything(connection, select_answers(connection, question, choice), names)
        files = found.pop("files", None) or ()
        return found | {"files": [(who, file.number, own) for who, file, own in files]}

    def check(files: Sequence[Sequence[Row]], parts: int = 1) -> None:
        known = {row.annotator for rows in files for row in rows}
        with TemporaryDirectory() as folder:
            try:
                make_both(ledger, Path(folder), [rows for rows in files if rows])
                for place, choice in enumerate(CHOICES):
                    if {*choice.annotators, *choice.excluded} <= known:
                        names = part(place, parts if place else 1)
                        assert counts("q", choice, names) == counts("p", choice, names)
            finally:
                for project in ledger.projects.list():
                    ledger.projects.delete(project.project.name)

    return check


@both
@pytest.mark.parametrize(
    ("backend", "files"),
    [
        ("sqlite", [some_rows(20), some_rows(10, 20, 2), ODD]),
        ("postgresql", [some_rows(20), some_rows(10, 20, 2)]),
    ],
    ids=["common items", "apart"],
)
def test_every_count_is_that_of_the_ledger(
    compare: Callable[..., None], files: list[list[Row]]
) -> None:
    """SQLite or Postgres with DuckDB over Parquet; items may have answers in several files."""
    compare(files, 4)


@exhaustive
@both
def test_every_count_of_drawn_files_is_that_of_the_ledger(compare: Callable[..., None]) -> None:
    @examples(25)
    @example([some_rows(), some_rows(20, 40, 2)])
    @example([some_rows(), some_rows(20, 40, 2), ODD])
    @given(
        drawn_rows().flatmap(lambda rows: st.just([rows[: len(rows) // 2], rows[len(rows) // 2 :]]))
    )
    def check(files: Sequence[Sequence[Row]]) -> None:
        compare(files)

    check()


@both
@pytest.mark.parametrize(("backend", "held"), [("sqlite", False), ("postgresql", True)])
def test_figures_are_those_of_the_ledger(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held: bool
) -> None:
    """Whether DuckDB holds the rows or, if they are too many, reads the files each time."""
    if not held:
        monkeypatch.setattr(lake_connection, "MOST_HELD", 1)
    make_both(ledger, tmp_path, [some_rows(30), some_rows(30, 30, 2)])

    def figures(project: str) -> list[Any]:
        results: list[Any] = [
            ledger.agreement(project),
            ledger.audit(project),
            ledger.by_pair(project),
            ledger.agreement(project, as_of="2026-01-20"),
            ledger.history(project, "week"),
        ]
        assert ledger.moments(project, 9) == ledger.moments("p", 9)
        payloads = [result.to_dict() for result in results]
        assert ("manifest" in payloads[0]) == (project == "q")
        texts = [str(payload | {"manifest": None}) for payload in payloads]
        return [text.replace(f"'{project}'", "'r'") for text in texts]

    assert figures("q") == figures("p")
