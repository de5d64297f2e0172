"""Exported labels, imported into another project, are the same labels with the same figures."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.helpers import write_file
from tests.profiles import both, examples
from tracker.cli.import_options import Target
from tracker.export.labels import LABEL_COLUMNS
from tracker.ledger import Ledger

HEADER = (
    "question", "item", "annotator", "category", "pass", "labeled_at", "seconds", "kind",
    "confidence", "comment", "text", "topic", "length, in words",
)  # fmt: skip
ASKED = ["tone", "grade:interval", "tags:several"]
CATEGORIES = {"tone": ["good", "bad", 'so "so", =1+1'], "grade": ["1", "2.5"], "tags": ["x", "y"]}
KINDS = {"ada": "human", "bö": "human", "gpt": "model", "truth": "reference"}


@st.composite
def answers(draw: st.DrawFn) -> list[tuple[Any, ...]]:
    """Rows of a long file: at most one answer per question, item, annotator and pass."""
    keys = st.tuples(
        st.sampled_from([*CATEGORIES]), st.integers(1, 5), st.sampled_from([*KINDS]),
        st.integers(1, 2),
    )  # fmt: skip
    rows = []
    for question, item, who, number in draw(st.sets(keys, min_size=1, max_size=15)):
        most = 2 if question == "tags" else 1
        given = st.lists(st.sampled_from(CATEGORIES[question]), max_size=most, unique=True)
        detail = (
            draw(st.sampled_from(["", "2026-01-02T03:04:05.678901Z", "2026-01-03"])),
            draw(st.sampled_from(["", "0.25", "17"])), KINDS[who],
            draw(st.sampled_from(["", "0.5"])), draw(st.sampled_from(["", "a; b\nc"])),
            f"text {item}" if item > 1 else "", "sport" if item % 2 else "=news", item,
        )  # fmt: skip
        rows += [
            (question, f" {item}", who, category, number, *detail)
            for category in draw(given) or [""]
        ]
    return rows


def plain(value: Any) -> Any:
    """JSON whose order, and last digits, do not depend on the order in which items came."""
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items() if name != "project"}
    if isinstance(value, list | tuple):
        return sorted((plain(one) for one in value), key=repr)
    return round(value, 9) if isinstance(value, float) else value


def figures(ledger: Ledger, project: str) -> Any:
    """The agreement on each question and the votes on each item, as JSON."""
    told: list[Any] = []
    for name in ledger.question_names(project):
        told += [
            ledger.agreement(project, question=name).to_dict(),
            ledger.by_item(project, question=name),
        ]
    return plain(told)


def labels(ledger: Ledger, project: str) -> list[tuple[Any, ...]]:
    with ledger.labels(project) as (columns, rows):
        assert tuple(columns[:10]) == ("question", *LABEL_COLUMNS)
        return sorted((tuple(columns), *map(tuple, rows)), key=repr)


_numbers = count(1)
PHASES = [Phase.explicit, Phase.reuse, Phase.generate]


@both
def test_what_is_exported_is_imported_as_it_was(
    ledger: Ledger, tmp_path: Path, backend: str
) -> None:
    ways = ["csv", "frame", "parquet", "jsonl", "xlsx"] if backend == "sqlite" else ["csv"]

    @settings(examples(3), phases=PHASES)
    @given(rows=answers())
    def round_trip(rows: list[tuple[Any, ...]]) -> None:
        check(ledger, tmp_path, rows, ways)

    round_trip()


def check(ledger: Ledger, tmp_path: Path, rows: list[tuple[Any, ...]], ways: list[str]) -> None:
    here = f"p{next(_numbers)}"
    first = write_file(tmp_path / "first.csv", [HEADER, *rows])
    keep = ["topic", "length, in words"]
    ledger.import_file(first, here, questions=ASKED, keep=keep, columns=["question=question"])
    options: Any = {"questions": ASKED, "columns": ["question=question"]}
    for way in ways:
        there = f"{here} by {way}"
        if way == "frame":
            ledger.import_frame(ledger.export_frame(here), there, **options)
        else:
            path = tmp_path / f"labels.{way}"
            with ledger.labels(here) as found:
                Target(path, f".{way}", force=True).write_rows(*found, found.types)
            ledger.import_file(path, there, **options)
        assert labels(ledger, there) == labels(ledger, here), way
    # Figures of the same labels are the same.
    assert figures(ledger, f"{here} by csv") == figures(ledger, here)
