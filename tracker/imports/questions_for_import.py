"""The questions to import into: those of a project, and those that an import makes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from shlex import quote

from sqlalchemy import Connection

from tracker.core.errors import InvalidOption, NotFound
from tracker.formats.question_columns import AskedQuestion
from tracker.imports.questions import ImportQuestions
from tracker.projects.names import near_names
from tracker.projects.projects import ProjectExists, ProjectInfo, find_project, lock_project
from tracker.projects.questions import (
    ONLY_QUESTION,
    MadeQuestion,
    QuestionInfo,
    QuestionOptions,
    list_questions,
    make_question,
    start_project,
    vacant_questions,
)

_SETTINGS = {
    "answers": "answers",
    "scale": "scale",
    "offsets": "offsets",
    "wanted": "target_answers",
}


def questions_for_import(
    connection: Connection,
    name: str,
    options: QuestionOptions,
    asked: Sequence[AskedQuestion] = (),
    *,
    create: bool = True,
    by_row: bool = False,
) -> ImportQuestions:
    """Return the questions to import into; the project, and those asked, are made if missing.

    ``by_row``: the user names the question's column, and a new project gets its questions, too.

    Raises InvalidOption if one is not as its options say.
    """
    started = _started(connection, name, options, asked) if create else None
    project = started.question.project if started else find_project(connection, name)
    made = [started] if started else []
    questions = [started.question] if started else _standing(connection, project)
    known = [one.name for one in questions]
    empty = started is not None or not questions
    wanted = asked or ([AskedQuestion(ONLY_QUESTION, "", options)] if empty else [])
    for one in wanted:
        found = next((question for question in questions if question.name == one.name), None)
        if found is None:
            taken = [before.question.id for before in made]
            made.append(make_question(connection, project, one.name, one.options, taken))
            questions.append(made[-1].question)
        elif started is None:
            _check_as_asked(found, one.options, len(questions) > 1)
    if not wanted:
        for question in questions:
            _check_as_asked(question, options, len(questions) > 1)
    into = ImportQuestions(
        connection,
        questions,
        asked,
        options if empty and (by_row or not asked) else None,
        made,
        only_asked=any(not one.column for one in asked) and not by_row,
    )
    before = [] if started else known
    into.warnings = [
        f"the question {one.question.name!r} is new; {near}"
        for one in made
        if (near := near_names(one.question.name, before, cutoff=0.8))
    ]
    return into


def _standing(connection: Connection, project: ProjectInfo) -> list[QuestionInfo]:
    """Return the questions of a project that no other import changes until this one ends.

    There are none if all are vacant.
    """
    lock_project(connection, project.id)
    vacant = {question.id for question in vacant_questions(connection, project)}
    return [
        question for question in list_questions(connection, project) if question.id not in vacant
    ]


def _started(
    connection: Connection,
    name: str,
    options: QuestionOptions,
    asked: Sequence[AskedQuestion],
) -> MadeQuestion | None:
    """Return the first question of the project if there was none of that name until now."""
    try:
        find_project(connection, name)
    except NotFound:
        first = asked[0] if asked else AskedQuestion(ONLY_QUESTION, "", options)
        with suppress(ProjectExists):  # made since we looked, by another program
            return start_project(connection, name, first.options, first.name)
    return None


def _check_as_asked(question: QuestionInfo, options: QuestionOptions, several: bool) -> None:
    name = quote(question.project.name)
    what = f"the question {question.name!r}" if several else repr(question.project.name)
    where = f"question set {name} {quote(question.name)}" if several else f"project set {name}"
    for option, setting in _SETTINGS.items():
        wanted, has = getattr(options, option), getattr(question, setting)
        if wanted is not None and wanted != has:
            change = f"change it: tracker {where} --{option} {wanted}"
            raise InvalidOption(
                f"{what} has --{option} {has or 'not set'}, not {wanted}",
                f"leave the option out, or "
                f"{change if option in {'scale', 'wanted'} else 'name another question'}",
            )
