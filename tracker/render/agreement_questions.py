"""Answers to further questions in the terminal: why, what if, against what, against oneself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from rich.console import RenderableType

from tracker.agreement.explain import Advice, Explanation, Influence, Merges
from tracker.agreement.gold import AgainstTruth
from tracker.agreement.intra_annotator import SelfAgreement, Themselves
from tracker.measures.accuracy import GoldAgreement
from tracker.measures.intervals import Coefficient
from tracker.measures.registry import MEASURES
from tracker.render.cells import (
    Text,
    count_cell,
    figure_cell,
    interval_cell,
    level_cell,
    share_cell,
)
from tracker.render.messages.agreement import WITH_FLAGGED, without_flagged
from tracker.render.nouns import count_noun
from tracker.render.tables import table
from tracker.render.words import figure_reading_words, figure_title_words

_MOST_ROWS: Final = 60
_MOST_MEASURES: Final = 4  # of repeats, side by side
_MOST_CELLS: Final = 8  # categories of a confusion table that fits a terminal

_LEFT_OUT: Final = {"fleiss_kappa", "brennan_prediger"}
_FATES: Final = {
    "skipped": "skipped: no answer",
    "other_kinds": "by a reference annotator or a model",
    "not_chosen": "outside the annotators, times or items chosen",
    "later_passes": "given again on a later pass",
}


def explanation_view(found: Explanation) -> Iterator[RenderableType]:
    """Yield what went in, what was left out, the formula with its numbers, the source."""
    one = found.figure
    value = figure_cell(one.value) if one.value is not None else figure_reading_words(one)
    bounds = f"  ({interval_cell(one.ci_low, one.ci_high)})" if one.ci_low is not None else ""
    yield Text.assemble((f"{figure_title_words(one)} of {found.project}: {value}", "bold"), bounds)
    fates = found.inclusion.to_dict()
    rows = [("answers that stand", count_cell(found.inclusion.standing))]
    rows += [
        (f"  less those {word}", count_cell(fates[key]))
        for key, word in _FATES.items()
        if fates[key]
    ]
    rows += [
        ("answers counted", count_cell(found.inclusion.counted)),
        ("items answered", count_cell(found.items_answered)),
        ("  of which a single answer, with nothing to compare", count_cell(found.items_alone)),
        ("items compared", count_cell(found.items_answered - found.items_alone)),
    ]
    if found.inclusion.past or found.inclusion.taken_back:
        rows.append(("records that no longer stand", count_cell(found.inclusion.past)))
        rows.append(
            ("records taken back with their import", count_cell(found.inclusion.taken_back))
        )
    yield table((" ", ""), rows)
    if found.shares:
        yield table(
            ("category", "share"),
            [(name, share_cell(value)) for name, value in list(found.shares.items())[:_MOST_ROWS]],
        )
    yield Text(found.measure.formula)
    yield Text(found.numbers, style="bold")
    if one.standard_error is not None:
        yield Text(
            f"standard error {one.standard_error:.4g} over {count_noun(one.items, 'item')}; "
            f"{level_cell(one.confidence)} interval: {one.method or 'none'}"
        )
    yield Text(found.measure.source, style="dim")


def influence_view(
    of: str, measure: str, value: float | None, found: Sequence[Influence]
) -> Iterator[RenderableType]:
    """Yield the coefficient, and what it becomes without each."""
    yield _figure_title(measure, value, f"without each {of}")
    rows = [
        (row.name, figure_cell(row.without), _change_cell(row.change)) for row in found[:_MOST_ROWS]
    ]
    yield table((of, "without", "change"), rows)
    if found:
        yield Text("A positive change: agreement is better without.", style="dim")


def best_category_merges_view(
    found: Merges, without: Advice | None = None
) -> Iterator[RenderableType]:
    """Yield which two categories the coefficient gains most by taking for one.

    The same ``without`` those flagged comes first: it is what to go by.
    """
    if without is not None and without.merges is not None:
        yield Text(f"{without_flagged(without.flagged)}:", style="bold")
        yield from _merges(without.merges)
        yield Text(f"{WITH_FLAGGED}:")
    yield from _merges(found)
    yield Text("To see all figures with two categories merged: --merge A+B", style="dim")


def _merges(found: Merges) -> Iterator[RenderableType]:
    yield _figure_title(found.measure, found.value, "with two categories merged")
    rows = [
        (" + ".join(merge.categories), figure_cell(merge.value), _change_cell(merge.change))
        for merge in found.rows
    ]
    yield table(("categories ", "value", "change"), rows)


def _figure_title(measure: str, value: float | None, words: str) -> Text:
    return Text.assemble((f"{MEASURES[measure].title} {figure_cell(value)}", "bold"), f"  {words}")


def _change_cell(change: float | None) -> str:
    return "-" if change is None else f"{change:+.4f}"


def self_agreement_csv_rows(found: Themselves) -> list[dict[str, Any]]:
    """Return a row per annotator and measure."""
    return [
        {"annotator": name, "repeats": own.repeats, "days_between": own.days_between}
        | one.to_dict()
        for name, own in (("", found.pooled), *found.annotators)
        for one in own.measures
    ]


def self_agreement_view(found: Themselves) -> Iterator[RenderableType]:
    """Yield all repeats pooled, then each annotator, the least consistent first."""
    yield Text.assemble(
        (found.project, "bold"),
        f"  {count_noun(found.pooled.repeats, 'answer')} given again on a later pass",
    )
    if found.alone:
        yield Text(
            f"! {count_noun(found.alone, 'answer')} on a later pass "
            f"without an earlier one: left out",
            style="yellow",
        )
    if not found.pooled.repeats:
        yield Text("No annotator answered an item twice: import a column named pass (1, 2, …).")
        return
    names = [figure_title_words(one) for one in _few(found.pooled)]
    ordered = sorted(found.annotators, key=lambda row: (row[1].measures[0].value or 0, row[0]))
    rows = [("all", found.pooled), *ordered[:_MOST_ROWS]]
    yield table(
        ("annotator", "repeats", "days between", *names),
        [(name, *_self_cells(own)) for name, own in rows],
    )


def _self_cells(own: SelfAgreement) -> tuple[str, ...]:
    days = "-" if own.days_between is None else f"{own.days_between:.1f}"
    return (count_cell(own.repeats), days, *(figure_cell(one.value) for one in _few(own)))


def _few(own: SelfAgreement) -> list[Coefficient]:
    """Return the figures that a terminal has room for; JSON and CSV have them all."""
    few = len(own.measures) <= _MOST_MEASURES
    return [one for one in own.measures if few or one.measure not in _LEFT_OUT]


def against_gold_csv_rows(found: AgainstTruth) -> list[dict[str, Any]]:
    """Return a row per annotator, the pooled one first and without a name."""
    return [
        {"annotator": name} | own.to_dict() | {"ci_low": own.ci_low, "ci_high": own.ci_high}
        for name, own in (("", found.pooled), *found.annotators)
    ]


def against_gold_view(found: AgainstTruth) -> Iterator[RenderableType]:
    """Yield the annotators, precision and recall of the categories, the confusion table."""
    yield Text.assemble(
        (found.project, "bold"),
        f"  {count_noun(found.pooled.answers, 'answer')} to "
        f"{count_noun(found.pooled.items, 'item')} "
        "with a truth",
    )
    rows = [("all", found.pooled), *found.annotators[:_MOST_ROWS]]
    yield table(
        ("annotator", "answers", "right", "interval", "by chance", "Cohen's kappa"),
        [
            (
                name,
                count_cell(own.answers),
                share_cell(own.observed),
                interval_cell(own.ci_low, own.ci_high),
                share_cell(own.expected),
                figure_cell(own.cohen_kappa),
            )
            for name, own in rows
        ],
    )
    yield table(
        ("category", "true", "given", "right", "precision", "recall", "F1"),
        [
            (
                found.categories[one.category],
                count_cell(one.true),
                count_cell(one.given),
                count_cell(one.right),
                figure_cell(one.precision),
                figure_cell(one.recall),
                figure_cell(one.f1),
            )
            for one in found.pooled.categories[:_MOST_ROWS]
        ],
    )
    yield from _confusion(found, found.pooled)


def _confusion(found: AgainstTruth, own: GoldAgreement) -> Iterator[RenderableType]:
    answers = sorted({answer for cell in own.confusion for answer in cell})
    if len(answers) > _MOST_CELLS:
        yield Text("The confusion table is too wide to show: use --json", style="dim")
        return
    yield table(
        ("truth \\ answer", *(found.name(answer) for answer in answers)),
        [
            (
                found.name(truth),
                *(count_cell(own.confusion.get((truth, answer), 0)) for answer in answers),
            )
            for truth in answers
        ],
    )
