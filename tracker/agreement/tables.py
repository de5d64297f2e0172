"""Agreement in the terminal: the weakest category first, every figure with its interval."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from shlex import quote
from typing import Any, Final

from rich.console import RenderableType

from tracker.agreement import columns
from tracker.agreement.explain import Advice, Explanation, Influence, Merges
from tracker.agreement.gold import AgainstTruth
from tracker.agreement.intra_annotator import Themselves
from tracker.agreement.recent import Recent
from tracker.agreement.result import Assessment
from tracker.agreement.sentences import WITH_FLAGGED, without_flagged
from tracker.core.results import UnfitQuestion
from tracker.measures.accuracy import GoldAgreement
from tracker.measures.benchmarks import landis_koch
from tracker.measures.category_rates import CategoryRate
from tracker.measures.intervals import Coefficient
from tracker.measures.registry import MEASURES
from tracker.measures.words import figure_reading_words, figure_title_words
from tracker.projects.questions import are_many_numbers
from tracker.render.blocks import Column, listing_table
from tracker.render.cells import (
    Text,
    count_cell,
    figure_cell,
    interval_cell,
    level_cell,
    share_cell,
)
from tracker.render.filter import selection_view
from tracker.render.nouns import count_noun
from tracker.render.tables import table

_HIGH, _LOW = 0.9, 0.5
_MOST_PASSED_OVER = 3
"""Raw agreement above the one and a category rate below the other contradict each other."""
_MOST_CHANGES = 5
"""Changes of categories, annotators and shares, the largest first, that are told."""


def agreement_view(assessment: Assessment, *, named: bool = False) -> Iterator[RenderableType]:
    """Yield the parts of the page, in order; ``named``: the measures were asked for by name."""
    counts = assessment.counts
    yield Text.assemble(
        (assessment.project, "bold"),
        f"  {count_cell(counts.items_compared)} of {count_noun(counts.items, 'item')} compared, "
        f"{count_noun(counts.annotators, 'annotator')}, {count_noun(counts.answers, 'answer')}",
    )
    yield from selection_view(assessment.selection)
    if not counts.answers:
        for warning in assessment.warnings:
            yield Text(warning, style="yellow")
        if not assessment.warnings:
            yield _no_answers(assessment.project, chosen=assessment.selection is not None)
        return
    yield from _of_late(assessment)
    many_numbers = are_many_numbers("one", assessment.scale, len(assessment.categories))
    if many_numbers:
        numbers = f"{len(assessment.categories):,} different numbers"
        yield Text(f"{numbers}; the rate of each: --by category", style="dim")
    else:
        yield from _lead(assessment)
    for warning in assessment.warnings:
        yield Text(warning, style="yellow")
    if assessment.rates and not many_numbers:
        yield _rates_table(assessment)
    yield _measures_table(assessment.measures, named=named)
    if assessment.intraclass:
        yield listing_table(
            columns.INTRACLASS_COLUMNS,
            [form.to_dict() for form in assessment.intraclass],
            level=level_cell(assessment.intraclass[0].confidence),
        )
        if any(form.assumes for form in assessment.intraclass):
            yield Text(_ASSUMES, style="dim")
    if assessment.gold is not None:
        yield _gold_line(assessment)
    yield Text(
        "Verbal labels after Landis and Koch (1977), in brackets the one that holds with 95% "
        "confidence; Krippendorff (2004): too low below 0.667.",
        style="dim",
    )


def _no_answers(project: str, *, chosen: bool) -> Text:
    if chosen:
        return Text("There are no answers among those chosen.")
    return Text(f"There are no answers yet; next: tracker import FILE --project {quote(project)}")


def _of_late(assessment: Assessment) -> Iterator[RenderableType]:
    if assessment.recent is not None:
        yield Text(assessment.recent_words, style="yellow")
        yield from _who_changed(assessment.recent, assessment.counts.annotators)
    for change in assessment.changes[:_MOST_CHANGES]:
        yield Text(change.to_dict()["why"], style="yellow")
    if len(assessment.changes) > _MOST_CHANGES:
        yield Text(
            f"{len(assessment.changes) - _MOST_CHANGES} more changes are in --json.", style="dim"
        )


def _who_changed(recent: Recent, of: int) -> Iterator[RenderableType]:
    parts = [f"categories: {', '.join(recent.categories)}"] * bool(recent.categories)
    parts += [f"annotators: {', '.join(recent.annotators)}"] * (
        0 < len(recent.annotators) <= of / 2
    )
    if parts:
        yield Text(f"What changed: {'; '.join(parts)}")


def _lead(assessment: Assessment) -> Iterator[Text]:
    summed = assessment.summary
    lowest = summed.lowest
    if lowest is None or lowest.rate is None:
        return
    name = assessment.categories[lowest.category]
    yield Text.assemble(
        "Weakest category: ",
        (name, "bold yellow" if lowest.rate < _LOW else "bold"),
        f"  {figure_cell(lowest.rate)} ({interval_cell(lowest.ci_low, lowest.ci_high)}). "
        f"Of {count_noun(lowest.potential_agreements, 'pair')} where either annotator chose it, "
        f"both did in {share_cell(lowest.rate)}.",
    )
    if summed.passed_over:
        few = ", ".join(
            f"{assessment.categories[rate.category]} {figure_cell(rate.rate)} of "
            f"{count_noun(rate.potential_agreements, 'pair')}"
            for rate in summed.passed_over[:_MOST_PASSED_OVER]
        )
        more = len(summed.passed_over) - _MOST_PASSED_OVER
        rest = f" and {more} more" if more > 0 else ""
        yield Text(f"Lower, but with too few pairs to rank: {few}{rest}.", style="dim")
    yield from _lazy_pair(assessment, lowest, name)


def _lazy_pair(assessment: Assessment, lowest: CategoryRate, name: str) -> Iterator[Text]:
    raw = next((c.value for c in assessment.measures if c.measure == "percent_agreement"), None)
    if raw is None or lowest.rate is None or raw < _HIGH or lowest.rate >= _LOW:
        return
    commonest = max(assessment.rates, key=lambda rate: rate.labels)
    part = commonest.labels / max(assessment.counts.answers, 1)
    yield Text(
        f"! Raw agreement of {share_cell(raw)} hides this: {share_cell(part)} of the answers are "
        f"{assessment.categories[commonest.category]!r}, and annotators who gave it without "
        f"looking would agree as often. On {name!r} they hardly agree at all.",
        style="bold red",
    )


def _rates_table(assessment: Assessment) -> RenderableType:
    rows = assessment.to_dict()["categories"]
    lowest = assessment.summary.lowest
    name = None if lowest is None else assessment.categories[lowest.category]
    return listing_table(
        columns.CATEGORY_COLUMNS,
        rows,
        level=level_cell(assessment.rates[0].confidence),
        bold=next((row for row in rows if row["category"] == name), None),
    )


def _measures_table(measures: Sequence[Coefficient], *, named: bool) -> RenderableType:
    rows = [
        with_reading(measure)
        for measure in measures
        if named
        or measure.undefined != "not_applicable"
        or measure.details.get("scale") == "ordinal"
    ]
    level = level_cell(measures[0].confidence if measures else 0.95)
    return listing_table(columns.MEASURE_COLUMNS, rows, level=level)


def with_reading(figure: Coefficient) -> dict[str, Any]:
    """Return a figure as JSON, with the words that a terminal shows beside it."""
    return figure.to_dict() | {"reading": figure_reading_words(figure)}


_ASSUMES = (
    "The intervals of intraclass correlations assume normal values, and are too short if answers "
    "take few values. Krippendorff's alpha on the interval scale estimates ICC(1); its "
    "interval assumes no such thing: --scale interval --measure alpha."
)


def _gold_line(assessment: Assessment) -> Text:
    gold = assessment.gold
    if gold is None or gold.observed is None:
        return Text("No item with a known answer has been answered.")
    kappa = gold.cohen_kappa
    reading = "" if kappa is None else f", {landis_koch(kappa)}"
    return Text(
        f"Against the truth: {count_noun(gold.answers, 'answer')} "
        f"to {count_noun(gold.items, 'item')}, "
        f"{share_cell(gold.observed)} right, {share_cell(gold.expected)} expected by chance; "
        f"Cohen's kappa {figure_cell(kappa)}{reading}."
    )


def unfit_questions_view(unfit: Iterable[UnfitQuestion]) -> Iterator[RenderableType]:
    """Yield a line for each question that what was asked does not fit: why."""
    for question in unfit:
        yield undefined_line(question.question, question.why)


def undefined_line(question: str, why: str) -> Text:
    return Text.assemble((f"{question}: ", "bold"), f"undefined: {why}")


# -- Answers to further questions in the terminal: why, what if, against what, against oneself ----


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


_COUNTED_BY = {
    "duckdb": "counted by DuckDB",
    "kept": "looked up: no answer has changed since it was counted",
    "touched": "counted of the items that changed since it was counted",
}


def explanation_view(explanation: Explanation) -> Iterator[RenderableType]:
    """Yield what went in, what was left out, the formula with its numbers, the source."""
    figure = explanation.figure
    value = figure_cell(figure.value) if figure.value is not None else figure_reading_words(figure)
    bounds = (
        f"  ({interval_cell(figure.ci_low, figure.ci_high)})" if figure.ci_low is not None else ""
    )
    yield Text.assemble(
        (f"{figure_title_words(figure.to_dict())} of {explanation.project}: {value}", "bold"),
        bounds,
    )
    fates = explanation.inclusion.to_dict()
    rows = [("answers that stand", count_cell(explanation.inclusion.standing))]
    rows += [
        (f"  less those {word}", count_cell(fates[key]))
        for key, word in _FATES.items()
        if fates[key]
    ]
    rows += [
        ("answers counted", count_cell(explanation.inclusion.counted)),
        ("items answered", count_cell(explanation.items_answered)),
        (
            "  of which a single answer, with nothing to compare",
            count_cell(explanation.items_alone),
        ),
        ("items compared", count_cell(explanation.items_answered - explanation.items_alone)),
    ]
    if explanation.inclusion.past or explanation.inclusion.taken_back:
        rows.append(("records that no longer stand", count_cell(explanation.inclusion.past)))
        rows.append(
            ("records taken back with their import", count_cell(explanation.inclusion.taken_back))
        )
    yield table((" ", ""), rows)
    if explanation.shares:
        shares = list(explanation.shares.items())[:_MOST_ROWS]
        rows_of_shares = [{"category": name, "share": share} for name, share in shares]
        yield listing_table(columns.SHARE_COLUMNS, rows_of_shares)
    yield Text(explanation.measure.formula)
    yield Text(explanation.numbers, style="bold")
    if figure.standard_error is not None:
        yield Text(
            f"standard error {figure.standard_error:.4g} over {count_noun(figure.items, 'item')}; "
            f"{level_cell(figure.confidence)} interval: {figure.method or 'none'}"
        )
    yield Text(explanation.measure.source, style="dim")
    told = [_COUNTED_BY[name] for name in explanation.counted_by if name in _COUNTED_BY]
    if explanation.manifest is not None:
        told.append(f"the labels lie in files, whose manifest is {explanation.manifest[:12]}")
    if told:
        yield Text("; ".join(told))


def influence_view(
    of: str, measure: str, value: float | None, influences: Sequence[Influence]
) -> Iterator[RenderableType]:
    yield _figure_title(measure, value, f"without each {of}")
    rows = [row.to_dict(of) for row in influences[:_MOST_ROWS]]
    yield listing_table((Column(of, kind="name"), *columns.INFLUENCE_COLUMNS), rows)
    if influences:
        yield Text("A positive change: agreement is better without.", style="dim")


def best_category_merges_view(
    merges: Merges, without: Advice | None = None
) -> Iterator[RenderableType]:
    """Yield which two categories the coefficient gains most by taking for one.

    The same ``without`` those flagged comes first: it is what to go by.
    """
    if without is not None and without.merges is not None:
        yield Text(f"{without_flagged(without.flagged)}:", style="bold")
        yield from _merges(without.merges)
        yield Text(f"{WITH_FLAGGED}:")
    yield from _merges(merges)
    yield Text("To see all figures with two categories merged: --merge A+B", style="dim")


def _merges(merges: Merges) -> Iterator[RenderableType]:
    yield _figure_title(merges.measure, merges.value, "with two categories merged")
    yield listing_table(columns.MERGE_COLUMNS, [merge.to_dict() for merge in merges.rows])


def _figure_title(measure: str, value: float | None, words: str) -> Text:
    return Text.assemble((f"{MEASURES[measure].title} {figure_cell(value)}", "bold"), f"  {words}")


def self_agreement_csv_rows(themselves: Themselves) -> list[dict[str, Any]]:
    return [
        {"annotator": name, "repeats": own.repeats, "days_between": own.days_between}
        | measure.to_dict()
        for name, own in (("", themselves.pooled), *themselves.annotators)
        for measure in own.measures
    ]


def self_agreement_view(themselves: Themselves) -> Iterator[RenderableType]:
    """Yield all repeats pooled, then each annotator, the least consistent first."""
    yield Text.assemble(
        (themselves.project, "bold"),
        f"  {count_noun(themselves.pooled.repeats, 'answer')} given again on a later pass",
    )
    if themselves.alone:
        yield Text(
            f"! {count_noun(themselves.alone, 'answer')} on a later pass "
            f"without an earlier one: left out",
            style="yellow",
        )
    if not themselves.pooled.repeats:
        yield Text("No annotator answered an item twice: import a column named pass (1, 2, …).")
        return
    ordered = sorted(themselves.annotators, key=lambda row: (row[1].measures[0].value or 0, row[0]))
    rows = [
        {"annotator": name, **own.to_dict()}
        for name, own in (("all", themselves.pooled), *ordered[:_MOST_ROWS])
    ]
    measures = rows[0]["measures"]
    if len(measures) > _MOST_MEASURES:
        measures = [row for row in measures if row["measure"] not in _LEFT_OUT]
    yield listing_table(columns.repeat_columns(measures), rows)


def against_gold_csv_rows(against_truth: AgainstTruth) -> list[dict[str, Any]]:
    """Return a row per annotator, the pooled one first and without a name."""
    return [
        {"annotator": name} | own.to_dict() | {"ci_low": own.ci_low, "ci_high": own.ci_high}
        for name, own in (("", against_truth.pooled), *against_truth.annotators)
    ]


def against_gold_view(against_truth: AgainstTruth) -> Iterator[RenderableType]:
    """Yield the annotators, precision and recall of the categories, the confusion table."""
    yield Text.assemble(
        (against_truth.project, "bold"),
        f"  {count_noun(against_truth.pooled.answers, 'answer')} to "
        f"{count_noun(against_truth.pooled.items, 'item')} "
        "with a truth",
    )
    payload = against_truth.to_dict()
    rows = [{"annotator": "all", **payload["pooled"]}, *payload["annotators"][:_MOST_ROWS]]
    yield listing_table(columns.GOLD_COLUMNS, rows)
    yield listing_table(columns.GOLD_CATEGORY_COLUMNS, payload["pooled"]["categories"][:_MOST_ROWS])
    yield from _confusion(against_truth, against_truth.pooled)


def _confusion(against_truth: AgainstTruth, own: GoldAgreement) -> Iterator[RenderableType]:
    answers = sorted({answer for cell in own.confusion for answer in cell})
    if len(answers) > _MOST_CELLS:
        yield Text("The confusion table is too wide to show: use --json", style="dim")
        return
    yield table(
        ("truth \\ answer", *(against_truth.name(answer) for answer in answers)),
        [
            (
                against_truth.name(truth),
                *(count_cell(own.confusion.get((truth, answer), 0)) for answer in answers),
            )
            for truth in answers
        ],
    )
