"""Projects that ask several questions: answers from a file, question by question."""

from __future__ import annotations

from pathlib import Path

from tracker.imports.column_roles import parse_column_roles
from tracker.imports.loader import load_import
from tracker.imports.readers.source import opened_source_files
from tracker.ledger import Ledger
from tracker.projects.project import find_project
from tracker.projects.question import (
    QuestionInfo,
    QuestionOptions,
    add_question,
    create_project,
    list_questions,
)

ONLY = "label"
"""The question that a project has when it is made."""


def answer_question(
    ledger: Ledger,
    path: Path,
    question: str = ONLY,
    project: str = "p",
    options: QuestionOptions = QuestionOptions(),
) -> QuestionInfo:
    """Import a long file as answers to one question, made if it is not there."""
    with ledger.database.write() as connection:
        if project not in _projects(ledger):
            create_project(connection, project, options if question == ONLY else None)
        found = find_project(connection, project)
        asked = {one.name: one for one in list_questions(connection, found)}
        if question not in asked:
            asked[question] = add_question(connection, found, question, options)
        with opened_source_files([path]) as sources:
            roles = parse_column_roles((), wide=False, keep=())
            load_import(connection, asked[question], sources, roles)
        return asked[question]


def _projects(ledger: Ledger) -> set[str]:
    return {one.project.name for one in ledger.projects.list()}
