"""A file to start from, whose checks a steady project hardly ever fails."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from shlex import quote
from statistics import NormalDist
from typing import Final

from sqlalchemy import Connection

from tracker.agreement.query import Query
from tracker.agreement.result import Assessment
from tracker.agreement.run import assess
from tracker.audit.models import models_beside_people
from tracker.core import clock
from tracker.core.errors import NoFigures
from tracker.counts.filter import EVERYTHING, AnswerFilter
from tracker.gate.config import DEFAULT_CONFIG, Figure, parse_gate_config
from tracker.gate.context import Standing, gate_standings, model_standings
from tracker.gate.evaluate import CheckResult, judge_gate
from tracker.gate.scaffold_sentences import (
    CONFIDENCE,
    DROP,
    LEVEL_DROP,
    figure_sentence,
    finding_sentence,
    flagged_sentence,
    items_sentence,
    overlap_sentence,
    quoted_text,
    starting_text,
)
from tracker.measures.intervals import wilson_interval
from tracker.measures.registry import MEASURES
from tracker.projects.questions import QuestionInfo, are_many_numbers, list_questions

# The first that has a value.
_MEASURES = {"spans": ("span_f1_exact",)}
_ANY_MEASURES = ("krippendorff_alpha", "percent_agreement")
_MAX_DROP = 0.05
_SURE: Final = 3.7
"""Standard errors: two figures looked at 52 times are further below in 1 of 40 steady years."""
_WEEKS_DIFFER, _ALWAYS = 0.05, 0.02
"""How far a week, and a project, may lie from the level, besides the error of the items."""
_ON = 'on = "ci_high"'
_UNKNOWN = 0.1  # the error of a figure without bounds
_BELOW_0 = {"krippendorff_alpha", "cohen_kappa"}
# No weak_slice: a week that differs by chance is one.
_KINDS = ("constant_category", "random_answers", "odd_import", "divided_definition")


@dataclass(frozen=True)
class _Block:
    """One check: what is said of it, and its lines."""

    about: str
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n".join(["[[check]]", *self.lines, ""])


def starting_gate_config(
    connection: Connection, questions: Sequence[QuestionInfo], choice: AnswerFilter = EVERYTHING
) -> str:
    """A gate's file that the project passes as it is, with a line about each check.

    Of several questions, the checks name theirs. Raises NoFigures where no item has two
    answers.
    """
    project = questions[0].project
    several = len(list_questions(connection, project)) > 1
    blocks = [
        block
        for question in questions
        for block in _blocks_of(connection, question, choice, named=several)
    ]
    tried = parse_gate_config("\n".join(block.text for block in blocks), DEFAULT_CONFIG)
    tried = replace(tried, confidence=CONFIDENCE)
    outcome = judge_gate(connection, questions, tried, choice)
    why_not = {result.line: _why_not(result) for result in outcome.checks if not result.passed}
    return starting_text(
        project.name,
        clock.iso(clock.now())[:10],
        [
            (block.about, block.text, why_not.get(check.place.line))
            for block, check in zip(blocks, tried.checks, strict=True)
        ],
        chosen=outcome.selection is not None,
    )


def _blocks_of(
    connection: Connection, question: QuestionInfo, choice: AnswerFilter, *, named: bool
) -> list[_Block]:
    """Return the checks of a question; ``named``: they name it."""
    measures = _MEASURES.get(question.answers, _ANY_MEASURES)
    query = Query(measures, CONFIDENCE, filter=choice)
    assessment = assess(connection, question, query)
    name = question.project.name
    if not assessment.counts.items_compared:
        raise NoFigures(
            f"no item of {name!r} has two answers: there is no figure to start from",
            f"import answers first: tracker import FILE --project {quote(name)}",
        )
    key = (f"question = {quoted_text(question.name)}",) if named else ()
    numbers = are_many_numbers(question.answers, question.scale, len(assessment.categories))
    level, every_time, weeks = assessment, replace(choice, since=None), None
    if choice.since is not None and choice.until is None:
        weeks = max(1.0, (clock.now() - choice.since) / (7 * clock.DAY))
        level = assess(connection, question, replace(query, filter=every_time), recent=True)
        level = assessment if level.recent else level
    blocks = [*_blocks(assessment, level, weeks, measures, of_category=not numbers)]
    steady = _models(connection, question, every_time)
    for model, figure in _models(connection, question, choice).items():
        blocks.append(_least(figure, steady[model], weeks))
    return [replace(block, lines=(*key, *block.lines)) for block in blocks]


def _models(
    connection: Connection, question: QuestionInfo, choice: AnswerFilter
) -> dict[str, Standing]:
    """Return each model's agreement with what most people gave, if it has one."""
    figures = {
        model.model: model_standings(model, Figure("cohen_kappa", model=model.model), CONFIDENCE)[0]
        for model in models_beside_people(connection, question, choice, confidence=CONFIDENCE)
    }
    return {name: figure for name, figure in figures.items() if figure.value is not None}


def _why_not(result: CheckResult) -> str:
    """Why a check does not pass; the file, which others read, names no annotator."""
    annotators = result.details.get("annotators")
    return flagged_sentence(len(annotators)) if annotators else result.why


def _blocks(
    assessment: Assessment,
    level: Assessment,
    weeks: float | None,
    measures: tuple[str, ...],
    *,
    of_category: bool,
) -> Iterator[_Block]:
    """Yield the checks; a window of some ``weeks`` has its ``level`` from the time before, too."""
    of_measures = [
        standing
        for name in measures
        for standing in gate_standings(assessment, Figure(measure=name))
    ]
    overall = next((measure for measure in of_measures if measure.value is not None), None)
    figures = [] if overall is None else [Figure(overall.measure)]
    if of_category and assessment.summary.lowest is not None:
        weakest = assessment.categories[assessment.summary.lowest.category]
        figures.append(Figure(category=weakest))
    for figure in figures:
        (now,) = gate_standings(assessment, figure)
        yield _least(now, gate_standings(level, figure)[0], weeks)
    if overall is not None:
        drop = max(_MAX_DROP, math.ceil(200 * _room(overall, overall, None)) / 100)
        measure = f'measure = "{overall.measure}"'
        yield _Block(DROP, (measure, f"max_drop = {drop:.2f}"))
        if MEASURES[overall.measure or ""].needs == "patterns":
            yield _Block(LEVEL_DROP, (measure, f"max_drop = {_MAX_DROP}", "recent = true"))
    for kind in _KINDS:
        yield _Block(finding_sentence(kind), (f'flags = ["{kind}"]',))
    counts = assessment.counts
    number, share = counts.items_compared, counts.items_compared / counts.items
    fewer = min(number // 2, math.floor(number - _SURE * math.sqrt(2 * number)))
    at_least = number if weeks is None else max(1, fewer)
    yield _Block(items_sentence(number), (f"items_at_least = {_two_digits(at_least)}",))
    # The share of a window's other items is as uncertain as its own: so half as many tell of it.
    low, _ = wilson_interval(share, counts.items / (2 if weeks else 1), CONFIDENCE)
    yield _Block(overlap_sentence(share), (f"overlap_at_least = {_rounded_down(low)}",))


def _least(now: Standing, level: Standing, weeks: float | None) -> _Block:
    """A check of a figure's upper bound, or of the figure where it has no bounds."""
    threshold = (level.value or 0.0) - _room(now, level, weeks)
    keys = {"model": now.model, "measure": now.measure, "category": now.category}
    lines = [f"{key} = {quoted_text(name)}" for key, name in keys.items() if name is not None]
    least = -1.0 if now.measure in _BELOW_0 else 0.0
    lines.append(f"at_least = {_rounded_down(threshold, least)}")
    return _Block(figure_sentence(now), (*lines, *(() if now.high is None else (_ON,))))


def _room(now: Standing, level: Standing, weeks: float | None) -> float:
    """How far below its level the upper bound of a later figure may lie.

    A figure of all answers changes little from look to look; that of some ``weeks`` is a new one.
    """
    if weeks is None:
        return 1.5 * math.hypot(_error(level), _ALWAYS)
    apart = math.hypot(_error(level), _error(now), _WEEKS_DIFFER / math.sqrt(weeks))
    return _SURE * apart - NormalDist().inv_cdf((1 + CONFIDENCE) / 2) * _error(now)


def _error(figure: Standing) -> float:
    """Return about the standard error of a figure, by its interval."""
    if figure.value is None or figure.low is None:
        return _UNKNOWN
    return (figure.value - figure.low) / NormalDist().inv_cdf((1 + figure.confidence) / 2)


def _rounded_down(value: float, least: float = 0.0) -> str:
    """A number of two places, not above."""
    return f"{max(least, math.floor(100 * value) / 100):.2f}"


def _two_digits(number: int) -> int:
    """A whole number of two digits and zeros, not above."""
    unit = int(10 ** max(0, len(str(number)) - 2))
    return number // unit * unit
