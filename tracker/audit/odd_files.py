"""Whether an annotator's answers slipped in a file that was just imported.

Only the file's own items are counted and, of an annotator who agrees far less with the others
there, as many of the last answers before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from sqlalchemy import Connection, Select, and_, select, union

from tracker.audit.evidence import Evidence
from tracker.audit.kind import Finding, TestResult
from tracker.audit.kinds.odd_import import (
    NAME,
    odd_file,
    run_test,
    shift_details,
    suspected_annotators,
)
from tracker.audit.sentences import odd_file_sentence
from tracker.core.results import Message
from tracker.core.tallies import AnnotatorTallies
from tracker.counts.filter import select_answers
from tracker.counts.import_tallies import LEAST_ROWS, count_file_tallies, count_shifted_agreement
from tracker.counts.selection import Selection
from tracker.projects.annotators import annotator_names
from tracker.projects.questions import QuestionInfo
from tracker.storage.as_of import NOW, shadow_tables_of_items
from tracker.storage.schema import Import, Label, Touched
from tracker.storage.schema.labels import of_question

_imports, _labels = Import.__table__, Label.__table__
_touched = Touched.__table__
_SURE: Final = 1e-3
"""The greatest p-value that is told."""
_MOST: Final = 10
"""Annotators of a file that are looked at again."""


def odd_file_messages(
    connection: Connection, questions: Sequence[QuestionInfo], import_id: int
) -> Iterator[Message]:
    """Yield a sentence for each annotator whose answers of an import are unlike all others."""
    columns = (_imports.c.change_id, _imports.c.rows)
    change, rows = connection.execute(select(*columns).where(_imports.c.id == import_id)).one()
    if rows < LEAST_ROWS or not questions:
        return
    names = annotator_names(connection, questions[0].project)
    for question in questions:
        if question.answers != "spans":
            for finding in _odd_files(connection, question, import_id, change):
                name = names[finding.annotator]
                yield Message(odd_file_sentence, annotator=name, finding=vars(finding))


def _odd_files(
    connection: Connection, question: QuestionInfo, import_id: int, change: int
) -> Iterator[TestResult]:
    selection = select_answers(connection, question)
    own = _items_of_change(selection, change)
    with shadow_tables_of_items(connection, question.project_id, NOW, own):
        tallies = count_file_tallies(connection, selection, least=1)
    suspected = {} if tallies is None else suspected_annotators(tallies, import_id, _SURE)
    if not suspected:
        return
    before = (
        _last_items(selection, annotator, change, items)
        for annotator, items in sorted(suspected.items())[:_MOST]
    )
    both = union(own, *before).subquery("both")
    with shadow_tables_of_items(connection, question.project_id, NOW, select(both.c.item_id)):
        tallies = count_file_tallies(connection, selection)
        evidence = Evidence(AnnotatorTallies(), files=tallies)
        findings = [
            finding
            for finding in run_test(evidence)
            if finding.notable and finding.p_value is not None and finding.p_value <= _SURE
        ]
        shifts = file_shifts(connection, selection, evidence, findings)
    for finding in findings:
        if finding.annotator in suspected and finding.details["import"] == import_id:
            yield finding.with_details(shifts.get(finding.annotator, {}))


def _items_of_change(selection: Selection, change: int) -> Select[Any]:
    """Return the items with answers of a change, found by the ranges that it touched."""
    within = and_(
        _labels.c.project_id == _touched.c.project_id,
        _labels.c.question_id == _touched.c.question_id,
        _labels.c.item_id.between(_touched.c.first_item, _touched.c.last_item),
        _labels.c.change_id == _touched.c.change_id,
    )
    ranges = and_(of_question(_touched, selection.question.key), _touched.c.change_id == change)
    return select(_labels.c.item_id).select_from(_touched.join(_labels, within)).where(ranges)


def _last_items(selection: Selection, annotator: int, change: int, items: int) -> Select[Any]:
    """Return so many of the last items that an annotator had answered before."""
    last = (
        select(_labels.c.item_id)
        .where(
            of_question(_labels, selection.question.key),
            _labels.c.annotator_id == annotator,
            _labels.c.change_id != change,
        )
        .order_by(_labels.c.item_id.desc())
        .limit(items)
        .subquery()
    )
    return select(last.c.item_id)


def file_shifts(
    connection: Connection,
    selection: Selection,
    evidence: Evidence,
    findings: Iterable[TestResult | Finding],
) -> dict[int, dict[str, object]]:
    """Return the details of findings of odd files whose answers slipped by some rows.

    They are by annotator: there is one finding of each.
    """
    files = {
        (finding.annotator, file): finding
        for finding in findings
        if finding.kind == NAME and (file := odd_file(finding.details, evidence)) is not None
    }
    moved = count_shifted_agreement(connection, selection, list(files))
    return {
        owner[0]: shift_details(agreement, files[owner].expected or 0.0)
        for owner, agreement in moved.items()
    }
