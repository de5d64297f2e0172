"""Items answered again by the same annotator: each later pass beside the one before."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from sqlalchemy import Connection, Float, Join, Subquery, and_, case, cast, func, select

from tracker.core.audit_tallies import RepeatTallies
from tracker.core.clock import DAY
from tracker.core.tallies import Answer, Pattern
from tracker.counts.annotator_patterns import ANSWER, count_against_patterns
from tracker.counts.pattern_codes import AS_COLUMNS, make_pattern_code, widen_pattern_code
from tracker.counts.selection import (
    Selection,
    labels,
    read_selected_answer,
    select_answer_rows,
    stream_rows,
    where_chosen,
    with_dated_answers,
)
from tracker.counts.timeline import select_dated_answers
from tracker.storage.schema import SKIPPED
from tracker.storage.schema.labels import of_question, same_answer_key

_KEY = ("item_id", "annotator_id")
_PASS = (*_KEY, "pass")


@dataclass(frozen=True)
class Repeated:
    """How often one annotator gave one answer and then another to the same item.

    Attributes:
        annotator: the id.
        earlier: the answer on the pass before.
        later: the answer on the later pass.
        times: how often.
        timed: how many of them have a time on both passes.
        days: between the two passes, summed over the timed ones.
    """

    annotator: int
    earlier: Answer
    later: Answer
    times: int
    timed: int
    days: float


def select_repeated_answers(connection: Connection, selection: Selection) -> Iterator[Repeated]:
    """Yield each answer on a later pass against the same annotator's on the pass before it.

    A skipped pass is passed over; the one before it counts.
    """
    later, earlier, both = join_repeated_answers(selection)
    both_timed = later.c.timed + earlier.c.timed == 2
    days = cast(later.c.labeled_at - earlier.c.labeled_at, Float) / DAY
    key = [later.c.annotator_id, earlier.c.answer, later.c.answer]
    number_timed = func.sum(case((both_timed, 1), else_=0))
    all_days = func.sum(case((both_timed, days), else_=0.0))
    statement = select(*key, func.count(), number_timed, all_days).select_from(both).group_by(*key)
    for annotator, *answers, times, timed, between in stream_rows(connection, statement):
        first, second = map(read_selected_answer, answers)
        yield Repeated(annotator, first, second, times, int(timed), float(between))


def join_repeated_answers(selection: Selection) -> tuple[Subquery, Subquery, Join]:
    """Return answers on a later pass, answers on an earlier one, and the two joined.

    Both have: item_id, annotator_id, pass, answer, labeled_at, timed (1 or 0).
    """
    later, earlier = _answers(selection, "later", least=2), _answers(selection, "earlier", least=1)
    before = _passes_before(selection)
    same = same_answer_key(_KEY, earlier, before) & (earlier.c["pass"] == before.c.last)
    both = later.join(before, same_answer_key(_PASS, before, later)).join(earlier, same)
    return later, earlier, both


def count_unrepeated_passes(connection: Connection, selection: Selection) -> int:
    """Return how many answers on a later pass have no earlier one to compare with."""
    later, before = _answers(selection, "later", least=2), _passes_before(selection)
    both = later.outerjoin(before, same_answer_key(_PASS, before, later))
    statement = select(func.count()).select_from(both).where(before.c.last.is_(None))
    return connection.scalar(statement) or 0


def _passes_before(selection: Selection) -> Subquery:
    """Return for each answer on a later pass with others before it the last pass of these.

    Its columns are item_id, annotator_id, pass, last.
    """
    later, before = labels.alias("again"), labels.alias("before")
    key = (later.c.item_id, later.c.annotator_id, later.c["pass"])
    earlier = and_(
        of_question(before, selection.question.key),
        same_answer_key(_KEY, before, later),
        before.c["pass"] < later.c["pass"],
        before.c.category_id != SKIPPED,
        *where_chosen(selection, before),
    )
    return (
        select(*key, func.max(before.c["pass"]).label("last"))
        .join_from(later, before, earlier)
        .where(
            of_question(later, selection.question.key),
            later.c["pass"] >= 2,
            later.c.category_id != SKIPPED,
            *where_chosen(selection, later),
        )
        .group_by(*key)
        .subquery("passes_before")
    )


def _answers(selection: Selection, name: str, *, least: int) -> Subquery:
    """Return one row per answer, of every pass from ``least`` on, with its time."""
    key = (labels.c.item_id, labels.c.annotator_id, labels.c["pass"])
    statement = select(*key).where(
        of_question(labels, selection.question.key),
        labels.c["pass"] >= least,
        labels.c.category_id != SKIPPED,
        *where_chosen(selection),
    )
    return with_dated_answers(statement, selection, key).subquery(name)


def repeat_tallies(connection: Connection, selection: Selection) -> RepeatTallies:
    """Return how often an annotator gave one answer and then another to an item of a pattern.

    The pattern is made of the answers that count, each annotator's first to the item.
    """
    later, earlier, both = join_repeated_answers(selection)
    first = select_answer_rows(selection, "first")
    repeated = (
        select(
            later.c.item_id,
            later.c.annotator_id,
            first.c.answer,
            earlier.c.answer.label("earlier"),
            later.c.answer.label("later"),
        )
        .select_from(both.join(first, same_answer_key(_KEY, first, later)))
        .subquery("repeated")
    )
    extra = {"earlier": ANSWER, "later": ANSWER}
    counts = count_against_patterns(connection, selection, repeated, extra=extra)
    tallies: defaultdict[int, Counter[tuple[Answer, Answer, Pattern]]] = defaultdict(Counter)
    for annotator, own_counts in counts.items():
        for (before, after, _, pattern), times in own_counts.items():
            tallies[annotator][before, after, pattern] += times
    return tallies


# -- Examples of items: with an answer of a kind, of a pattern, or of pairs of annotators in time -


def select_example_items(
    connection: Connection,
    selection: Selection,
    sought: Mapping[int, Collection[tuple[Answer, Pattern]]],
    most: int,
) -> dict[tuple[int, Answer, Pattern], list[int]]:
    """Return the first ``most`` items, by id, of answers and patterns sought for annotators.

    The shape is ``{(annotator, own answer, pattern): item ids}``, without empty entries.
    """
    if not sought:
        return {}
    code = make_pattern_code(connection, selection)
    answers = select_answer_rows(selection)
    key = [answers.c.annotator_id, answers.c.answer, *code.key]
    place = func.row_number().over(partition_by=key, order_by=answers.c.item_id)
    ranked = (
        select(answers.c.item_id, code.items.c.answers.label("number"), *key, place.label("place"))
        .join(code.items, code.items.c.item_id == answers.c.item_id)
        .where(answers.c.annotator_id.in_(sorted(sought)))
        .subquery("ranked")
    )
    keys = {annotator: set(own_keys) for annotator, own_keys in sought.items()}
    items: dict[tuple[int, Answer, Pattern], list[int]] = {}
    decode = cache(code.decode)
    largest = 0
    for item, number, annotator, answer, *codes, _ in stream_rows(
        connection, select(ranked).where(ranked.c.place <= most).order_by(ranked.c.item_id)
    ):
        largest = max(largest, number)
        own, pattern = read_selected_answer(answer), decode(tuple(codes))
        if (own, pattern) in keys[annotator]:
            examples = items.setdefault((annotator, own, pattern), [])
            if len(examples) < most:  # a pattern may have come spelled in several ways
                examples.append(item)
    wider = widen_pattern_code(selection, code, largest)
    return items if wider is None else select_example_items(connection, wider, sought, most)


def select_changed_examples(
    connection: Connection, selection: Selection, annotators: Collection[int], most: int
) -> dict[int, list[tuple[int, Answer, Answer]]]:
    """Return the first items that some annotators answered differently when asked again.

    The shape is ``{annotator: [(item id, earlier answer, later answer)]}``.
    """
    if not annotators:
        return {}
    later, earlier, both = join_repeated_answers(selection)
    place = func.row_number().over(
        partition_by=later.c.annotator_id, order_by=[later.c.item_id, later.c["pass"]]
    )
    changed = (
        select(
            later.c.annotator_id,
            later.c.item_id,
            earlier.c.answer.label("earlier"),
            later.c.answer.label("later"),
            place.label("place"),
        )
        .select_from(both)
        .where(later.c.annotator_id.in_(sorted(annotators)), earlier.c.answer != later.c.answer)
        .subquery("changed")
    )
    statement = select(*list(changed.c)[:-1]).order_by(changed.c.annotator_id, changed.c.place)
    if selection.single:  # else the ids of a set come in any order
        statement = statement.where(changed.c.place <= most)
    changes: dict[int, list[tuple[int, Answer, Answer]]] = {}
    for annotator, item, *answers in stream_rows(connection, statement):
        before, after = (read_selected_answer(answer) for answer in answers)
        own_changes = changes.setdefault(annotator, [])
        if before != after and len(own_changes) < most:
            own_changes.append((item, before, after))
    return {annotator: own_changes for annotator, own_changes in changes.items() if own_changes}


def count_pair_order(
    connection: Connection, selection: Selection, pairs: Collection[tuple[int, int]]
) -> dict[tuple[int, int], tuple[int, int, int]]:
    """Return how often the first and the second of a pair was earlier, on items answered alike.

    The shape is ``{pair: (first earlier, second earlier, unknown or at the same time)}``.
    """
    if not pairs:
        return {}
    first, second = select_dated_answers(selection), select_dated_answers(selection).alias("second")
    known = and_(first.c.timed == 1, second.c.timed == 1)
    order = case(
        (and_(known, first.c.labeled_at < second.c.labeled_at), 0),
        (and_(known, first.c.labeled_at > second.c.labeled_at), 1),
        else_=2,
    ).label("order")
    key = [first.c.annotator_id, second.c.annotator_id, first.c.answer, second.c.answer, order]
    named = AS_COLUMNS.key(key)
    statement = (
        select(*named, func.count())
        .join_from(first, second, first.c.item_id == second.c.item_id)
        .where(
            first.c.annotator_id.in_(sorted({annotator for annotator, _ in pairs})),
            second.c.annotator_id.in_(sorted({other for _, other in pairs})),
        )
        .group_by(*(column.name for column in named))
    )
    orders = {pair: [0, 0, 0] for pair in pairs}
    for *pair, own, others, which, items in stream_rows(connection, statement):
        counts = orders.get(tuple(pair))
        if counts and read_selected_answer(own) == read_selected_answer(others):
            counts[which] += items
    return {pair: (counts[0], counts[1], counts[2]) for pair, counts in orders.items()}
