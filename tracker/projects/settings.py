"""A question's settings, changed: target answers, scale, the list of categories and its order."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, Final

from sqlalchemy import Connection, select, update

from tracker.core.errors import InvalidOption, NotFound, Refused
from tracker.core.results import Hidden, Json, Record, Spread
from tracker.projects.categories import (
    MERGE_CATEGORIES,
    SPLIT_CATEGORY,
    category_names,
    project_labels_by_category,
)
from tracker.projects.names import (
    category_unfit_for_scale,
    check_entered_name,
    is_numeric_category_name,
    near_names,
)
from tracker.projects.projects import ProjectInfo, lock_project, record_change
from tracker.projects.questions import (
    FIRST,
    UNDO,
    QuestionInfo,
    are_many_numbers,
    list_questions,
    number_categories,
    settings_before_undo,
)
from tracker.storage.current import (
    categories_with_facts,
    record_category_facts,
    record_question_use,
)
from tracker.storage.schema import SCALES, Change, Question

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
) -> QuestionInfo:
    """Change a question's settings; None leaves one as it is. Returns it as it is then.

    Args:
        connection: in a transaction that writes.
        question: as it is.
        wanted: answers that each item should get; 0 for no number.
        scale: how categories compare.
        categories: the only ones, in this order.
        opened: whether new categories are accepted again.

    Raises InvalidOption for a setting that is none, Refused for one that the answers contradict.
    """
    lock_project(connection, question.project_id)
    asked = _asked(wanted, scale, opened, listed=categories is not None)
    changed = replace(question, **asked)
    known = category_names(connection, question)
    listed = list(known.values()) if categories is None else _checked(categories)
    _check_scale(changed, listed)
    if categories is not None:
        _check_complete(connection, question, listed)
    same = categories is None or (question.categories_fixed and listed == list(known.values()))
    if changed == question and same:
        return question
    differing = {name: value for name, value in asked.items() if getattr(question, name) != value}
    detail = {
        "question": question.id,
        "from": {_LOGGED[name]: getattr(question, name) for name in differing},
        "to": {_LOGGED[name]: value for name, value in differing.items()},
    }
    change, _ = record_change(connection, question.project_id, _SET, detail)
    record_question_use(connection, question.key, change)
    if differing:
        ours = (Question.project_id == question.project_id) & (Question.id == question.id)
        connection.execute(update(Question).where(ours).values(**differing))
    if categories is not None:
        record_category_facts(
            connection,
            question.key,
            change,
            order=number_categories(connection, question.key, listed),
        )
    return changed


def _asked(wanted: int | None, scale: str | None, opened: bool, *, listed: bool) -> dict[str, Any]:
    """Return the columns to change; raises InvalidOption as `set_question` does."""
    if opened and listed:
        raise InvalidOption("--open and --categories contradict each other", "leave one out")
    asked: dict[str, Any] = {}
    if wanted is not None:
        if wanted < 0:
            raise InvalidOption(f"--wanted {wanted} is not a number of answers")
        asked["target_answers"] = wanted or None
    if scale is not None:
        if scale not in SCALES:
            raise InvalidOption(
                f"--scale {scale!r} is none of {', '.join(SCALES)}", near_names(scale, SCALES)
            )
        asked["scale"] = scale
    if opened or listed:
        asked["categories_fixed"] = listed
    if not asked:
        raise InvalidOption("there is nothing to set", "such as: --wanted 3")
    return asked


def order_categories(
    connection: Connection, question: QuestionInfo, names: Sequence[str]
) -> list[str]:
    """Put a question's categories in an order, which ordinal scales go by; returns their names.

    Raises NotFound for a category that is not there, InvalidOption if one is left out.
    """
    lock_project(connection, question.project_id)
    listed = _checked(names)
    known = category_names(connection, question)
    by_name = {name: number for number, name in known.items()}
    for name in listed:
        if name not in by_name:
            raise NotFound(f"there is no category {name!r}", near_names(name, by_name))
    missing = [name for name in by_name if name not in listed]
    if missing:
        raise InvalidOption(
            f"the order leaves out {', '.join(map(repr, missing[:8]))}", "name every category"
        )
    if not (known.ordered and listed == list(known.values())):
        change, _ = record_change(
            connection, question.project_id, _ORDER, {"question": question.id}
        )
        record_question_use(connection, question.key, change)
        order = [by_name[name] for name in listed]
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
    before: dict[str, Any] = {}
    for detail in map(json.loads, details):
        before |= settings_before_undo(detail, question.id)
        # A project had one question, which nothing named, before it could have several.
        if "to" in detail and detail.get("question", FIRST) == question.id:
            before |= {
                name: detail["from"][word]
                for name, word in _LOGGED.items()
                if word in detail["from"]
            }
    return replace(question, **before)


def settings_changed_since(
    connection: Connection, project_id: int, through: int, kinds: Iterable[str] = FIGURES_CHANGE
) -> bool:
    """Return whether a change after one may have given the same answers other figures."""
    found = select(Change.id).where(
        Change.project_id == project_id, Change.id > through, Change.kind.in_(tuple(kinds))
    )
    return connection.scalar(found.limit(1)) is not None


def _checked(names: Sequence[str]) -> list[str]:
    listed = [check_entered_name(name, "category") for name in names]
    if len(set(listed)) < len(listed):
        raise InvalidOption("the list names a category twice")
    if not listed:
        raise InvalidOption("the list names no category")
    return listed


def _check_scale(question: QuestionInfo, names: Sequence[str]) -> None:
    for name in names:
        unfit = category_unfit_for_scale(question.scale, name)
        if unfit is not None:
            raise Refused(
                f"the category {name!r} {unfit}", "choose another scale, or rename the category"
            )


def _check_complete(connection: Connection, question: QuestionInfo, listed: Sequence[str]) -> None:
    """Refuse a list that leaves out a category with answers."""
    used = categories_with_facts(connection, question.key)
    current: Mapping[int, str] = category_names(connection, question)
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
}


@dataclass(frozen=True)
class QuestionSettings(Record):
    """A question as it is set, with its project.

    Attributes:
        name: of the question, if JSON says it.
        project: the project.
        question: the question.
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
        """Return a question without its categories."""
        name = question.name if named else None
        return cls(name, question.project, question, question.project)

    @classmethod
    def read(
        cls, connection: Connection, question: QuestionInfo, *, named: bool = False
    ) -> QuestionSettings:
        """Return a question with its categories."""
        names = category_names(connection, question)
        made = cls.of(question, named=named)
        return replace(made, categories=tuple(names.values()), ordered=names.ordered)

    @property
    def listed(self) -> Annotated[tuple[str, ...] | None, Json("categories", rare=True)]:
        """The categories as JSON has them, if they were read."""
        return None if self.ordered is None else self.categories

    @property
    def many_numbers(self) -> bool:
        """Whether answers are numbers, too many of them to be shown one by one."""
        about = self.question
        return are_many_numbers(about.answers, about.scale, len(self.categories))

    @property
    def cells(self) -> list[tuple[str, str]]:
        """What a table says of the question, line by line."""
        found = self.question
        wanted = found.target_answers
        return [
            ("answers", ANSWERS[found.answers]),
            *([("offsets", found.offsets)] if found.answers == "spans" else []),
            ("scale", found.scale),
            ("categories", ", ".join(self.categories) or "none yet"),
            ("other categories", "refused" if found.categories_fixed else "accepted"),
            ("wanted", "-" if wanted is None else f"{wanted} answers per item"),
        ]

    def view(self) -> Iterator[Table]:
        """Yield how the question is answered."""
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
        """Return a project with its questions and their categories."""
        questions = list_questions(connection, project)
        return cls(tuple(QuestionSettings.read(connection, question) for question in questions))

    @property
    def project(self) -> ProjectInfo:
        """The project."""
        return self.questions[0].project

    @property
    def only(self) -> Annotated[QuestionSettings | None, Spread]:
        """The question, if there are not several."""
        return self.questions[0] if len(self.questions) == 1 else None

    @property
    def about(self) -> Annotated[ProjectInfo | None, Spread]:
        """The project, if it asks several questions."""
        return self.project if self.only is None else None

    @property
    def rows(self) -> Annotated[tuple[ListedQuestion, ...] | None, Json("questions", rare=True)]:
        """The questions as JSON has them, if there are several."""
        rows = tuple(
            ListedQuestion(question.question, question.listed) for question in self.questions
        )
        return rows if self.only is None else None

    def view(self) -> Iterator[Table]:
        """Yield how each question is answered, and the facts of the project."""
        from tracker.render.tables import table

        about = self.project.to_dict()
        lines = [("project", about["project"])]
        for question in self.questions:
            lines += [] if self.only else [("question", question.question.name)]
            lines += question.cells
        lines += [("time zone", about["timezone"]), ("made", about["created_at"][:10])]
        lines += [("archived", (about["archived_at"] or "no")[:10])]
        yield table((" ", " "), lines)


def settings_sentence(settings: QuestionSettings, *, dry_run: bool = False) -> str:
    """Return what a question's settings are now, or would be, after its name."""
    found = settings.question
    target = (
        f"a target of {found.target_answers}" if found.target_answers else "no target number of"
    )
    return (
        f"{'would have' if dry_run else 'has'} {target} answers per item, {found.scale} "
        f"scale; categories: {', '.join(settings.categories) or 'none yet'}; "
        f"others are {'refused' if found.categories_fixed else 'accepted'}"
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
    name, asked = quote(question.project.name), quote(question.name)
    if categories:
        if all(map(is_numeric_category_name, categories)):
            return None
        which = f" --question {asked}" if several else ""
        return (
            f"{', '.join(categories)} have no order yet, which an ordinal scale needs: "
            f"tracker category order {name} LOWEST,…,HIGHEST{which}"
        )
    what = f"question set {name} {asked}" if several else f"project set {name}"
    return (
        "on an ordinal scale categories that are not numbers need an order: "
        f"tracker {what} --categories low,middle,high"
    )
