"""Labels in files: what is new is checked, and counted alone, by DuckDB or by Spark."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Sequence
from datetime import date
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sqlalchemy import func, select
from typer.testing import CliRunner

from tests.counts.counted import everything, part
from tests.lake.lakes import (
    CATEGORIES,
    DAY,
    FIRST,
    Row,
    drawn_rows,
    make_both,
    some_rows,
    touch,
    write_csv,
    write_parquet,
)
from tests.profiles import both, examples, exhaustive, on_sqlite
from tests.storage.as_of.plain import Clock
from tracker.audit.slices_sql import count_patterns_by_slice
from tracker.cli.app import app
from tracker.core import clock
from tracker.core.errors import InvalidOption, Refused, TrackerError
from tracker.core.tallies import ItemPatterns
from tracker.counts import import_tallies
from tracker.counts.filter import AnswerFilter, select_answers
from tracker.lake import connection as lake_connection
from tracker.lake import recorded
from tracker.lake.choose import check_file_engine, file_engine, is_master
from tracker.lake.connection import LakeConnection
from tracker.lake.duckdb import DuckDBFiles
from tracker.lake.files import Address
from tracker.lake.recorded import FilesChanged
from tracker.ledger import Ledger
from tracker.storage.schema import Base


@pytest.fixture
def lake(ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project q of two files, each a part of its own, beside p of the same labels."""
    monkeypatch.setattr(recorded, "PART", 1)
    make_both(ledger, tmp_path, [some_rows(), some_rows(20, 40, 2)])
    return tmp_path / "lake"


@pytest.fixture
def counted_files(monkeypatch: pytest.MonkeyPatch) -> list[set[str]]:
    seen: list[set[str]] = []
    columns = LakeConnection.columns

    def noting(self: LakeConnection, statement: Any, files: Sequence[Any]) -> Any:
        seen.append({Path(file.path).name for file in files})
        return columns(self, statement, files)

    monkeypatch.setattr(LakeConnection, "columns", noting)
    return seen


def agreement(ledger: Ledger, project: str, **asked: Any) -> str:
    payload = ledger.agreement(project, **asked).to_dict()
    payload.pop("manifest", None)
    return str(payload).replace(f"'{project}'", "")


@both
def test_only_what_is_new_is_counted(
    ledger: Ledger, lake: Path, counted_files: list[set[str]]
) -> None:
    """And the figures are those of all files, counted at once. (Conger's error asks for more.)"""

    def figures(project: str) -> str:
        return agreement(ledger, project, measures=["fleiss_kappa", "krippendorff_alpha"])

    before = figures("q")
    counted_files.clear()
    assert figures("q") == before
    assert counted_files == [], "what was counted is kept"
    new, last = lake / "2.parquet", lake / "1.parquet"
    acts: list[tuple[Callable[[], object], tuple[int, int, int], set[str]]] = [
        (lambda: write_parquet(new, some_rows(20, 60, 3)), (1, 0, 0), {new.name}),
        (lambda: write_parquet(last, some_rows(20, 40, 7)), (0, 1, 0), {last.name}),
        (last.unlink, (0, 0, 1), set()),
    ]
    for number, (act, expected, names) in enumerate(acts):
        act()
        read = ledger.projects.read_labels("q")
        assert (read.added, read.changed, read.gone) == expected
        counted_files.clear()
        after = figures("q")
        assert set[str]().union(*counted_files) == names
        ledger.projects.create(f"r{number}", labels_at=str(lake), categories=CATEGORIES)
        assert figures(f"r{number}") == after != before
        before = after


def test_what_came_since_a_group_was_counted_is_counted_at_once(
    ledger: Ledger, tmp_path: Path, counted_files: list[set[str]]
) -> None:
    lake = tmp_path / "lake"
    for number in range(4):
        write_parquet(lake / f"{number}.parquet", some_rows(20, 20 * number, number))
        if number:
            ledger.projects.read_labels("q")
        else:
            ledger.projects.create("q", labels_at=str(lake), categories=CATEGORIES)
        if number != 2:
            counted_files.clear()
            agreement(ledger, "q", measures=["fleiss_kappa"])
            alone = {3: {"2.parquet", "3.parquet"}}.get(number, {f"{number}.parquet"})
            assert counted_files
            assert all(files == alone for files in counted_files)
    counted_files.clear()
    by_pair = ledger.by_pair("q")
    assert {len(files) for files in counted_files} == {4}
    ledger.projects.create("r", labels_at=str(lake), categories=CATEGORIES)
    for asked in ({}, {"measures": ["fleiss_kappa"]}):
        assert agreement(ledger, "q", **asked) == agreement(ledger, "r", **asked)
    assert ledger.by_pair("r").pairs == by_pair.pairs


def test_items_in_two_files_make_one_part(ledger: Ledger, lake: Path) -> None:
    rows = [Row("item 001", "Z", "x"), Row("item 050", "Z", "y"), Row("item 099", "Z", "y")]
    write_parquet(lake / "2.parquet", rows)
    assert ledger.projects.read_labels("q").parts == 1
    ledger.projects.create("r", labels_at=str(lake / "?.parquet"), categories=CATEGORIES)
    assert agreement(ledger, "r") == agreement(ledger, "q")
    write_parquet(lake / "3.parquet", some_rows(20, 60, 3))
    assert ledger.projects.read_labels("q").parts == 2


def test_unread_files_are_not_counted(
    ledger: Ledger, lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = agreement(ledger, "q")
    touch(lake / "1.parquet", 5)
    read = ledger.projects.read_labels("q")
    assert (read.added, read.changed, read.gone) == (0, 0, 0), "another time, the same content"
    assert agreement(ledger, "q") == first
    assert len(ledger.projects.changes("q").acts) == 2, "nothing was recorded"
    notices: list[str] = []
    ledger.notice = notices.append
    write_parquet(lake / "2.parquet", some_rows(20, 60, 3))
    assert agreement(ledger, "q") == first
    assert notices == ["1 new file of labels not counted yet: tracker project read-labels q"]
    touch(lake / "1.parquet", 10)
    with pytest.raises(Refused, match=r"1\.parquet has changed since it was read"):
        agreement(ledger, "q")
    assert ledger.projects.read_labels("q").added == 1
    file = lake / "0.parquet"
    before, content = file.stat(), file.read_bytes()
    file.write_bytes(content[:99] + bytes([content[99] ^ 1]) + content[100:])
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (file.stat().st_size, file.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    with pytest.raises(Refused, match=r"0\.parquet has changed since it was read"):
        agreement(ledger, "q")
    file.write_bytes(content)
    ledger.projects.read_labels("q")
    table = DuckDBFiles.table

    def swapping(engine: Any, text: str) -> Any:
        found = table(engine, text)
        file.write_bytes(content)
        return found

    monkeypatch.setattr(DuckDBFiles, "table", swapping)
    with pytest.raises(Refused, match=r"0\.parquet changed while it was counted"):
        agreement(ledger, "q", exclude_annotators=["A"])
    file.unlink()
    with pytest.raises(Refused, match=r"0\.parquet is gone"):
        agreement(ledger, "q")


def test_figures_of_before_are_those_of_the_files_of_then(ledger: Ledger, lake: Path) -> None:
    """And those of another project, which may have changed since, are no matter of theirs."""
    other = write_parquet(lake.parent / "other.parquet", some_rows(9))

    def figures(**asked: Any) -> Any:
        return ledger.agreement("q", **asked).to_dict()["measures"]

    def read(file: Path, rows: list[Row], project: str) -> None:
        write_parquet(file, rows)
        ledger.projects.read_labels(project)

    ledger.projects.create("r", labels_at=str(other), categories=CATEGORIES)
    read(lake / "2.parquet", some_rows(9, 60, 3), "q")
    ledger.snapshot("q", name="first")
    first = figures()
    then = clock.iso(ledger.projects.changes("q").acts[0].at)
    for items in (8, 7, 6):
        read(other, some_rows(items), "r")
    read(lake / "3.parquet", some_rows(9, 70, 4), "q")
    ledger.snapshot("q", name="second")
    assert figures(known_at=then) == first
    assert ledger.compare("q", "first", "second").to_dict()["b"]["name"] == "second"
    read(lake / "0.parquet", some_rows(40, 0, 9), "q")
    with pytest.raises(FilesChanged, match="1 file of then changed since"):
        agreement(ledger, "q", known_at=then)
    assert not ledger.verify("q").faults, "what cannot be counted again is no fault"
    with pytest.raises(Refused, match="no file with labels was read by then"):
        agreement(ledger, "q", known_at="2020-01-01")


def test_items_are_drawn_by_their_names(ledger: Ledger, tmp_path: Path) -> None:
    """Whatever file they are in, whatever number of files there is."""
    rows = some_rows(200)
    make_both(ledger, tmp_path, [rows, [Row("item 999", "A", "x")]])
    for n, rows_of_file in enumerate((rows[450:], rows[:450])):
        write_parquet(tmp_path / "other" / f"{n}.parquet", rows_of_file)
    ledger.projects.create("r", labels_at=str(tmp_path / "other"), categories=CATEGORIES)

    def drawn(project: str) -> ItemPatterns:
        with ledger.asking(project) as (connection, question):
            selection = select_answers(connection, question, AnswerFilter())
            patterns, _ = count_patterns_by_slice(connection, selection, 0.3)
            return patterns

    assert drawn("q") == drawn("r")
    assert 40 < drawn("q").items_compared < 80


def test_two_items_of_one_number_are_refused(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They would be taken for one item; so rare that the numbers are made short here."""
    monkeypatch.setattr(DuckDBFiles, "number", "CAST('0x' || SUBSTR(MD5({}), 1, 1) AS BIGINT)")
    with pytest.raises(Refused, match=r"items item \d+ and item \d+ have one number"):
        make_both(ledger, tmp_path, [some_rows(60)])


BAD: list[tuple[list[Row], dict[str, Any] | None, str]] = [
    ([Row("", "A", "x")], None, "1 row with no item"),
    ([Row("i", " ", "x")], None, "1 row with no annotator"),
    ([Row("i", "A", "x", 0)], None, "1 row with a pass that is not 1, 2, …"),
    ([Row("i", "A", "x", 1, 4000)], None, "1 row with a labeled_at in the future"),
    ([Row("i", "A", "x", 1, 0, -1.0)], None, "1 row with a time spent below 0"),
    ([Row("i", "A", "x"), Row("i", "A", "y")], None, "A answered item i more than once on pass 1"),
    ([Row("i", "A", "x", kind="robot")], None, "A: 'robot' is no kind of annotator"),
    ([Row("i", "A", "w")], None, "'w' is none of the project's categories"),
    ([Row("i", "A", "x")], {"labeled_at": pa.int64()}, "'labeled_at' is int64, not a timestamp"),
    ([Row("i", "A", "x")], {"annotator": None}, "has no column"),
]


def test_rows_that_cannot_be_counted_are_refused(ledger: Ledger, tmp_path: Path) -> None:
    for rows, types, why in BAD:
        write_parquet(tmp_path / "a.parquet", rows, types)
        with pytest.raises(TrackerError, match=why):
            ledger.projects.create("q", labels_at=str(tmp_path), categories=CATEGORIES)
    with ledger.database.read() as connection:
        for table in ("projects", "lakes", "lake_files", "lake_names", "changes"):
            rows_of = select(func.count()).select_from(Base.metadata.tables[table])
            assert connection.scalar(rows_of) == 0, table


ACTS: list[Callable[[Ledger, Path], object]] = [
    lambda ledger, lake: ledger.import_file(lake / "0.parquet", "q", empty="skipped"),
    lambda ledger, lake: ledger.import_items(lake / "0.parquet", "q"),
    lambda ledger, _: ledger.imports.undo(2),
    lambda ledger, _: ledger.categories.merge("q", "x", "y"),
    lambda ledger, _: ledger.annotators.merge("q", "A", "C"),
]


def test_labels_in_files_are_only_read(ledger: Ledger, lake: Path) -> None:
    first = agreement(ledger, "q")
    for act in ACTS:
        with pytest.raises(Refused, match="the labels of q lie in files, which are only read"):
            act(ledger, lake)
    write_parquet(lake / "2.parquet", [Row("i", "A", "x"), Row("i", "A", "y")])
    with pytest.raises(Refused, match="A answered item i more than once"):
        ledger.projects.read_labels("q")
    (lake / "2.parquet").write_bytes(b"PAR1")
    with pytest.raises(Refused, match=r"2\.parquet is no Parquet file"):
        ledger.projects.read_labels("q")
    (lake / "2.parquet").unlink()
    assert agreement(ledger, "q") == first
    with pytest.raises(InvalidOption, match="the labels of p are in the ledger"):
        ledger.projects.read_labels("p")
    with pytest.raises(InvalidOption, match="--map and --engine are about labels in files"):
        ledger.projects.create("r", columns=["item=doc"])


@pytest.mark.parametrize(
    ("types", "labels"),
    [
        ({"item": pa.int32(), "annotator": pa.int64(), "labeled_at": pa.timestamp("ns")}, None),
        ({"item": pa.large_string(), "annotator": pa.string(), "kind": None}, None),
        ({"category": pa.bool_(), "labeled_at": pa.timestamp("ms", "UTC"), "pass": None},
         [True, False]),
        ({"category": pa.float64(), "seconds": None}, [1.0, 2.0]),
    ],
    ids=["numbers of items and annotators", "texts", "truths", "floats"],
)  # fmt: skip
def test_columns_of_other_types_are_read_as_an_import_reads_them(
    ledger: Ledger, tmp_path: Path, types: dict[str, Any], labels: list[Any] | None
) -> None:
    numbered = pa.types.is_integer(types.get("item", pa.string()))
    people = pa.types.is_integer(types.get("annotator", pa.string()))
    rows: list[Any] = [
        (n if numbered else f"i{n:02}", 7 + who if people else "ABC"[who],
         (labels or ["x", "y"])[(n * who) % 2], 1, n % 5, 2, "human")
        for n in range(12) for who in range(3)
    ]  # fmt: skip
    file = write_parquet(tmp_path / "a.parquet", [Row(*row) for row in rows], types)
    ledger.import_file(file, "p", empty="skipped")
    ledger.projects.create("q", labels_at=str(file))
    assert agreement(ledger, "q") == agreement(ledger, "p")


def test_columns_are_mapped_as_in_an_import(ledger: Ledger, tmp_path: Path) -> None:
    names = ["doc", "coder", "verdict", "on"]
    cells = [["i", "i", "j", "j"], ["A", "B"] * 2, ["x", "x", "y", "x"], [date(2026, 1, 2)] * 4]
    file = tmp_path / "a.parquet"
    pq.write_table(pa.table(cells, names), file)
    columns = ["item=doc", "annotator=coder", "category=verdict", "labeled_at=on"]
    ledger.import_file(file, "p", columns=columns, empty="skipped")
    ledger.projects.create("q", labels_at=str(file), columns=columns)
    assert agreement(ledger, "q") == agreement(ledger, "p")
    for wrong, why in (
        ("item=gone", "gone"),
        ("comment=on", "--map comment: it is not read of labels in files"),
        ("item=doc+on", "one column of the files"),
        ("annotator=cader", r"no column 'cader'.*\n.*'coder'"),
    ):
        with pytest.raises(TrackerError, match=why):
            ledger.projects.create("r", labels_at=str(tmp_path), columns=[wrong])
    pq.write_table(pa.table(cells, ["a", "b", "category", "on"]), file)
    with pytest.raises(Refused, match=r"no column for the item or the annotator.*\n.*item=COLUMN"):
        ledger.projects.create("r", labels_at=str(tmp_path), columns=["category=category"])


@pytest.mark.parametrize("names", [("file", "file_index"), ("File_Index", "remark")])
def test_other_columns_of_files_may_have_any_name_and_differ(
    ledger: Ledger, tmp_path: Path, names: Sequence[str]
) -> None:
    folder = tmp_path / "it's 50%"
    rows = [Row(f"i{n}", "ABC"[who], "xy"[n * who % 2]) for n in range(9) for who in range(3)]
    for number, types in enumerate([{}, {"item": pa.large_string(), "kind": None}, {}]):
        path = write_parquet(folder / f"{number} [a]*.parquet", rows[number * 9 :][:9], types)
        table = pq.read_table(path)
        for name in names[:1] if number == 2 else names:
            table = table.append_column(name, pa.array([number] * len(table)))
        pq.write_table(table, path)
    ledger.import_file(write_csv(tmp_path / "a.csv", rows), "p", empty="skipped")
    ledger.projects.create("q", labels_at=str(folder))
    assert agreement(ledger, "q") == agreement(ledger, "p")


def test_a_place_is_a_file_a_folder_a_pattern_or_a_url(tmp_path: Path) -> None:
    rows = [Row("i", "A", "x")]
    for name in ("a b.parquet", "deep/c.parquet", "deep/_skipped.parquet", ".hidden.parquet"):
        write_parquet(tmp_path / name, rows)
    (tmp_path / "notes.txt").write_text("no labels")
    write_parquet(tmp_path / "labels", rows)

    def names(address: str) -> list[str]:
        files = Address.parse(address).list_files()
        return [str(Path(file.path).relative_to(tmp_path)) for file in files]

    assert names(str(tmp_path)) == ["a b.parquet", "deep/c.parquet"]
    assert names(f"file://{tmp_path}") == ["a b.parquet", "deep/c.parquet"]
    assert names(str(tmp_path / "labels")) == ["labels"]
    assert names(str(tmp_path / "*.parquet")) == ["a b.parquet"]
    assert names(str(tmp_path / "*" / "*.parquet")) == ["deep/c.parquet"]
    with pytest.raises(Refused, match="there is no Parquet file"):
        names(str(tmp_path / "x*.parquet"))


SECRET = (
    "s3://key:hunter2@bucket/labels",
    "s3://hunter2@bucket/labels",
    "gs://bucket/labels?access_token=hunter2",
    "https://host/labels.parquet?sig=hunter2",
    "s3://bucket/labels?secret_key=hunter2&region=eu",
)


@on_sqlite
def test_places_and_engines_that_are_refused_and_never_a_secret_printed(ledger: Ledger) -> None:
    for address, engine, why in (
        *((secret, None, "holds credentials") for secret in SECRET),
        ("http://host/a.parquet", None, "--labels-at"),
        ("", None, "--labels-at is empty"),
        ("a.parquet", "oracle", "there is no engine 'oracle' for labels in files"),
    ):
        with pytest.raises(InvalidOption, match=why) as refused:
            ledger.projects.create("q", labels_at=address, engine=engine)
        assert "hunter2" not in f"{refused.value!r}{refused.value}"
    assert b"hunter2" not in Path(str(ledger.database.file)).read_bytes()
    with pytest.raises(Refused, match=r"DuckDB: .*nowhere") as caught:
        file_engine("duckdb").table("SELECT nothing FROM nowhere")
    assert "\n" not in caught.value.message


@on_sqlite
def test_the_command_shows_what_it_read(ledger: Ledger, lake: Path) -> None:
    asked = ["--database", f"sqlite:///{ledger.database.file}", "project"]
    write_parquet(lake / "2.parquet", some_rows(20, 60, 3))
    told = CliRunner().invoke(app, [*asked, "read-labels", "q", "--json"])
    read = json.loads(told.stdout)
    assert (read["files"], read["added"], read["labels_at"]) == (3, 1, str(lake))
    about = json.loads(CliRunner().invoke(app, [*asked, "show", "q", "--json"]).stdout)
    assert (about["labels_at"], about["engine"]) == (str(lake), "duckdb")


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


@both
def test_answers_of_the_same_time_are_in_the_order_of_their_items_keys(
    compare: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Row, "moment", property(lambda row: FIRST + row.day % 2 * DAY))
    compare([some_rows(20)[::-1]], 9)


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
            ledger.agreement(project), ledger.audit(project), ledger.by_pair(project),
        ]  # fmt: skip
        if not held:
            results += [ledger.agreement(project, as_of="2026-01-20")]
        assert ledger.moments(project, 9) == ledger.moments("p", 9)
        payloads = [result.to_dict() for result in results]
        assert ("manifest" in payloads[0]) == (project == "q")
        texts = [str(payload | {"manifest": None}) for payload in payloads]
        return [text.replace(f"'{project}'", "'r'") for text in texts]

    assert figures("q") == figures("p")


MISSING = [name for name in ("pyspark", "sqlglot") if find_spec(name) is None]
MISSING += [] if shutil.which("java") else ["Java"]
needs_spark = pytest.mark.skipif(
    bool(MISSING),
    reason=f"Spark is NOT tested: no {', no '.join(MISSING)}; pip install -e '.[spark]', and Java",
)


MASTER = "local[2]"


@pytest.fixture
def two_lakes(sqlite_ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same files for two projects: d counts in DuckDB, s in Spark."""
    monkeypatch.setattr(recorded, "PART", 1)
    monkeypatch.setattr(import_tallies, "LEAST_ROWS", 1)
    folder = tmp_path / "a lake+ü%"
    write_parquet(folder / "0 of 2.parquet", some_rows())
    write_parquet(folder / "1 of 2.parquet", some_rows(20, 40, 2))
    for name, engine in (("d", "duckdb"), ("s", MASTER)):
        sqlite_ledger.projects.create(
            name, labels_at=str(folder), engine=engine, categories=CATEGORIES
        )
    return folder


def counted(ledger: Ledger, project: str, choice: AnswerFilter) -> dict[str, Any]:
    with ledger.asking(project) as (connection, question):
        selection = select_answers(connection, question, choice)
        counts = everything(connection, selection)
        drawn = count_patterns_by_slice(connection, selection, 0.3)
    files = [(who, file.number, own) for who, file, own in counts.pop("files") or ()]
    return counts | {"files": files, "drawn": drawn}


def told(ledger: Ledger, project: str) -> list[str]:
    figures: list[Any] = [
        ledger.agreement(project),
        ledger.audit(project),
        [*ledger.by_pair(project).pairs],
        ledger.agreement(project, as_of="2026-01-20"),
        ledger.compare(project, "2026-01-01..2026-01-20", "2026-01-21..2026-02-20"),
        ledger.history(project, every="week"),
    ]
    return [str(figure).replace(f"'{project}'", "'p'") for figure in figures]


@pytest.mark.spark
@needs_spark
def test_spark_counts_what_duckdb_counts(sqlite_ledger: Ledger, two_lakes: Path) -> None:
    for choice in (AnswerFilter(), AnswerFilter(excluded=("A",))):
        assert counted(sqlite_ledger, "s", choice) == counted(sqlite_ledger, "d", choice)
    assert told(sqlite_ledger, "s") == told(sqlite_ledger, "d")
    table = pq.read_table(two_lakes / "0 of 2.parquet")
    pq.write_table(table.append_column("file", [["f"] * len(table)]), two_lakes / "0 of 2.parquet")
    touch(two_lakes / "0 of 2.parquet", 3)
    files = (("2 of 2.parquet", some_rows(9, 60, 3)), ("1 of 2.parquet", some_rows(20, 40, 5)))
    for name, rows in files:
        write_parquet(two_lakes / name, rows, {"seconds": None})
        touch(two_lakes / name, 5)
        read = [sqlite_ledger.projects.read_labels(project) for project in "sd"]
        assert read[0].manifest == read[1].manifest
        assert told(sqlite_ledger, "s")[0] == told(sqlite_ledger, "d")[0]


def test_a_cluster_is_named_by_its_master() -> None:
    names = ("spark://host:7077", "local[2]", "local[*]", "local-cluster[2,1,1024]", "yarn",
             "local", "k8s://https://host:443")  # fmt: skip
    assert all(map(is_master, names))
    assert not any(map(is_master, ("spark", "duckdb", "native", "auto", "spark:host", "")))


def test_an_engine_that_is_not_installed_is_told_of(
    sqlite_ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tracker.lake.choose.find_spec", lambda _: None)
    for name, extra in (("duckdb", "duckdb"), (MASTER, "spark")):
        with pytest.raises(Refused, match="is not installed") as caught:
            check_file_engine(name)
        assert f"annotation-tracker[{extra}]" in str(caught.value)
    url = f"sqlite:///{sqlite_ledger.database.file}"
    run = CliRunner().invoke(app, ["--database", url, "--engine", MASTER, "project", "list"])
    assert isinstance(run.exception, Refused)
