"""Decisions as answers: recorded as an import of one answer, taken back as an import is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Any, NamedTuple

from sqlalchemy import Connection, insert, select

from tracker.core import clock
from tracker.core.errors import InvalidOption, NotFound, Refused
from tracker.core.results import Record
from tracker.formats.batch import SKIPPED_CELL
from tracker.formats.column_roles import Mapped
from tracker.imports.loader import load_import
from tracker.imports.questions import ImportQuestions
from tracker.imports.undo import undo_import
from tracker.projects.annotators import DECIDER
from tracker.projects.categories import category_names
from tracker.projects.decisions import AMBIGUOUS, NOT_IN_SCHEME, DecisionInfo, list_decisions
from tracker.projects.items import item_of_key
from tracker.projects.names import check_entered_text, near_names
from tracker.projects.projects import last_change, lock_project
from tracker.projects.questions import QuestionInfo
from tracker.readers.frames import RowsSource
from tracker.storage.database import CHANGED_BY
from tracker.storage.schema import REASONS, Decision, Import


@dataclass(frozen=True)
class Decided(Record):
    """A decision that was made or taken back, and the one that held before, or holds again."""

    project: str
    question: str
    decision: DecisionInfo
    before: DecisionInfo | None


class _Answer(NamedTuple):
    item: str
    annotator: str
    category: str
    kind: str
    labeled_at: str


def decide_item(
    connection: Connection,
    question: QuestionInfo,
    item: str,
    categories: Sequence[str],
    reason: str,
    note: str | None = None,
    *,
    replaces: int | None = None,
    again: bool = False,
) -> Decided:
    """Record what is the right answer to an item as the answer of the reference `DECIDER`.

    Without a category no answer is claimed to be right: it is a skipped one. A decision that
    stands must be the one named by ``replaces``, unless ``again``. Raises NotFound, InvalidOption
    for what is no decision, Refused if somebody else decided it.
    """
    lock_project(connection, question.project_id)
    item_id, name, _ = item_of_key(connection, question.project, item)
    note = check_entered_text(note, "note") if note and note.strip() else None
    chosen = _chosen(connection, question, categories, reason)
    before = _standing_decision(connection, question, item_id)
    if before is not None and not again and before.id != replaces:
        decided = f"{name!r} is {before.sentence}, {clock.iso(before.at)[:16]}Z"
        raise Refused(decided, "to decide it once more: --again")
    questions = ImportQuestions(connection, [question])
    _, last = last_change(connection, question.project_id)
    now = clock.iso(max(clock.now(), last))  # another time than before, whatever the clock says
    rows = [_Answer(name, DECIDER, text, "reference", now) for text in chosen or [SKIPPED_CELL]]
    source = RowsSource(rows, f"the decision on {name}")
    load_import(connection, questions, [source], Mapped({}))
    connection.execute(
        insert(Decision).values(
            project_id=question.project_id, question_id=question.id, item_id=item_id,
            change_id=questions.change, reason=reason, note=note,
            made_by=connection.info.get(CHANGED_BY),
        )
    )  # fmt: skip
    return _decided(question, _standing_decision(connection, question, item_id), before)


def take_back_decision(connection: Connection, question: QuestionInfo, item: str) -> Decided:
    """Undo the decision about an item; the one before holds again. Raises NotFound for none."""
    lock_project(connection, question.project_id)
    item_id, name, _ = item_of_key(connection, question.project, item)
    decision = _standing_decision(connection, question, item_id)
    if decision is None:
        see = f"see: tracker adjudicate show {quote(question.project.name)} {quote(name)}"
        raise NotFound(f"nothing was decided about {name!r}", see)
    of_change = (Import.project_id == question.project_id, Import.change_id == decision.id)
    undo_import(connection, connection.execute(select(Import.id).where(*of_change)).scalar_one())
    return _decided(question, decision, _standing_decision(connection, question, item_id))


def _standing_decision(
    connection: Connection, question: QuestionInfo, item: int
) -> DecisionInfo | None:
    decisions = list_decisions(connection, question, Decision.__table__.c.item_id == item)
    return next(iter(decisions), None)


def _decided(question: QuestionInfo, decision: Any, before: DecisionInfo | None) -> Decided:
    return Decided(question.project.name, question.name, decision, before)


def _chosen(
    connection: Connection, question: QuestionInfo, categories: Sequence[str], reason: str
) -> list[str]:
    if question.answers == "spans":
        spans = f"{question.description} of spans, which are not decided one by one"
        mend = f"import them as answers of {DECIDER!r}, with the kind reference"
        raise InvalidOption(spans, mend)
    if reason not in REASONS:
        mend = near_names(reason, REASONS) or f"one of: {', '.join(REASONS)}"
        raise InvalidOption(f"{reason!r} is no reason", mend)
    names = category_names(connection, question).values()
    chosen = list(dict.fromkeys(category.strip() for category in categories))
    for name in chosen:
        if name not in names:
            mend = near_names(name, names) or f"it has: {', '.join([*names][:8])}"
            raise NotFound(f"there is no category {name!r} in {question.name!r}", mend)
    if not chosen and reason not in {AMBIGUOUS, NOT_IN_SCHEME}:
        mend = f"without one: {AMBIGUOUS!r} or {NOT_IN_SCHEME!r}"
        raise InvalidOption(f"a decision for the reason {reason!r} needs a category", mend)
    if len(chosen) > 1 and question.answers == "one":
        raise InvalidOption(f"{question.description} of one category an answer", "name one")
    return chosen
