"""Categories that turn out to be one: their answers counted as one's, or apart again."""

from __future__ import annotations

from typing import Any, cast

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

from tracker.core.errors import InvalidOption, NotFound
from tracker.projects.categories import all_category_names, category_names
from tracker.projects.change_log import lock_project, log_touched_items, record_change
from tracker.projects.lookup import near_names
from tracker.projects.question import QuestionInfo
from tracker.projects.settings import MERGE_CATEGORIES, SPLIT_CATEGORY
from tracker.storage import seals
from tracker.storage.answer_keys import LABEL, RECORD, of_question, own_name_key, same_answer_key
from tracker.storage.as_of import (
    Merge,
    merge_stored_labels,
    merges_as_of_now,
    split_stored_labels,
    store_merged_labels,
)
from tracker.storage.facts import record_question_use
from tracker.storage.schema import CategoryMerge, Label, MergedLabel, PastLabel

_labels = cast("Table", Label.__table__)
_past = cast("Table", PastLabel.__table__)
_merged = cast("Table", MergedLabel.__table__)


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
