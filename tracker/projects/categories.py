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
from tracker.core.results import Hidden, Json, Record
from tracker.projects.names import (
    category_unfit_for_scale,
    check_entered_name,
    is_numeric_category_name,
    near_names,
)
from tracker.projects.projects import lock_project, log_touched_items, record_change
from tracker.projects.questions import QuestionInfo, all_category_names
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


# -- Categories that turn out to be one: their answers counted as one's, or apart again -----------


_labels = Label.__table__
_past = PastLabel.__table__
_merged = MergedLabel.__table__


def merge_categories(connection: Connection, question: QuestionInfo, name: str, into: str) -> int:
    """Let all answers of a category, past and to come, be answers of another.

    Returns how many labels that stand are concerned. Raises NotFound for an unknown category,
    InvalidOption for the same one twice.
    """
    lock_project(connection, question.project_id)
    names = {known: number for number, known in category_names(connection, question).items()}
    one, other = (_number(question, names, which) for which in (name, into))
    if one == other:
        raise InvalidOption(f"{name!r} and {into!r} are one category", "name two")
    detail = {"question": question.id, "category": one, "into": other}
    change, _ = record_change(connection, question.project_id, MERGE_CATEGORIES, detail)
    record_question_use(connection, question.key, change)
    row = {"from_change": change, "category_id": one, "into_id": other}
    connection.execute(insert(CategoryMerge).values(question.key._asdict() | row))
    merge = Merge(question.key, change, one, other)
    mine = (of_question(_labels, question.key)) & (_labels.c.category_id == one)
    labels = connection.scalar(select(func.count()).select_from(_labels).where(mine)) or 0
    log_touched_items(
        connection,
        question.project_id,
        change,
        select(_labels.c.question_id, _labels.c.item_id).where(mine),
    )
    for table in (_labels, _past):
        store_merged_labels(connection, merge, table)
    with seals.seal_moved_labels(connection, question.project_id, "category_id", [one, other]):
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
    live = merges_as_of_now(connection, question.key)
    merge = next((one for one in live if names[one.category] == name.strip()), None)
    if merge is None:
        merged = [names[one.category] for one in live]
        raise NotFound(
            f"{name!r} is not merged into another category",
            near_names(name, merged) or (f"merged are: {', '.join(merged)}" if merged else None),
        )
    later = next((one for one in live if one.category == merge.into and one.id > merge.id), None)
    if later is not None:
        raise InvalidOption(
            f"{names[merge.into]!r}, of which {name!r} is a part, is merged into "
            f"{names[later.into]!r}",
            f"first: tracker category split {question.project.name} {names[merge.into]}",
        )
    detail = {"question": question.id, "category": merge.category, "from": merge.into}
    change, _ = record_change(connection, question.project_id, SPLIT_CATEGORY, detail)
    log_touched_items(
        connection,
        question.project_id,
        change,
        select(literal(question.id).label("question_id"), _merged.c.item_id).where(
            _merged.c.project_id == question.project_id, _merged.c.merge_id == merge.id
        ),
    )
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
    """Let staged answers of merged categories be the others', and keep which these are."""
    for merge in merges:
        mine = _is_staged(incoming, merge)
        also = incoming.alias("also")
        beside = exists(select(literal(1)).select_from(also)).where(
            same_answer_key((*RECORD, *LABEL[1:]), also, incoming), also.c.category_id == merge.into
        )
        told: dict[str, ColumnElement[Any]] = {
            "project_id": literal(merge.question.project_id),
            "merge_id": literal(merge.id),
            "change_id": literal(change),
            "given_as": own_name_key(incoming),
            "beside": beside.correlate(incoming),
        }
        columns = [
            told[c.name].label(c.name) if c.name in told else incoming.c[c.name]
            for c in _merged.columns
        ]
        names = [column.name for column in _merged.columns]
        statement = select(*columns).where(mine).distinct()
        connection.execute(insert(_merged).from_select(names, statement))
        connection.execute(
            delete(incoming).where(
                mine, beside.where(also.c.line == incoming.c.line).correlate(incoming)
            )
        )
        connection.execute(update(incoming).where(mine).values(category_id=merge.into))


def _is_staged(incoming: Table, merge: Merge) -> ColumnElement[bool]:
    return and_(
        incoming.c.question_id == merge.question.question_id,
        incoming.c.category_id == merge.category,
    )


def _number(question: QuestionInfo, names: dict[str, int], name: str) -> int:
    number = names.get(name.strip())
    if number is None:
        raise NotFound(
            f"there is no category {name!r} in {question.project.name!r}",
            near_names(name, names) or f"see: tracker category list {question.project.name}",
        )
    return number


# -- What comes of it, in words -------------------------------------------------------------------


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
        """The labels of each category."""
        return {row.category: row.labels for row in self.categories}


@dataclass(frozen=True)
class CategoryOrder(Record):
    """A question's categories in their new order."""

    project: str
    categories: tuple[str, ...]

    def view(self) -> Iterator[str]:
        """Yield the order."""
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
        """Yield what counts as what."""
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
        """Yield whose it was."""
        yield f"{self.category} is separate from {self.whose} again in {self.project}"


@dataclass(frozen=True)
class RenamedCategory(Record):
    """A category's new name, and the one before."""

    project: str
    category: str
    before: str

    def view(self) -> Iterator[str]:
        """Yield both names."""
        yield f"{self.before} is now {self.category} in {self.project}"

    def hints(self) -> Iterator[str]:
        """Yield how to import files that have the old name."""
        value = shlex.quote(f"{self.before}={self.category}")
        words = f"-p {shlex.quote(self.project)} --value {value}"
        yield f"a file that still has the old name: tracker import FILE {words}"
