"""Items given to people: who answers which, recorded as a batch of assignments."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Annotated, Any, Final, NamedTuple

import numpy as np
from sqlalchemy import Connection, insert

from tracker.core.errors import InvalidOption, Refused
from tracker.core.results import Hidden, Json, Record
from tracker.counts.selection import stream_rows
from tracker.judge.asking import ESTIMATE, RANDOM
from tracker.judge.estimate import strata_for_draw
from tracker.projects.annotators import (
    AnnotatorInfo,
    add_annotators,
    annotators_by_name,
    find_away,
    find_flagged_annotators,
    find_models,
    project_labels_by_annotator,
)
from tracker.projects.items import check_item_values
from tracker.projects.names import are_spelt_alike
from tracker.projects.projects import ProjectInfo, lock_project, record_change
from tracker.projects.questions import QuestionInfo, find_questions
from tracker.render.nouns import count_noun
from tracker.storage import backends
from tracker.storage.as_of import shadow_item_ids
from tracker.storage.current import LEFT
from tracker.storage.schema import Assignment, Batch
from tracker.storage.schema.work import FRESH, GOLD, REPEAT
from tracker.work.assignments import withdraw_chosen
from tracker.work.assignments_sql import (
    UNDONE,
    Choice,
    Wanted,
    items_in_need,
    select_barred,
    select_gold_items,
)
from tracker.work.drawing_sql import Draw, last_item
from tracker.work.sharing import Shares, share_items

REPEATED_AFTER: Final = 10  # items, at least
STANDING: Final = 20  # answers, at least, of somebody whose answers stand
_USUAL_ANSWERS: Final = 3
_GOLD_LOOKED_AT: Final = 2_000  # items, or twenty times as many as a list needs
_LOOKED_AT: Final = 1_000  # items beside twice as many as short lists hold


@dataclass(frozen=True)
class Orders:
    """What is to be assigned; see `tracker.work.choosing.Assigning`."""

    to: Sequence[str] = ()
    question: str | None = None
    answers: int | None = None
    per_annotator: int | None = None
    gold: float = 0.0
    repeat: float = 0.0
    prefer: str = "fewest"
    overlap: str = "even"
    exclude_flagged: bool = False
    withdraw: bool = False
    seed: int = 0
    until: int | None = None
    round: str | None = None
    category: str | None = None
    model: str | None = None
    where: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def questions(self, connection: Connection, project: ProjectInfo) -> list[QuestionInfo]:
        """Return what items are asked: the question named, or all; raises NotFound."""
        return find_questions(connection, project, [self.question] if self.question else [])


class Load(NamedTuple):
    """How many items somebody was given, and why."""

    annotator: str
    fresh: int
    gold: int
    repeat: int

    @property
    def total(self) -> int:
        return self.fresh + self.gold + self.repeat


@dataclass(frozen=True)
class Assigned(Record):
    """What was assigned.

    Attributes:
        project: its name.
        batch: the number of the change.
        items: how many items were given to people for their answers.
        answers: how many answers that will be.
        short: items that stay short of the answers wanted, because nobody is left for them.
        loads: what each person was given.
        pairs: the fewest and the most items that two of them both were given; None for one person.
        notes: who was left out, and whose list lacks something, a sentence each.
        new: annotators who were new.
        withdrawn: assignments that were taken back first.
    """

    project: str
    batch: int
    items: int
    answers: int
    short: int
    loads: Annotated[tuple[Load, ...], Hidden]
    pairs: tuple[int, int] | None
    notes: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    withdrawn: int = 0

    @property
    def repeats(self) -> bool:
        """Whether somebody is asked something again."""
        return any(load.repeat for load in self.loads)

    @property
    def people(self) -> Annotated[Sequence[dict[str, Any]], Json("annotators")]:
        return [load._asdict() | {"total": load.total} for load in self.loads]


@dataclass(frozen=True)
class _Lists:
    """Of each person, by place: the items in order, each with why it is there."""

    lists: Sequence[Sequence[tuple[int, str]]]
    shares: Shares
    short: int


def assign(connection: Connection, project: ProjectInfo, orders: Orders) -> Assigned:
    """Give items to people, and record it; in a transaction that writes.

    Raises NotFound for an unknown question, InvalidOption for a choice that does not fit, Refused
    if there is nothing to assign.
    """
    lock_project(connection, project.id)
    check_item_values(connection, project, dict(orders.where))
    questions = orders.questions(connection, project)
    people, left_out, new = people_to_ask(connection, project, questions, orders)
    kind = people[0].kind if people else "human"
    target = orders.answers or max(
        (question.target_answers or 0 for question in questions), default=0
    )
    wanted = Wanted(project, questions, kind, target or _USUAL_ANSWERS)
    if orders.prefer in {"disagreed", "uncertain"} and len(questions) > 1:
        raise InvalidOption(
            f"--prefer {orders.prefer} is about one question", "name it with --question"
        )
    draw = _draw(connection, questions, orders)
    people = add_annotators(connection, project, people)
    withdrawn = []
    if orders.withdraw:
        withdrawn = withdraw_chosen(connection, project, Choice(states=UNDONE))
    lists = _make_lists(connection, wanted, people, orders, draw)
    if not any(lists.lists):
        raise Refused(
            f"no item of {project.name!r} needs an answer of these people",
            f"each has {count_noun(wanted.answers, 'answer')} or more, with those asked for, or "
            "these people had it; more: --answers N",
        )
    detail: dict[str, Any] = {
        "people": len(people), "items": sum(map(bool, lists.shares.people)),
        "answers": wanted.answers, "prefer": orders.prefer, "overlap": orders.overlap,
        "seed": orders.seed, "gold": orders.gold, "repeat": orders.repeat,
    }  # fmt: skip
    if draw is not None:
        detail |= draw.detail
    if orders.where:
        detail["where"] = dict(orders.where)
    change, _ = record_change(connection, project.id, "assign", detail)
    record_batch(connection, project, change, questions, orders, people, lists.lists)
    loads = tuple(map(_load, people, lists.lists))
    return Assigned(
        project.name,
        change,
        detail["items"],
        int(lists.shares.loads.sum()),
        lists.short,
        loads,
        _least_and_most(lists.shares),
        (*left_out, *_lacking(loads, orders)),
        tuple(new),
        len(withdrawn),
    )


def _draw(connection: Connection, questions: Sequence[QuestionInfo], orders: Orders) -> Draw | None:
    """Return how items are drawn; None if they are chosen otherwise."""
    by = orders.model, orders.category
    if orders.prefer != ESTIMATE:
        if any(by):
            raise InvalidOption(
                "--category and --model are those of an estimate", "add: --prefer estimate"
            )
        return (
            Draw(orders.seed, last_item(connection, questions[0]))
            if orders.prefer == RANDOM else None
        )  # fmt: skip
    if len(questions) > 1 or orders.model is None or orders.category is None:
        raise InvalidOption(
            "--prefer estimate is about one question, category and model",
            "name them: --question Q --category C --model M",
        )
    if questions[0].answers != "one":
        raise InvalidOption(
            "--prefer estimate needs one category an answer", "draw from all: --prefer random"
        )
    (model,) = find_models(connection, questions[0].project, [orders.model])
    strata = strata_for_draw(connection, questions[0], model.id, orders.category)
    if not strata:
        raise Refused(f"{model.name} answered no item of {questions[0].project.name!r}")
    return Draw(orders.seed, last_item(connection, questions[0]), model, strata)


def _load(person: AnnotatorInfo, items: Sequence[tuple[int, str]]) -> Load:
    reasons = [why for _, why in items]
    return Load(person.name, *(reasons.count(why) for why in (FRESH, GOLD, REPEAT)))


def _lacking(loads: Sequence[Load], orders: Orders) -> Iterator[str]:
    """Yield whose list lacks what it was to have besides."""
    given = [load for load in loads if load.fresh]
    for share, kind, number in (
        (orders.gold, "known answers", attrgetter("gold")),
        (orders.repeat, "items asked again", attrgetter("repeat")),
    ):
        few = [load.annotator for load in given if number(load) < share * load.total - 1e-9]
        if few:
            yield f"fewer {kind} than were to be in the list of: {', '.join(few)}"


def _least_and_most(shares: Shares) -> tuple[int, int] | None:
    if len(shares.loads) < 2:
        return None
    counts = shares.pairs[np.triu_indices(len(shares.loads), 1)]
    return int(counts.min()), int(counts.max())


# -- Who ------------------------------------------------------------------------------------------


def people_to_ask(
    connection: Connection,
    project: ProjectInfo,
    questions: Sequence[QuestionInfo],
    orders: Orders,
) -> tuple[list[AnnotatorInfo], list[str], list[str]]:
    """Return who gets items, sentences on who is left out, and the names that are new."""
    named, new = _named(connection, project, orders.to)
    kinds = {person.kind for person in named}
    if len(kinds) > 1:
        raise InvalidOption(
            f"--to names {' and '.join(sorted(kinds))} annotators",
            "assign to each kind by itself: their answers are counted apart",
        )
    away = find_away(connection, project)
    reasons = {person: "left" if word == LEFT else "is paused" for person, word in away.items()}
    if orders.exclude_flagged:
        flagged = set().union(*(find_flagged_annotators(connection, each) for each in questions))
        reasons |= dict.fromkeys(flagged - reasons.keys(), "has an open finding")
    people = [person for person in named if person.id not in reasons]
    left_out = [
        f"{person.name} {reasons[person.id]}: no items" for person in named if person.id in reasons
    ]
    if not people:
        raise Refused(
            f"nobody of {project.name!r} can be given items",
            "; ".join(left_out) or "name who is to answer: --to A,B,C",
        )
    return people, left_out, new


def _named(
    connection: Connection, project: ProjectInfo, to: Sequence[str]
) -> tuple[list[AnnotatorInfo], list[str]]:
    """Return the annotators named, all listed people if none is, and the names not listed."""
    listed = annotators_by_name(connection, project)
    names = [*dict.fromkeys(name.strip() for name in to if name.strip())]
    new = [name for name in names if name not in listed]
    for name in new:
        alike = next((other for other in listed if are_spelt_alike(name, other)), None)
        if alike is not None:
            raise InvalidOption(
                f"--to {name!r} is nobody, and is spelt like {alike!r}", f"write {alike!r}"
            )
    if not names:
        humans = {person.id: person for person in listed.values() if person.kind == "human"}
        return [*humans.values()], []
    people = annotators_by_name(connection, project, unlisted=True)
    chosen = {people[name].id: people[name] for name in names if name in people}
    added = [AnnotatorInfo(0, name, "human", ()) for name in names if name not in people]
    return [*chosen.values(), *added], new


# -- Which ----------------------------------------------------------------------------------------


def _make_lists(
    connection: Connection,
    wanted: Wanted,
    people: Sequence[AnnotatorInfo],
    orders: Orders,
    draw: Draw | None,
) -> _Lists:
    random = np.random.default_rng(orders.seed)
    person_places = {person.id: n for n, person in enumerate(people)}
    most = orders.per_annotator
    if most is not None:
        most -= sum(math.ceil(share * most) for share in (orders.gold, orders.repeat))
        if most < 1:
            raise InvalidOption(
                f"--per-annotator {orders.per_annotator} leaves no room for items to answer",
                "allow more, or less of --gold and --repeat",
            )
    statement = items_in_need(
        connection,
        wanted,
        person_places,
        orders.prefer if draw is None else draw,
        # What is drawn is drawn from all items.
        but_gold=orders.gold > 0 and wanted.kind == "human" and draw is None,
        most=None if most is None else _LOOKED_AT + 2 * most * len(people),
        where=orders.where,
    )
    in_need = [(item, number) for item, number in stream_rows(connection, statement)]
    places = {item: n for n, (item, _) in enumerate(in_need)}
    barred: defaultdict[int, set[int]] = defaultdict(set)
    with shadow_item_ids(connection, places) as looked_at:
        for item, place in select_barred(connection, wanted, person_places, looked_at):
            barred[places[item]].add(place)
    standing = _of_standing(connection, wanted, people)
    shares = share_items(
        [wanted.answers - number for _, number in in_need],
        len(people),
        barred,
        most=most,
        standing=standing if orders.overlap == "anchored" else (),
        seed=orders.seed,
    )
    ids = [item for item, _ in in_need]
    lists = [
        [(ids[n], FRESH) for n in _in_order(shares, place, standing)]
        for place in range(len(people))
    ]
    numbers = _numbers_besides(lists, orders)
    if numbers[GOLD]:
        _put_gold_in(connection, wanted, person_places, lists, numbers[GOLD], random)
    for items in lists:
        _repeat_some(items, numbers[REPEAT], random)
    short = sum(
        len(chosen) < wanted.answers - number
        for chosen, (_, number) in zip(shares.people, in_need, strict=True)
        if chosen
    )
    return _Lists(lists, shares, short)


def _of_standing(
    connection: Connection, wanted: Wanted, people: Sequence[AnnotatorInfo]
) -> list[int]:
    """Return the places of those whose answers stand: not few, and nothing is found about them."""
    labels = project_labels_by_annotator(connection, wanted.project)
    flagged = set().union(
        *(find_flagged_annotators(connection, question) for question in wanted.questions)
    )
    return [
        place
        for place, person in enumerate(people)
        if labels.get(person.id, 0) >= STANDING and person.id not in flagged
    ]


def _in_order(shares: Shares, place: int, standing: Sequence[int]) -> list[int]:
    """Return the items of a person; a new one begins with those that somebody of standing has."""
    items = shares.items_of(place)
    if not standing or place in standing:
        return items
    known = set(standing)
    return sorted(items, key=lambda item: not known.intersection(shares.people[item]))


def _numbers_besides(lists: Sequence[Sequence[Any]], orders: Orders) -> dict[str, int]:
    """Return how many gold and repeated items a list gets, the same number for all."""
    shares = {GOLD: orders.gold, REPEAT: orders.repeat}
    longest = max((len(items) for items in lists), default=0)
    whole = orders.per_annotator or longest / (1 - sum(shares.values()))
    if orders.per_annotator is not None:
        whole = min(whole, longest / (1 - sum(shares.values())))
    return {why: math.ceil(round(share * whole, 9)) for why, share in shares.items()}


def _put_gold_in(
    connection: Connection,
    wanted: Wanted,
    people: Mapping[int, int],
    lists: Sequence[list[tuple[int, str]]],
    number: int,
    random: np.random.Generator,
) -> None:
    """Put items with a known answer anywhere into the lists; nobody gets one that they had."""
    items = select_gold_items(connection, wanted)
    if not items:
        raise Refused(
            f"no item of {wanted.project.name!r} has a known answer",
            "leave out --gold, or import one: a column of truths, or a reference annotator",
        )
    random.shuffle(items)
    items = items[: max(_GOLD_LOOKED_AT, 20 * number)]
    had: defaultdict[int, set[int]] = defaultdict(set)
    for item, place in select_barred(connection, wanted, people, items):
        had[place].add(item)
    for place, fresh in enumerate(lists):
        given = {item for item, _ in fresh}
        left = [item for item in items if item not in had[place] and item not in given]
        random.shuffle(left)
        for item in left[:number] if fresh else ():
            fresh.insert(int(random.integers(len(fresh) + 1)), (item, GOLD))


def _repeat_some(items: list[tuple[int, str]], number: int, random: np.random.Generator) -> None:
    """Ask some items of a list again, each `REPEATED_AFTER` items later or more."""
    early = items[: max(len(items) - REPEATED_AFTER + 1, 0)]
    fresh = [item for item, why in early if why == FRESH]
    random.shuffle(fresh)
    for item in fresh[:number]:
        first = items.index((item, FRESH)) + REPEATED_AFTER
        items.insert(int(random.integers(first, len(items) + 1)), (item, REPEAT))


# -- Recorded -------------------------------------------------------------------------------------


def record_batch(
    connection: Connection,
    project: ProjectInfo,
    change: int,
    questions: Sequence[QuestionInfo],
    orders: Orders,
    people: Sequence[AnnotatorInfo],
    lists: Sequence[Sequence[tuple[int, str]]],
) -> None:
    """Record a batch: of each person the items in order, each with why it is there."""
    connection.execute(
        insert(Batch).values(
            project_id=project.id,
            change_id=change,
            question_id=questions[0].id if orders.question else None,
            until=orders.until,
            round=orders.round,
        )
    )
    columns: dict[str, Any] = {"annotator_id": [], "place": [], "item_id": [], "why": []}
    for person, items in zip(people, lists, strict=True):
        columns["annotator_id"] += [person.id] * len(items)
        columns["place"] += range(1, len(items) + 1)
        columns["item_id"] += [item for item, _ in items]
        columns["why"] += [why for _, why in items]
    columns |= {"project_id": project.id, "change_id": change, "withdrawn_by": None}
    backend, table = backends.backend_of(connection), Assignment.__table__
    backend.bulk_insert(connection, table, columns)
    backend.rows_added(connection, project.id, len(columns["item_id"]), [table])
