"""The views show what commands and exports show, on either database."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from sqlalchemy import inspect, text

from tests.audit.flags.found import Seen, listed, record, record_in, shown
from tests.filled import FillOnce
from tests.helpers import SEVERAL, SPANS, Write, undo, write_file
from tests.house import CHECKOUT
from tests.storage.seals.furnished import furnished
from tracker.agreement.groups import agreement_by_item
from tracker.imports.undo import list_imports
from tracker.ledger import Ledger
from tracker.projects.annotators import set_annotator_kind
from tracker.projects.identities import erase_annotator, merge_annotators
from tracker.storage.views import VIEWS

PAGE = (CHECKOUT / "docs" / "views.md").read_text("utf-8")
EXAMPLES = re.findall(r"```sql\n(SELECT.*?)```", PAGE, re.DOTALL)

OTHERS = """item,annotator,category,pass,labeled_at,gold
 i,A,x,1,1969-12-31T23:59:59.999999,
 i,A,y,2,0001-01-01,
 i,B,,1,2026-01-04T12:00:00.000001,
 i,B,y,2,2026-01-04T12:00:00.25,
 i,M,x,1,,
 j,A,X,1,,x
 j,B2,x,1,,x
 l,B,none applies,1,,x
 l,A,skipped,1,,x
 l,C,y,1,,
 k,A,,1,,"""

TONE = """item,annotator,category,confidence,comment
 i,A,rude,0.9,the second line
 i,B,polite,,
 j,A,polite,0.25,
 j,C,rude,,not sure"""
TOPICS = """item,annotator,category,confidence
 i,A,x,0.5
 i,A,y,
 i,B,x,1
 j,B,y,0"""
LATER = """item,annotator,category,confidence
 i,A,polite,0.75"""
PEOPLE = """annotator,kind,team,years
 A,,north,3
 B,,south,
 M,model,,"""


def plain(value: Any) -> Any:
    """A cell as either database gives it; moments as aware times."""
    if isinstance(value, str) and re.match(r"\d{4}-\d\d-\d\dT", value):
        value = datetime.fromisoformat(value)
    if isinstance(value, datetime):
        return value.astimezone(UTC)
    return value


def rows(ledger: Ledger, statement: str, project: str = "p") -> list[dict[str, Any]]:
    """The rows of a view, or of a statement, about a project."""
    words = f"SELECT * FROM {statement} WHERE project = :project"
    with ledger.database.read() as connection:
        found = connection.execute(text(words), {"project": project}).mappings()
        return [{name: plain(value) for name, value in row.items()} for row in found]


def some(found: Iterable[dict[str, Any]], *names: str) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(plain(row[name]) for name in names) for row in found)


@pytest.fixture
def told(ledger: Ledger, fill_once: FillOnce) -> Ledger:
    """Answers of every kind; merged, erased and undone ones."""
    return fill_once(ledger, tell)


def tell(ledger: Ledger) -> None:
    with TemporaryDirectory() as folder:
        numbers = count()
        tell_from(ledger, lambda text: write_file(Path(folder) / f"{next(numbers)}.csv", text))


def tell_from(ledger: Ledger, write: Write) -> None:
    furnished(ledger, write)
    ledger.import_file(write(OTHERS), "others", empty="skipped")
    ledger.categories.merge("others", "X", "x")
    with ledger.writing("others") as (connection, project):
        set_annotator_kind(connection, project, "M", "model")
        merge_annotators(connection, project, "B2", "B")
        erase_annotator(connection, project, "C")
    sets = write("item,annotator,category\n i,A,x\n i,A,y\n i,B,\n j,B,x\n j,A,y")
    ledger.import_file(sets, "sets", options=SEVERAL)
    header = "item,annotator,category,start,end\n"
    spans = write(header + "i,A,x,0,3\n i,A,x,4,5\n i,B,y,0,1\n j,A,,,")
    ledger.import_file(spans, "spans", options=SPANS)
    ledger.import_file(write(TONE), "rubric", questions=["tone"], empty="skipped")
    ledger.import_file(write(TOPICS), "rubric", questions=["topics:several"], empty="skipped")
    ledger.import_file(write(LATER), "rubric", questions=["tone"], empty="skipped")
    ledger.import_annotators(write(PEOPLE), "rubric")
    ledger.import_annotators(write("annotator,team\n A,west\n C,east"), "rubric")
    undo(ledger, ledger.import_annotators(write("annotator,team\n A,no\n C,no"), "rubric").id)
    with ledger.writing("rubric") as (connection, project):
        merge_annotators(connection, project, "C", "B")
    ledger.import_annotators(write("annotator,team\n A,north"), "p")
    for name in ("others", "sets", "spans", "rubric"):
        ledger.snapshot_by_question(name)


PROJECTS = ("p", "others", "sets", "spans", "rubric")


SPARSE = ("confidence", "comment")
"""Columns that labels are exported with only if any has them."""


def test_answers_are_the_exported_labels(told: Ledger) -> None:
    for project in PROJECTS:
        frame = told.export_frame(project)
        exported = frame.astype(object).where(frame.notna(), None).to_dict("records")
        found = rows(told, "v_answers", project)
        exported = [dict.fromkeys(SPARSE, None) | {"question": "label"} | row for row in exported]
        names = ("question", "item", "annotator", "annotator_kind", "pass", "labeled_at")
        names += ("span_start", "span_end", "spent_seconds", "confidence", "comment")
        keys = ("question", "item", "annotator", "kind", "pass", "labeled_at")
        keys += ("start", "end", "seconds", *SPARSE)
        assert some(found, *names) == some(exported, *keys)
        categories = [row | {"category": None} for row in found if row["answer"] != "category"]
        categories += [row for row in found if row["answer"] == "category"]
        assert some(categories, "item", "category") == some(exported, "item", "category")
        assert all(row["category"] == row["answer"] for row in found if row["answer"] != "category")
    answers = some(rows(told, "v_answers", "others"), "category", "answer")
    assert (answers["skipped", "skipped"], answers["none applies", "category"]) == (2, 1)


def test_attributes_of_annotators_imports_and_moments_are_those_listed(told: Ledger) -> None:
    for project in PROJECTS:
        listed = Counter(
            (person.annotator.name, person.annotator.kind, name, value)
            for person in told.annotators.list(project)
            for name, value in (person.attributes or {}).items()
        )
        attributes = rows(told, "v_annotator_attributes", project)
        assert some(attributes, "annotator", "annotator_kind", "attribute", "value") == listed
    assert some(attributes, "annotator", "attribute", "value") == {
        ("A", "team", "west"): 1,
        ("A", "years", "3"): 1,
        ("B", "team", "east"): 1,  # said of C, who is B
    }
    with told.database.read() as connection:
        recorded = [each.to_dict() for each in list_imports(connection)]
    imports = [row for project in PROJECTS for row in rows(told, "v_imports", project)]
    assert some(imports, *imports[0]) == some(recorded, *imports[0])
    assert len([row for row in imports if row["undone_at"] is not None]) == 2


def test_votes_are_those_that_agreement_counts(told: Ledger) -> None:
    for project in PROJECTS:
        found: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
        for row in rows(told, "v_item_votes", project):
            votes = found[row["question"], row["item"]]
            if row["answer"] == "category":
                votes[row["category"]] = row["votes"]
        with told.asking_each(project) as (connection, questions):
            counted = {
                (question.name, row["item"]): row["votes"]
                for question in questions
                for row in agreement_by_item(connection, question)
            }
        assert found == counted
        people = defaultdict(set)
        for row in rows(told, "v_answers", project):
            if row["annotator_kind"] == "human" and row["answer"] != "skipped":
                people[row["question"], row["item"]].add(row["annotator"])
        for row in rows(told, "v_item_votes", project):
            assert row["share"] == row["votes"] / len(people[row["question"], row["item"]])


def test_measures_and_rates_are_the_snapshots(told: Ledger) -> None:
    figures = ("standard_error", "ci_low", "ci_high", "undefined")
    header = ("question", "snapshot", "snapshot_name", "taken_at", "as_of")
    for project in PROJECTS:
        histories = told.history_by_question(project).questions
        snapshots = [
            snapshot | {"question": question}
            for question, history in histories.items()
            for snapshot in history.to_dict()["snapshots"]
        ]
        for view, key, names in (
            ("v_measures", "measures", ("measure", "value", *figures)),
            ("v_category_rates", "categories", ("category", "labels", *figures)),
        ):
            recorded = [
                one | snapshot | {"snapshot_name": snapshot["name"]}
                for snapshot in snapshots
                for one in snapshot[key]
            ]
            found = rows(told, view, project)
            assert some(found, *header, *names) == some(recorded, *header, *names)
            assert all(row["all_answers"] for row in found)


def test_findings_are_those_listed(told: Ledger) -> None:
    record(told, Seen(1, informative=50), Seen(1, "copying", None, other=2))
    views = {row["flag"]: row for row in rows(told, "v_findings")}
    assert views.keys() == {row["flag"] for row in listed(told, states=["all"])}
    for row in listed(told, states=["all"]):
        view, evidence = views[row["flag"]], shown(told, row["flag"])["evidence"]
        same = ("annotator", "kind", "category", "state", "severity", "times_seen", "informative")
        assert {name: view[name] for name in same} == {name: row[name] for name in same}
        assert view["other_annotator"] == row["with"]
        assert view["first_seen_at"] == plain(row["found_at"])
        assert view["last_seen_at"] == plain(row["last_seen_at"])
        for name in ("p_value", "q_value", "effect", "effect_measure", "effect_low", "effect_high"):
            assert view[name] == evidence[name]
    assert some(views.values(), "effect", "effect_measure") == {(2.0, "ratio"): len(views)}
    for name in ("tone", "topics"):
        with told.changing("rubric", name) as (connection, question):
            record_in(connection, question, Seen(1))
    found = rows(told, "v_findings", "rubric")
    assert {(row["question"], row["category"]) for row in found} == {
        ("tone", "rude"),
        ("topics", "x"),
    }
    told.snapshot("p", name="some", exclude_annotators=["A"])
    snapshots = some(rows(told, "v_measures"), "snapshot_name", "all_answers")
    assert snapshots.keys() == {("some", False), ("first", True), (None, True)}
    with told.writing("p") as (connection, _):
        connection.execute(text("UPDATE projects SET name = 'reviews' WHERE name = 'p'"))
    assert len(EXAMPLES) == len(VIEWS)
    with told.database.read() as connection:
        for example in EXAMPLES:
            assert connection.execute(text(example)).all() or "v_item_votes" in example


def test_the_page_names_every_column(url: str) -> None:
    database = Ledger(url).database
    inspector = inspect(database.engine)
    assert sorted(inspector.get_view_names()) == sorted(VIEWS)
    parts = re.split(r"^## (\w+)$", PAGE, flags=re.MULTILINE)[1:]
    pages = dict(zip(parts[::2], parts[1::2], strict=True))
    for view in VIEWS:
        first_cells = re.findall(r"^\| ([a-z_, ]+) \|", pages[view], re.MULTILINE)
        named = [name for cell in first_cells if cell != "column" for name in cell.split(", ")]
        assert named == list(VIEWS[view].columns)
        columns = inspector.get_columns(view)
        assert named == [column["name"] for column in columns]
        if database.file is None:
            assert inspector.get_table_comment(view) == {"text": VIEWS[view].comment}
            assert {each["name"]: each["comment"] for each in columns} == VIEWS[view].columns
    with database.write() as connection:
        connection.execute(text("DROP VIEW v_answers"))
    assert database.check() == ["the view v_answers is missing"]


DASHBOARD = json.loads((CHECKOUT / "docs" / "grafana" / "dashboard.json").read_text("utf-8"))
PANELS = {panel["title"]: panel["targets"][0]["rawSql"] for panel in DASHBOARD["panels"]}
(PROJECT_NAMES,) = [
    one["query"] for one in DASHBOARD["templating"]["list"] if one["name"] == "project"
]


def rows_of(ledger: Ledger, query: str) -> list[tuple[object, ...]]:
    with ledger.database.read() as connection:
        return [tuple(row) for row in connection.execute(text(query))]


def test_the_dashboard_tells_what_the_commands_do(told: Ledger) -> None:
    told.snapshot("p")
    assert ("p",) in rows_of(told, PROJECT_NAMES)
    panels = {title: rows_of(told, query.replace("${project}", "p"))
              for title, query in PANELS.items()}  # fmt: skip
    for title, cells in panels.items():
        assert cells, title
        assert all(any(cell is not None for cell in row) for row in cells), title
    status = told.status("p")
    assert panels["Open findings"] == [(status.flags,)]
    assert sum(row[1] for row in panels["Labels a category"]) == status.answers  # type: ignore[misc]
    *_, alpha = [row[2] for title, rows in panels.items() if "alpha" in title for row in rows]
    assert alpha == pytest.approx(told.agreement("p").main.value)
