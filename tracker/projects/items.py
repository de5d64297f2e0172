"""Items of a project: their names, and everything that was said of one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from operator import attrgetter
from shlex import quote
from typing import Annotated, Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, Subquery, func, literal, null, or_, select

from tracker.core import clock
from tracker.core.errors import InvalidOption, NotFound
from tracker.core.results import Hidden, Json, Record, Spread
from tracker.projects.annotators import annotator_names
from tracker.projects.categories import every_category_name
from tracker.projects.item_aliases import item_aliases, standing_item_alias
from tracker.projects.item_links import Medium, item_address, media_of
from tracker.projects.kept import kept_with_answers
from tracker.projects.names import near_names
from tracker.projects.projects import ProjectInfo
from tracker.projects.questions import every_question, list_questions
from tracker.storage.as_of import NOW, Moment, shadow_tables_of_items
from tracker.storage.current import standing_item_facts
from tracker.storage.schema import (
    NO_SPAN,
    NONE_APPLIES,
    SKIPPED,
    AnswerDetail,
    Import,
    Item,
    ItemAlias,
    ItemAttribute,
    Label,
    PastLabel,
)
from tracker.storage.schema.labels import detail_of, question_numbers

_items = Item.__table__
_labels = Label.__table__
_past = PastLabel.__table__
_details = AnswerDetail.__table__


@dataclass(frozen=True)
class ItemAnnotators(Record):
    """An item's name, how many annotators answered it, and its other keys."""

    name: Annotated[str, Json("item")]
    annotators: int
    aliases: tuple[str, ...] = ()


class ItemPage(NamedTuple):
    """Some items in import order, and the place after which the next page begins, if any."""

    items: Sequence[ItemAnnotators]
    next: int | None


@dataclass(frozen=True)
class AnswerDetails(Record):
    """What an annotator said beside an answer."""

    confidence: float | None
    comment: str | None


@dataclass(frozen=True)
class ItemLabel(Record):
    """One answer to an item, standing or past.

    The question is named if the project asks several; there are details if any answer has some.
    """

    question: Annotated[str | None, Json(rare=True)]
    annotator: str
    given_as: str
    pass_: int
    category: str | None
    answer: str
    start: int | None
    end: int | None
    labeled_at: str | None
    seconds: float | None
    import_: int | None
    state: str
    details: Annotated[AnswerDetails | None, Spread]


@dataclass(frozen=True)
class ItemRecord(Record):
    """One item with every label it ever had, standing and past.

    ``address`` is where it is in another program; ``media`` what it consists of but its text.
    """

    name: Annotated[str, Json("item")]
    aliases: tuple[str, ...]
    text: str | None
    attributes: dict[str, str]
    labels: tuple[ItemLabel, ...]
    address: Annotated[str | None, Json(rare=True)] = None
    media: Annotated[tuple[Medium, ...], Hidden] = ()


def item_names(
    connection: Connection, project: ProjectInfo, items: Sequence[int] | None = None
) -> dict[int, str]:
    """Return the names of items by id; all if ``items`` is None."""
    statement = select(Item.id, Item.name).where(Item.project_id == project.id)
    if items is not None:
        statement = statement.where(Item.id.in_(items))
    return dict(connection.execute(statement).all())


def item_texts_of(
    connection: Connection, project: ProjectInfo, items: Sequence[int]
) -> dict[int, tuple[str, str | None]]:
    """Return the names and texts of items by id."""
    statement = select(Item.id, Item.name, Item.text)
    rows = connection.execute(statement.where(Item.project_id == project.id, Item.id.in_(items)))
    return {row.id: (row.name, row.text) for row in rows}


def item_texts_by_name(
    connection: Connection, project: ProjectInfo, names: Iterable[str]
) -> dict[str, str | None]:
    statement = select(Item.name, Item.text)
    named = statement.where(Item.project_id == project.id, Item.name.in_([*names]))
    return dict(connection.execute(named).all())


@kept_with_answers
def count_project_items(connection: Connection, project: ProjectInfo) -> int:
    """Return how many items the project has, with answers or without."""
    items = select(func.count()).where(
        Item.project_id == project.id, standing_item_facts(project.id, _items.c.id)
    )
    return connection.scalar(items) or 0


def list_items(
    connection: Connection, project: ProjectInfo, limit: int | None = None
) -> list[ItemAnnotators]:
    """Return items in the order of their first import, each with its number of annotators.

    Those that only undone imports named are left out.
    """
    rows = connection.execute(_select_counted_items(project).limit(limit)).all()
    # Without a limit they are too many to be named.
    ends = (rows[0].id, rows[-1].id) if rows else (0, 0)
    return _with_aliases(connection, project, rows, ItemAlias.item_id.between(*ends))


def list_item_page(
    connection: Connection, project: ProjectInfo, limit: int, after: int, search: str
) -> ItemPage:
    """Return likewise the first items after a place whose name or text contains a text."""
    statement = _select_counted_items(project).where(Item.id > after).limit(limit + 1)
    if search:
        texts = (Item.name, Item.text)
        contain = (text.icontains(search, autoescape=True) for text in texts)
        statement = statement.where(or_(*contain))
    rows = connection.execute(statement).all()
    of_page = ItemAlias.item_id.in_([row.id for row in rows])
    items = _with_aliases(connection, project, rows[:limit], of_page)
    return ItemPage(items, rows[limit - 1].id if len(rows) > limit else None)


def _with_aliases(
    connection: Connection, project: ProjectInfo, rows: Sequence[Any], of_rows: ColumnElement[bool]
) -> list[ItemAnnotators]:
    names = item_aliases(connection, project, of_rows)
    return [ItemAnnotators(row.name, row.annotators, tuple(names.get(row.id, ()))) for row in rows]


def _select_counted_items(project: ProjectInfo) -> Select[Any]:
    annotators = (
        select(func.count(_labels.c.annotator_id.distinct()))
        .where(
            _labels.c.project_id == project.id,
            _labels.c.question_id.in_(question_numbers(project.id)),
            _labels.c.item_id == Item.id,
            _labels.c.category_id != SKIPPED,
        )
        .scalar_subquery()
    )
    return (
        select(Item.id, Item.name, annotators.label("annotators"))
        .where(Item.project_id == project.id, standing_item_facts(project.id, _items.c.id))
        .order_by(Item.id)
    )


def item_of_key(connection: Connection, project: ProjectInfo, name: str) -> Any:
    """Return the id, name and text of the item of a key, or other key; raises NotFound."""
    name_of_alias = standing_item_alias(project.id) & (ItemAlias.name == name.strip())
    number = connection.scalar(select(ItemAlias.item_id).where(name_of_alias))
    item = connection.execute(
        select(Item.id, Item.name, Item.text).where(
            Item.project_id == project.id,
            Item.name == name.strip() if number is None else Item.id == number,
        )
    ).one_or_none()
    if item is None:
        begins_alike = Item.name.startswith(name.strip()[:3], autoescape=True)
        alike = select(Item.name).where(Item.project_id == project.id, begins_alike)
        names = connection.scalars(alike.limit(1000)).all()
        raise NotFound(
            f"there is no item {name!r} in {project.name!r}",
            near_names(name, names) or f"see: tracker item list {quote(project.name)}",
        )
    return item


def item_keys_chosen(
    connection: Connection,
    project: ProjectInfo,
    names: Iterable[str],
    where: Mapping[str, str | Iterable[str]],
) -> list[str]:
    """Return the keys of items that are named, or have chosen values of attributes.

    Raises NotFound for a key that no item has, InvalidOption for a value that none has, and if
    nothing is chosen.
    """
    keys = [item_of_key(connection, project, name).name for name in names]
    if where:
        values = {
            name: [some] if isinstance(some, str) else [*some] for name, some in where.items()
        }
        check_item_values(connection, project, values)
        having = (Item.id.in_(select_items_with_value(project.id, *of)) for of in values.items())
        statement = select(Item.name).where(Item.project_id == project.id, *having)
        keys += connection.scalars(statement.order_by(Item.id))
    if not keys:
        raise InvalidOption(
            "no item is named", "name some, or choose them: --where ATTRIBUTE=VALUE"
        )
    return list(dict.fromkeys(keys))


def find_item(
    connection: Connection, project: ProjectInfo, name: str, moment: Moment = NOW
) -> ItemRecord:
    """Return the item of a key, or other key, with every label it ever had; raises NotFound.

    With a ``moment`` its labels are those that had been recorded then.
    """
    item = item_of_key(connection, project, name)
    named = select(ItemAttribute.name, ItemAttribute.value).where(
        ItemAttribute.project_id == project.id, ItemAttribute.item_id == item.id
    )
    attributes = {row.name: row.value for row in sorted(connection.execute(named))}
    aliases = item_aliases(connection, project, ItemAlias.item_id == item.id).get(item.id, ())
    this = select(literal(item.id))
    then = shadow_tables_of_items(connection, project.id, moment, this, past=True)
    with nullcontext() if moment == NOW else then:
        labels = _labels_of(connection, project, item.id)
    media = media_of([item.text or "", *attributes.values()], (project.media_hosts or "").split())
    address = item_address(project.item_link, item.name, attributes)
    return ItemRecord(
        item.name, tuple(aliases), item.text, attributes, tuple(labels), address, tuple(media)
    )


def _labels_of(connection: Connection, project: ProjectInfo, item_id: int) -> list[ItemLabel]:
    annotators = annotator_names(connection, project)
    questions = every_question(connection, project)
    categories = {
        (question.id, number): name
        for question in questions.values()
        for number, name in every_category_name(connection, question).items()
    }
    numbers = select(Import.change_id, Import.id).where(Import.project_id == project.id)
    imports = dict(connection.execute(numbers).all())
    rows: list[Any] = []
    for table, stands in ((_labels, True), (_past, False)):
        taken_back = null() if stands else table.c.taken_back_by
        statement = select(
            table,
            table.c["pass"].label("pass_"),
            taken_back.label("taken_back"),
            literal(stands).label("stands"),
            _details.c.confidence,
            _details.c.comment,
        ).outerjoin(_details, detail_of(_details, table))
        rows += connection.execute(
            statement.where(
                table.c.project_id == project.id,
                table.c.question_id.in_(question_numbers(project.id)),
                table.c.item_id == item_id,
            )
        ).all()
    detailed = any(row.confidence is not None or row.comment is not None for row in rows)
    content = attrgetter(
        "question_id", "annotator_id", "pass_", "category_id", "span_start", "span_end"
    )
    standing = {content(row) for row in rows if row.stands}
    current = {question.id for question in list_questions(connection, project)}
    several = len(current | {row.question_id for row in rows}) > 1
    rows.sort(
        key=lambda row: (row.question_id, annotators[row.annotator_id], row.pass_, row.labeled_at)
    )

    def state(row: Any) -> str:
        if row.stands:
            return "stands"
        if row.taken_back is not None:
            return "taken back"
        return "repeated" if content(row) in standing else "superseded"

    answers = {SKIPPED: "skipped", NONE_APPLIES: "none applies"}
    return [
        ItemLabel(
            question=questions[row.question_id].name if several else None,
            annotator=annotators[row.annotator_id],
            given_as=annotators[row.given_as],
            pass_=row.pass_,
            category=categories.get((row.question_id, row.category_id)),
            answer=answers.get(row.category_id, "label"),
            start=None if row.span_start == NO_SPAN else row.span_start,
            end=None if row.span_end == NO_SPAN else row.span_end,
            labeled_at=clock.iso(row.labeled_at) if row.has_own_time else None,
            seconds=None if row.spent_ms is None else row.spent_ms / 1000,
            import_=imports.get(row.change_id),
            state=state(row),
            details=AnswerDetails(row.confidence, row.comment) if detailed else None,
        )
        for row in rows
    ]


def check_item_attribute(connection: Connection, project: ProjectInfo, name: str) -> None:
    """Raise InvalidOption, with the attributes there are, if no item has this one."""
    first = _select_attribute(project, name, ItemAttribute.item_id).limit(1)
    if connection.scalar(first) is not None:
        return
    statement = select(ItemAttribute.name).where(ItemAttribute.project_id == project.id)
    names = ", ".join(sorted(connection.scalars(statement.distinct())))
    raise InvalidOption(
        f"no item of {project.name!r} has an attribute {name!r}",
        f"its items have: {names}"
        if names
        else "columns are kept as attributes by: tracker import --keep COLUMN",
    )


def check_item_values(
    connection: Connection, project: ProjectInfo, where: Mapping[str, Sequence[str]]
) -> None:
    """Raise InvalidOption, with the near ones, for an attribute or value that no item has."""
    for name, values in where.items():
        distinct = _select_attribute(project, name, ItemAttribute.value).distinct()
        # Having met them all, the search may stop.
        among = distinct.where(ItemAttribute.value.in_(values)).limit(len(values))
        present = set(connection.scalars(among))
        unknown = next((value for value in values if value not in present), None)
        if unknown is not None:
            check_item_attribute(connection, project, name)
            near = sorted(connection.scalars(distinct.limit(1000)))
            listed = ", ".join(map(repr, near[:10])) + (", …" if len(near) > 10 else "")
            raise InvalidOption(
                f"no item of {project.name!r} has {name}={unknown}",
                near_names(unknown, near) or f"its values are: {listed}",
            )


def select_items_with_value(project_id: int, name: str, values: Iterable[str]) -> Select[Any]:
    """Return the statement of the ids of the items that have one of the values of an attribute."""
    return select(ItemAttribute.item_id).where(
        ItemAttribute.project_id == project_id,
        ItemAttribute.name == name,
        ItemAttribute.value.in_(values),
    )


def count_items_with_attribute(
    connection: Connection, project: ProjectInfo, name: str, value: str
) -> int:
    """Return how many items have a value of an attribute."""
    items = _select_attribute(project, name, func.count()).where(ItemAttribute.value == value)
    return connection.scalar(items) or 0


def _select_attribute(project: ProjectInfo, name: str, column: Any) -> Select[Any]:
    return select(column).where(ItemAttribute.project_id == project.id, ItemAttribute.name == name)


# -- Items of one text under different keys: they are answered as several, and may be one ----------


class SameText(NamedTuple):
    """How many texts have several keys, and how many items these are."""

    texts: int
    items: int


@dataclass(frozen=True)
class KeyPair(Record):
    """An item and a later one of the same text, as ``tracker item alias --from`` takes them."""

    item: str
    alias: str


def _texts(project: ProjectInfo) -> Subquery:
    """Return the items that have a text: id, name, text without surrounding blanks."""
    blanks = " \t\r\n"
    text = func.ltrim(func.rtrim(_items.c.text, blanks), blanks)
    items = select(_items.c.id, _items.c.name, text.label("text")).where(
        _items.c.project_id == project.id, text != "", standing_item_facts(project.id, _items.c.id)
    )
    return items.subquery("texts")


def count_same_text(connection: Connection, project: ProjectInfo) -> SameText:
    """Return how many texts of a project have several keys; surrounding blanks do not count.

    Items whose labels lie in files have no texts.
    """
    if project.labels_at is not None:
        return SameText(0, 0)
    texts = _texts(project)
    of_text = select(func.count(texts.c.id).label("number")).group_by(texts.c.text)
    several = of_text.having(func.count() > 1).subquery("several")
    counts = select(func.count().label("texts"), func.sum(several.c.number).label("items"))
    row = connection.execute(counts).one()
    return SameText(row.texts, int(row.items or 0))


def list_same_text(connection: Connection, project: ProjectInfo) -> list[KeyPair]:
    """Return the first item of each text with each later one, in import order."""
    texts = _texts(project)
    first = func.first_value(texts.c.name).over(partition_by=texts.c.text, order_by=texts.c.id)
    every = select(texts.c.id, texts.c.name, first.label("first")).subquery("every")
    later = select(every.c.first, every.c.name).where(every.c.name != every.c.first)
    rows = connection.execute(later.order_by(every.c.id))
    return [KeyPair(row.first, row.name) for row in rows]
