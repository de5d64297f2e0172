"""A question's settings, changed: target answers, scale, the list of categories and its order."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, Final

from sqlalchemy import Connection, select

from tracker.core.errors import InvalidOption, NotFound, Refused
from tracker.core.results import Hidden, Json, Record, Spread
from tracker.projects.categories import (
    MERGE_CATEGORIES,
    SPLIT_CATEGORY,
    category_names,
    project_labels_by_category,
)
from tracker.projects.goals import goal_in_words, set_goal
from tracker.projects.names import (
    category_unfit_for_scale,
    check_entered_name,
    is_numeric_category_name,
    near_names,
)
from tracker.projects.own_page import set_own_page
from tracker.projects.preferences import PREFERENCE, check_preferences
from tracker.projects.projects import ProjectInfo, lock_project, record_change
from tracker.projects.questions import (
    FIRST,
    UNDO,
    QuestionInfo,
    are_many_numbers,
    list_questions,
    number_categories,
    settings_before_undo,
    update_question,
)
from tracker.storage.current import (
    categories_with_facts,
    record_category_facts,
    record_question_use,
)
from tracker.storage.schema import SCALES, Change

if TYPE_CHECKING:
    from tracker.render.tables import Table

_SET, _ORDER = "set project", "order categories"
_LOGGED = {"target_answers": "wanted", "scale": "scale", "categories_fixed": "closed"}
"""The settings that can be changed, and the word of each in the change log."""
FIGURES_CHANGE = (_SET, _ORDER, MERGE_CATEGORIES, SPLIT_CATEGORY)
"""The kinds of changes after which the same answers may have other figures."""


def set_question(
    connection: Connection,
    question: QuestionInfo,
    *,
    wanted: int | None = None,
    scale: str | None = None,
    categories: Sequence[str] | None = None,
    opened: bool = False,
    goal: str | None = None,
    deadline: str | None = None,
    instructions: str | None = None,
    also_asks: str | None = None,
) -> QuestionInfo:
    """Change a question's settings; None leaves one as it is. Returns it as it is then.

    Args:
        connection: in a transaction that writes.
        question: as it is.
        wanted: answers that each item should get; 0 for no number.
        scale: how categories compare.
        categories: the only ones, in this order.
        opened: whether new categories are accepted again.
        goal: how well a figure is to be known, see `set_goal`.
        deadline: the day by which.
        instructions: what annotators are told who answer on their page.
        also_asks: what the page asks for besides an answer.

    Raises InvalidOption for a value that is not valid, Refused for one that the answers contradict.
    """
    lock_project(connection, question.project_id)
    asked = question
    if goal is not None or deadline is not None:
        question = set_goal(connection, question, goal, deadline)
    if instructions is not None or also_asks is not None:
        question = set_own_page(connection, question, instructions, also_asks)
    others = (wanted, scale, categories)
    if question is not asked and not opened and all(value is None for value in others):
        return question
    columns = _checked_settings(wanted, scale, opened, listed=categories is not None)
    changed = replace(question, **columns)
    current = list(category_names(connection, question).values())
    listed = current if categories is None else _checked_categories(categories)
    for name in listed:
        unfit = category_unfit_for_scale(changed.scale, name)
        if unfit is not None:
            raise Refused(
                f"the category {name!r} {unfit}", "choose another scale, or rename the category"
            )
    if categories is not None:
        _check_complete(connection, question, listed)
        check_preferences(listed if question.preference else ())
    same = categories is None or (question.categories_fixed and listed == current)
    if changed == question and same:
        return question
    differing = {name: value for name, value in columns.items() if getattr(question, name) != value}
    detail = {
        "question": question.id,
        "from": {_LOGGED[name]: getattr(question, name) for name in differing},
        "to": {_LOGGED[name]: value for name, value in differing.items()},
    }
    change, _ = record_change(connection, question.project_id, _SET, detail)
    record_question_use(connection, question.key, change)
    if differing:
        update_question(connection, question.key, differing)
    if categories is not None:
        order = number_categories(connection, question.key, listed)
        record_category_facts(connection, question.key, change, order=order)
    return changed


def _checked_settings(
    wanted: int | None, scale: str | None, opened: bool, *, listed: bool
) -> dict[str, Any]:
    """Return the columns to change; raises InvalidOption as `set_question` does."""
    if opened and listed:
        raise InvalidOption("--open and --categories contradict each other", "leave one out")
    columns: dict[str, Any] = {}
    if wanted is not None:
        if wanted < 0:
            raise InvalidOption(f"--wanted {wanted} is not a number of answers")
        columns["target_answers"] = wanted or None
    if scale is not None:
        if scale not in SCALES:
            raise InvalidOption(
                f"--scale {scale!r} is none of {', '.join(SCALES)}", near_names(scale, SCALES)
            )
        columns["scale"] = scale
    if opened or listed:
        columns["categories_fixed"] = listed
    if not columns:
        raise InvalidOption("there is nothing to set", "such as: --wanted 3")
    return columns


def order_categories(
    connection: Connection, question: QuestionInfo, names: Sequence[str]
) -> list[str]:
    """Put a question's categories in an order, which ordinal scales go by; returns their names.

    Raises NotFound for a category that is not there, InvalidOption if one is left out.
    """
    lock_project(connection, question.project_id)
    listed = _checked_categories(names)
    current = category_names(connection, question)
    numbers = {name: number for number, name in current.items()}
    for name in listed:
        if name not in numbers:
            raise NotFound(f"there is no category {name!r}", near_names(name, numbers))
    missing = [name for name in numbers if name not in listed]
    if missing:
        raise InvalidOption(
            f"the order leaves out {', '.join(map(repr, missing[:8]))}", "name every category"
        )
    if not (current.ordered and listed == list(numbers)):
        detail = {"question": question.id}
        change, _ = record_change(connection, question.project_id, _ORDER, detail)
        record_question_use(connection, question.key, change)
        order = [numbers[name] for name in listed]
        record_category_facts(connection, question.key, change, order=order)
    return listed


def question_settings_then(
    connection: Connection, question: QuestionInfo, through: int | None
) -> QuestionInfo:
    """Return the question with the settings it had after a change; None for now."""
    if through is None:
        return question
    details = connection.scalars(
        select(Change.detail)
        .where(
            Change.project_id == question.project_id,
            Change.id > through,
            Change.kind.in_((_SET, UNDO)),
        )
        .order_by(Change.id.desc())
    )
    settings: dict[str, Any] = {}
    for detail in map(json.loads, details):
        settings |= settings_before_undo(detail, question.id)
        # Before a project could have several questions, the log did not name its only one.
        if "to" in detail and detail.get("question", FIRST) == question.id:
            before = detail["from"]
            settings |= {name: before[word] for name, word in _LOGGED.items() if word in before}
    return replace(question, **settings)


def settings_changed_since(connection: Connection, project_id: int, through: int) -> bool:
    """Return whether a change after one may have given the same answers other figures."""
    changes = select(Change.id).where(
        Change.project_id == project_id, Change.id > through, Change.kind.in_(FIGURES_CHANGE)
    )
    return connection.scalar(changes.limit(1)) is not None


def _checked_categories(names: Sequence[str]) -> list[str]:
    listed = [check_entered_name(name, "category") for name in names]
    if len(set(listed)) < len(listed):
        raise InvalidOption("the list names a category twice")
    if not listed:
        raise InvalidOption("the list names no category")
    return listed


def _check_complete(connection: Connection, question: QuestionInfo, listed: Sequence[str]) -> None:
    """Refuse a list that leaves out a category with answers."""
    used = categories_with_facts(connection, question.key)
    current = category_names(connection, question)
    missing = [name for number, name in current.items() if number in used and name not in listed]
    if missing:
        labels = project_labels_by_category(connection, question)[missing[0]]
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise Refused(
            f"the list leaves out {missing[0]!r} ({labels:,} labels){more}",
            "name it, or first: tracker category merge "
            f"{quote(question.project.name)} {quote(missing[0])} OTHER",
        )


# -- Questions and their settings, in words -------------------------------------------------------


ANSWERS: Final = {
    "one": "one category per answer",
    "several": "several categories per answer",
    "spans": "spans of a text",
    PREFERENCE: "which of two, a or b, is better",
}


@dataclass(frozen=True)
class QuestionSettings(Record):
    """A question as it is set, with its project.

    Attributes:
        name: of the question, if JSON has it.
        about: the project's facts, which JSON has after the question's.
        categories: the names of the question's categories in their order, if they were read.
        ordered: whether the order was declared; None if they were not read.
    """

    name: Annotated[str | None, Json("question", rare=True)]
    project: Annotated[ProjectInfo, Json(write=attrgetter("name"))]
    question: Annotated[QuestionInfo, Json(spread=True, less=("question",))]
    about: Annotated[ProjectInfo, Json(spread=True, less=("project",))]
    categories: Annotated[tuple[str, ...], Hidden] = ()
    ordered: Annotated[bool | None, Hidden] = None

    @classmethod
    def of(cls, question: QuestionInfo, *, named: bool = False) -> QuestionSettings:
        name = question.name if named else None
        return cls(name, question.project, question, question.project)

    @classmethod
    def read(
        cls, connection: Connection, question: QuestionInfo, *, named: bool = False
    ) -> QuestionSettings:
        names = category_names(connection, question)
        settings = cls.of(question, named=named)
        return replace(settings, categories=tuple(names.values()), ordered=names.ordered)

    @property
    def listed(self) -> Annotated[tuple[str, ...] | None, Json("categories", rare=True)]:
        """The categories as JSON has them, if they were read."""
        return None if self.ordered is None else self.categories

    @property
    def many_numbers(self) -> bool:
        question = self.question
        return are_many_numbers(question.answers, question.scale, len(self.categories))

    @property
    def cells(self) -> list[tuple[str, str]]:
        """What a table says of the question, line by line."""
        question = self.question
        wanted = question.target_answers
        return [
            ("answers", ANSWERS[question.asks]),
            *([("offsets", question.offsets)] if question.answers == "spans" else []),
            ("scale", question.scale),
            ("categories", ", ".join(self.categories) or "none yet"),
            ("other categories", "refused" if question.categories_fixed else "accepted"),
            ("wanted", "-" if wanted is None else f"{wanted} answers per item"),
            *([] if question.goal is None else [("goal", goal_in_words(question))]),
        ]

    def view(self) -> Iterator[Table]:
        from tracker.render.tables import table

        yield table((" ", " "), [("question", self.question.name), *self.cells])


@dataclass(frozen=True)
class ListedQuestion(Record):
    """A question of a project that asks several, with its categories if they were read."""

    question: Annotated[QuestionInfo, Spread]
    categories: Annotated[tuple[str, ...] | None, Json(rare=True)]


@dataclass(frozen=True)
class ProjectSettings(Record):
    """A project with its questions; in JSON the settings of the only one are the project's."""

    questions: Annotated[tuple[QuestionSettings, ...], Hidden]

    @classmethod
    def read(cls, connection: Connection, project: ProjectInfo) -> ProjectSettings:
        questions = list_questions(connection, project)
        return cls(tuple(QuestionSettings.read(connection, question) for question in questions))

    @property
    def project(self) -> ProjectInfo:
        return self.questions[0].project

    @property
    def only(self) -> Annotated[QuestionSettings | None, Spread]:
        return self.questions[0] if len(self.questions) == 1 else None

    @property
    def about(self) -> Annotated[ProjectInfo | None, Spread]:
        return self.project if self.only is None else None

    @property
    def rows(self) -> Annotated[tuple[ListedQuestion, ...] | None, Json("questions", rare=True)]:
        """The questions as JSON has them, if there are several."""
        rows = (ListedQuestion(question.question, question.listed) for question in self.questions)
        return tuple(rows) if self.only is None else None

    def view(self) -> Iterator[Table]:
        from tracker.render.tables import table

        about = self.project.to_dict()
        lines = [("project", about["project"])]
        for question in self.questions:
            lines += [] if self.only else [("question", question.question.name)]
            lines += question.cells
        lines += [("time zone", about["timezone"]), ("made", about["created_at"][:10])]
        lines += [("archived", (about["archived_at"] or "no")[:10])]
        if self.project.labels_at is not None:
            lines += [("labels at", self.project.labels_at), ("counted by", self.project.engine)]
        yield table((" ", " "), lines)


def settings_sentence(settings: QuestionSettings, *, dry_run: bool = False) -> str:
    """Return what a question's settings are now, or would be, after its name."""
    question = settings.question
    wanted = question.target_answers
    target = f"a target of {wanted}" if wanted else "no target number of"
    return (
        f"{'would have' if dry_run else 'has'} {target} answers per item, {question.scale} "
        f"scale; categories: {', '.join(settings.categories) or 'none yet'}; "
        f"others are {'refused' if question.categories_fixed else 'accepted'}"
        f"{'' if question.goal is None else f'; goal: {goal_in_words(question)}'}"
    )


def order_sentence(
    question: QuestionInfo, categories: tuple[str, ...] = (), *, several: bool
) -> str | None:
    """Return that the categories of an ordinal question need an order; None for another scale.

    Args:
        question: whose order nobody declared.
        categories: that it has; numbers have an order.
        several: whether the project asks several questions.
    """
    if question.scale != "ordinal":
        return None
    project, name = quote(question.project.name), quote(question.name)
    if categories:
        if all(map(is_numeric_category_name, categories)):
            return None
        which = f" --question {name}" if several else ""
        return (
            f"{', '.join(categories)} have no order yet, which an ordinal scale needs: "
            f"tracker category order {project} LOWEST,…,HIGHEST{which}"
        )
    command = f"question set {project} {name}" if several else f"project set {project}"
    return (
        "on an ordinal scale categories that are not numbers need an order: "
        f"tracker {command} --categories low,middle,high"
    )
