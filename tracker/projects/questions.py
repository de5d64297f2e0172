"""Questions: what a project asks of its items, and how each is answered."""

from __future__ import annotations

import json
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, NamedTuple

from sqlalchemy import Connection, and_, case, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from tracker.core import clock
from tracker.core.errors import InvalidOption, NotFound
from tracker.core.kept import read_once
from tracker.core.results import Hidden, Json, Record
from tracker.projects.names import (
    category_unfit_for_scale,
    check_entered_name,
    is_numeric_category_name,
    near_names,
)
from tracker.projects.preferences import PREFERENCE, SIDES, check_preferences
from tracker.projects.projects import (
    ProjectExists,
    ProjectInfo,
    checked_timezone,
    find_project,
    lock_project,
    record_change,
)
from tracker.storage.current import (
    CATEGORY,
    inherit_order,
    is_vacant_question,
    question_uses,
    record_category_facts,
    record_question_use,
)
from tracker.storage.schema import (
    ANSWERS,
    NONE_APPLIES,
    OFFSETS,
    SCALES,
    SKIPPED,
    Category,
    CategoryFact,
    Change,
    FlagRow,
    Import,
    Project,
    Question,
    Snapshot,
)
from tracker.storage.schema.labels import QuestionKey, of_question

FIRST = 1
"""The number of a project's first question."""
ONLY_QUESTION = "label"
"""The name of a question that nobody named."""


def are_many_numbers(answers: str, scale: str, categories: int) -> bool:
    """Return whether answers are numbers, too many of them for a figure of each to say anything.

    Up to twelve, such as grades, can still be looked at one by one.
    """
    return scale in {"interval", "ratio"} and answers != "spans" and categories > 12


@dataclass(frozen=True)
class QuestionOptions:
    """The settings of a question that is made; None leaves the default."""

    answers: str | None = None
    scale: str | None = None
    offsets: str | None = None
    categories: Sequence[str] | None = None
    wanted: int | None = None


@dataclass(frozen=True)
class QuestionInfo(Record):
    """One question of a project as it stands."""

    project: Annotated[ProjectInfo, Hidden]
    id: Annotated[int, Hidden]
    name: Annotated[str, Json("question")]
    answers: str
    scale: str
    offsets: str
    categories_fixed: Annotated[bool, Json("categories_closed")]
    target_answers: Annotated[int | None, Json("wanted")]
    # No figure rests on these: what is kept for a question is kept whatever they are.
    goal: Annotated[str | None, Json(rare=True)] = field(default=None, repr=False)
    deadline: Annotated[str | None, Json(rare=True)] = field(default=None, repr=False)
    instructions: Annotated[str | None, Json(rare=True)] = field(default=None, repr=False)
    also_asks: Annotated[str | None, Json(rare=True)] = field(default=None, repr=False)
    preference: Annotated[bool | None, Hidden] = None

    def to_dict(self) -> dict[str, Any]:
        """Return the question as JSON, which calls the answers what people do."""
        return super().to_dict() | {"answers": self.asks}

    @property
    def asks(self) -> str:
        """What an answer holds, as it was declared; one category may be a preference."""
        return PREFERENCE if self.preference else self.answers

    @property
    def key(self) -> QuestionKey:
        return QuestionKey(self.project.id, self.id)

    @property
    def project_id(self) -> int:
        return self.project.id

    @property
    def description(self) -> str:
        """What a message calls it: ``'p', a project`` or, with a name, ``'tone', a question``."""
        return f"{self.title!r}, a {'project' if self.name == ONLY_QUESTION else 'question'}"

    @property
    def title(self) -> str:
        """The name that people know: the question's or, if nobody named it, the project's."""
        return self.project.name if self.name == ONLY_QUESTION else self.name


def find_question(
    connection: Connection, project: ProjectInfo, name: str | None = None
) -> QuestionInfo:
    """Return the question of a project by its name; for None the only one there is.

    Raises NotFound, with the near names, and InvalidOption for None if there are several.
    """
    questions = {question.name: question for question in list_questions(connection, project)}
    names = ", ".join(questions)
    if name is None:
        first, *others = questions.values()
        if not others:
            return first
        raise InvalidOption(
            f"{project.name!r} asks {len(questions)} questions",
            f"name one: --question {shlex.quote(first.name)}; they are {names}",
        )
    if name.strip() not in questions:
        raise NotFound(
            f"{project.name!r} has no question {name!r}",
            near_names(name, questions) or f"it has: {names}",
        )
    return questions[name.strip()]


def find_questions(
    connection: Connection, project: ProjectInfo, names: Sequence[str] = ()
) -> list[QuestionInfo]:
    """Return the questions of these names, or all, in the order in which they were made.

    Raises NotFound, with the near names.
    """
    named = {find_question(connection, project, name).id for name in names}
    questions = list_questions(connection, project)
    return [question for question in questions if not names or question.id in named]


def find_counterpart(connection: Connection, question: QuestionInfo, project: str) -> QuestionInfo:
    """Return the question of the same name of another project, or the only one that it asks."""
    other = find_project(connection, project)
    several = len(list_questions(connection, other)) > 1
    return find_question(connection, other, question.name if several else None)


@read_once
def list_questions(connection: Connection, project: ProjectInfo) -> list[QuestionInfo]:
    return questions_of(connection, [project])[project.id]


def questions_of(
    connection: Connection, projects: Sequence[ProjectInfo]
) -> dict[int, list[QuestionInfo]]:
    """Return the questions of projects by the project's number, by one statement.

    Vacant ones, which only undone imports made and used, are left out; if all are, the first
    stands for the empty project.
    """
    return {
        number: [question for question, vacant in stored if not vacant]
        or [question for question, _ in stored[:1]]
        for number, stored in _stored(connection, projects).items()
    }


def every_question(connection: Connection, project: ProjectInfo) -> dict[int, QuestionInfo]:
    """Return the questions of a project by number, with the vacant ones.

    They are needed for records: an undone import's answers stay in them.
    """
    return {question.id: question for question, _ in _stored(connection, [project])[project.id]}


def vacant_questions(connection: Connection, project: ProjectInfo) -> list[QuestionInfo]:
    """Return the questions that only undone imports made and used."""
    return [question for question, vacant in _stored(connection, [project])[project.id] if vacant]


def _stored(
    connection: Connection, projects: Sequence[ProjectInfo]
) -> dict[int, list[tuple[QuestionInfo, bool]]]:
    """Return every question of projects, by the project's number, and whether it is vacant."""
    by_number = {project.id: project for project in projects}
    statement = select(Question.__table__, is_vacant_question().label("vacant")).order_by(
        Question.project_id, Question.id
    )
    if len(by_number) == 1:
        statement = statement.where(Question.project_id.in_(by_number))
    stored: dict[int, list[tuple[QuestionInfo, bool]]] = {number: [] for number in by_number}
    for row in map(dict, connection.execute(statement).mappings()):
        number, vacant = row.pop("project_id"), row.pop("vacant")
        if number in by_number:
            stored[number].append((QuestionInfo(by_number[number], **row), bool(vacant)))
    return stored


# -- Making and naming questions -------------------------------------------------------------------


class MadeQuestion(NamedTuple):
    """A question that was just made, and the numbers of its declared categories in order."""

    question: QuestionInfo
    order: list[int]


def create_project(
    connection: Connection,
    name: str,
    options: QuestionOptions | None = None,
    question: str = ONLY_QUESTION,
    timezone: str | None = None,
) -> QuestionInfo:
    """Make a project, and return its first question, which has a name of its own.

    Raises ProjectExists, and InvalidOption if an option is not valid.
    """
    info, order = start_project(connection, name, options or QuestionOptions(), question, timezone)
    first_change = 1
    record_category_facts(connection, info.key, first_change, order=order)
    return info


def start_project(
    connection: Connection,
    name: str,
    options: QuestionOptions,
    question: str,
    timezone: str | None = None,
) -> MadeQuestion:
    """Make a project as `create_project` does, without saying that its categories have an order."""
    name = check_entered_name(name, "project")
    row: dict[str, Any] = {"name": name, "created_at": clock.now(), "archived_at": None}
    row["timezone"] = None if timezone is None else checked_timezone(timezone)
    options = _checked(options)
    question = check_entered_name(question, "question")
    try:
        with connection.begin_nested():
            statement = insert(Project).values(row).returning(Project.id)
            number = connection.execute(statement).scalar_one()
    except IntegrityError:
        raise ProjectExists(f"the project {name!r} exists", "choose another name") from None
    project = ProjectInfo(id=number, **row)
    creation = make_question(connection, project, question, options)
    detail = project.to_dict() | creation.question.to_dict()
    if question == ONLY_QUESTION:
        del detail["question"]
    record_change(connection, number, "create", detail)
    return creation


def add_question(
    connection: Connection, project: ProjectInfo, name: str, options: QuestionOptions
) -> QuestionInfo:
    """Add a question to a project, and return it.

    Raises InvalidOption for a name that is taken, and if an option is not valid.
    """
    lock_project(connection, project.id)
    _check_free(connection, project, name)
    info, order = make_question(connection, project, name, options)
    detail = info.to_dict() | {"question": info.id, "name": info.name}
    change, _ = record_change(connection, project.id, "add question", detail)
    record_question_use(connection, info.key, change)
    record_category_facts(connection, info.key, change, order=order)
    return info


def rename_question(connection: Connection, question: QuestionInfo, name: str) -> QuestionInfo:
    """Give a question another name, and return it; its answers stay its answers.

    Raises InvalidOption for a name that is taken.
    """
    lock_project(connection, question.project_id)
    _check_free(connection, question.project, name)
    renamed = name_question(connection, question, name)
    detail = {"question": question.id, "from": question.name, "to": renamed.name}
    change, _ = record_change(connection, question.project_id, "rename question", detail)
    record_question_use(connection, question.key, change)
    return renamed


def name_question(connection: Connection, question: QuestionInfo, name: str) -> QuestionInfo:
    """Give a question a name that no other has; a vacant one of that name gets another."""
    name = check_entered_name(name, "question")
    for other in every_question(connection, question.project).values():
        if other.name == name and other.id != question.id:
            update_question(connection, other.key, {"name": f"{name} (undone, {other.id})"})
    update_question(connection, question.key, {"name": name})
    return replace(question, name=name)


def set_made_question(
    connection: Connection, question: QuestionInfo, answers: str, scale: str, offsets: str
) -> QuestionInfo:
    """Return a question, made in this transaction and not answered yet, with other settings."""
    settings: dict[str, Any] = _answered(answers) | {"scale": scale, "offsets": offsets}
    update_question(connection, question.key, settings)
    return replace(question, **settings)


def make_question(
    connection: Connection,
    project: ProjectInfo,
    name: str,
    options: QuestionOptions,
    taken: Collection[int] = (),
) -> MadeQuestion:
    """Store a question of a new name, in place of the vacant one of that name if there is one.

    In an empty project it takes the place of the first one. Those ``taken`` are no longer vacant.
    Raises InvalidOption if an option is not valid.
    """
    options = _checked(options)
    name = check_entered_name(name, "question")
    settings: dict[str, Any] = {
        "name": name,
        **_answered(options.answers),
        "scale": options.scale or SCALES[0],
        "offsets": options.offsets or OFFSETS[0],
        "categories_fixed": options.categories is not None,
        "target_answers": options.wanted,
    }
    stored = _stored(connection, [project])[project.id]
    vacant = {
        question.name: question.id
        for question, is_vacant in stored
        if is_vacant and question.id not in taken
    }
    number = vacant.get(name)
    if number is None and stored and len(vacant) == len(stored):
        number = stored[0][0].id
    if number is None:
        number = max((question.id for question, _ in stored), default=0) + 1
        connection.execute(insert(Question).values(project_id=project.id, id=number, **settings))
        key: dict[str, Any] = {"project_id": project.id, "question_id": number, "name": None}
        connection.execute(insert(Category), [key | {"id": n} for n in (NONE_APPLIES, SKIPPED)])
    else:
        update_question(connection, QuestionKey(project.id, number), settings)
    info = QuestionInfo(project, number, **settings)
    return MadeQuestion(info, number_categories(connection, info.key, options.categories or ()))


def _answered(answers: str | None) -> dict[str, Any]:
    """Return the columns that say what an answer holds: a preference is one category."""
    if answers == PREFERENCE:
        return {"answers": ANSWERS[0], "preference": True}
    return {"answers": answers or ANSWERS[0], "preference": None}


def update_question(connection: Connection, key: QuestionKey, settings: dict[str, Any]) -> None:
    ours = (Question.project_id == key.project_id) & (Question.id == key.question_id)
    connection.execute(update(Question).where(ours).values(**settings))


def _check_free(connection: Connection, project: ProjectInfo, name: str) -> None:
    if name.strip() in {question.name for question in list_questions(connection, project)}:
        raise InvalidOption(
            f"{project.name!r} already has the question {name.strip()!r}", "choose another name"
        )


def _of_preference(options: QuestionOptions) -> QuestionOptions:
    """Return options with what a preference has if nobody says otherwise."""
    if options.answers != PREFERENCE:
        return options
    categories = SIDES if options.categories is None else options.categories
    check_preferences(categories)
    scale = options.scale or (SCALES[1] if len(categories) > len(SIDES) else None)
    return replace(options, categories=categories, scale=scale)


def _checked(options: QuestionOptions) -> QuestionOptions:
    """Return the options, categories less surrounding space; raises InvalidOption.

    A preference has its three categories, or others of both sides: more than three have an order.
    """
    options = _of_preference(options)
    if options.categories is not None:
        stripped = tuple(category.strip() for category in options.categories)
        options = replace(options, categories=stripped)
    for value, allowed, flag in (
        (options.answers, (*ANSWERS, PREFERENCE), "--answers"),
        (options.scale, SCALES, "--scale"),
        (options.offsets, OFFSETS, "--offsets"),
    ):
        if value is not None and value not in allowed:
            raise InvalidOption(f"{flag} {value!r} is none of {', '.join(allowed)}")
    if options.wanted is not None and options.wanted < 1:
        raise InvalidOption(f"--wanted {options.wanted} is not a number of answers")
    categories = options.categories
    if categories is not None:
        scale = options.scale or SCALES[0]
        for category in categories:
            check_entered_name(category, "category")
            unfit = category_unfit_for_scale(scale, category)
            if unfit is not None:
                raise InvalidOption(f"the category {category!r} {unfit}", "choose another scale")
        numeric = scale != "nominal" and all(map(is_numeric_category_name, categories))
        if len({float(name) if numeric else name for name in categories}) < len(categories):
            raise InvalidOption("--categories names a category twice")
        if not categories:
            raise InvalidOption("--categories names no category", "leave it out to learn them")
    return options


# -- Which questions a project asked at an earlier time -------------------------------------------


_facts = CategoryFact.__table__


def questions_asked_then(connection: Connection, project: ProjectInfo, through: int) -> set[int]:
    """Return the numbers of the questions that a project asked after a change.

    A question is asked from the change that added it; one that an import made, while an import
    that speaks of it is not undone. The first is asked as long as there is a project.
    """
    questions = every_question(connection, project)
    project_id = project.id
    changes = connection.execute(
        select(Change.id, Change.detail).where(
            Change.project_id == project_id, Change.kind == "add question"
        )
    )
    added = {json.loads(row.detail)["question"]: row.id for row in changes}
    stood = and_(
        _facts.c.change_id <= through,
        or_(Import.undone_by.is_(None), Import.undone_by > through),
    )
    imports = and_(Import.project_id == _facts.c.project_id, Import.change_id == _facts.c.change_id)
    uses = connection.execute(
        select(_facts.c.question_id, func.max(case((stood, 1), else_=0)).label("stood"))
        .outerjoin(Import, imports)
        .where(
            _facts.c.project_id == project_id,
            _facts.c.category_id == NONE_APPLIES,
            _facts.c.role == CATEGORY,
        )
        .group_by(_facts.c.question_id)
    )
    used = {row.question_id: bool(row.stood) for row in uses}
    return {
        question
        for question in questions
        if question == FIRST
        or (added[question] <= through if question in added else used.get(question, True))
    }


# -- Questions that an import made: gone after its undo, unless something else uses them ----------


UNDO = "undo"
"""The kind of change that undoes an import."""
_UNNAMED = {
    **_answered(None),
    "scale": SCALES[0],
    "offsets": OFFSETS[0],
    "categories_fixed": False,
    "target_answers": None,
}


class UsedQuestions(NamedTuple):
    """What becomes of the questions that an import made or used, if it is undone."""

    vacant: list[QuestionInfo]
    kept: list[QuestionInfo]  # for a snapshot or a finding of them
    heirs: dict[QuestionInfo, int]  # the next change that uses them

    def to_log(self) -> dict[str, Any]:
        """Return the settings of those that become vacant, for the change log."""
        settings = [
            {"question": question.id, "name": question.name}
            | {
                name: value
                for name in _UNNAMED
                if (value := getattr(question, name)) is not None or name == "target_answers"
            }
            for question in self.vacant
        ]
        return {"questions": settings} if settings else {}


def questions_used(connection: Connection, project: ProjectInfo, change: int) -> UsedQuestions:
    """Return the questions that an import made or used, by what its undo leaves of them."""
    questions = every_question(connection, project)
    recorded = {
        number
        for table in (Snapshot, FlagRow)
        for number in connection.scalars(
            select(table.question_id).where(table.project_id == project.id).distinct()
        )
    }
    used = UsedQuestions([], [], {})
    for number, changes in question_uses(connection, project.id).items():
        if change not in changes:
            continue
        others = [other for other in changes if other != change]
        if others:
            used.heirs[questions[number]] = others[0]
        else:
            (used.kept if number in recorded else used.vacant).append(questions[number])
    return used


def leave_questions(connection: Connection, used: UsedQuestions, change: int, undo: int) -> None:
    """Leave questions to what else uses them, while the change that is undone still stands.

    The order of categories that it declared stays with a question that stays.
    """
    for question in used.kept:
        record_question_use(connection, question.key, undo)
    for question, heir in (used.heirs | dict.fromkeys(used.kept, undo)).items():
        inherit_order(connection, question.key, change, heir)


def reset_empty_project(connection: Connection, project: ProjectInfo) -> None:
    """Take name and settings from the first question of a project in which all are vacant."""
    stored = _stored(connection, [project])[project.id]
    if all(vacant for _, vacant in stored):
        first = name_question(connection, stored[0][0], ONLY_QUESTION)
        update_question(connection, first.key, _UNNAMED)


def settings_before_undo(detail: Mapping[str, Any], question: int) -> dict[str, Any]:
    """Return the settings that a question had before an undo left it vacant, if it did."""
    for settings in detail.get("questions", ()):
        if settings["question"] == question:
            return {name: settings[name] for name in ("name", *_UNNAMED) if name in settings}
    return {}


@read_once
def all_category_names(connection: Connection, question: QuestionKey) -> dict[str, int]:
    """Return the number of every name that a category of the question ever had."""
    rows = connection.execute(
        select(Category.name, Category.id)
        .where(of_question(Category, question), Category.id > 0)
        .order_by(Category.id)
    )
    return {str(row.name): row.id for row in rows}


def number_categories(
    connection: Connection, question: QuestionKey, names: Sequence[str]
) -> list[int]:
    """Return the number of each category, made if it is new."""
    numbers = all_category_names(connection, question)
    free = max(numbers.values(), default=0) + 1
    unknown = [name for name in names if name not in numbers]
    new = {name: number for number, name in enumerate(unknown, free)}
    if new:
        rows = [question._asdict() | {"id": number, "name": name} for name, number in new.items()]
        connection.execute(insert(Category), rows)
    return [(numbers | new)[name] for name in names]
