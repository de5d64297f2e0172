"""The namespaces of a ledger: what the commands do, by method, on both databases."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.audit.flags.found import Seen, record
from tests.helpers import stored
from tracker.core.errors import InvalidOption, NotFound, Refused
from tracker.ledger import Ledger

ANSWERS = "item,annotator,category\n i,ada,x\n i,bo,y\n j,ada,x\n j,cy,x"


@pytest.fixture
def filled(ledger: Ledger, write: Callable[..., Path]) -> Ledger:
    """A ledger whose project p has three annotators, two items and two categories."""
    ledger.import_file(write(ANSWERS), "p")
    return ledger


def test_projects(ledger: Ledger) -> None:
    made = ledger.projects.create("q", categories=("a", "b"), wanted=3)
    assert made.project.name == "q"
    assert (made.question.target_answers, made.question.categories_fixed) == (3, True)
    dry = ledger.projects.set("q", wanted=2, opened=True, dry_run=True)
    assert (dry.question.target_answers, dry.question.categories_fixed) == (2, False)
    assert dry.categories == ("a", "b")
    assert ledger.projects.show("q").to_dict() == made.to_dict() | {"categories": ["a", "b"]}
    assert ledger.projects.rename("q", " r ").project.name == "r"
    assert ledger.projects.find(None).name == "r"
    assert ledger.projects.archive("r").project.archived_at is not None
    assert ledger.projects.list() == []
    restored = ledger.projects.archive("r", restore=True)
    assert restored.project == ledger.projects.list(archived=True)[0].project
    ledger.projects.delete("r")
    with pytest.raises(NotFound, match="no project 'r'"):
        ledger.projects.show("r")


def test_annotators(filled: Ledger) -> None:
    people = filled.annotators
    assert people.rename("p", "cy", "cyd").aliases == ("cy",)
    assert people.kind("p", "bo", "model").kind == "model"
    assert people.alias("p", "ada", "a.b.").aliases == ("a.b.",)
    assert people.merge("p", "cyd", "ada").aliases == ("a.b.", "cy", "cyd")
    assert people.split("p", "cyd").name == "cyd"
    assert [(one.annotator.name, one.labels) for one in people.list("p")] == [
        ("ada", 2),
        ("bo", 1),
        ("cyd", 1),
    ]
    filled.notes.add("p", "bo is a machine")
    erased = people.erase("p", "bo")
    assert erased.labels == {"p": 1}
    assert {"project": "p", "what": "notes", "rows": 1} in erased.to_dict()["mentions"]
    assert people.erase_everywhere("ada").labels == {"p": 2}
    names = [one.annotator.name for one in people.list("p")]
    assert names == ["cyd", "erased 1", "erased 2"]


def test_categories(filled: Ledger) -> None:
    known = filled.categories
    assert known.order("p", ["y", "x"]).categories == ("y", "x")
    known.rename("p", "x", "z")
    before = stored(filled)
    assert known.merge("p", "y", "z", dry_run=True).labels == 1
    assert stored(filled) == before
    assert known.merge("p", "y", "z").labels == 1
    assert known.split("p", "y").whose == "z"
    assert known.list(" p ").to_dict() == {
        "project": "p",
        "closed": False,
        "categories": [{"category": "y", "labels": 1}, {"category": "z", "labels": 3}],
    }


def test_items_and_imports(filled: Ledger) -> None:
    assert [one.to_dict() for one in filled.items.list("p")] == [
        {"item": "i", "annotators": 2, "aliases": []},
        {"item": "j", "annotators": 2, "aliases": []},
    ]
    assert [one.name for one in filled.items.list("p", limit=1)] == ["i"]
    assert [row.annotator for row in filled.items.show("p", "i").labels] == ["ada", "bo"]
    (only,) = filled.imports.list()
    assert filled.imports.list("p") == [only]
    assert filled.imports.show(only.id) == only
    undone = filled.imports.undo(only.id)
    assert undone.undone_at is not None
    assert filled.imports.list("p") == [undone]
    assert filled.items.list("p") == []
    with pytest.raises(InvalidOption, match="was undone"):
        filled.imports.undo(only.id)


def test_notes(filled: Ledger) -> None:
    second = filled.notes.add("p", "v2")
    first = filled.notes.add("p", "v1", at="2024-03-01")
    assert first.to_dict()["at"].startswith("2024-03-01T00:00:00")
    assert filled.notes.list("p") == [first, second]
    assert filled.notes.remove("p", second.id) == second
    assert filled.notes.remove("p", first.id, erase=True) == first
    assert filled.notes.list("p") == []
    with pytest.raises(InvalidOption, match="future"):
        filled.notes.add("p", "v3", at="2999-01-01")


def test_flags(people: Ledger) -> None:
    record(people, Seen(1), Seen(2), Seen(3))
    known = people.flags
    assert known.acknowledge("p", [1], by="ed", note="will ask").flags[0].state == "acknowledged"
    assert [one.changed for one in known.dismiss("p", [2, 3], by="ed").flags] == [True, True]
    assert known.resolve("p", [1], by="ed").flags[0].before.state == "acknowledged"
    assert known.appeal("p", 3, by="cy", note="no").flags[0].state == "dismissed"
    assert (known.list("p").flags, known.list("p").any_recorded) == ((), True)
    assert [one.flag for one in known.list("p", states=["all"]).flags] == [1, 2, 3]
    assert [one.flag for one in known.list("p", states=["all"], annotator="bo").flags] == [2]
    assert known.show("p", 3).changes == known.history("p", 3).changes
    assert [one.action for one in known.history("p", 3).changes] == [
        "found",
        "dismissed",
        "appealed",
    ]
    with pytest.raises(NotFound):
        known.show("p", 4)


def test_a_method_is_one_transaction(filled: Ledger) -> None:
    """What is refused leaves nothing behind."""
    before = stored(filled)
    with pytest.raises(Refused):
        filled.projects.set("p", wanted=2, scale="interval")
    with pytest.raises(NotFound):
        filled.annotators.erase("p", "dan")
    with pytest.raises(NotFound):
        filled.categories.merge("p", "x", "q")
    assert stored(filled) == before
