"""The queries of assignments: which items need answers, who may have which, what is done."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    Row,
    Select,
    and_,
    case,
    func,
    literal,
    or_,
    select,
    tuple_,
    union_all,
    update,
)

from tracker.counts.filter import select_answers
from tracker.counts.items import item_order_keys
from tracker.counts.selection import stream_rows
from tracker.projects.items import select_items_with_value
from tracker.projects.projects import ProjectInfo
from tracker.projects.questions import QuestionInfo
from tracker.storage.current import standing_item_facts
from tracker.storage.schema import (
    SKIPPED,
    Alias,
    Annotator,
    Assignment,
    Batch,
    Change,
    Draft,
    Item,
    Label,
    PastLabel,
)
from tracker.storage.schema.labels import question_numbers
from tracker.storage.schema.work import REPEAT
from tracker.work.choosing import DONE, LATE, OPEN, WITHDRAWN
from tracker.work.drawing_sql import Draw

UNDONE = (OPEN, LATE)

_assignments = Assignment.__table__
_batches = Batch.__table__
_items = Item.__table__
_labels = Label.__table__
_past = PastLabel.__table__
_aliases = Alias.__table__
_annotators = Annotator.__table__
_changes = Change.__table__
_drafts = Draft.__table__

KEY = ("project_id", "annotator_id", "change_id", "place")
"""The key of an assignment: the name that it was given to, its batch, and its place."""

_owner = func.coalesce(_aliases.c.annotator_id, _assignments.c.annotator_id)
"""Who has an assignment now: it was given to a name that may have become another's."""


def _assigned(project_id: int, *columns: Any) -> Select[Any]:
    """Return the statement of a project's assignments, with their batches and owners.

    Those of items that no standing change names are left out.
    """
    of_alias = and_(
        _aliases.c.project_id == project_id,
        _aliases.c.alias_id == _assignments.c.annotator_id,
        _aliases.c.to_change.is_(None),
    )
    joined = _assignments.join(
        _batches,
        and_(
            _batches.c.project_id == _assignments.c.project_id,
            _batches.c.change_id == _assignments.c.change_id,
        ),
    ).outerjoin(_aliases, of_alias)
    stands = standing_item_facts(project_id, _assignments.c.item_id)
    return (
        select(*columns).select_from(joined).where(_assignments.c.project_id == project_id, stands)
    )


def _recorded_since(
    project_id: int, records: FromClause, before: int | None = None
) -> ColumnElement[bool]:
    """Return that a record is the assignment's: of its person and item, and later than it.

    With ``before`` it is of an earlier change than that, too.
    """
    asked = _batches.c.question_id
    return and_(
        records.c.project_id == project_id,
        # The key of labels leads from a question to its items.
        records.c.question_id.in_(question_numbers(project_id)),
        or_(asked.is_(None), records.c.question_id == asked),
        records.c.item_id == _assignments.c.item_id,
        records.c.annotator_id == _owner,
        records.c.change_id > _assignments.c.change_id,
        *(() if before is None else (records.c.change_id < before,)),
    )


def _there_is(records: FromClause, *conditions: ColumnElement[bool]) -> ColumnElement[bool]:
    there = select(literal(1)).select_from(records).where(*conditions)
    return there.correlate(_assignments, _batches, _aliases).exists()


def _done(project_id: int) -> ColumnElement[bool]:
    """Return that an assignment is done: an answer is recorded, or was given here."""
    drafted = _there_is(_drafts, *(_drafts.c[name] == _assignments.c[name] for name in KEY))
    return or_(drafted, _recorded(project_id))


def _recorded(project_id: int, before: int | None = None) -> ColumnElement[bool]:
    """Return that an answer is recorded, skipped or not, of later than the assignment.

    An item that is asked again is answered on a further pass, or by a revision of the answer.
    With ``before``: that it was, when that change came.
    """
    now, past = (_recorded_since(project_id, records, before) for records in (_labels, _past))
    held = (past, _past.c.taken_back_by.is_(None))
    again = or_(
        _there_is(_labels, now, _labels.c["pass"] > 1),
        and_(_there_is(_labels, now), _there_is(_past, *held)),
    )
    once = or_(_there_is(_labels, now), _there_is(_past, *held))
    return case((_assignments.c.why == REPEAT, again), else_=once)


def _open(project_id: int) -> ColumnElement[bool]:
    return and_(_assignments.c.withdrawn_by.is_(None), ~_done(project_id))


def _state(project_id: int, now: int) -> ColumnElement[str]:
    return case(
        (_assignments.c.withdrawn_by.is_not(None), WITHDRAWN),
        (_done(project_id), DONE),
        (_batches.c.until < now, LATE),
        else_=OPEN,
    )


_KEYS = {"disagreed": "disagreement", "uncertain": "uncertainty"}


class Choice(NamedTuple):
    """Which assignments are asked for; None for any."""

    annotators: Collection[int] | None = None
    states: Collection[str] | None = None
    batch: int | None = None
    place: int | None = None
    in_rounds: bool = False


def _chosen(project_id: int, choice: Choice, now: int) -> Select[Any]:
    state = _state(project_id, now).label("state")
    columns = (
        _owner.label("annotator"), _items.c.name.label("item"), _assignments.c.why,
        _assignments.c.place, _changes.c.recorded_at.label("assigned_at"), _batches.c.until,
        _batches.c.round, state, _batches.c.question_id, _assignments.c.item_id,
        _assignments.c.annotator_id, _assignments.c.change_id,
    )  # fmt: skip
    same = _assignments.c.project_id
    statement = (
        _assigned(project_id, *columns)
        .join(_items, and_(_items.c.project_id == same, _items.c.id == _assignments.c.item_id))
        .join(
            _changes, and_(_changes.c.project_id == same, _changes.c.id == _assignments.c.change_id)
        )
    )
    if choice.annotators is not None:
        ids = sorted(choice.annotators)
        names = select(_aliases.c.alias_id).where(
            _aliases.c.project_id == project_id, _aliases.c.annotator_id.in_(ids)
        )
        # What was given to their names is found by the key; whose it is now, is asked then.
        name = _assignments.c.annotator_id
        statement = statement.where(_owner.in_(ids), or_(name.in_(ids), name.in_(names)))
    if choice.batch is not None:
        statement = statement.where(_assignments.c.change_id == choice.batch)
    if choice.place is not None:
        statement = statement.where(_assignments.c.place == choice.place)
    if choice.in_rounds:
        statement = statement.where(_batches.c.round.is_not(None))
    rows = statement.correlate(None).subquery("rows")
    every = select(rows)
    if choice.states is not None:
        every = every.where(rows.c.state.in_(sorted(choice.states)))
    return every


def select_assignments(
    connection: Connection, project_id: int, choice: Choice, now: int
) -> Iterator[Any]:
    """Yield assignments by annotator, batch and place; see `_chosen` for the columns."""
    every = _chosen(project_id, choice, now)
    rows = every.selected_columns
    order = (rows.annotator, rows.change_id, rows.place)
    yield from stream_rows(connection, every.order_by(*order))


def items_of(project_id: int, choice: Choice) -> Select[Any]:
    """Return the statement of the ids of the items that are chosen, in whatever state."""
    rows = _chosen(project_id, choice._replace(states=None), 0).subquery("chosen")
    return select(rows.c.item_id)


def withdraw_assignments(
    connection: Connection, project_id: int, choice: Choice, change: int, now: int
) -> None:
    """Take back the assignments chosen, by a change."""
    chosen = _chosen(project_id, choice, now).subquery("chosen")
    key = KEY[1:]
    connection.execute(
        update(_assignments)
        .where(
            _assignments.c.project_id == project_id,
            tuple_(*(_assignments.c[name] for name in key)).in_(
                select(*(chosen.c[name] for name in key)).correlate(None)
            ),
        )
        .values(withdrawn_by=change)
    )


def count_states(
    connection: Connection, project_id: int, now: int, choice: Choice
) -> list[Row[Any]]:
    """Return how many assignments are in each state.

    The rows are (annotator, round, state, number, first until).
    """
    rows = _chosen(project_id, choice, now).subquery("states")
    key = (rows.c.annotator, rows.c.round, rows.c.state)
    statement = select(*key, func.count().label("number"), func.min(rows.c.until).label("until"))
    return [*connection.execute(statement.group_by(*key))]


class BatchCount(NamedTuple):
    """How many people and assignments of a batch something is true of."""

    batch: int
    round: str | None
    until: int | None
    annotators: int
    assignments: int


def _by_batch(project_id: int, *conditions: ColumnElement[bool]) -> Select[Any]:
    key = (_batches.c.change_id, _batches.c.round, _batches.c.until)
    counts = (func.count(_owner.distinct()), func.count())
    statement = _assigned(project_id, *key, *counts).where(*conditions)
    return statement.group_by(*key).order_by(_batches.c.change_id)


def ended_batches(connection: Connection, since: int, now: int) -> dict[int, list[int]]:
    """Return the batches whose last day ended since a moment, by project."""
    ended = select(_batches.c.project_id, _batches.c.change_id).where(
        _batches.c.until >= since, _batches.c.until < now
    )
    batches: dict[int, list[int]] = {}
    for project, batch in connection.execute(ended):
        batches.setdefault(project, []).append(batch)
    return batches


def late_batches(connection: Connection, project_id: int, ended: Sequence[int]) -> list[BatchCount]:
    """Return what is not done of batches whose last day is over; none of which all is done."""
    ours = _batches.c.change_id.in_(ended)
    rows = connection.execute(_by_batch(project_id, ours, _open(project_id)))
    return [BatchCount(*row) for row in rows]


def rounds_closed(connection: Connection, project_id: int, change: int) -> list[BatchCount]:
    """Return the rounds of which a change recorded the last answers that were missing."""
    ours = (_batches.c.round.is_not(None), _assignments.c.withdrawn_by.is_(None))
    number = func.count()
    before = func.count(case((_recorded(project_id, change), 1)))
    statement = _by_batch(project_id, *ours).having(
        number == func.count(case((_recorded(project_id), 1))), number > before
    )
    return [BatchCount(*row) for row in connection.execute(statement)]


# -- Which items need answers ---------------------------------------------------------------------


class Wanted(NamedTuple):
    """Which answers are wanted: to which questions, of which kind of annotators, how many."""

    project: ProjectInfo
    questions: Sequence[QuestionInfo]
    kind: str
    answers: int

    def of_questions(self, rows: FromClause) -> ColumnElement[bool]:
        return and_(
            rows.c.project_id == self.project.id,
            rows.c.question_id.in_([question.id for question in self.questions]),
        )


def _of_kind(wanted: Wanted, rows: FromClause) -> ColumnElement[bool]:
    people = select(_annotators.c.id).where(
        _annotators.c.project_id == wanted.project.id, _annotators.c.kind == wanted.kind
    )
    return rows.c.annotator_id.in_(people)


def _gold(wanted: Wanted) -> Select[Any]:
    """Return the statement of the items that have a known answer."""
    references = select(_annotators.c.id).where(
        _annotators.c.project_id == wanted.project.id, _annotators.c.kind == "reference"
    )
    return select(_labels.c.item_id).where(
        wanted.of_questions(_labels),
        _labels.c.category_id != SKIPPED,
        _labels.c.annotator_id.in_(references),
    )


def items_in_need(
    connection: Connection,
    wanted: Wanted,
    people: Collection[int],
    prefer: str | Draw,
    *,
    but_gold: bool,
    most: int | None = None,
    where: Iterable[tuple[str, tuple[str, ...]]] = (),
) -> Select[Any]:
    """Return the statement of the items that need more answers: (item id, answers that it has).

    Answers that somebody was asked for, and has not given yet, count as if they were there. Items
    that all of the people had before are left out.

    Args:
        connection: to the ledger.
        wanted: which answers, and how many of them.
        people: who can be given items, by id.
        prefer: the order: "fewest" or "oldest"; of one question "disagreed" or "uncertain"; or how
            they are drawn.
        but_gold: whether items that have a known answer are left out.
        most: how many items, at most.
        where: attributes of the items, and the values that they may have.
    """
    answered = select(_labels.c.item_id, _labels.c.annotator_id.label("annotator")).where(
        wanted.of_questions(_labels), _labels.c.category_id != SKIPPED, _of_kind(wanted, _labels)
    )
    asked = _assigned(wanted.project.id, _assignments.c.item_id, _owner.label("annotator")).where(
        _open(wanted.project.id),
        or_(
            _batches.c.question_id.is_(None),
            _batches.c.question_id.in_([question.id for question in wanted.questions]),
        ),
    )
    each = union_all(answered, asked).subquery("each")
    one_of_people = case((each.c.annotator.in_(sorted(people)), each.c.annotator))
    answers = (
        select(
            each.c.item_id,
            func.count(each.c.annotator.distinct()).label("answers"),
            func.count(one_of_people.distinct()).label("had"),
        )
        .group_by(each.c.item_id)
        .subquery("answers")
    )
    number = func.coalesce(answers.c.answers, 0).label("answers")
    statement = (
        select(_items.c.id, number)
        .outerjoin_from(_items, answers, answers.c.item_id == _items.c.id)
        .where(
            _items.c.project_id == wanted.project.id,
            standing_item_facts(wanted.project.id, _items.c.id),
            number < wanted.answers,
            func.coalesce(answers.c.had, 0) < len(people),
        )
    )
    if but_gold:
        statement = statement.where(_items.c.id.not_in(_gold(wanted)))
    for name, values in where:
        chosen = select_items_with_value(wanted.project.id, name, values)
        statement = statement.where(_items.c.id.in_(chosen))
    order: list[Any] = []
    if isinstance(prefer, Draw):
        statement, order = prefer.put_in_order(statement, number, wanted.questions[0])
    elif prefer == "fewest":
        order = [number]
    elif prefer != "oldest":
        (question,) = wanted.questions
        selection = select_answers(connection, question)
        key = item_order_keys(connection, selection)[_KEYS[prefer]].subquery("keys")
        statement = statement.outerjoin(key, key.c.item_id == _items.c.id)
        first = key.c.key.desc()  # nothing is more uncertain than what nobody answered
        order = [first.nulls_first() if prefer == "uncertain" else first.nulls_last()]
    return statement.order_by(*order, _items.c.id).limit(most)


def select_barred(
    connection: Connection, wanted: Wanted, people: Mapping[int, int], items: Any
) -> Iterator[tuple[int, int]]:
    """Yield who had which item before: (item id, place of the person).

    An item that was skipped, or is still to be answered, was had.

    Args:
        connection: to the ledger.
        wanted: which answers.
        people: the place of each person, by id.
        items: the ids of those that are looked at, or a statement of them.
    """
    answered = select(_labels.c.item_id, _labels.c.annotator_id.label("annotator")).where(
        wanted.of_questions(_labels),
        _labels.c.annotator_id.in_(sorted(people)),
        _labels.c.item_id.in_(items),
    )
    asked = _assigned(wanted.project.id, _assignments.c.item_id, _owner.label("annotator")).where(
        _assignments.c.withdrawn_by.is_(None),
        _owner.in_(sorted(people)),
        _assignments.c.item_id.in_(items),
    )
    each = union_all(answered, asked).subquery("had")
    for item, annotator in stream_rows(connection, select(each).distinct()):
        yield item, people[annotator]


def select_gold_items(connection: Connection, wanted: Wanted) -> list[int]:
    """Return the ids of the items that have a known answer."""
    statement = _gold(wanted).where(standing_item_facts(wanted.project.id, _labels.c.item_id))
    return sorted(set(connection.scalars(statement)))
