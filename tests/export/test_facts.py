"""Items and annotators are exported with what is known of them, and imported again as they were."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import write_file
from tracker.cli.import_options import Target
from tracker.core.errors import Refused
from tracker.ledger import Ledger

ITEMS = [
    ("item", "text", "n_tokens", "attribute:text", "attribute:length, in words"),
    ("i", "a; b\nc", 3, "=1+1", "3"),
    ("j", "", "", "", ""),
    ("007", "x", "", "1,5", ""),
]
PEOPLE = [
    ("annotator", "kind", "attribute:kind", "worker", "team"),
    ("ann", "", "=kind", "17", "north"),
    ("gpt", "model", "", "", ""),
    ("eve", "", "", "", " south\n(new)"),
]
FORMS = ["csv", "jsonl", "parquet", "xlsx"]


@pytest.fixture
def told(ledger: Ledger, tmp_path: Path, write: Callable[..., Path]) -> Ledger:
    """A project `p`, of whose items one has answers, and of whose annotators one has none."""
    ledger.import_items(write_file(tmp_path / "items.csv", ITEMS), "p")
    ledger.import_file(write("item,annotator,label\ni,ann,x\ni,gpt,y\n"), "p")
    ledger.import_annotators(write_file(tmp_path / "people.csv", PEOPLE), "p")
    return ledger


def known(ledger: Ledger, project: str) -> Any:
    """Every item in its place with what is known of it; every annotator, with attributes."""
    items = [ledger.items.show(project, one.name) for one in ledger.items.list(project)]
    people = [one.to_dict() for one in ledger.annotators.list(project)]
    return [(one.name, one.text, one.attributes) for one in items], people


@pytest.mark.parametrize("form", FORMS)
def test_what_is_known_is_imported_as_it_was(told: Ledger, tmp_path: Path, form: str) -> None:
    paths = {of: tmp_path / f"{of}.{form}" for of in ("items", "labels", "annotators")}
    for of in ("items", "annotators"):
        with told.facts("p", of) as found:
            assert Target(paths[of], f".{form}", True).write_rows(*found, found.types) == 3
    with told.labels("p") as found:
        Target(paths["labels"], f".{form}").write_rows(*found, found.types)
    told.import_items(paths["items"], "q")
    told.import_file(paths["labels"], "q")
    told.import_annotators(paths["annotators"], "q")
    assert known(told, "q") == known(told, "p")
    assert known(told, "q")[0][0][2] == {"text": "=1+1", "length, in words": "3"}
    with told.facts("p", "items") as here, told.facts("q", "items") as there:
        assert list(there.rows) == list(here.rows)


def test_into_the_same_project_they_change_nothing(told: Ledger, tmp_path: Path) -> None:
    for of, read in (("items", told.import_items), ("annotators", told.import_annotators)):
        path = tmp_path / "again.csv"
        with told.facts("p", of) as found:
            Target(path, ".csv", force=True).write_rows(*found)
        assert read(path, "p").unchanged == 3


def test_what_only_undone_imports_named_is_left_out(told: Ledger) -> None:
    for one in told.imports.list():
        told.imports.undo(one.id)
    for of, columns in (("items", ["item"]), ("annotators", ["annotator", "kind"])):
        with told.facts("p", of) as found:
            assert (list(found.columns), list(found.rows)) == (columns, [])


def test_one_attribute_in_two_columns_is_refused(told: Ledger, write: Callable[..., Path]) -> None:
    with pytest.raises(Refused, match="several columns named 'team'"):
        told.import_annotators(write("annotator,team,attribute:team\nann,a,b\n"), "p")
