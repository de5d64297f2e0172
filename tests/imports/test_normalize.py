"""A column of annotators' kinds: what is exported is the same elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers import csv_text, undo
from tracker.core.errors import Refused
from tracker.export.labels import LABEL_COLUMNS, exported_labels
from tracker.ledger import Ledger
from tracker.projects.annotators import add_annotator_alias, list_annotators, set_annotator_kind

Write = Callable[..., Path]

HEADER = "item,annotator,category,kind\n"


def kinds(ledger: Ledger, project: str = "p") -> dict[str, str]:
    with ledger.reading(project) as (connection, found):
        return {one.name: one.kind for one in list_annotators(connection, found)}


def test_an_export_brings_truths_and_models_along(ledger: Ledger, write: Write) -> None:
    """Two annotators and a bot who disagree, with a truth: alpha must not count the latter two."""
    rows = [
        (f"i{n}", who, answer, "x" if n % 2 else "y")
        for n, answers in enumerate(["xxy", "xyx", "yyy", "yxx", "xxx", "yyx"])
        for who, answer in zip(("A", "B", "bot"), answers, strict=True)
    ]
    table = [("item", "annotator", "category", "gold"), *rows]
    ledger.import_file(write(table), "here")
    with ledger.writing("here") as (connection, project):
        set_annotator_kind(connection, project, "bot", "model")
    with ledger.asking("here") as (connection, question):
        labels = list(exported_labels(connection, question))
    file = write(csv_text([LABEL_COLUMNS, *labels]).encode(), "labels.csv")
    result = ledger.import_file(file, "there")
    assert kinds(ledger, "there") == kinds(ledger, "here")
    assert kinds(ledger, "there")["gold"] == "reference"
    here, there = (ledger.agreement(name).to_dict() for name in ("here", "there"))
    assert {**here, "project": ""} == {**there, "project": ""}
    without = write("\n".join(line.rpartition(",")[0] for line in file.read_text().splitlines()))
    ledger.import_file(without, "humans all")
    alphas = [
        ledger.agreement(name, measures=["krippendorff_alpha"]).measures[0].value
        for name in ("here", "there", "humans all")
    ]
    assert alphas[0] == alphas[1] != alphas[2]
    undo(ledger, result.id)
    assert kinds(ledger, "there") == {}


def test_a_kind_goes_with_the_import_that_gave_it(ledger: Ledger, write: Write) -> None:
    ledger.import_file(write("item,annotator,category\n i,A,x\n i,gpt,x"), "p")
    later = ledger.import_file(write(HEADER + "j,A,x,\n j,gpt,x, Model "), "p").id
    again = ledger.import_file(write(HEADER + "k,gpt,x,model"), "p").id
    undo(ledger, later)
    assert kinds(ledger) == {"A": "human", "gpt": "model"}
    undo(ledger, again)
    assert kinds(ledger) == {"A": "human", "gpt": "human"}


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ("j,gpt,x,human", "line 2: 'gpt' is a human here, and a model in 'p'.*kind gpt human -p p"),
        ("j,B,x,human\n k,B,x,model", "line 3: 'B' is a model here, and a human on another line"),
        ("j,B,x,robot", "line 2: 'robot' is no kind of annotator.*--map kind="),
    ],
)
def test_kinds_that_contradict_are_refused(
    ledger: Ledger, write: Write, rows: str, reason: str
) -> None:
    ledger.import_file(write(HEADER + "i,gpt,x,model"), "p")
    file = write(HEADER + rows)
    with pytest.raises(Refused, match=f"(?s){reason}"):
        ledger.import_file(file, "p")
    assert kinds(ledger) == {"gpt": "model"}
    ledger.import_file(file, "p", columns=["kind="])
    assert kinds(ledger)["gpt"] == "model"


def test_an_alias_gives_its_annotator_the_kind(ledger: Ledger, write: Write) -> None:
    ledger.import_file(write("item,annotator,category\n i,gpt,x"), "p")
    with ledger.writing("p") as (connection, project):
        add_annotator_alias(connection, project, "gpt", "gpt-4")
    ledger.import_file(write(HEADER + "j,gpt-4,x,model"), "p")
    assert kinds(ledger) == {"gpt": "model"}
