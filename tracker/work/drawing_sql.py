"""Items that are drawn: from all, or within the answers of a model where answers help most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Select,
    case,
    cast,
    func,
    literal,
    select,
)

from tracker.core.tallies import Answer
from tracker.counts.selection import Selection, select_answer_rows
from tracker.judge.panel_sql import without_tuning
from tracker.measures.prediction_powered import Stratum, neyman_weight
from tracker.projects.annotators import AnnotatorInfo
from tracker.projects.questions import QuestionInfo
from tracker.storage.schema import Item

_PRIME: Final = 2**31 - 1  # squares of what is below it fit a whole number of a database
_ROUNDS: Final = 3
_LAST: Final = 1e18
_items = Item.__table__


def last_item(connection: Connection, question: QuestionInfo) -> int:
    """Return the highest id of an item of the project."""
    highest = select(func.max(_items.c.id)).where(_items.c.project_id == question.project_id)
    return connection.scalar(highest) or 0


def shuffled(item: ColumnElement[int], seed: int) -> ColumnElement[int]:
    """Return a number by which items are in an order that is as good as drawn.

    It is x + x² modulo 2³¹ - 1, thrice, of a linear function of the id: the same on every database.
    """
    start = (seed * 69_621 + 12_345) % _PRIME
    number = (cast(item, BigInteger) * literal(48_271, BigInteger) + start) % _PRIME
    for _ in range(_ROUNDS):
        number = (number * number + number) % _PRIME
    return number


@dataclass(frozen=True)
class Draw:
    """How items are drawn.

    Attributes:
        seed: of the numbers.
        highest: the id of the last item that is there.
        model: whose answers items are drawn within; None for a draw from all.
        strata: the items by the model's answer, with the people's.
    """

    seed: int
    highest: int
    model: AnnotatorInfo | None = None
    strata: Mapping[Answer, Stratum] = field(default_factory=dict)

    @property
    def detail(self) -> dict[str, Any]:
        """What the change records, beside the seed."""
        of = {} if self.model is None else {"model": self.model.name}
        return {"highest": self.highest, **of}

    def put_in_order(
        self, statement: Select[Any], number: ColumnElement[int], question: QuestionInfo
    ) -> tuple[Select[Any], list[ColumnElement[Any]]]:
        """Return the statement of items and their answers, and an order: the first ones are drawn.

        Within the answers of a model, the next item is of the answer whose labels are scarcest, as
        in `tracker.measures.prediction_powered.neyman_allocation`. Items that it did not answer,
        that were used to tune it, or that have an answer by people, are left out.
        """
        place = shuffled(_items.c.id, self.seed)
        if self.model is None:
            return statement, [place]
        of_model = without_tuning(Selection(question, only=frozenset({self.model.id})))
        given = select_answer_rows(of_model, "of_model")
        statement = statement.join(given, given.c.item_id == _items.c.id).where(number == 0)
        rank = func.row_number().over(partition_by=given.c.answer, order_by=place)
        turns = [
            (given.c.answer == category, (rank + (of.labeled - 0.5)) / neyman_weight(of))
            for (category,), of in self.strata.items()
        ]
        return statement, [case(*turns, else_=_LAST), place]
