"""Categories of a question: in order, counted, renamed."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Table,
    and_,
    delete,
    exists,
    func,
    insert,
    literal,
    select,
    update,
)

from tracker.core.errors import InvalidOption, NotFound, Refused
from tracker.core.kept import read_once
from tracker.core.results import Hidden, Json, Record
from tracker.projects.names import (
    category_unfit_for_scale,
    check_entered_name,
    is_numeric_category_name,
    near_names,
)
from tracker.projects.projects import lock_project, record_change
from tracker.projects.questions import QuestionInfo, all_category_names
from tracker.projects.touched import log_touched_items
from tracker.render.nouns import count_noun
from tracker.storage import seals
from tracker.storage.as_of import (
    Merge,
    merge_stored_labels,
    merges_as_of_now,
    split_stored_labels,
    store_merged_labels,
)
from tracker.storage.current import (
    categories_with_facts,
    category_position_facts,
    record_question_use,
    stored_category_merges,
)
from tracker.storage.schema import Category, CategoryMerge, Label, MergedLabel, PastLabel
from tracker.storage.schema.labels import (
    LABEL,
    RECORD,
    of_question,
    own_name_key,
    same_answer_key,
)

if TYPE_CHECKING:
    from tracker.projects.questions import QuestionInfo


MERGE_CATEGORIES, SPLIT_CATEGORY = "merge categories", "split category"


class CategoryNames(dict[int, str]):
    """Categories of a question in their order, ``{id: name}``.

    ``ordered`` says whether the order was declared, for every one of them.
    """

    ordered = False


@read_once
def category_names(connection: Connection, question: QuestionInfo) -> CategoryNames:
    """Return the question's categories, ``{id: name}``, in the declared or else the sorted order.

    A learnt list is sorted by number if every name is one, else by name; learnt categories
    come after those with a declared place. Those that only undone imports named are left out.
    """
    numbers = all_category_names(connection, question.key)
    places = category_position_facts(connection, question.key)
    current = set(places)
    if not question.categories_fixed:
        current |= categories_with_facts(connection, question.key)
    current -= stored_category_merges(connection, question.key).keys()
    names = {number: name for name, number in numbers.items() if number in current}
    numeric = all(map(is_numeric_category_name, names.values()))

    def place(category: tuple[int, str]) -> tuple[int, float, str]:
        number, name = category
        return places.get(number, len(numbers) + 1), float(name) if numeric else 0.0, name

    categories = CategoryNames(sorted(names.items(), key=place))
    categories.ordered = bool(places) and names.keys() <= places.keys()
    return categories


def find_category(connection: Connection, question: QuestionInfo, name: str) -> int:
    numbers = {known: number for number, known in category_names(connection, question).items()}
    if name.strip() not in numbers:
        raise NotFound(f"there is no category {name!r}", near_names(name, numbers))
    return numbers[name.strip()]


def every_category_name(connection: Connection, question: QuestionInfo) -> dict[int, str]:
    """Return the question's categories, ``{id: name}``, then those it no longer has.

    They are needed for records: an undone import's categories stay in them.
    """
    numbers = all_category_names(connection, question.key)
    return category_names(connection, question) | {number: name for name, number in numbers.items()}


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
    detail = {"question": question.id, "category": number, "from": old, "to": new}
    change, _ = record_change(connection, question.project_id, "rename category", detail)
    record_question_use(connection, question.key, change)


def project_labels_by_category(connection: Connection, question: QuestionInfo) -> dict[str, int]:
    """Return how many labels of each category stand, in the categories' order."""
    statement = (
        select(Label.category_id, func.count())
        .where(of_question(Label, question.key))
        .group_by(Label.category_id)
    )
    labels = dict(connection.execute(statement).all())
    return {
        name: labels.get(number, 0) for number, name in category_names(connection, question).items()
    }


# -- Categories that turn out to be one: their answers counted as one's, or apart again -----------


_labels = Label.__table__
_past = PastLabel.__table__
_merged = MergedLabel.__table__


def merge_categories(connection: Connection, question: QuestionInfo, name: str, into: str) -> int:
    """Let all answers of a category, past and to come, be answers of another.

    Returns how many standing labels this changes. Raises NotFound for an unknown category,
    InvalidOption for the same one twice.
    """
    lock_project(connection, question.project_id)
    names = {known: number for number, known in category_names(connection, question).items()}
    source, target = (_number(question, names, category) for category in (name, into))
    if source == target:
        raise InvalidOption(f"{name!r} and {into!r} are one category", "name two")
    detail = {"question": question.id, "category": source, "into": target}
    change, _ = record_change(connection, question.project_id, MERGE_CATEGORIES, detail)
    record_question_use(connection, question.key, change)
    row = {"from_change": change, "category_id": source, "into_id": target}
    connection.execute(insert(CategoryMerge).values(question.key._asdict() | row))
    merge = Merge(question.key, change, source, target)
    mine = of_question(_labels, question.key) & (_labels.c.category_id == source)
    labels = connection.scalar(select(func.count()).select_from(_labels).where(mine)) or 0
    items = select(_labels.c.question_id, _labels.c.item_id).where(mine)
    log_touched_items(connection, question.project_id, change, items)
    for table in (_labels, _past):
        store_merged_labels(connection, merge, table)
    with seals.seal_moved_labels(connection, question.project_id, "category_id", [source, target]):
        merge_stored_labels(connection, merge, (_labels, _past))
    return labels


def split_category(connection: Connection, question: QuestionInfo, name: str) -> str:
    """Let the answers of a merged category be its own again; returns whose they were.

    Raises NotFound for one that is not merged, InvalidOption while the other is merged itself.
    """
    lock_project(connection, question.project_id)
    names = {
        number: known for known, number in all_category_names(connection, question.key).items()
    }
    merges = merges_as_of_now(connection, question.key)
    merge = next((merge for merge in merges if names[merge.category] == name.strip()), None)
    if merge is None:
        merged = [names[merge.category] for merge in merges]
        raise NotFound(
            f"{name!r} is not merged into another category",
            near_names(name, merged) or (f"merged are: {', '.join(merged)}" if merged else None),
        )
    for later in merges:
        if later.category == merge.into and later.id > merge.id:
            raise InvalidOption(
                f"{names[merge.into]!r}, of which {name!r} is a part, is merged into "
                f"{names[later.into]!r}",
                f"first: tracker category split {question.project.name} {names[merge.into]}",
            )
    detail = {"question": question.id, "category": merge.category, "from": merge.into}
    change, _ = record_change(connection, question.project_id, SPLIT_CATEGORY, detail)
    items = select(literal(question.id).label("question_id"), _merged.c.item_id).where(
        _merged.c.project_id == question.project_id, _merged.c.merge_id == merge.id
    )
    log_touched_items(connection, question.project_id, change, items)
    both = [merge.category, merge.into]
    with seals.seal_moved_labels(connection, question.project_id, "category_id", both):
        split_stored_labels(connection, merge, (_labels, _past))
    connection.execute(
        update(CategoryMerge)
        .where(of_question(CategoryMerge, question.key), CategoryMerge.from_change == merge.id)
        .values(to_change=change)
    )
    return names[merge.into]


def fold_merged_categories(
    connection: Connection, incoming: Table, merges: list[Merge], change: int
) -> None:
    """Turn staged answers of merged categories into those of the others, and record which they are.

    A record that has both categories keeps the other one.
    """
    names = [column.name for column in _merged.columns]
    for merge in merges:
        mine = and_(
            incoming.c.question_id == merge.question.question_id,
            incoming.c.category_id == merge.category,
        )
        also = incoming.alias("also")
        beside = exists(select(literal(1)).select_from(also)).where(
            same_answer_key((*RECORD, *LABEL[1:]), also, incoming), also.c.category_id == merge.into
        )
        values: dict[str, ColumnElement[Any]] = {
            "project_id": literal(merge.question.project_id),
            "merge_id": literal(merge.id),
            "change_id": literal(change),
            "given_as": own_name_key(incoming),
            "beside": beside.correlate(incoming),
        }
        columns = [
            values[name].label(name) if name in values else incoming.c[name] for name in names
        ]
        statement = select(*columns).where(mine).distinct()
        connection.execute(insert(_merged).from_select(names, statement))
        in_record = beside.where(also.c.line == incoming.c.line).correlate(incoming)
        connection.execute(delete(incoming).where(mine, in_record))
        connection.execute(update(incoming).where(mine).values(category_id=merge.into))


def _number(question: QuestionInfo, names: dict[str, int], name: str) -> int:
    number = names.get(name.strip())
    if number is None:
        raise NotFound(
            f"there is no category {name!r} in {question.project.name!r}",
            near_names(name, names) or f"see: tracker category list {question.project.name}",
        )
    return number


# -- Results, and their sentences ------------------------------------------------------------------


@dataclass(frozen=True)
class LabelsOfCategory(Record):
    """A category with the number of labels that stand."""

    category: str
    labels: int


@dataclass(frozen=True)
class CategoryLabels(Record):
    """A question's categories in order; if the list is closed, others are refused."""

    project: str
    closed: bool
    categories: tuple[LabelsOfCategory, ...]

    @property
    def labels(self) -> dict[str, int]:
        return {row.category: row.labels for row in self.categories}


@dataclass(frozen=True)
class CategoryOrder(Record):
    """A question's categories in their new order."""

    project: str
    categories: tuple[str, ...]

    def view(self) -> Iterator[str]:
        yield f"the order in {self.project}: {', '.join(self.categories)}"


@dataclass(frozen=True)
class MergedCategory(Record):
    """A category whose answers count as another's, with how many labels that concerns."""

    project: str
    category: str
    into: str
    labels: int
    dry_run: Annotated[bool, Hidden] = False

    def view(self) -> Iterator[str]:
        now = "would count" if self.dry_run else "now counts" if self.labels == 1 else "now count"
        labels = count_noun(self.labels, "label")
        yield f"{self.project}: {labels} of {self.category!r} {now} as {self.into!r}"


@dataclass(frozen=True)
class SplitCategory(Record):
    """A category that has its own answers again, and whose they were."""

    project: str
    category: str
    whose: Annotated[str, Json("from")]

    def view(self) -> Iterator[str]:
        yield f"{self.category} is separate from {self.whose} again in {self.project}"


@dataclass(frozen=True)
class RenamedCategory(Record):
    """A category's new name, and the one before."""

    project: str
    category: str
    before: str

    def view(self) -> Iterator[str]:
        yield f"{self.before} is now {self.category} in {self.project}"

    def hints(self) -> Iterator[str]:
        value = shlex.quote(f"{self.before}={self.category}")
        words = f"-p {shlex.quote(self.project)} --value {value}"
        yield f"a file that still has the old name: tracker import FILE {words}"
