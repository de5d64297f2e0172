"""Agreement: each category of each question, models beside people, all coefficients."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tracker.agreement.columns import category_columns
from tracker.agreement.sentences import (
    SUPPRESSED,
    WITH_FLAGGED,
    left_out_of_people_sentence,
    reason,
    without_flagged,
)
from tracker.measures.registry import MEASURES
from tracker.render.cells import count_cell, figure_cell, interval_cell
from tracker.render.nouns import of_question, percent
from tracker.report import words
from tracker.report import words as figures
from tracker.report.charts import (
    draw_categories,
    draw_model_categories,
    draw_models,
    draw_pairs,
    pair_rows,
)
from tracker.report.document import (
    Block,
    Example,
    Examples,
    Figure,
    Group,
    Paragraph,
    Said,
    Section,
    Table,
    Why,
    line,
    listing,
)
from tracker.report.gather import command, python_call
from tracker.report.gathered import Gathered, OfQuestion
from tracker.report.sizes import NARROW, WIDE

# -- What several sections share: the same of each question, the first of them open ---------------


def each_question(
    gathered: Gathered, of: Callable[[Gathered, OfQuestion], Iterator[Block]]
) -> list[Block]:
    """Return the parts of the only question, or a group for each, the weakest open."""
    if not gathered.several:
        return [*of(gathered, gathered.questions[0])]
    return [
        Group(one.name, [*of(gathered, one)], place > 0)
        for place, one in enumerate(gathered.questions)
    ]


# -- Which categories are confused, with items that show it ---------------------------------------


_OPEN = 1  # confusions whose items are seen at once
_LONGEST = 600  # characters of an item's text


def confusions_section(gathered: Gathered) -> Section:
    """Return the categories that stand in for each other, question by question."""
    title = "What is confused"
    counted = gathered.questions[0].confusions is not None
    code = python_call(gathered, "confusions", one=True) if counted else ""
    return Section("confusions", title, each_question(gathered, _confusions_of_question), code)


def _confusions_of_question(gathered: Gathered, one: OfQuestion) -> Iterator[Block]:
    told = one.confusions
    if told is None:
        yield Paragraph(line(words.NO_CONFUSIONS_COUNTED))
        return
    if not told["confusions"]:
        yield Paragraph(line(_nothing(gathered, one, left_out=told.get("left_out", False))))
        return
    if one.without is not None and one.without.confusions is not None:
        of = f"{without_flagged(one.without.annotators)}: "
        if one.without.confusions["confusions"]:
            yield _table(f"{of}{figures.CONFUSIONS}", one.without.confusions)
        else:
            left_out = one.without.confusions.get("left_out", False)
            yield Paragraph(line(of, _nothing(gathered, one, left_out=left_out)))
        yield _table(f"{WITH_FLAGGED}: {figures.CONFUSIONS}", told)
        told = one.without.confusions
    else:
        yield _table(figures.CONFUSIONS, told)
    shown = [
        Examples(
            figures.confusion_title(row["categories"]),
            [_example(gathered, e) for e in row["examples"]],
        )
        for row in told["confusions"]
        if row["examples"]
    ]
    yield from shown[:_OPEN]
    yield from (Group(one.title, [replace(one, title="")], True) for one in shown[_OPEN:])
    yield Why(
        [line(words.WHY_WHICH)],
        command(gathered, "agreement", "--by", "confusion", question=one.name),
    )


def _table(caption: str, payload: Mapping[str, Any]) -> Table:
    return Table(
        caption,
        ["categories", "disagreements", "share", "items"],
        [
            [
                " / ".join(row["categories"]),
                count_cell(row["disagreements"]),
                percent(row["share"]),
                count_cell(row["items"]),
            ]
            for row in payload["confusions"]
        ],
        frozenset({1, 2, 3}),
    )


def _nothing(gathered: Gathered, one: OfQuestion, *, left_out: bool) -> str:
    """Return why no confusion is shown."""
    if left_out:
        return words.confusions_left_out(gathered.asked.suppress_below)
    compared = one.agreement["counts"]["items_compared"]
    return figures.NO_CONFUSIONS if compared else figures.NOTHING_TO_CONFUSE


def _example(gathered: Gathered, item: Mapping[str, Any]) -> Example:
    said: dict[str, list[str]] = {}
    for row in item["answers"]:
        said.setdefault(row["answer"], []).append(row["annotator"])
    text = (item["text"] or "") if gathered.asked.texts else ""
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]} …"
    return Example(item["item"], text, [Said(answer, people) for answer, people in said.items()])


# -- Models beside people: over all, and category by category -------------------------------------


def model_blocks(gathered: Gathered) -> Iterator[Block]:
    """Return each model beside the human ceiling; nothing where no model met a person."""
    met = [question for question in gathered.questions if any(_met(row) for row in question.models)]
    title, blocks = "Models and the human ceiling", list[Block]()
    rows = [{"question": one.name, **row} for one in met for row in one.models if not one.numbers]
    if rows:
        blocks.append(_overall(gathered, title, rows))
    for one in met:
        of = of_question(one.name) if gathered.several else ""
        numbers = Paragraph(line(of, words.NO_SHARES_OF_NUMBERS))
        blocks += [numbers] if one.numbers else _of_question(gathered, one)
        findings = [flag["why"] for row in one.models for flag in row["findings"]]
        findings += [
            left_out_of_people_sentence(row) for row in one.models if row["left_out_of_people"]
        ]
        blocks += [Paragraph(line(of, why)) for why in findings]
    if blocks:
        yield Group(title, blocks)


def _met(row: Mapping[str, Any]) -> bool:
    return row["with_people"] is not None


def _overall(gathered: Gathered, title: str, rows: list[dict[str, Any]]) -> Figure:
    table = Table(
        title,
        [
            "model",
            "question",
            "with people",
            "95% interval",
            "people",
            "kappa with majority",
            "items",
        ],
        [
            [
                row["model"],
                row["question"],
                percent(row["with_people"]),
                _shares(row),
                percent(row["people"]),
                figure_cell(row["kappa_with_majority"]),
                count_cell(row["items"]),
            ]
            for row in rows
        ],
        frozenset(range(2, 7)),
    )
    return Figure(
        "models",
        figures.MODELS,
        draw_models(title, rows, width=WIDE),
        draw_models(title, rows, width=NARROW),
        table,
        _models_why(
            gathered, list(dict.fromkeys(row["question"] for row in rows)), figures.WHY_MODELS
        ),
    )


def _of_question(gathered: Gathered, one: OfQuestion) -> Iterator[Block]:
    """Return each category of each model, the widest gap below the ceiling first."""
    rows = sorted(
        ({"model": model["model"], **row} for model in one.models for row in model["categories"]),
        key=lambda row: (row["people"] is None, row["with_people"] - (row["people"] or 0.0)),
    )
    if not rows or one.confusions is None:  # spans and numbers have no categories to compare
        return
    title = f"Models on each category of {one.name}" if gathered.several else figures.ON_CATEGORIES
    figure = Figure(
        f"models-{gathered.questions.index(one)}",
        figures.MODEL_CATEGORIES,
        draw_model_categories(title, rows, width=WIDE),
        draw_model_categories(title, rows, width=NARROW),
        _models_table(title, rows),
        _models_why(gathered, [one.name], figures.WHY_MODEL_CATEGORIES),
    )
    yield Group(title, [figure], gathered.questions.index(one) > 0)


def _models_table(title: str, rows: list[dict[str, Any]]) -> Table:
    return Table(
        title,
        ["category", "model", "with people", "95% interval", "pairs", "people", "pairs of people"],
        [
            [
                row["category"],
                row["model"],
                percent(row["with_people"]),
                _shares(row),
                f"{row['agreements']:,} / {row['potential_agreements']:,}",
                percent(row["people"]) if row["people"] is not None else _no_ceiling(row),
                "-"
                if row["people"] is None
                else f"{row['people_agreements']:,} / {row['people_potential']:,}",
            ]
            for row in rows[:_MOST_ROWS]
        ],
        frozenset(range(2, 7)),
        max(len(rows) - _MOST_ROWS, 0),
    )


def _no_ceiling(row: Mapping[str, Any]) -> str:
    return SUPPRESSED if row["people_potential"] else figures.NO_CEILING


def _models_why(gathered: Gathered, questions: Sequence[str], lines: Sequence[str]) -> Why:
    first, *also = [
        command(gathered, "agreement", "--by", "model", question=name) for name in questions
    ]
    return Why([line(text) for text in lines], first, also)


def _shares(row: Mapping[str, Any]) -> str:
    if row["low"] is None:
        return "-"
    return f"{percent(row['low'])} to {percent(row['high'])}"


_MOST_ROWS = 60


def agreement_section(gathered: Gathered) -> Section:
    """Return the agreement on each category, with the human ceiling beside each model."""
    blocks = [*_categories(gathered), *model_blocks(gathered), *_all(gathered)]
    code = python_call(gathered, "agreement_by_question")
    return Section("agreement", "Agreement", blocks, code)


def _categories(gathered: Gathered) -> Iterator[Block]:
    rows = [
        {"question": question.name if gathered.several else None, **row}
        for question in gathered.questions
        for row in question.categories
    ]
    known = sorted((row for row in rows if row["rate"] is not None), key=lambda row: row["rate"])
    if not known:
        numbers = any(question.numbers for question in gathered.questions)
        yield Paragraph(line(words.NUMBERS if numbers else figures.NO_CATEGORIES))
        return
    title = "Agreement on each category"
    unknown = [row for row in rows if row["rate"] is None]
    yield Figure(
        "categories",
        figures.CATEGORIES,
        draw_categories(title, rows, width=WIDE),
        draw_categories(title, rows, width=NARROW),
        listing(title, category_columns(), [*known, *unknown], _MOST_ROWS),
        _why(gathered, [question.name for question in gathered.questions if question.categories]),
    )


def _why(gathered: Gathered, questions: Sequence[str]) -> Why:
    first, *also = [command(gathered, "agreement", question=name) for name in questions]
    return Why([line(text) for text in figures.WHY_CATEGORIES], first, also)


def _all(gathered: Gathered) -> Iterator[Block]:
    for question in gathered.questions:
        title = figures.COEFFICIENTS
        yield Group(
            f"{title}: {question.name}" if gathered.several else title,
            [*_figures_of_question(gathered, question)],
            True,
        )


def _figures_of_question(gathered: Gathered, one: OfQuestion) -> Iterator[Block]:
    rows = one.agreement["measures"]
    yield Table(
        figures.COEFFICIENTS,
        ["measure", "value", "95% interval", "items", "numbers"],
        [
            [
                MEASURES[row["measure"]].title,
                figure_cell(row["value"]),
                interval_cell(row["ci_low"], row["ci_high"]),
                count_cell(row["items"]),
                figures.numbered(row) if row["value"] is not None else reason(row),
            ]
            for row in rows
        ],
        frozenset({1, 2, 3}),
    )
    known = [row["measure"] for row in rows if row["value"] is not None]
    yield Why(
        [line(figures.formula(name)) for name in known],
        command(gathered, "agreement", question=one.name),
        [command(gathered, "agreement", "--explain", one.agreement["main"], question=one.name)],
    )


# -- Each two annotators: the heat map, and the pairs that agree least ----------------------------


_MOST = 40  # pairs of a table


def pairs_section(gathered: Gathered) -> Section:
    """Return who agrees with whom, question by question."""
    code = python_call(gathered, "by_pair", one=True, weights=gathered.questions[0].weights)
    return Section(
        "pairs", "Who agrees with whom", each_question(gathered, _pairs_of_question), code
    )


def _pairs_of_question(gathered: Gathered, one: OfQuestion) -> Iterator[Block]:
    if not one.pairs:
        yield Paragraph(line(figures.NO_PAIRS))
        return
    weighted = ["--weights", one.weights] if one.weights else []
    shown = command(gathered, "agreement", "--by", "pair", *weighted, question=one.name)
    if one.settings["answers"] == "spans":
        yield Paragraph(line(figures.PAIRS_OF_SPANS))
        yield _spans(one)
        yield Why([line(figures.formula("span_f1_exact"))], shown)
        return
    title = "Each two annotators"
    yield Figure(
        f"pairs-{gathered.questions.index(one)}",
        figures.PAIRS_IN_ORDER if one.weights else figures.PAIRS,
        draw_pairs(title, pair_rows({"pairs": one.pairs})),
        None,
        _pairs_table(title, one),
        Why([line(text) for text in _pairs_why(one)], shown),
    )


def _pairs_why(one: OfQuestion) -> tuple[str, ...]:
    return (*figures.WHY_PAIRS, figures.WHY_WEIGHTS) if one.weights else figures.WHY_PAIRS


def _pairs_table(title: str, one: OfQuestion) -> Table:
    def place(row: Mapping[str, Any]) -> tuple[bool, float]:
        return row["cohen_kappa"] is None, row["cohen_kappa"] or 0.0

    rows = sorted(one.pairs, key=place)
    return Table(
        title,
        ["annotators", "kappa", "95% interval", "observed", "expected", "items"],
        [
            [
                " / ".join(row["annotators"]),
                figure_cell(row["cohen_kappa"])
                if row["cohen_kappa"] is not None
                else reason({"measure": "cohen_kappa", **row}),
                interval_cell(row["ci_low"], row["ci_high"]),
                figure_cell(row["observed"]),
                figure_cell(row["expected"]),
                count_cell(row["items"]),
            ]
            for row in rows[:_MOST]
        ],
        frozenset(range(1, 6)),
        max(len(rows) - _MOST, 0),
    )


def _spans(one: OfQuestion) -> Table:
    def exact(row: Mapping[str, Any]) -> float | None:
        value: float | None = row["span_f1_exact"]["value"]
        return value

    rows = sorted(one.pairs, key=lambda row: (exact(row) is None, exact(row) or 0.0))
    return Table(
        "Each two annotators",
        ["annotators", "exact F1"],
        [[" / ".join(row["annotators"]), figure_cell(exact(row))] for row in rows[:_MOST]],
        frozenset({1}),
        max(len(rows) - _MOST, 0),
    )
