"""Projects that ask several questions: answers from a file, question by question."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.helpers import Write, write_file
from tracker.ledger import Ledger
from tracker.projects.questions import QuestionOptions

ONLY = "label"
"""The question that a project has when it is made."""


def answer_question(
    ledger: Ledger,
    path: Path,
    question: str = ONLY,
    project: str = "p",
    options: QuestionOptions | None = None,
) -> None:
    """Import a long file as answers to one question, made if it is not there."""
    ledger.import_file(path, project, questions=[question], options=options)


_LABEL = """item,annotator,category
    1,ada,x
    1,bo,x
    2,ada,y
    2,bo,y
    3,ada,x
    3,bo,x"""
_TONE = """item,annotator,category
    1,ada,1
    1,bo,2
    2,ada,3
    2,cy,1
    4,cy,2
    4,bo,2"""
_SPANS = """item,annotator,category,start,end
    1,ada,who,0,3
    1,bo,who,0,3
    2,ada,when,4,9
    2,bo,when,4,8"""
OPTIONS = {
    "tone": QuestionOptions(scale="interval"),
    "where": QuestionOptions(answers="spans"),
}
FILES = {ONLY: _LABEL, "tone": _TONE, "where": _SPANS}


def fill_rubric(ledger: Ledger, write: Write, project: str = "p") -> None:
    """Make a project that asks three questions: `label`, `tone` and, of spans, `where`."""
    for name, content in FILES.items():
        answer_question(ledger, write(content), name, project, OPTIONS.get(name))


def fill_rubrics(ledger: Ledger) -> None:
    """Make the project `p` that asks them, and a project of its own for each."""
    with TemporaryDirectory() as folder:

        def write(content: str) -> Path:
            return write_file(Path(folder) / "answers.csv", content)

        fill_rubric(ledger, write)
        for name, content in FILES.items():
            answer_question(ledger, write(content), ONLY, name, OPTIONS.get(name))


def labels(ledger: Ledger, question: str, project: str = "p") -> list[tuple[Any, ...]]:
    """The labels of a question that stand, sorted: item, annotator, category."""
    with ledger.labels(project, questions=[question]) as (names, rows):
        places = [names.index(name) for name in ("item", "annotator", "category")]
        return sorted((tuple(row[place] for place in places) for row in rows), key=str)
