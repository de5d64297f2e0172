"""Figures of a project: of each question alone, and as a server keeps them."""

from __future__ import annotations

import random
from collections.abc import Callable
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from sqlalchemy import Connection, delete, func, select

from tests.filled import FillOnce
from tests.helpers import write_file
from tests.profiles import exhaustive
from tracker.agreement.groups import agreement_by_attribute, agreement_by_item
from tracker.agreement.intra_annotator import self_agreement
from tracker.agreement.pairs import agreement_by_pair
from tracker.agreement.query import Query
from tracker.agreement.run import assess
from tracker.audit.query import AuditQuery
from tracker.audit.run import audit_project
from tracker.core.kept import KeptResults
from tracker.export.labels import exported_labels
from tracker.history.curve import rebuilt_curve
from tracker.history.status import project_status
from tracker.imports.undo import list_imports, undo_import
from tracker.ledger import Ledger
from tracker.projects import kept
from tracker.projects.categories import category_names, merge_categories, project_labels_by_category
from tracker.projects.identities import erase_annotator, merge_annotators
from tracker.projects.projects import find_project
from tracker.projects.questions import QuestionInfo, list_questions
from tracker.report.gather import gather_report
from tracker.report.gathered import Asked
from tracker.storage.as_of import Moment, as_it_was
from tracker.storage.schema import KeptTally

QUESTIONS = ("tone", "topic")
HEADER = "item,annotator,tone,topic,labeled_at"


def take(ledger: Ledger, rows: list[str]) -> None:
    with TemporaryDirectory() as folder:
        path = write_file(Path(folder) / "answers.csv", "\n".join([HEADER, *rows]))
        ledger.import_file(path, "p", questions=["tone=tone", "topic=topic"])


def fill(ledger: Ledger) -> None:
    """Five people answer two questions, one of them always the same; one is a model."""
    drawn, rows = random.Random(7), []  # noqa: S311 - a test needs the same again
    for item in range(28):
        truth = drawn.choice("abc")
        for who in ("ada", "bo", "cy", "dora", "gpt"):
            given = truth if drawn.random() < 0.8 else drawn.choice("abc")
            day = f"2026-0{1 + item // 10}-{1 + item % 10:02}"
            rows.append(f"{item},{who},{'a' if who == 'dora' else given},{given},{day}")
    take(ledger, rows)
    ledger.snapshot_by_question("p")
    ledger.annotators.kind("p", "gpt", "model")
    ledger.snapshot_by_question("p")
    ledger.record_audit_by_question("p")


@pytest.fixture
def serving(ledger: Ledger, fill_once: FillOnce) -> Ledger:
    """The ledger of `fill` as a server has it: figures are kept."""
    served = fill_once(ledger, fill).acting_for(None)
    served.database.kept = KeptResults()
    return served


def figures(ledger: Ledger, *, whole: bool = True) -> dict[str, Any]:
    """Return what the pages of a project show; all of it, or what costs least."""
    some = {
        "agreement": ledger.agreement_by_question("p").to_dict(),
        "status": [page.to_dict() for page in ledger.status_by_question("p")],
    }
    if not whole:
        return some
    return some | {
        "report": {**vars(gather_report(ledger, Asked("p"))), "database": None},
        "then": ledger.agreement_by_question("p", as_of="2026-02-10").to_dict(),
        "pairs": [ledger.by_pair("p", question=name).to_dict() for name in QUESTIONS],
        "unflagged": ledger.agreement_by_question("p", exclude_flagged=True).to_dict(),
        "audit": ledger.audit_by_question("p", evidence=3).to_dict(),
    }


CHANGES: dict[str, Callable[[Ledger], object]] = {
    "import": lambda it: take(it, ["1,eve,b,c,2026-03-22", "2,eve,a,a,2026-03-22"]),
    "undo": lambda it: it.imports.undo(2),
    "category": lambda it: it.categories.rename("p", "a", "z", question="topic"),
    "order": lambda it: it.categories.order("p", ["a", "b", "c"], question="tone"),
    "scale": lambda it: it.questions.set("p", "tone", scale="ordinal", categories=["a", "b", "c"]),
    "merge": lambda it: it.categories.merge("p", "a", "b", question="tone"),
    "wanted": lambda it: it.questions.set("p", "tone", wanted=7),
    "person": lambda it: it.annotators.rename("p", "ada", "anna"),
    "people": lambda it: it.annotators.merge("p", "ada", "bo"),
    "model": lambda it: it.annotators.kind("p", "cy", "model"),
    "gone": lambda it: it.annotators.leave("p", "cy"),
    "erased": lambda it: it.annotators.erase("p", "cy"),
    "guideline": lambda it: it.notes.add("p", "v2", "2026-02-01", guideline="v2"),
    "zone": lambda it: it.projects.set("p", timezone="Asia/Tokyo"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("names", "whole"),
    [
        (("import", "category", "scale", "people", "erased", "zone"), False),
        pytest.param(tuple(CHANGES), True, marks=exhaustive),
    ],
    ids=["some", "all"],
)
def test_after_each_change_figures_are_those_of_a_ledger_that_keeps_none(
    ledger: Ledger, serving: Ledger, names: tuple[str, ...], whole: bool
) -> None:
    figures(serving, whole=whole)
    for name in names:
        CHANGES[name](ledger)
        assert figures(serving, whole=whole) == figures(ledger, whole=whole), name


@pytest.mark.parametrize(
    ("names", "whole"),
    [
        (("import", "scale", "people", "erased", "guideline"), False),
        pytest.param(tuple(CHANGES), True, marks=exhaustive),
    ],
    ids=["some", "all"],
)
def test_after_each_change_stored_figures_are_those_computed_anew(
    ledger: Ledger,
    fill_once: FillOnce,
    monkeypatch: pytest.MonkeyPatch,
    names: tuple[str, ...],
    whole: bool,
) -> None:
    fill_once(ledger, fill)

    def read(worth: float) -> dict[str, Any]:
        monkeypatch.setattr(kept, "_WORTH_STORING", worth)
        return figures(ledger.acting_for(None), whole=whole)

    for name in names:
        read(0.0)
        with ledger.database.read() as connection:
            assert connection.scalar(select(func.count()).select_from(KeptTally))
        CHANGES[name](ledger)
        stored = read(inf)
        with ledger.database.write() as connection:
            connection.execute(delete(KeptTally))
        assert stored == read(inf), name


ASKED = {"label": ["label=first"], "topic": ["topic=second:several"]}
ASKED["both"] = ASKED["label"] + ASKED["topic"]


def ask_questions(ledger: Ledger) -> None:
    """Make a project of one question, one of another, and one that asks both."""
    drawn = random.Random(1)  # noqa: S311
    header = ("item", "annotator", "pass", "labeled_at", "seconds", "first", "second", "lang")
    for day in (1, 3):
        rows = [
            (f"i{item}", who, number, f"2026-01-{day + item:02}T0{number}:00:00Z",
             drawn.randint(1, 9), drawn.choice("xyz"),
             "|".join(drawn.sample("vwxyz", drawn.randint(0, 2))), "nl" if item % 2 else "de")
            for item in range(7) for who in "ABCD"
            for number in ((1, 2) if item % 4 == 0 else (1,))
        ]  # fmt: skip
        with TemporaryDirectory() as folder:
            file = write_file(Path(folder) / "answers.csv", [header, *rows])
            for name, questions in ASKED.items():
                separator = None if name == "label" else "|"
                ledger.import_file(
                    file, name, questions=questions, separator=separator, keep=["lang"]
                )


def figures_of(connection: Connection, question: QuestionInfo) -> dict[str, Any]:
    """Return what is told of a question, but for the names and moments of its project."""
    by_lang = agreement_by_attribute(connection, question, "lang", Query())
    told: dict[str, Any] = {
        "agreement": assess(connection, question).to_dict(),
        "audit": audit_project(connection, question, AuditQuery()).to_dict(),
        "status": project_status(connection, question).to_dict(),
        "by lang": by_lang.to_dict(),
        "passes": self_agreement(connection, question).to_dict(),
    }
    for one in told.values():
        for name in ("project", "last_import", "flags"):
            one.pop(name, None)
    curve = rebuilt_curve(connection, question, "day")
    if question.answers == "one":
        told["pairs"] = [one.to_dict() for one in agreement_by_pair(connection, question)]
    with as_it_was(connection, question.project_id, Moment(through=2)):
        told["then"] = list(exported_labels(connection, question))
    return told | {
        "items": list(agreement_by_item(connection, question)),
        "labels": list(exported_labels(connection, question)),
        "categories": category_names(connection, question),
        "counted": project_labels_by_category(connection, question),
        "curve": [(point.moment, point.assessment.figures()) for point in curve.points],
    }


def test_what_is_told_of_a_question_is_told_of_it_alone(sqlite_ledger: Ledger) -> None:
    ask_questions(sqlite_ledger)
    told = {}
    with sqlite_ledger.database.write(keep=False) as connection:
        for name in ASKED:
            project = find_project(connection, name)
            merge_annotators(connection, project, "B", "A")
            for question in list_questions(connection, project):
                merge_categories(connection, question, "x", "y")
            undo_import(connection, list_imports(connection, project.id)[-1].id)
            erase_annotator(connection, project, "D")
            told[name] = [
                figures_of(connection, one) for one in list_questions(connection, project)
            ]
    for together, alone in zip(told["both"], told["label"] + told["topic"], strict=True):
        assert together.keys() == alone.keys()
        for part in alone:
            assert together[part] == alone[part], part
