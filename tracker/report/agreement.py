"""Agreement: each category of each question, all coefficients, each two annotators."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tracker.agreement import columns
from tracker.agreement.sentences import WITH_FLAGGED, without_flagged
from tracker.render.nouns import of_question
from tracker.report import words
from tracker.report.charts import draw_categories, draw_pairs, draw_strengths, pair_rows
from tracker.report.document import (
    Block,
    Bullets,
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
        Group(question.name, [*of(gathered, question)], place > 0)
        for place, question in enumerate(gathered.questions)
    ]


# -- Which categories are confused, with items that show it ---------------------------------------


_OPEN = 1  # confusions whose items are seen at once
_LONGEST = 600  # characters of an item's text


def confusions_section(gathered: Gathered) -> Section:
    title = "What is confused"
    counted = gathered.questions[0].confusions is not None
    code = python_call(gathered, "confusions", one=True) if counted else ""
    return Section("confusions", title, each_question(gathered, _confusions_of_question), code)


def _confusions_of_question(gathered: Gathered, question: OfQuestion) -> Iterator[Block]:
    confusions = question.confusions
    if confusions is None:
        yield Paragraph(line(words.NO_CONFUSIONS_COUNTED))
        return
    if not confusions["confusions"]:
        yield Paragraph(line(_nothing(gathered, question, confusions)))
        return
    shown, of = confusions, ""
    if question.without is not None and question.without.confusions is not None:
        shown, of = question.without.confusions, f"{WITH_FLAGGED}: "
        without = f"{without_flagged(question.without.annotators)}: "
        if shown["confusions"]:
            yield _confusions_table(without, shown)
        else:
            yield Paragraph(line(without, _nothing(gathered, question, shown)))
    yield _confusions_table(of, confusions)
    examples = [
        Examples(
            words.confusion_title(row["categories"]),
            [_example(gathered, item) for item in row["examples"]],
        )
        for row in shown["confusions"]
        if row["examples"]
    ]
    yield from examples[:_OPEN]
    yield from (Group(items.title, [replace(items, title="")], True) for items in examples[_OPEN:])
    yield Why(
        [line(words.WHY_WHICH)],
        command(gathered, "agreement", "--by", "confusion", question=question.name),
    )


def _confusions_table(of: str, confusions: Mapping[str, Any]) -> Table:
    return listing(f"{of}{words.CONFUSIONS}", columns.CONFUSION_COLUMNS, confusions["confusions"])


def _nothing(gathered: Gathered, question: OfQuestion, confusions: Mapping[str, Any]) -> str:
    """Return why no confusion is shown."""
    if confusions.get("left_out"):
        return words.confusions_left_out(gathered.asked.suppress_below)
    compared = question.agreement["counts"]["items_compared"]
    return words.NO_CONFUSIONS if compared else words.NOTHING_TO_CONFUSE


def _example(gathered: Gathered, item: Mapping[str, Any]) -> Example:
    annotators: dict[str, list[str]] = {}
    for row in item["answers"]:
        annotators.setdefault(row["answer"], []).append(row["annotator"])
    text = (item["text"] or "") if gathered.asked.texts else ""
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]} …"
    return Example(
        item["item"], text, [Said(answer, people) for answer, people in annotators.items()]
    )


# -- The agreement on each category, and all coefficients -----------------------------------------


_MOST_ROWS = 60


def agreement_section(gathered: Gathered) -> Section:
    """Return the agreement on each category, and all coefficients."""
    blocks = [*_categories(gathered), *_strengths(gathered), *_all(gathered)]
    code = python_call(gathered, "agreement_by_question")
    return Section("agreement", "Agreement", blocks, code)


def _categories(gathered: Gathered) -> Iterator[Block]:
    rows = [
        {"question": question.name if gathered.several else None, **row}
        for question in gathered.questions
        for row in question.categories
    ]
    if all(row["rate"] is None for row in rows):
        numbers = any(question.numbers for question in gathered.questions)
        yield Paragraph(line(words.NUMBERS if numbers else words.NO_CATEGORIES))
        return
    title = "Agreement on each category"
    yield Figure(
        "categories",
        words.CATEGORIES,
        draw_categories(title, rows, width=WIDE),
        draw_categories(title, rows, width=NARROW),
        listing(title, columns.CATEGORY_COLUMNS, rows, _MOST_ROWS),
        _why(gathered, [question.name for question in gathered.questions if question.categories]),
    )


def _strengths(gathered: Gathered) -> Iterator[Block]:
    """Return how strong those are that each question of preferences compares."""
    for place, question in enumerate(gathered.questions):
        if question.preferences is None:
            continue
        title = "Strengths" + (of_question(question.name) if gathered.several else "")
        rows = question.preferences["strengths"]
        blocks: list[Block] = [Bullets([line(text) for text in question.preferences["lines"]])]
        shown = command(gathered, "agreement", "--strengths", question=question.name)
        if any(row["strength"] is not None for row in rows):
            blocks.append(
                Figure(
                    f"strengths-{place}",
                    words.STRENGTHS,
                    draw_strengths(title, rows, width=WIDE),
                    draw_strengths(title, rows, width=NARROW),
                    listing(title, columns.STRENGTHS, rows, _MOST_ROWS),
                    Why([line(text) for text in words.WHY_STRENGTHS], shown),
                )
            )
        beats = question.preferences["beats"]
        blocks += [listing("Who beat whom", columns.BEATS, beats, _MOST_ROWS)] if beats else []
        yield Group(title, blocks)


def _why(gathered: Gathered, questions: Sequence[str]) -> Why:
    first, *also = [command(gathered, "agreement", question=name) for name in questions]
    return Why([line(text) for text in words.WHY_CATEGORIES], first, also)


def _all(gathered: Gathered) -> Iterator[Block]:
    for question in gathered.questions:
        title = words.COEFFICIENTS
        yield Group(
            f"{title}: {question.name}" if gathered.several else title,
            [*_figures_of_question(gathered, question)],
            True,
        )


def _figures_of_question(gathered: Gathered, question: OfQuestion) -> Iterator[Block]:
    rows = question.agreement["measures"]
    yield listing(words.COEFFICIENTS, columns.MEASURE_COLUMNS, rows)
    known = [row["measure"] for row in rows if row["value"] is not None]
    main, name = question.agreement["main"], question.name
    yield Why(
        [line(words.formula(measure)) for measure in known],
        command(gathered, "agreement", question=name),
        [command(gathered, "agreement", "--explain", main, question=name)],
    )


# -- Each two annotators: the heat map, and the pairs that agree least ----------------------------


_MOST = 40  # pairs of a table


def pairs_section(gathered: Gathered) -> Section:
    code = python_call(gathered, "by_pair", one=True, weights=gathered.questions[0].weights)
    return Section(
        "pairs", "Who agrees with whom", each_question(gathered, _pairs_of_question), code
    )


def _pairs_of_question(gathered: Gathered, question: OfQuestion) -> Iterator[Block]:
    if not question.pairs:
        yield Paragraph(line(words.NO_PAIRS))
        return
    weighted = ["--weights", question.weights] if question.weights else []
    shown = command(gathered, "agreement", "--by", "pair", *weighted, question=question.name)
    if question.settings["answers"] == "spans":
        yield Paragraph(line(words.PAIRS_OF_SPANS))
        yield listing(
            "Each two annotators",
            columns.SPAN_PAIR_COLUMNS,
            _lowest_first(question.pairs, lambda row: row["span_f1_exact"]["value"]),
            _MOST,
        )
        yield Why([line(words.formula("span_f1_exact"))], shown)
        return
    title = "Each two annotators"
    why = (*words.WHY_PAIRS, words.WHY_WEIGHTS) if question.weights else words.WHY_PAIRS
    yield Figure(
        f"pairs-{gathered.questions.index(question)}",
        words.PAIRS_IN_ORDER if question.weights else words.PAIRS,
        draw_pairs(title, pair_rows({"pairs": question.pairs})),
        None,
        listing(
            title,
            columns.pair_columns(question.pairs),
            _lowest_first(question.pairs, lambda row: row["cohen_kappa"]),
            _MOST,
        ),
        Why([line(text) for text in why], shown),
    )


def _lowest_first(
    rows: Sequence[Mapping[str, Any]], figure: Callable[[Mapping[str, Any]], float | None]
) -> list[Mapping[str, Any]]:
    """Return rows by a figure of theirs, those without one last."""
    return sorted(rows, key=lambda row: (figure(row) is None, figure(row) or 0.0))
