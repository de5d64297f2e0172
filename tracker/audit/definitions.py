"""What is wrong with a definition or with some of the items, and with nobody in particular."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from sqlalchemy import Connection

from tracker.audit.design import DisconnectedGroups, TextsUnderSeveralKeys
from tracker.audit.divided import ITEMS_SHOWN, DividedDefinition, patterns_that_show
from tracker.audit.divided import KIND as DIVIDED
from tracker.audit.evidence import Evidence
from tracker.audit.kind import Finding, ProjectFinding
from tracker.audit.slices_sql import (
    LEAST_ITEMS,
    MOST_SEARCHED,
    count_patterns_by_slice,
    count_tallies_by_slice,
)
from tracker.audit.weak_slices import KIND as WEAK_SLICE
from tracker.audit.weak_slices import (
    Reading,
    SliceAgreement,
    agreement_by_slice,
    unexplained_slices,
    weak_slices,
)
from tracker.core.errors import InvalidOption
from tracker.counts.annotator_patterns import select_answering_annotators
from tracker.counts.filter import EVERYTHING, AnswerFilter, select_answers
from tracker.counts.selection import Selection
from tracker.counts.tallies import select_items_of_patterns
from tracker.projects.categories import category_names
from tracker.projects.items import item_names
from tracker.projects.questions import QuestionInfo

OF_DEFINITIONS: Final = (DIVIDED, WEAK_SLICE)
"""Findings about nobody: of a definition, and of some of the items."""
OF_NOBODY: Final = (*OF_DEFINITIONS, DisconnectedGroups.kind, TextsUnderSeveralKeys.kind)
"""These, and of the design."""


def find_definitions(
    connection: Connection,
    selection: Selection,
    evidence: Evidence,
    categories: Mapping[int, str],
    findings: Sequence[Finding],
    divided: Sequence[DividedDefinition],
) -> list[ProjectFinding]:
    """Return the definitions that are read in two ways, with items, and the weak slices.

    Four statements count the slices; a bounded number more is made if a category seems divided,
    and if a slice is weak.
    """
    bad = {flag.annotator for flag in findings if flag.state == "flagged" and not flag.remark}
    slices = _told_slices(connection, selection, evidence, categories, frozenset(bad))
    listed = list[ProjectFinding]()
    for definition in divided:
        telling = patterns_that_show(definition.category, evidence.columns.patterns, ITEMS_SHOWN)
        ids = select_items_of_patterns(connection, selection, set(telling), ITEMS_SHOWN)
        shown_ids = [item for pattern in telling for item in ids[pattern]][:ITEMS_SHOWN]
        names = item_names(connection, selection.question.project, shown_ids)
        listed.append(replace(definition, items=tuple(names[item] for item in shown_ids)))
    return [*listed, *slices]


def _told_slices(
    connection: Connection,
    selection: Selection,
    evidence: Evidence,
    categories: Mapping[int, str],
    bad: frozenset[int],
) -> list[SliceAgreement]:
    """Return the weak slices that nothing else explains; in a large project searched in a sample.

    What is told of them is counted over all items.
    """
    if evidence.columns.item_patterns.items_compared < 2 * LEAST_ITEMS:
        return []
    share = MOST_SEARCHED / max(int(evidence.columns.number.sum()), 1)
    reading = Reading(selection.question, categories, len(evidence.columns.annotators))
    weak = weak_slices(_slices(connection, selection, reading, share))
    if not weak:
        return []
    chosen = [agreement.slice for agreement in weak]
    counts = count_tallies_by_slice(connection, selection, chosen)
    sound = counts
    if bad:
        sound = count_tallies_by_slice(connection, selection.without(bad), chosen)
    return unexplained_slices(reading, weak, counts, sound)


def _slices(
    connection: Connection, selection: Selection, reading: Reading, share: float = 1.0
) -> list[SliceAgreement]:
    patterns, slices = count_patterns_by_slice(connection, selection, share)
    return agreement_by_slice(reading, patterns, slices)


def question_by_slice(
    connection: Connection, question: QuestionInfo, choice: AnswerFilter = EVERYTHING
) -> list[SliceAgreement]:
    """Return every slice of a question's items beside the rest, those that explain most first.

    Raises InvalidOption for a question of spans.
    """
    if question.answers == "spans":
        raise InvalidOption("a project of spans has no agreement by slice of its items")
    selection = select_answers(connection, question, choice)
    annotators = len(select_answering_annotators(connection, selection))
    categories = category_names(connection, question)
    slices = _slices(connection, selection, Reading(question, categories, annotators))
    return sorted(slices, key=lambda agreement: (not agreement.weak, -agreement.explained))
