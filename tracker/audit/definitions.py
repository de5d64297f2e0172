"""What is wrong with a definition or with some of the items, and with nobody in particular."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from sqlalchemy import Connection

from tracker import queries
from tracker.audit.divided import (
    BLIND,
    ITEMS_SHOWN,
    MOST_DIVIDED,
    DividedDefinition,
    divided_definitions,
    patterns_that_show,
    sides_read_alike,
)
from tracker.audit.divided import KIND as DIVIDED
from tracker.audit.evidence import Evidence
from tracker.audit.kind import Flag
from tracker.audit.weak_slices import KIND as WEAK_SLICE
from tracker.audit.weak_slices import SliceAgreement, agreement_by_slice, weak_slices
from tracker.core.errors import InvalidOption
from tracker.core.tallies import ItemPatterns
from tracker.projects.categories import category_names
from tracker.projects.items import item_names_of
from tracker.projects.question import QuestionInfo
from tracker.queries import EVERYTHING, AnswerFilter, Selection

Definition: TypeAlias = DividedDefinition | SliceAgreement
OF_DEFINITIONS: Final = (DIVIDED, WEAK_SLICE)
"""Findings about nobody: of a definition, and of some of the items."""


def definitions_and_flags(
    connection: Connection,
    selection: Selection,
    evidence: Evidence,
    categories: Mapping[int, str],
    flags: Sequence[Flag],
) -> tuple[list[Flag], list[Definition]]:
    """Return what is wrong with definitions or slices, and the flags, which then say so too.

    One statement counts the slices, a bounded number more each category that seems divided.
    """
    divided = _divided_definitions(connection, selection, evidence, flags)
    columns = evidence.columns
    slices = slices_of_items(
        connection, selection, categories, len(columns.annotators), columns.item_patterns
    )
    return _said_of_people(flags, divided), [*divided, *weak_slices(slices)]


def _divided_definitions(
    connection: Connection, selection: Selection, evidence: Evidence, found: Sequence[Flag]
) -> list[DividedDefinition]:
    """Return the categories that are read in two ways, with items that show it."""
    blind = {flag.annotator for flag in found if flag.kind in BLIND and flag.state == "flagged"}
    divided = []
    for one in [*divided_definitions(evidence, blind)][:MOST_DIVIDED]:
        sides = queries.count_sides(connection, selection, one.category, one.more, one.less)
        alike = sides_read_alike(sides)
        if alike is False:
            continue
        telling = patterns_that_show(one.category, evidence.columns.patterns, ITEMS_SHOWN)
        ids = queries.select_items_of_patterns(connection, selection, set(telling), ITEMS_SHOWN)
        shown = [item for pattern in telling for item in ids[pattern]][:ITEMS_SHOWN]
        items = item_names_of(connection, selection.question.project, shown)
        named = tuple(items[item] for item in shown)
        divided.append(replace(one, items=named, certain=alike is not None))
    return divided


def _said_of_people(found: Sequence[Flag], divided: Sequence[DividedDefinition]) -> list[Flag]:
    """Return the flags; those about a category that is read in two ways say so."""
    categories = {one.category for one in divided if one.certain}
    return [
        replace(flag, details={**flag.details, "divided": True})
        if flag.category in categories and flag.kind not in BLIND
        else flag
        for flag in found
    ]


def slices_of_items(
    connection: Connection,
    selection: Selection,
    categories: Mapping[int, str],
    annotators: int,
    patterns: ItemPatterns,
) -> list[SliceAgreement]:
    """Return every slice of the items of a selection beside the rest; two statements.

    ``patterns`` are those of all its items, by so many annotators.
    """
    if patterns.items_compared < 2 * queries.LEAST_ITEMS:
        return []
    slices = queries.count_patterns_by_slice(connection, selection)
    return agreement_by_slice(selection.question, categories, annotators, patterns, slices)


def question_by_slice(
    connection: Connection, question: QuestionInfo, choice: AnswerFilter = EVERYTHING
) -> list[SliceAgreement]:
    """Return every slice of a question's items beside the rest, those that explain most first.

    Raises InvalidOption for a question of spans.
    """
    if question.answers == "spans":
        raise InvalidOption("a project of spans has no agreement by slice of its items")
    selection = queries.select_answers(connection, question, choice)
    patterns = queries.count_item_patterns(connection, selection)
    annotators = len(queries.select_answering_annotators(connection, selection))
    categories = category_names(connection, question)
    slices = slices_of_items(connection, selection, categories, annotators, patterns)
    return sorted(slices, key=lambda one: (not one.weak, -one.explained))
