"""Calibration rounds: the same items for all, so that a guideline can be held against the last.

The items of a round have its name as the attribute `ROUND`: whatever chooses answers by an
attribute of the item can be asked about the round.
"""

from __future__ import annotations

from dataclasses import dataclass
from shlex import quote

from sqlalchemy import Connection, and_, func, select

from tracker.core import clock
from tracker.core.errors import InvalidOption, NotFound, Refused
from tracker.core.results import OptionalTime, Record, Time
from tracker.projects.annotators import add_annotators
from tracker.projects.names import check_entered_name, near_names
from tracker.projects.notes import list_notes
from tracker.projects.projects import ProjectInfo, lock_project, record_change
from tracker.storage.schema import Assignment, Batch, Change, Item
from tracker.storage.schema.work import FRESH
from tracker.work.assign import Orders, people_to_ask, record_batch
from tracker.work.assignments_sql import Choice, Wanted, count_states, items_in_need
from tracker.work.choosing import STATES

ROUND = "round"
_batches = Batch.__table__
_assignments = Assignment.__table__
_changes = Change.__table__


@dataclass(frozen=True)
class RoundInfo(Record):
    """A round.

    Attributes:
        round: its name.
        guideline: the version that held when it began; None for none.
        items: how many all are to answer.
        annotators: how many people.
        open, late, done, withdrawn: of the answers that make it up, how many are in each state.
    """

    round: str
    guideline: str | None
    started_at: Time
    until: OptionalTime
    items: int
    annotators: int
    open: int
    late: int
    done: int
    withdrawn: int

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to be answered."""
        return not self.open and not self.late


def start_round(
    connection: Connection, project: ProjectInfo, orders: Orders, number: int
) -> list[str]:
    """Give a number of items that nobody answered to all; returns the names of the items.

    Raises InvalidOption for a name that is taken, Refused if there is no item without an answer.
    """
    lock_project(connection, project.id)
    name = check_entered_name(orders.round or "", "round")
    if name in {known.round for known in list_rounds(connection, project)}:
        raise InvalidOption(
            f"{project.name!r} has a round {name!r}", "choose another name: --name NAME"
        )
    questions = orders.questions(connection, project)
    people, *_ = people_to_ask(connection, project, questions, orders)
    people = add_annotators(connection, project, people)
    if len(people) < 2:
        raise Refused("a round needs two annotators at least", "name them: --to A,B")
    wanted = Wanted(project, questions, people[0].kind, 1)
    ids = [person.id for person in people]
    statement = items_in_need(connection, wanted, ids, "oldest", but_gold=False, most=number)
    items = [item for item, _ in connection.execute(statement)]
    if not items:
        raise Refused(
            f"every item of {project.name!r} has an answer, or is to get one",
            "register items for the round first: tracker item import FILE",
        )
    detail = {"round": name, "people": len(people), "items": len(items)}
    change, _ = record_change(connection, project.id, "start round", detail)
    lists = [[(item, FRESH) for item in items]] * len(people)
    record_batch(connection, project, change, questions, orders, people, lists)
    names = select(Item.name).where(Item.project_id == project.id, Item.id.in_(items))
    return [*connection.scalars(names.order_by(Item.id))]


def list_rounds(connection: Connection, project: ProjectInfo) -> list[RoundInfo]:
    """Return the rounds of a project, oldest first."""
    of_batch = and_(
        _assignments.c.project_id == _batches.c.project_id,
        _assignments.c.change_id == _batches.c.change_id,
    )
    of_change = and_(
        _changes.c.project_id == _batches.c.project_id, _changes.c.id == _batches.c.change_id
    )
    rows = connection.execute(
        select(
            _batches.c.round, _batches.c.change_id, _batches.c.until, _changes.c.recorded_at,
            func.count(_assignments.c.item_id.distinct()).label("items"),
            func.count(_assignments.c.annotator_id.distinct()).label("annotators"),
        )
        .join(_assignments, of_batch)
        .join(_changes, of_change)
        .where(_batches.c.project_id == project.id, _batches.c.round.is_not(None))
        .group_by(
            _batches.c.round, _batches.c.change_id, _batches.c.until, _changes.c.recorded_at
        )
        .order_by(_batches.c.change_id)
    ).all()  # fmt: skip
    guidelines = [note for note in list_notes(connection, project) if note.guideline is not None]
    numbers: dict[str, dict[str, int]] = {}
    if rows:
        choice = Choice(in_rounds=True)
        for row in count_states(connection, project.id, clock.now(), choice):
            of_round = numbers.setdefault(row.round, dict.fromkeys(STATES, 0))
            of_round[row.state] += row.number
    return [
        RoundInfo(
            row.round,
            next(
                (note.guideline for note in reversed(guidelines) if note.at <= row.recorded_at),
                None,
            ),
            row.recorded_at, row.until, row.items, row.annotators,
            **numbers.get(row.round, dict.fromkeys(STATES, 0)),
        )
        for row in rows
    ]  # fmt: skip


def find_round(
    connection: Connection, project: ProjectInfo, name: str | None
) -> tuple[RoundInfo, RoundInfo | None]:
    """Return a round, the last one for None, and the round before it, if there is one.

    Raises NotFound.
    """
    rounds = list_rounds(connection, project)
    if not rounds:
        raise NotFound(
            f"{project.name!r} has no round",
            f"start one: tracker round start {quote(project.name)} --items 100",
        )
    names = [known.round for known in rounds]
    if name is None:
        name = names[-1]
    if name not in names:
        raise NotFound(
            f"{project.name!r} has no round {name!r}",
            near_names(name, names) or f"it has: {', '.join(names)}",
        )
    place = names.index(name)
    return rounds[place], rounds[place - 1] if place else None
