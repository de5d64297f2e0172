"""A file to start from: thresholds a little below what a project's figures are now."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from shlex import quote

from sqlalchemy import Connection

from tracker.agreement.query import Query
from tracker.agreement.result import Assessment
from tracker.agreement.run import assess
from tracker.audit.definitions import OF_DEFINITIONS
from tracker.core import clock
from tracker.core.errors import NoFigures
from tracker.core.results import Message
from tracker.counts.filter import EVERYTHING, AnswerFilter
from tracker.gate.config import DEFAULT_CONFIG, EVERY, Figure, parse_gate_config
from tracker.gate.context import Standing, gate_standings
from tracker.gate.evaluate import CheckResult, judge_gate
from tracker.gate.scaffold_sentences import (
    drop_sentence,
    figure_sentence,
    finding_sentence,
    flagged_sentence,
    items_sentence,
    level_sentence,
    overlap_sentence,
    starting_text,
)
from tracker.measures.registry import MEASURES
from tracker.projects.questions import QuestionInfo, are_many_numbers, list_questions

# The first that has a value.
_MEASURES = {"spans": ("span_f1_exact",)}
_ANY_MEASURES = ("krippendorff_alpha", "percent_agreement")
_MAX_DROP = "0.05"
_KINDS = ("constant_category", "random_answers", "odd_import", *OF_DEFINITIONS)


@dataclass(frozen=True)
class _Block:
    """One check: what is said of it, and its lines."""

    about: Message
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
    outcome = judge_gate(connection, questions, tried, choice)
    why_not = {result.line: _why_not(result) for result in outcome.checks if not result.passed}
    text = Message(
        starting_text,
        project=project.name,
        day=clock.iso(clock.now())[:10],
        blocks=[
            (str(block.about), block.text, why_not.get(check.place.line))
            for block, check in zip(blocks, tried.checks, strict=True)
        ],
        chosen=outcome.selection is not None,
    )
    return str(text)


def _blocks_of(
    connection: Connection, question: QuestionInfo, choice: AnswerFilter, *, named: bool
) -> list[_Block]:
    """Return the checks of a question; ``named``: they name it."""
    measures = _MEASURES.get(question.answers, _ANY_MEASURES)
    assessment = assess(connection, question, Query(measures, filter=choice))
    name = question.project.name
    if not assessment.counts.items_compared:
        raise NoFigures(
            f"no item of {name!r} has two answers: there is no figure to start from",
            f"import answers first: tracker import FILE --project {quote(name)}",
        )
    key = (f"question = {_quoted(question.name)}",) if named else ()
    numbers = are_many_numbers(question.answers, question.scale, len(assessment.categories))
    blocks = _blocks(assessment, measures, of_category=not numbers)
    return [replace(block, lines=(*key, *block.lines)) for block in blocks]


def _why_not(result: CheckResult) -> str:
    """Why a check does not pass; the file, which others read, names no annotator."""
    annotators = result.details.get("annotators")
    return flagged_sentence(annotators=len(annotators)) if annotators else result.why


def _blocks(
    assessment: Assessment, measures: tuple[str, ...], *, of_category: bool
) -> Iterator[_Block]:
    of_measures = [
        standing
        for name in measures
        for standing in gate_standings(assessment, Figure(measure=name))
    ]
    overall = next((measure for measure in of_measures if measure.value is not None), None)
    if overall is not None:
        least = -1.0 if overall.measure == "krippendorff_alpha" else 0.0
        yield _least(overall, f'measure = "{overall.measure}"', least)
    lowest = assessment.summary.lowest
    if of_category and lowest is not None:
        name = assessment.categories[lowest.category]
        every = gate_standings(assessment, Figure(category=EVERY))
        weakest = next(standing for standing in every if standing.category == name)
        about = Message(figure_sentence, figure=weakest, weakest=True)
        yield _least(weakest, f"category = {_quoted(name)}", 0.0, about)
    if overall is not None:
        yield _Block(
            Message(drop_sentence),
            (f'measure = "{overall.measure}"', f"max_drop = {_MAX_DROP}"),
        )
        if MEASURES[overall.measure or ""].needs == "patterns":
            yield _Block(
                Message(level_sentence),
                (f'measure = "{overall.measure}"', f"max_drop = {_MAX_DROP}", "recent = true"),
            )
    for kind in _KINDS:
        yield _Block(Message(finding_sentence, kind=kind), (f'flags = ["{kind}"]',))
    counts = assessment.counts
    yield _Block(
        Message(items_sentence, number=counts.items_compared),
        (f"items_at_least = {_two_digits(counts.items_compared)}",),
    )
    share = counts.items_compared / counts.items
    yield _Block(
        Message(overlap_sentence, share=share),
        (f"overlap_at_least = {_below(share, 0.0)}",),
    )


def _least(figure: Standing, key: str, least: float, about: Message | None = None) -> _Block:
    """A check of a figure's lower bound, or of the figure where it has no bound."""
    value = figure.value if figure.low is None else figure.low
    on = () if figure.low is None else ('on = "ci_low"',)
    return _Block(
        about or Message(figure_sentence, figure=figure),
        (key, f"at_least = {_below(value or 0.0, least)}", *on),
    )


def _below(value: float, least: float) -> str:
    """A number of two places between a half and one and a half hundredths below."""
    return f"{max(least, math.floor(100 * value - 0.5) / 100):.2f}"


def _two_digits(number: int) -> int:
    """A whole number of two digits and zeros, not above."""
    unit = int(10 ** max(0, len(str(number)) - 2))
    return number // unit * unit


def _quoted(text: str) -> str:
    """A text as TOML has it, on one line."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
