"""Figures that a server keeps: those of a ledger that counts anew, and counted no more often."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from sqlalchemy import event

from tests.filled import FillOnce
from tests.helpers import write_file
from tests.profiles import exhaustive
from tracker.core.kept import KeptResults
from tracker.ledger import Ledger
from tracker.report.gather import gather_report
from tracker.report.gathered import Asked

QUESTIONS = ("tone", "topic")


HEADER = "item,annotator,tone,topic,labeled_at"


def take(ledger: Ledger, rows: list[str]) -> None:
    """Import answers to both questions."""
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


@contextmanager
def readings(ledger: Ledger) -> Iterator[list[str]]:
    """Yield the statements of a block that read labels or items."""
    sent: list[str] = []

    def note(_: Any, __: Any, statement: str, *___: Any) -> None:
        if re.search(r"(FROM|JOIN) (labels|items)\b", statement):
            sent.append(statement)

    event.listen(ledger.database.engine, "before_cursor_execute", note)
    try:
        yield sent
    finally:
        event.remove(ledger.database.engine, "before_cursor_execute", note)


def pages(ledger: Ledger) -> None:
    """Ask for what the pages of a project show now."""
    with ledger.database.hold():
        gather_report(ledger, Asked("p"))
        ledger.by_pair("p", question="tone")


ACTS: dict[str, Callable[[Ledger], object]] = {
    "dismiss": lambda it: it.flags.dismiss("p", [1], note="she is right"),
    "audit": lambda it: it.record_audit_by_question("p"),
    "snapshot": lambda it: it.snapshot_by_question("p"),
    "note": lambda it: it.notes.add("p", "a holiday"),
    "prune": lambda it: it.prune("p", "last:1"),
}


@pytest.mark.parametrize("names", [("dismiss", "audit"), ("snapshot", "note", "prune")])
def test_acts_on_no_answer_count_none(ledger: Ledger, serving: Ledger, names: list[str]) -> None:
    pages(serving)
    for name in names:
        ACTS[name](ledger)
        with readings(serving) as sent:
            pages(serving)
        assert sent == [], name
    assert figures(serving, whole=False) == figures(ledger, whole=False)


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
        (("import", "undo", "category", "scale"), False),
        (("people", "model", "erased", "zone"), False),
        pytest.param(tuple(CHANGES), True, marks=exhaustive),
    ],
    ids=["answers", "people", "all"],
)
def test_after_each_change_figures_are_those_of_a_ledger_that_keeps_none(
    ledger: Ledger, serving: Ledger, names: tuple[str, ...], whole: bool
) -> None:
    figures(serving, whole=whole)
    for name in names:
        CHANGES[name](ledger)
        assert figures(serving, whole=whole) == figures(ledger, whole=whole), name
