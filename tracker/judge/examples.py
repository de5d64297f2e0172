"""Items on which a model and most people differ, with what people gave and why it did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple, TypeAlias

from sqlalchemy import Connection, Select, and_, case, func, select

from tracker.agreement.counts_sql import select_answer_details
from tracker.counts.beside_people import of_models
from tracker.counts.items import select_answers_to_items
from tracker.counts.selection import Selection, select_answer_rows, stream_rows
from tracker.judge.result import Confused, ConfusedExample
from tracker.judge.slices_sql import searched_items
from tracker.projects.items import item_texts_of

MOST_KINDS: Final = 5
_MOST: Final = 3


class Kind(NamedTuple):
    """A confusion of a model: what most people gave, and what it did, by category."""

    model: int
    truth: int
    given: int


Examples: TypeAlias = Mapping[Kind, Sequence[ConfusedExample]]


def confused_examples(
    connection: Connection,
    people: Selection,
    kinds: Sequence[Kind],
    names: Mapping[int, str],
    answers_searched: int,
) -> Examples:
    """Return the first items of each confusion, with their texts, votes and the model's comment.

    Of very many answers, these are the first items among those drawn.
    """
    if not kinds:
        return {}
    items = _select_items(connection, people, kinds, searched_items(people, answers_searched))
    every = sorted({item for some in items.values() for item in some})
    texts = item_texts_of(connection, people.question.project, every)
    answers = select_answers_to_items(connection, people, every)
    models = {kind.model for kind in kinds}
    details = select_answer_details(connection, of_models(people, models), models, {*every})

    def example(kind: Kind, item: int) -> ConfusedExample:
        votes = Counter(category for _, answer in answers[item] for category in answer)
        named = {names[category]: n for category, n in votes.most_common() if category in names}
        _, rationale = details.get((kind.model, item), (None, None))
        return ConfusedExample(*texts[item], named, rationale)

    return {kind: [example(kind, item) for item in some] for kind, some in items.items()}


def _select_items(
    connection: Connection, people: Selection, kinds: Sequence[Kind], drawn: Select[Any] | None
) -> dict[Kind, list[int]]:
    """Return the first items of each kind: more than half of the people gave its truth."""
    model = select_answer_rows(
        of_models(people, {kind.model for kind in kinds}), "models", items=drawn
    )
    answers = select_answer_rows(people, "people", items=drawn)
    of_kinds = [
        and_(
            model.c.annotator_id == kind.model,
            model.c.answer == kind.given,
            2 * func.sum(case((answers.c.answer == kind.truth, 1), else_=0)) > func.count(),
        )
        for kind in kinds
    ]
    place = case(*((holds, n) for n, holds in enumerate(of_kinds))).label("kind")
    rows = (
        select(model.c.item_id, place)
        .select_from(model.join(answers, answers.c.item_id == model.c.item_id))
        .where(model.c.answer.in_(sorted({kind.given for kind in kinds})))
        .group_by(model.c.item_id, model.c.annotator_id, model.c.answer)
        .subquery("kinds")
    )
    rank = func.row_number().over(partition_by=rows.c.kind, order_by=rows.c.item_id)
    ranked = select(rows, rank.label("rank")).where(rows.c.kind.is_not(None)).subquery("ranked")
    chosen = select(ranked.c.kind, ranked.c.item_id).where(ranked.c.rank <= _MOST)
    items: dict[Kind, list[int]] = {}
    for number, item in stream_rows(connection, chosen.order_by(*chosen.selected_columns)):
        items.setdefault(kinds[number], []).append(item)
    return items


def with_examples(
    confusion: Sequence[Confused], kinds: Sequence[Kind], of: Examples
) -> list[Confused]:
    """Return the confusions of a model, the first ones with their examples."""
    first = [
        replace(confused, examples=of.get(kind, ()))
        for confused, kind in zip(confusion, kinds, strict=False)
    ]
    return [*first, *confusion[len(first) :]]
