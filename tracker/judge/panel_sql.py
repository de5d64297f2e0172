"""What models, decisions and people said of each item, counted by one statement."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    Integer,
    Subquery,
    and_,
    case,
    func,
    literal,
    or_,
    select,
)

from tracker.core.tallies import Answer
from tracker.counts.pattern_codes import AS_COLUMNS, Packing, make_pattern_code, widen_pattern_code
from tracker.counts.selection import (
    Selection,
    labels,
    read_selected_answer,
    stream_rows,
    where_counted,
    with_answers,
)
from tracker.judge.asking import ESTIMATE, RANDOM, TUNING, USED_FOR
from tracker.judge.cells import AT_RANDOM, BY_MODEL, LATER, NOT_DRAWN, Cell
from tracker.projects.annotators import annotators_by_name
from tracker.projects.questions import QuestionInfo
from tracker.storage.schema import Assignment, Batch, Change, ItemAttribute
from tracker.storage.schema.work import GOLD

_assignments = Assignment.__table__
_batches = Batch.__table__
_changes = Change.__table__
_attributes = ItemAttribute.__table__


class Draws(NamedTuple):
    """The batches whose items were drawn.

    Attributes:
        random: their numbers, of those drawn from all items.
        by_model: of those drawn within the answers of the model that is asked about.
        highest: the id of the last item that was there at the first of these draws.
    """

    random: tuple[int, ...]
    by_model: tuple[int, ...]
    highest: int


def select_draws(connection: Connection, question: QuestionInfo, model: int) -> Draws:
    """Return the draws of a question's items, and those for the figures by a model."""
    rows = connection.execute(
        select(_changes.c.id, _changes.c.detail)
        .join(
            _batches,
            (_batches.c.project_id == _changes.c.project_id)
            & (_batches.c.change_id == _changes.c.id),
        )
        .where(
            _changes.c.project_id == question.project_id,
            or_(_batches.c.question_id.is_(None), _batches.c.question_id == question.id),
        )
    )
    every = ((number, json.loads(detail)) for number, detail in rows)
    details = {number: of for number, of in every if not of.get("where")}
    names = annotators_by_name(connection, question.project)
    random = [number for number, of in details.items() if of.get("prefer") == RANDOM]
    by_model = [
        number
        for number, of in details.items()
        if of.get("prefer") == ESTIMATE
        and (whose := names.get(of.get("model", ""))) is not None
        and whose.id == model
    ]
    highest = min((details[number]["highest"] for number in random + by_model), default=0)
    return Draws(tuple(sorted(random)), tuple(sorted(by_model)), highest)


def without_tuning(selection: Selection) -> Selection:
    """Return the selection without the items that were used to tune what a model is asked."""
    return replace(selection, unless=(*selection.unless, (USED_FOR, (TUNING,))))


def count_panel(
    connection: Connection, people: Selection, models: Sequence[int], draws: Draws | None = None
) -> dict[Cell, int]:
    """Return how many items there are of each cell, in a fixed order.

    All answers are read once, item by item: those of people make the pattern, those of a model and
    of the decider are each a column beside it.

    Args:
        connection: to the database.
        people: whose answers make the patterns; decisions are those of its decider.
        models: by id; the cells have their answers in this order.
        draws: if it is to be said which items were drawn for people.
    """
    asked = {f"model_{n}": model for n, model in enumerate(models)}
    if people.decider:
        asked["decision"] = people.decider
    rows = _answers(people, asked, first=draws is not None)
    code = make_pattern_code(connection, people, frozenset(asked.values()), of=rows)
    items = code.items
    further: list[ColumnElement[Any]] = [items.c[name] for name in asked]
    source: FromClause = items
    state: ColumnElement[int] = literal(NOT_DRAWN, Integer)
    if draws is not None:
        drawn = _drawn(people, draws)
        source = items.outerjoin(drawn, drawn.c.item_id == items.c.item_id)
        state = _state(items, drawn, draws)
    packing = AS_COLUMNS
    if code.bits is not None:
        of_code, _, of_category = code.bits
        packing = Packing((2, *(of_category for _ in asked), of_code))
    if packing.fits:
        further = [func.coalesce(column, 0) for column in further]
    key = packing.key([state, *further, *code.key])
    number = func.max(items.c.answers)
    statement = select(*key, func.count(), number).select_from(source)
    grouped = statement.group_by(*(column.name for column in key))
    cells: Counter[Cell] = Counter()
    read, decode = _reader(people), cache(code.decode)
    most = 0
    for *packed, count, answers in stream_rows(connection, grouped):
        most = max(most, answers)
        if code.holds(answers):
            state_, *values = packing.unpack(packed)
            given = [*map(read, values[: len(asked)])]
            decision = given.pop() if people.decider else None
            cells[Cell(tuple(given), decision, decode(tuple(values[len(asked) :])), state_)] += (
                count
            )
    wider = widen_pattern_code(people, code, most)
    if wider is not None:
        return count_panel(connection, wider, models, draws)
    return dict(sorted(cells.items(), key=_order))


def _order(entry: tuple[Cell, int]) -> Any:
    models, decision, *rest = entry[0]
    return tuple(answer or () for answer in models), decision or (), *rest


def _reader(selection: Selection) -> Any:
    if selection.single:  # 0 stands for no answer
        return lambda value: (value,) if value else None
    return cache(lambda value: None if value is None else read_selected_answer(value))


def _answers(people: Selection, asked: Mapping[str, int], *, first: bool) -> Subquery:
    """Return a row per answer, those asked for in columns of their own.

    With ``first`` it has, below 0, the change by which a person answered, so that the greatest is
    the first.
    """
    whose = labels.c.annotator_id
    everybody = people.with_models(frozenset(asked.values()))
    statement = select(labels.c.item_id, whose).where(where_counted(everybody, alone=True))
    statement = with_answers(statement, people, (labels.c.item_id, whose))
    answer = statement.selected_columns.answer
    more = {name: case((whose == who, answer)) for name, who in asked.items()}
    if first:
        change = labels.c.change_id if people.single else func.min(labels.c.change_id)
        more["first"] = case((whose.not_in(sorted(asked.values())), -change))
    return statement.add_columns(*(column.label(name) for name, column in more.items())).subquery(
        "said"
    )


def _drawn(people: Selection, draws: Draws) -> Subquery:
    """Return the items drawn: when first from all items, and when first at all."""
    change = _assignments.c.change_id
    random = func.min(case((change.in_(draws.random), change))).label("from_all")
    return (
        select(_assignments.c.item_id, random, func.min(change).label("ever"))
        .where(
            _assignments.c.project_id == people.question.project_id,
            change.in_([*draws.random, *draws.by_model]),
            _assignments.c.why != GOLD,
            _assignments.c.withdrawn_by.is_(None),
        )
        .group_by(_assignments.c.item_id)
        .subquery("drawn")
    )


def _state(items: Subquery, drawn: Subquery, draws: Draws) -> ColumnElement[int]:
    """Return how an item came to people: what they said before a draw is not drawn by it."""
    answered = -items.c.first
    return case(
        (items.c.item_id > draws.highest, literal(LATER, Integer)),
        (or_(drawn.c.from_all < answered, answered.is_(None) & drawn.c.from_all.is_not(None)),
         literal(AT_RANDOM, Integer)),
        (or_(drawn.c.ever < answered, answered.is_(None) & drawn.c.ever.is_not(None)),
         literal(BY_MODEL, Integer)),
        else_=literal(NOT_DRAWN, Integer),
    )  # fmt: skip


def select_unanswered(
    connection: Connection, people: Selection, models: Sequence[int]
) -> Iterator[tuple[int, tuple[Answer | None, ...]]]:
    """Yield each item that models answered and people did not, with the models' answers."""
    asked = {f"model_{n}": model for n, model in enumerate(models)}
    rows = _answers(people, {**asked, "decision": people.decider}, first=True)
    answers = [func.max(rows.c[name]).label(name) for name in asked]
    no_people = func.max(rows.c.first).is_(None), func.max(rows.c.decision).is_(None)
    statement = select(rows.c.item_id, *answers).group_by(rows.c.item_id).having(and_(*no_people))
    read = _reader(people)
    for item, *given in stream_rows(connection, statement.order_by(rows.c.item_id)):
        yield item, tuple(map(read, given))
