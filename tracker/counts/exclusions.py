"""The answers that a figure counts, and those that it leaves out, by reason."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, and_, case, func, select, true

from tracker.counts.selection import Selection, labels, where_chosen, where_counted
from tracker.projects.items import count_project_items
from tracker.storage.schema import SKIPPED, Annotator, PastLabel
from tracker.storage.schema.labels import of_question

_past = PastLabel.__table__


@dataclass(frozen=True)
class Inclusion:
    """Numbers of answers by outcome; each answer counts once, under the first that applies.

    Attributes:
        items: items that the project knows.
        standing: answers that stand, of every pass and every annotator.
        skipped: the annotator skipped the item.
        other_kinds: by a reference annotator or a model that was not named.
        not_chosen: outside the chosen annotators, times or items.
        later_passes: given again to an item on a later pass.
        counted: all others, which are counted.
        past: records of answers that no longer stand: superseded, older, or repeated.
        taken_back: records of undone imports.
    """

    items: int
    standing: int
    skipped: int
    other_kinds: int
    not_chosen: int
    later_passes: int
    counted: int
    past: int
    taken_back: int

    def to_dict(self) -> dict[str, int]:
        """Return the counts as JSON."""
        return dict(vars(self))


def count_included_answers(connection: Connection, selection: Selection) -> Inclusion:
    """Count the answers of a project by what became of them."""
    question = selection.question
    other_kind: ColumnElement[bool] = labels.c.annotator_id.in_(
        select(Annotator.id).where(
            Annotator.project_id == question.project_id, Annotator.kind != "human"
        )
    )
    if selection.only is not None:
        other_kind = and_(other_kind, labels.c.annotator_id.not_in(sorted(selection.only)))
    limits: list[ColumnElement[bool]] = list(where_chosen(selection))
    fate = case(
        (labels.c.category_id == SKIPPED, "skipped"),
        (other_kind, "other_kinds"),
        (where_counted(selection), "counted"),
        # What is not chosen may be neither true nor false: an item may lack the attribute.
        (and_(true(), *limits), "later_passes"),
        else_="not_chosen",
    ).label("fate")
    answers = (
        select(labels.c.item_id, labels.c.annotator_id, labels.c["pass"], fate)
        .where(of_question(labels, question.key))
        .distinct()
        .subquery("fates")
    )
    rows = connection.execute(
        select(answers.c.fate, func.count().label("answers")).group_by(answers.c.fate)
    )
    fates = {row.fate: row.answers for row in rows}
    taken_back = case((_past.c.taken_back_by.is_not(None), 1), else_=0)
    past = connection.execute(
        select(func.count(), func.sum(taken_back)).where(of_question(_past, question.key))
    ).one()
    undone = int(past[1] or 0)
    return Inclusion(
        items=count_project_items(connection, question.project),
        standing=sum(fates.values()),
        **{
            name: fates.get(name, 0)
            for name in ("skipped", "other_kinds", "not_chosen", "later_passes", "counted")
        },
        past=past[0] - undone,
        taken_back=undone,
    )
