"""Models as judges: each one's verdict, its figure beside the people's, where it differs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tracker.agreement.sentences import left_out_of_people_sentence
from tracker.audit.columns import MODEL_CATEGORIES
from tracker.judge.plot import judge_rows
from tracker.judge.tables import HUMANS, JUDGES, RATES, judge_row, rates_rows
from tracker.judge.words import (
    judge_sentence,
    next_step,
    stand_in_sentence,
    verdict_sentence,
    verdict_title,
    worst_confusion,
)
from tracker.render.nouns import of_question
from tracker.report import words
from tracker.report.charts import draw_judges, draw_model_categories
from tracker.report.document import (
    Block,
    Bullets,
    Figure,
    Group,
    Line,
    Paragraph,
    Section,
    Strong,
    Why,
    line,
    listing,
)
from tracker.report.gather import command, python_call
from tracker.report.gathered import Gathered, OfQuestion
from tracker.report.sizes import NARROW, WIDE

_MOST_ROWS = 60


def judges_section(gathered: Gathered) -> Section:
    """Return each model as a judge of each question; nothing in it where no model answered."""
    judges = [judge for question in gathered.questions for judge in question.judges]
    blocks: list[Block] = []
    if judges:
        blocks += [Bullets([_verdict(gathered, judge) for judge in judges])]
        blocks += [_figure(gathered, judges)]
    title = "{model}, {question}" if gathered.several else "{model}"
    each = [Group(title.format_map(judge), [*_judge(gathered, judge)]) for judge in judges]
    blocks += [Group(words.EACH_MODEL, each, True)] if len(each) > 1 else each
    for question in gathered.questions:
        blocks += _beside_people(gathered, question)
    return Section("judges", words.JUDGES, blocks, python_call(gathered, "judges.judge"))


def _verdict(gathered: Gathered, judge: Mapping[str, Any]) -> Line:
    of = of_question(judge["question"]) if gathered.several else ""
    verdict = Strong(f"{judge['model']}: {verdict_title(judge)}.")
    said = [verdict_sentence(judge), next_step(judge)]
    said += [judge_sentence(judge, text) for text in judge["reservations"]]
    return line(of, verdict, f" {' '.join(said)}")


def _figure(gathered: Gathered, judges: Sequence[Mapping[str, Any]]) -> Figure:
    rows = judge_rows(judges)
    measures = dict.fromkeys(judge["measure"] for judge in judges)
    questions = dict.fromkeys(judge["question"] for judge in judges)
    first, *also = [command(gathered, "judge", question=name) for name in questions]
    return Figure(
        "judges",
        words.JUDGES_DRAWN,
        draw_judges(words.JUDGES, rows, width=WIDE),
        draw_judges(words.JUDGES, rows, width=NARROW),
        listing(words.JUDGES, JUDGES, [judge_row(judge) for judge in judges], _MOST_ROWS),
        Why(
            [line(text) for text in (words.WHY_JUDGES, *map(words.formula, measures))], first, also
        ),
    )


def _judge(gathered: Gathered, judge: Mapping[str, Any]) -> Iterator[Block]:
    if judge["biases"]:
        yield Bullets([line(judge_sentence(judge, bias["why"])) for bias in judge["biases"]])
    yield from (Paragraph(line(worst)) for worst in worst_confusion(judge))
    if judge["rates"]:
        yield listing(f"Each category, on {judge['truth']}", RATES, rates_rows(judge), _MOST_ROWS)
    yield Paragraph(line(stand_in_sentence(judge)))
    people = judge["alternative_test"]["humans"]
    if people:
        yield listing(words.STAND_IN, HUMANS, people, _MOST_ROWS)
    reasons = [f"{judge['why']}.", words.WHY_STAND_IN]
    shown = command(gathered, "judge", question=judge["question"])
    yield Why([line(reason) for reason in reasons], shown)


# -- Each category beside the human ceiling, and what stands out ----------------------------------


def _beside_people(gathered: Gathered, question: OfQuestion) -> Iterator[Block]:
    """Yield what the audit has of each model beside what was told: its verdict and its biases."""
    yield from _categories(gathered, question)
    of = of_question(question.name) if gathered.several else ""
    for row in question.models:
        told = {("low_agreement", None)} | {
            (f"{bias['kind']}_bias", bias["category"])
            for judge in question.judges if judge["model"] == row["model"]
            for bias in judge["biases"] if bias["slice"] is None
        }  # fmt: skip
        for flag in row["findings"]:
            if (flag["kind"], flag["category"]) not in told:
                yield Paragraph(line(of, flag["why"]))


def _categories(gathered: Gathered, question: OfQuestion) -> Iterator[Block]:
    """Yield each category of each model; nothing of spans and numbers."""
    rows = [
        {"model": model["model"], **row}
        for model in question.models
        for row in question.in_order(model["categories"])
    ]
    if not rows or question.confusions is None or question.numbers:
        return
    title = (
        f"Models on each category of {question.name}" if gathered.several else words.ON_CATEGORIES
    )
    figure = Figure(
        f"models-{gathered.questions.index(question)}",
        words.MODEL_CATEGORIES,
        draw_model_categories(title, rows, width=WIDE),
        draw_model_categories(title, rows, width=NARROW),
        listing(title, MODEL_CATEGORIES, rows, _MOST_ROWS),
        Why(
            [line(text) for text in words.WHY_MODEL_CATEGORIES],
            command(gathered, "agreement", "--by", "model", question=question.name),
        ),
    )
    left_out = [row for row in question.models if row["left_out_of_people"]]
    also = [Paragraph(line(left_out_of_people_sentence(row))) for row in left_out]
    yield Group(title, [figure, *also], True)
