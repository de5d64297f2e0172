"""Categories of a question: in order, counted, renamed."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlalchemy import Connection, func, insert, select, update

from tracker.core.errors import InvalidOption, NotFound, Refused
from tracker.projects.change_log import lock_project, record_change
from tracker.projects.lookup import (
    category_unfit_for_scale,
    check_entered_name,
    is_numeric_category_name,
    near_names,
)
from tracker.storage.answer_keys import QuestionKey, of_question
from tracker.storage.facts import (
    categories_with_facts,
    category_position_facts,
    record_question_use,
    stored_category_merges,
)
from tracker.storage.schema import Category, Label

if TYPE_CHECKING:
    from tracker.projects.question import QuestionInfo


class CategoryNames(dict[int, str]):
    """Categories of a question in their order, ``{id: name}``.

    ``ordered`` says whether the order was declared, for every one of them.
    """

    ordered = False


def category_names(connection: Connection, question: QuestionInfo) -> CategoryNames:
    """Return the question's categories, ``{id: name}``, in the declared or else the sorted order.

    A learnt list is sorted by number if every name is one, else by name; learnt categories
    come after those with a declared place. What only undone imports named is not among them.
    """
    every = all_category_names(connection, question.key)
    places = category_position_facts(connection, question.key)
    known = (
        set(places)
        if question.categories_fixed
        else places.keys() | categories_with_facts(connection, question.key)
    )
    merged = stored_category_merges(connection, question.key)
    names = {
        number: name for name, number in every.items() if number in known and number not in merged
    }
    numeric = all(is_numeric_category_name(name) for name in names.values())
    found = CategoryNames(
        sorted(
            names.items(),
            key=lambda one: (
                places.get(one[0], len(every) + 1),
                float(one[1]) if numeric else 0.0,
                one[1],
            ),
        )
    )
    found.ordered = bool(places) and names.keys() <= places.keys()
    return found


def find_category(connection: Connection, question: QuestionInfo, name: str) -> int:
    """Return the number of the category of that name; raises NotFound, with the near names."""
    names = category_names(connection, question)
    number = next((n for n, known in names.items() if known == name.strip()), None)
    if number is None:
        raise NotFound(f"there is no category {name!r}", near_names(name, names.values()))
    return number


def every_category_name(connection: Connection, question: QuestionInfo) -> dict[int, str]:
    """Return the question's categories, ``{id: name}``, then those that it has no more.

    For what was recorded of them: an undone import's categories stay in the record.
    """
    every = all_category_names(connection, question.key)
    return category_names(connection, question) | {number: name for name, number in every.items()}


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
    known = all_category_names(connection, question)
    free = max(known.values(), default=0) + 1
    new = [name for name in names if name not in known]
    made = {name: free + n for n, name in enumerate(new)}
    if made:
        connection.execute(
            insert(Category),
            [question._asdict() | {"id": n, "name": name} for name, n in made.items()],
        )
    return [(known | made)[name] for name in names]


def rename_category(connection: Connection, question: QuestionInfo, old: str, new: str) -> None:
    """Give a category another name; its labels stay its labels.

    Raises NotFound for an unknown category, InvalidOption if the new name is taken.
    """
    new = check_entered_name(new, "category")
    lock_project(connection, question.project_id)
    number = find_category(connection, question, old)
    if new in all_category_names(connection, question.key):
        words = shlex.join([question.project.name, old, new])
        raise InvalidOption(
            f"the category {new!r} exists",
            f"to make them one: tracker category merge {words}; else choose another name",
        )
    unfit = category_unfit_for_scale(question.scale, new)
    if unfit is not None:
        raise Refused(f"{new!r} {unfit}", "choose another name")
    connection.execute(
        update(Category)
        .where(of_question(Category, question.key), Category.id == number)
        .values(name=new)
    )
    change, _ = record_change(
        connection,
        question.project_id,
        "rename category",
        {"question": question.id, "category": number, "from": old, "to": new},
    )
    record_question_use(connection, question.key, change)


def project_labels_by_category(connection: Connection, question: QuestionInfo) -> dict[str, int]:
    """Return how many labels of each category stand, in the categories' order."""
    rows = connection.execute(
        select(Label.category_id, func.count().label("labels"))
        .where(of_question(Label, question.key))
        .group_by(Label.category_id)
    )
    labels = {row.category_id: row.labels for row in rows}
    return {
        name: labels.get(number, 0) for number, name in category_names(connection, question).items()
    }
