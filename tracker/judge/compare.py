"""Models compared with each other, on the items that both answered: which is nearer to people."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from itertools import combinations
from typing import Final, TypeAlias

from sqlalchemy import Connection, and_, func, select

from tracker.core.tallies import Answer, Pattern
from tracker.counts.beside_people import of_models
from tracker.counts.pattern_codes import make_pattern_code, widen_pattern_code
from tracker.counts.selection import (
    Selection,
    read_selected_answer,
    select_answer_rows,
    stream_rows,
)
from tracker.judge.result import Judge, JudgeChange, ModelsCompared
from tracker.measures.difference_tests import holm
from tracker.measures.isolated_rater import (
    Read,
    gap_between,
    rater_and_group,
    rater_beside_group,
    rater_coefficient,
)

VERSION: Final = "version"
"""The attribute of models by which those of a family are in order."""
SURE: Final = 0.05
TwoModels: TypeAlias = Mapping[tuple[int, int], Mapping[tuple[Answer, Answer, Pattern], int]]
"""``{(model, another): {(answer of the one, of the other, people's answers): items}}``."""


def count_two_models(
    connection: Connection, people: Selection, models: frozenset[int]
) -> TwoModels:
    """Return what every two models answered to the items that people did, by one statement."""
    code = make_pattern_code(connection, people)
    both = of_models(people, models)
    first, second = select_answer_rows(both, "first"), select_answer_rows(both, "second")
    pair = and_(first.c.item_id == second.c.item_id, first.c.annotator_id < second.c.annotator_id)
    key = (first.c.annotator_id, second.c.annotator_id, first.c.answer, second.c.answer, *code.key)
    names = [column.label(f"key_{n}") for n, column in enumerate(key)]
    statement = (
        select(*names, func.count(), func.max(code.items.c.answers))
        .select_from(
            first.join(code.items, code.items.c.item_id == first.c.item_id).join(second, pair)
        )
        .group_by(*(column.name for column in names))
    )
    read, decode = cache(read_selected_answer), cache(code.decode)
    counts: dict[tuple[int, int], dict[tuple[Answer, Answer, Pattern], int]] = {}
    most = 0
    for one, other, answer, of_other, *codes, items, answers in stream_rows(connection, statement):
        most = max(most, answers)
        if code.holds(answers):
            row = read(answer), read(of_other), decode(tuple(codes))
            met = counts.setdefault((one, other), {})
            met[row] = met.get(row, 0) + items
    wider = widen_pattern_code(people, code, most)
    return counts if wider is None else count_two_models(connection, wider, models)


def compare_models(
    judges: Mapping[int, Judge], pairs: TwoModels, read: Read, measure: str, confidence: float
) -> list[ModelsCompared]:
    """Return every two models that share items with people, the earlier version first.

    The p-values of all pairs are corrected together by Holm's procedure (1979, Scand. J. Statist.
    6, 65-70).
    """
    rows = []
    for one, other in combinations(sorted(judges, key=lambda n: _place(judges[n])), 2):
        tally = pairs.get((min(one, other), max(one, other)))
        if tally:
            rows.append(_compared(judges, (one, other), tally, read, measure, confidence))
    corrected = holm([row.p_value for row in rows])
    return [
        replace(row, q_value=q, winner=_winner(row, q))
        for row, q in zip(rows, corrected, strict=True)
    ]


def _place(judge: Judge) -> tuple[str, list[tuple[int, str]], str]:
    """Return the place of a model among others: by family, then by version, then by name."""
    family, version = (judge.attributes.get(name, "") for name in ("family", VERSION))
    return family, natural(version), judge.model


def natural(text: str) -> list[tuple[int, str]]:
    """Return the key by which texts are in the order of the numbers in them: v2 before v10."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", text)]


def _compared(
    judges: Mapping[int, Judge],
    models: tuple[int, int],
    tally: Mapping[tuple[Answer, Answer, Pattern], int],
    read: Read,
    measure: str,
    confidence: float,
) -> ModelsCompared:
    turned = models[0] > models[1]
    first, second = (
        rater_coefficient(measure, rater_beside_group(*rater_and_group(rows), read, 2))
        for rows in (
            [((other if second else own, met), items) for (own, other, met), items in tally.items()]
            for second in (turned, not turned)
        )
    )
    one, other = (judges[model] for model in models)
    gap = gap_between(second, first, confidence)
    return ModelsCompared(
        question=one.question,
        models=(one.model, other.model),
        measure=measure,
        items=first.items,
        first=first.value,
        second=second.value,
        difference=None if gap is None else gap.value,
        ci_low=None if gap is None else gap.low,
        ci_high=None if gap is None else gap.high,
        p_value=None if gap is None else gap.p_value,
        q_value=None,
        winner=None,
        change=_change(one, other, None if gap is None else gap.value),
    )


def _change(one: Judge, other: Judge, judge: float | None) -> JudgeChange | None:
    figures = [
        figure.value
        for row in (one.main, other.main)
        for figure in (row.model_with_humans, row.humans_with_humans)
    ]
    if judge is None or None in figures:
        return None
    before, people_before, after, people_after = (figure or 0.0 for figure in figures)
    total, ceiling = after - before, people_after - people_before
    return JudgeChange(total, judge, ceiling, total - judge - ceiling)


def _winner(row: ModelsCompared, q: float | None) -> str | None:
    unsure = q is None or q > SURE or row.difference is None
    return None if unsure else row.models[(row.difference or 0.0) > 0]
