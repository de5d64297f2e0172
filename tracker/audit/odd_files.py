"""Whether an annotator's answers slipped in a file that was just imported.

Only the file's own items are counted and, of an annotator who agrees far less with the others
there, as many of the last answers before.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Select, and_, select, union

from tracker.audit.evidence import Evidence
from tracker.audit.kind import TestResult
from tracker.audit.kinds.odd_import import (
    GAP,
    NAME,
    ComparedFile,
    Slip,
    compare_files,
    file_result,
    find_slip,
    odd_file,
    run_test,
    suspected_annotators,
)
from tracker.audit.sentences import odd_file_sentence
from tracker.core.audit_tallies import ImportedFile
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
_SUSPECTED: Final = 0.05
"""That with which an annotator of a file is looked at again."""
_MOST: Final = 10
"""Annotators of a file that are looked at again."""
_MOST_MOVED: Final = 50
"""Files whose answers are moved."""
_Owner: TypeAlias = tuple[int, ImportedFile]


def odd_file_messages(
    connection: Connection, questions: Sequence[QuestionInfo], import_id: int
) -> Iterator[Message]:
    """Yield a sentence for each annotator whose answers of an import are unlike all others."""
    columns = (_imports.c.change_id, _imports.c.rows)
    change, rows = connection.execute(select(*columns).where(_imports.c.id == import_id)).one()
    if rows < LEAST_ROWS or not questions:
        return
    names = annotator_names(connection, questions[0].project)
    single = [question for question in questions if question.answers != "spans"]
    for finding in _odd_files(connection, single, import_id, change) if single else ():
        name = names[finding.annotator]
        yield Message(odd_file_sentence, annotator=name, finding=vars(finding))


def _odd_files(
    connection: Connection, questions: Sequence[QuestionInfo], import_id: int, change: int
) -> list[TestResult]:
    """Return the clearest finding of each annotator."""
    project = questions[0].project_id
    selections = [select_answers(connection, question) for question in questions]
    items = [_items_of_change(selection, change) for selection in selections]
    suspected: dict[int, int] = {}
    with shadow_tables_of_items(connection, project, NOW, _union(items)):
        for selection in selections:
            tallies = count_file_tallies(connection, selection, least=1)
            if tallies is not None:
                suspected |= suspected_annotators(tallies, import_id, _SUSPECTED)
    if not suspected:
        return []
    items += [
        _last_items(selection, annotator, change, number)
        for annotator, number in sorted(suspected.items())[:_MOST]
        for selection in selections
    ]
    with shadow_tables_of_items(connection, project, NOW, _union(items)):
        evidence = [
            Evidence(AnnotatorTallies(), files=count_file_tallies(connection, selection))
            for selection in selections
        ]
        asked = list(zip(selections, evidence, strict=True))
        findings = with_shifts(connection, asked, [list(run_test(basis)) for basis in evidence])
    sure = [
        finding
        for finding in chain.from_iterable(findings)
        if finding.notable
        and finding.p_value is not None
        and finding.p_value <= _SURE
        and finding.details["import"] == import_id
        and finding.annotator in suspected
    ]
    sure.sort(key=lambda finding: (-finding.annotator, -(finding.p_value or 0.0)))
    return list({finding.annotator: finding for finding in sure}.values())


def _union(items: Sequence[Select[Any]]) -> Select[Any]:
    together = union(*items).subquery("together")
    return select(together.c.item_id)


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


def with_shifts(
    connection: Connection,
    asked: Sequence[tuple[Selection, Evidence]],
    tests: Sequence[Sequence[TestResult]],
) -> list[list[TestResult]]:
    """Return the test results of each question; those of files that slipped say by how many rows.

    That answers agree again if they are moved back is evidence by itself, of all questions
    together. Of two people who slipped in opposite ways it may be either.
    """
    compared: list[dict[_Owner, ComparedFile]] = [
        {(file.part.annotator, file.part.file): file for file in chain(*files.values())}
        for files in (compare_files(evidence) for _, evidence in asked)
    ]
    by_file: defaultdict[_Owner, list[ComparedFile]] = defaultdict(list)
    for owner, file in chain.from_iterable(files.items() for files in compared):
        by_file[owner].append(file)
    gaps = {owner: max(file.gap for file in files) for owner, files in by_file.items()}
    odd = [owner for owner, gap in gaps.items() if gap >= asked[0][1].floor(GAP)]
    odd = sorted(odd, key=lambda owner: -gaps[owner])[:_MOST_MOVED]
    counts: dict[_Owner, NDArray[np.float64]] = {}
    for selection, _ in asked:
        for owner, moved in count_shifted_agreement(connection, selection, odd).items():
            counts[owner] = counts.get(owner, 0.0) + moved
    best = ((owner, find_slip(moved, by_file[owner])) for owner, moved in counts.items())
    slips = {owner: slip for owner, slip in best if slip is not None}
    ways = {(file.import_id, slip.rows) for (_, file), slip in slips.items()}
    slips = {
        owner: slip for owner, slip in slips.items() if (owner[1].import_id, -slip.rows) not in ways
    }
    return [
        [
            _with_slip(result, evidence, files, slips) if result.kind == NAME else result
            for result in results
        ]
        for results, (_, evidence), files in zip(tests, asked, compared, strict=True)
    ]


def _with_slip(
    result: TestResult,
    evidence: Evidence,
    files: Mapping[_Owner, ComparedFile],
    slips: Mapping[_Owner, Slip],
) -> TestResult:
    """Return the result, or that of the annotator's file that slipped most certainly."""
    options = [result]
    for owner in slips.keys() & files.keys():
        if owner[0] == result.annotator:
            slip, of_file = slips[owner], file_result(evidence, files[owner])
            if slip.p_value <= _SURE:
                p_value = min(slip.p_value, 1.0 if of_file.p_value is None else of_file.p_value)
                of_file = replace(of_file, p_value=p_value, notable=True, suspicious=False)
            elif odd_file(result.details, evidence) != owner[1]:
                continue
            options.insert(0, of_file.with_details(slip.details))
    return min(options, key=lambda option: 1.0 if option.p_value is None else option.p_value)
