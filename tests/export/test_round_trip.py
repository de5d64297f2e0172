"""Labels, items and annotators are exported with types, and imported again as they were."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from tests.helpers import Write, standing, write_file
from tests.history.scripts import answers as scripted_answers
from tests.profiles import both, examples
from tracker.cli.app import app
from tracker.cli.import_options import Target
from tracker.core.errors import InvalidOption, Refused
from tracker.export import files
from tracker.export.labels import LABEL_COLUMNS
from tracker.ledger import Ledger

HEADER = (
    "question", "item", "annotator", "category", "pass", "labeled_at", "seconds", "kind",
    "confidence", "comment", "text", "topic", "length, in words",
)  # fmt: skip
ASKED = ["tone", "grade:interval", "tags:several"]
CATEGORIES = {"tone": ["good", "bad", 'so "so", =1+1'], "grade": ["1", "2.5"], "tags": ["x", "y"]}
KINDS = {"ada": "human", "bö": "human", "gpt": "model", "truth": "reference"}
_numbers = count(1)


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
        labels = st.lists(st.sampled_from(CATEGORIES[question]), max_size=most, unique=True)
        detail = (
            draw(st.sampled_from(["", "2026-01-02T03:04:05.678901Z", "2026-01-03"])),
            draw(st.sampled_from(["", "0.25", "17"])), KINDS[who],
            draw(st.sampled_from(["", "0.5"])), draw(st.sampled_from(["", "a; b\nc"])),
            f"text {item}" if item > 1 else "", "sport" if item % 2 else "=news", item,
        )  # fmt: skip
        rows += [
            (question, f" {item}", who, category, number, *detail)
            for category in draw(labels) or [""]
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
    return plain([
        (ledger.agreement(project, question=name).to_dict(), ledger.by_item(project, question=name))
        for name in ledger.question_names(project)
    ])  # fmt: skip


def labels(ledger: Ledger, project: str) -> list[tuple[Any, ...]]:
    with ledger.labels(project) as (columns, rows):
        assert tuple(columns[:10]) == ("question", *LABEL_COLUMNS)
        return sorted((tuple(columns), *map(tuple, rows)), key=repr)


@both
def test_exported_labels_are_imported_as_they_were(
    ledger: Ledger, tmp_path: Path, backend: str
) -> None:
    ways = ["csv", "frame", "parquet", "jsonl", "xlsx"] if backend == "sqlite" else ["csv"]
    asked = {"questions": ASKED, "columns": ["question=question"]}
    options: Any = asked | {"empty": "skipped", "accept": ["missing_words"]}

    @settings(examples(3), phases=[Phase.explicit, Phase.reuse, Phase.generate])
    @given(rows=answers())
    def check(rows: list[tuple[Any, ...]]) -> None:
        here = f"p{next(_numbers)}"
        first = write_file(tmp_path / "first.csv", [HEADER, *rows])
        ledger.import_file(first, here, keep=["topic", "length, in words"], **options)
        for way in ways:
            there = f"{here} by {way}"
            if way == "frame":
                ledger.import_frame(ledger.export_frame(here), there, **options)
            else:
                path = tmp_path / f"labels.{way}"
                with ledger.labels(here) as rows_of:
                    Target(path, f".{way}", force=True).write_rows(*rows_of, rows_of.types)
                ledger.import_file(path, there, **options)
            assert labels(ledger, there) == labels(ledger, here), way
        # Figures of the same labels are the same.
        assert figures(ledger, f"{here} by csv") == figures(ledger, here)

    check()


ROWS = [
    ("item", "annotator", "category", "labeled_at", "seconds", "pass"),
    ("1", "ada", "x", "2026-03-01T10:00:00.5+01:00", "2.5", 1),
    ("1", "bo", "", "", "", 1),
    ("2", "ada", "y", "2026-03-02", "", 2),
]


def check_types(frame: pd.DataFrame) -> None:
    kinds = {name: str(kind) for name, kind in frame.dtypes.items()}
    assert {kinds[name] for name in ("annotator", "category", "kind")} == {"category"}
    assert {kinds[name] for name in ("pass", "start", "end")} == {"Int64"}
    assert kinds["labeled_at"] == "datetime64[us, UTC]"
    assert kinds["seconds"] == "float64"
    assert frame["labeled_at"].iloc[0] == pd.Timestamp("2026-03-01T09:00:00.5Z")
    assert frame["labeled_at"].isna().tolist() == [False, True, False]
    texts = frame["category"].astype(object).where(frame["category"].notna(), None)
    assert texts.tolist() == ["x", None, "y"]
    assert frame["category"].cat.categories.tolist() == ["x", "y"]
    assert frame["pass"].tolist() == [1, 1, 2]


@pytest.mark.parametrize("at_once", [1, 50_000])
def test_frame_and_parquet_file_have_types(
    sqlite_ledger: Ledger, write: Write, tmp_path: Path, at_once: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    sqlite_ledger.import_file(write(ROWS), "p", empty="skipped")
    monkeypatch.setattr(files, "_AT_ONCE", at_once)
    frame = sqlite_ledger.export_frame("p")
    check_types(frame)
    with sqlite_ledger.labels("p") as rows:
        assert Target(tmp_path / "p.parquet", ".parquet").write_rows(*rows, rows.types) == 3
    check_types(pd.read_parquet(tmp_path / "p.parquet"))
    none = sqlite_ledger.export_frame("p", since="2027-01-01")
    assert (len(none), str(none["labeled_at"].dtype)) == (0, "datetime64[us, UTC]")
    with sqlite_ledger.consensus("p") as rows:
        votes = sqlite_ledger.rows_frame(rows)
    assert (str(votes["confidence"].dtype), str(votes["category"].dtype)) == ("float64", "category")
    sqlite_ledger.import_frame(frame, "q", empty="skipped")
    pd.testing.assert_frame_equal(sqlite_ledger.export_frame("q"), frame)


def export(ledger: Ledger, *words: str) -> Any:
    command = ["--database", f"sqlite:///{ledger.database.file}", "export", "labels", "p", *words]
    return CliRunner().invoke(app, command)


def test_files_of_a_folder_hold_whole_items_and_are_read_back(
    sqlite_ledger: Ledger, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "A_FILE", 10)
    lake = tmp_path / "lake"
    sqlite_ledger.import_file(write(scripted_answers(30)), "p")
    done = export(sqlite_ledger, "--partitioned", str(lake))
    assert done.exit_code == 0, done.output
    paths = sorted(lake.iterdir())
    assert [path.name for path in paths] == [f"part-{n + 1:05}.parquet" for n in range(len(paths))]
    tables = [pq.read_table(path) for path in paths]
    assert [len(table) for table in tables] == [12] * 7 + [6]
    items = [{*table.column("item").to_pylist()} for table in tables]
    assert sum(map(len, items)) == len(set().union(*items)) == 30
    assert tables[0].schema.field("pass").type == pa.int64()
    assert tables[0].schema.field("labeled_at").type == pa.timestamp("us", "UTC")
    sqlite_ledger.import_file([*map(str, paths)], "again")
    assert standing(sqlite_ledger, "again") == standing(sqlite_ledger, "p")
    for words in ([], ["-o", "a.csv", "--partitioned", "lake"]):  # one place is needed
        assert isinstance(export(sqlite_ledger, *words).exception, InvalidOption)


def test_folder_is_written_whole_and_never_into_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rows() -> Any:
        yield from [(f"i{n}", "x") for n in range(25)]
        raise ZeroDivisionError

    monkeypatch.setattr(files, "A_FILE", 10)
    lake = tmp_path / "lake"
    with pytest.raises(ZeroDivisionError):
        files.write_parquet_folder(lake, ("item", "category"), rows(), {})
    assert [*tmp_path.iterdir()] == []
    lake.mkdir()
    files.write_parquet_folder(lake, ("item",), iter([("i",)]), {})
    (tmp_path / "file").touch()
    for path, message in (
        (lake, "is there and not empty"),
        (tmp_path / "file/x", "cannot be made"),
    ):
        with pytest.raises(InvalidOption, match=message):
            files.write_parquet_folder(path, ("item",), iter([("j",)]), {})
    assert pq.read_table(lake).to_pylist() == [{"item": "i"}]


ITEMS = [
    ("item", "text", "n_tokens", "attribute:text", "attribute:length, in words"),
    ("i", "a; b\nc", 3, "=1+1", "3"), ("j", "", "", "", ""), ("007", "x", "", "1,5", ""),
]  # fmt: skip
PEOPLE = [
    ("annotator", "kind", "attribute:kind", "worker", "team"),
    ("ann", "", "=kind", "17", "north"), ("gpt", "model", "", "", ""),
    ("eve", "", "", "", " south\n(new)"),
]  # fmt: skip


def facts(ledger: Ledger, project: str) -> Any:
    items = [ledger.items.show(project, one.name) for one in ledger.items.list(project)]
    people = [one.to_dict() for one in ledger.annotators.list(project)]
    return [(one.name, one.text, one.attributes) for one in items], people


def test_facts_of_items_and_annotators_are_imported_as_they_were(
    ledger: Ledger, tmp_path: Path, write: Write
) -> None:
    ledger.import_items(write_file(tmp_path / "items.csv", ITEMS), "p")
    ledger.import_file(write("item,annotator,label\ni,ann,x\ni,gpt,y\n"), "p")
    ledger.import_annotators(write_file(tmp_path / "people.csv", PEOPLE), "p")
    readers = {"items": ledger.import_items, "annotators": ledger.import_annotators}
    for form in ("csv", "parquet", "xlsx"):
        paths = {name: tmp_path / f"{name}.{form}" for name in ("items", "labels", "annotators")}
        for name in readers:
            with ledger.facts("p", name) as rows:
                assert Target(paths[name], f".{form}", True).write_rows(*rows, rows.types) == 3
        with ledger.labels("p") as rows:
            Target(paths["labels"], f".{form}").write_rows(*rows, rows.types)
        ledger.import_items(paths["items"], form)
        ledger.import_file(paths["labels"], form)
        ledger.import_annotators(paths["annotators"], form)
        assert facts(ledger, form) == facts(ledger, "p")
        assert facts(ledger, form)[0][0][2] == {"text": "=1+1", "length, in words": "3"}
        with ledger.facts("p", "items") as here, ledger.facts(form, "items") as there:
            assert list(there.rows) == list(here.rows)
    for name, read in readers.items():
        assert read(tmp_path / f"{name}.csv", "p").unchanged == 3, "into the same project"
    with pytest.raises(Refused, match="several columns named 'team'"):
        ledger.import_annotators(write("annotator,team,attribute:team\nann,a,b\n"), "p")
    for row in ledger.imports.list():
        ledger.imports.undo(row.id)
    for name, columns in (("items", ["item"]), ("annotators", ["annotator", "kind"])):
        with ledger.facts("p", name) as rows:
            assert (list(rows.columns), list(rows.rows)) == (columns, [])
