"""Questions: what a project asks of its items, and how each is answered."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, insert, select, update
from sqlalchemy.exc import IntegrityError

from tracker.core import clock
from tracker.core.errors import InvalidOption, NotFound
from tracker.projects.change_log import lock_project, record_change
from tracker.projects.lookup import (
    category_unfit_for_scale,
    check_entered_name,
    is_numeric_category_name,
    near_names,
)
from tracker.projects.project import ProjectExists, ProjectInfo, find_project
from tracker.storage.answer_keys import QuestionKey
from tracker.storage.facts import record_category_facts
from tracker.storage.schema import (
    ANSWERS,
    NONE_APPLIES,
    OFFSETS,
    SCALES,
    SKIPPED,
    Category,
    Project,
    Question,
)

FIRST = 1
"""The number of a project's first question."""
ONLY_QUESTION = "label"
"""The name of a question that nobody named."""


@dataclass(frozen=True)
class QuestionOptions:
    """What may be said when a question is made; None leaves the default."""

    answers: str | None = None
    scale: str | None = None
    offsets: str | None = None
    categories: tuple[str, ...] | None = None
    wanted: int | None = None


@dataclass(frozen=True)
class QuestionInfo:
    """One question of a project as it stands."""

    project: ProjectInfo
    id: int
    name: str
    answers: str
    scale: str
    offsets: str
    categories_fixed: bool
    target_answers: int | None

    @property
    def key(self) -> QuestionKey:
        """The numbers of the project and of the question."""
        return QuestionKey(self.project.id, self.id)

    @property
    def project_id(self) -> int:
        """The number of the project."""
        return self.project.id

    @property
    def told(self) -> str:
        """What a message calls it: ``'p', a project`` or, with a name, ``'tone', a question``."""
        return f"{self.title!r}, a {'project' if self.name == ONLY_QUESTION else 'question'}"

    @property
    def title(self) -> str:
        """The name that people know: the question's or, if nobody named it, the project's."""
        return self.project.name if self.name == ONLY_QUESTION else self.name

    def settings(self) -> dict[str, Any]:
        """Return how the question is answered, as JSON."""
        return {
            "answers": self.answers,
            "scale": self.scale,
            "offsets": self.offsets,
            "categories_closed": self.categories_fixed,
            "wanted": self.target_answers,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the question as JSON, the project's facts around it."""
        project = self.project.to_dict()
        return {"project": project.pop("project"), **self.settings(), **project}


def find_question(
    connection: Connection, project: ProjectInfo, name: str | None = None
) -> QuestionInfo:
    """Return the question of a project by its name; for None the only one there is.

    Raises NotFound, with the near names, and InvalidOption for None if there are several.
    """
    found = list_questions(connection, project)
    if name is None and len(found) == 1:
        return found[0]
    names = [one.name for one in found]
    if name is None:
        raise InvalidOption(
            f"{project.name!r} asks {len(found)} questions",
            f"name one: --question {shlex.quote(names[0])}; they are {', '.join(names)}",
        )
    for one in found:
        if one.name == name.strip():
            return one
    raise NotFound(
        f"{project.name!r} has no question {name!r}",
        near_names(name, names) or f"it has: {', '.join(names)}",
    )


def find_questions(
    connection: Connection, project: ProjectInfo, names: Sequence[str] = ()
) -> list[QuestionInfo]:
    """Return the questions of these names, all for none, in the order in which they were made.

    Raises NotFound, with the near names.
    """
    if not names:
        return list_questions(connection, project)
    named = {find_question(connection, project, name).id for name in names}
    return [one for one in list_questions(connection, project) if one.id in named]


def find_counterpart(connection: Connection, question: QuestionInfo, project: str) -> QuestionInfo:
    """Return the question of the same name of another project, or the only one that it asks."""
    other = find_project(connection, project)
    several = len(list_questions(connection, other)) > 1
    return find_question(connection, other, question.name if several else None)


def list_questions(connection: Connection, project: ProjectInfo) -> list[QuestionInfo]:
    """Return the questions of a project in the order in which they were made."""
    return questions_of(connection, [project])[project.id]


def questions_of(
    connection: Connection, projects: Sequence[ProjectInfo]
) -> dict[int, list[QuestionInfo]]:
    """Return the questions of projects by the project's number, by one statement."""
    by_number = {one.id: one for one in projects}
    statement = select(Question.__table__).order_by(Question.project_id, Question.id)
    if len(by_number) == 1:
        statement = statement.where(Question.project_id.in_(by_number))
    found: dict[int, list[QuestionInfo]] = {number: [] for number in by_number}
    for row in connection.execute(statement).mappings():
        if row["project_id"] in by_number:
            settings = {name: value for name, value in row.items() if name != "project_id"}
            found[row["project_id"]].append(QuestionInfo(by_number[row["project_id"]], **settings))
    return found


# -- making them -----------------------------------------------------------------------------


def create_project(
    connection: Connection,
    name: str,
    options: QuestionOptions | None = None,
    question: str = ONLY_QUESTION,
) -> QuestionInfo:
    """Make a project, and return its first question, which has a name of its own.

    Raises ProjectExists, and InvalidOption if an option is not valid.
    """
    options = _checked(options or QuestionOptions())
    name = check_entered_name(name, "project")
    question = check_entered_name(question, "question")
    row: dict[str, Any] = {"name": name, "created_at": clock.now(), "archived_at": None}
    try:
        with connection.begin_nested():
            statement = insert(Project).values(row).returning(Project.id)
            number = connection.execute(statement).scalar_one()
    except IntegrityError:
        raise ProjectExists(f"the project {name!r} exists", "choose another name") from None
    project = ProjectInfo(id=number, **row)
    made = _insert_question(connection, project, FIRST, question, options)
    detail = made.to_dict() | ({} if question == ONLY_QUESTION else {"question": question})
    change, _ = record_change(connection, number, "create", detail)
    order = range(1, len(options.categories or ()) + 1)
    record_category_facts(connection, made.key, change, order=order)
    return made


def add_question(
    connection: Connection, project: ProjectInfo, name: str, options: QuestionOptions
) -> QuestionInfo:
    """Add a question to a project, and return it.

    Raises InvalidOption for a name that is taken, and if an option is not valid.
    """
    options = _checked(options)
    name = check_entered_name(name, "question")
    lock_project(connection, project.id)
    found = list_questions(connection, project)
    if name in {one.name for one in found}:
        raise InvalidOption(f"{project.name!r} asks {name!r}", "choose another name")
    number = max(one.id for one in found) + 1
    made = _insert_question(connection, project, number, name, options)
    detail = {"question": number, "name": name, **made.settings()}
    change, _ = record_change(connection, project.id, "add question", detail)
    order = range(1, len(options.categories or ()) + 1)
    record_category_facts(connection, made.key, change, order=order)
    return made


def rename_question(connection: Connection, question: QuestionInfo, name: str) -> QuestionInfo:
    """Give a question another name, and return it; its answers stay its answers.

    Raises InvalidOption for a name that is taken.
    """
    name = check_entered_name(name, "question")
    lock_project(connection, question.project_id)
    if name in {one.name for one in list_questions(connection, question.project)}:
        raise InvalidOption(f"{question.project.name!r} asks {name!r}", "choose another name")
    ours = (Question.project_id == question.project_id) & (Question.id == question.id)
    connection.execute(update(Question).where(ours).values(name=name))
    detail = {"question": question.id, "from": question.name, "to": name}
    record_change(connection, question.project_id, "rename question", detail)
    return replace(question, name=name)


def set_made_question(
    connection: Connection, question: QuestionInfo, answers: str, scale: str
) -> QuestionInfo:
    """Return a question, made in this transaction and not answered yet, with other settings."""
    ours = (Question.project_id == question.project_id) & (Question.id == question.id)
    connection.execute(update(Question).where(ours).values(answers=answers, scale=scale))
    return replace(question, answers=answers, scale=scale)


def _insert_question(
    connection: Connection,
    project: ProjectInfo,
    number: int,
    name: str,
    options: QuestionOptions,
) -> QuestionInfo:
    """Store a question with its categories, the two reserved ones first."""
    settings: dict[str, Any] = {
        "id": number,
        "name": name,
        "answers": options.answers or ANSWERS[0],
        "scale": options.scale or SCALES[0],
        "offsets": options.offsets or OFFSETS[0],
        "categories_fixed": options.categories is not None,
        "target_answers": options.wanted,
    }
    connection.execute(insert(Question).values(project_id=project.id, **settings))
    names = [(NONE_APPLIES, None), (SKIPPED, None), *enumerate(options.categories or (), 1)]
    connection.execute(
        insert(Category),
        [
            {"project_id": project.id, "question_id": number, "id": n, "name": category}
            for n, category in names
        ],
    )
    return QuestionInfo(project, **settings)


def _checked(options: QuestionOptions) -> QuestionOptions:
    """Return the options, categories less surrounding space; raises InvalidOption."""
    if options.categories is not None:
        stripped = tuple(category.strip() for category in options.categories)
        options = replace(options, categories=stripped)
    for value, allowed, flag in (
        (options.answers, ANSWERS, "--answers"),
        (options.scale, SCALES, "--scale"),
        (options.offsets, OFFSETS, "--offsets"),
    ):
        if value is not None and value not in allowed:
            raise InvalidOption(f"{flag} {value!r} is none of {', '.join(allowed)}")
    if options.wanted is not None and options.wanted < 1:
        raise InvalidOption(f"--wanted {options.wanted} is not a number of answers")
    categories = options.categories
    if categories is not None:
        for category in categories:
            check_entered_name(category, "category")
            unfit = category_unfit_for_scale(options.scale or SCALES[0], category)
            if unfit is not None:
                raise InvalidOption(f"the category {category!r} {unfit}", "choose another scale")
        numbers = {float(one) for one in categories if is_numeric_category_name(one)}
        spelt = len(numbers) if numbers and all(map(is_numeric_category_name, categories)) else None
        ranked = (options.scale or SCALES[0]) != "nominal"
        if len(set(categories)) < len(categories) or (ranked and spelt and spelt < len(categories)):
            raise InvalidOption("--categories names a category twice")
        if not categories:
            raise InvalidOption("--categories names no category", "leave it out to learn them")
    return options
