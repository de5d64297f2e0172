"""Agreement within and between groups of annotators, in the terminal and as flat rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rich.console import RenderableType

from tracker.agreement.gold import GOLD, Calibrations
from tracker.agreement.groups import AnnotatorGroups, BetweenGroups, GroupedAgreement, WithinGroup
from tracker.agreement.pairs import PairAgreement
from tracker.agreement.result import Assessment
from tracker.agreement.sentences import WITH_FLAGGED, without_flagged
from tracker.agreement.spans import SpanPair
from tracker.agreement.tables import unfit_questions_view
from tracker.core.results import ByQuestion
from tracker.measures.accuracy import Calibration
from tracker.measures.intervals import Coefficient
from tracker.measures.registry import MEASURES
from tracker.measures.words import figure_reading_words, undefined_in_words
from tracker.projects.items import ItemRecord
from tracker.render.cells import (
    Text,
    bar_cell,
    count_cell,
    figure_cell,
    interval_cell,
    minute_cell,
    share_cell,
)
from tracker.render.filter import selection_view, selections_view
from tracker.render.nouns import count_noun
from tracker.render.tables import table


def annotator_group_csv_rows(annotator_groups: AnnotatorGroups) -> list[dict[str, Any]]:
    """Return groups, then pairs of groups, as flat rows; a group has no ``second``."""
    rows: list[tuple[str | None, str | None, int | None, Coefficient]] = [
        (group.value, None, group.annotators, group.alpha) for group in annotator_groups.groups
    ]
    rows += [(pair.first, pair.second, None, pair.reliability) for pair in annotator_groups.pairs]
    return [
        {"first": first, "second": second, "annotators": number, **figure.to_dict()}
        for first, second, number, figure in rows
    ]


def annotator_groups_view(annotator_groups: AnnotatorGroups) -> Iterator[RenderableType]:
    """Yield the groups with alpha within each, then the agreement between every two."""
    yield Text.assemble(
        (annotator_groups.project, "bold"),
        f"  {count_noun(len(annotator_groups.groups), 'group')} of annotators by "
        f"{annotator_groups.attribute}",
    )
    yield from selection_view(annotator_groups.selection)
    yield from _tables(annotator_groups)


def _tables(annotator_groups: AnnotatorGroups) -> Iterator[RenderableType]:
    """Yield a table of the groups, and one of each two of them."""
    yield table(
        (annotator_groups.attribute, "annotators", "items", "alpha within", "interval", "reading "),
        [_group_cells(group) for group in annotator_groups.groups],
    )
    if annotator_groups.pairs:
        yield table(
            (annotator_groups.attribute, "and", "items", "agreement between", "interval", " "),
            [_pair_cells(pair) for pair in annotator_groups.pairs],
            names=2,
        )
        yield Text(
            "Between groups: cross-replication reliability, over pairs of one answer of each.",
            style="dim",
        )


def _group_cells(one: WithinGroup) -> tuple[str | Text, ...]:
    return (
        _name(one.value),
        count_cell(one.annotators),
        count_cell(one.items),
        *_figure(one.alpha),
        figure_reading_words(one.alpha),
    )


def _pair_cells(one: BetweenGroups) -> tuple[str | Text, ...]:
    return (
        _name(one.first),
        _name(one.second),
        count_cell(one.reliability.items),
        *_figure(one.reliability),
        undefined_in_words(one.reliability.undefined),
    )


def _name(value: str | None) -> str | Text:
    return Text("without", style="dim") if value is None else value


def _figure(one: Coefficient) -> tuple[str, str]:
    return figure_cell(one.value), interval_cell(one.ci_low, one.ci_high)


# -- Calibration of confidences in the terminal and as flat rows ----------------------------------


def calibration_csv_rows(calibrations: Calibrations) -> list[dict[str, Any]]:
    """Return a flat row for each bin of each annotator, and of all, whose name is empty."""
    rows = []
    for name, kind, one in [*calibrations.annotators, (None, None, calibrations.pooled)]:
        figures = {k: v for k, v in one.to_dict().items() if k in _WHOLE}
        rows += [
            {"annotator": name, "kind": kind, **figures, **each.to_dict()} for each in one.bins
        ]
    return rows


_WHOLE = ("brier_score", "expected_calibration_error")


def calibration_by_question_csv_rows(found: ByQuestion[Calibrations]) -> list[dict[str, Any]]:
    """Return the rows of each question, then a row for each that has none and why."""
    rows = [
        {"question": name, **row}
        for name, one in found.questions.items()
        for row in calibration_csv_rows(one)
    ]
    return rows + [one.to_dict() for one in found.unfit]


def calibration_by_question_view(found: ByQuestion[Calibrations]) -> Iterator[RenderableType]:
    """Yield a row per question, the worst calibrated first: all of its annotators pooled."""
    first = next(iter(found.questions.values()))
    yield Text.assemble((found.project, "bold"), f"  confidence against {_truth(first)}")
    yield from selections_view({name: one.selection for name, one in found.questions.items()})
    yield table(
        ("question", *_FIGURES, "worst annotator", "its ECE"),
        [(name, *_cells(one.pooled), *_worst(one)) for name, one in found.questions.items()],
    )
    yield from unfit_questions_view(found.unfit)


def _worst(calibrations: Calibrations) -> tuple[str, str]:
    if not calibrations.annotators:
        return "-", "-"
    worst = calibrations.annotators[0]
    return worst.annotator, figure_cell(worst.calibration.expected_calibration_error)


_FIGURES = ("answers", "confidence", "right", "Brier score", "ECE")


def _cells(one: Calibration) -> tuple[str, ...]:
    return (
        count_cell(one.answers),
        share_cell(one.confidence),
        share_cell(one.accuracy),
        figure_cell(one.brier_score),
        figure_cell(one.expected_calibration_error),
    )


def _truth(calibrations: Calibrations) -> str:
    return "the reference" if calibrations.against == GOLD else "the majority of the others"


def calibration_view(calibrations: Calibrations) -> Iterator[RenderableType]:
    """Yield a row per annotator, the worst calibrated first, and the reliability table of all."""
    truth = _truth(calibrations)
    yield Text.assemble((calibrations.project, "bold"), f"  confidence against {truth}")
    yield from selection_view(calibrations.selection)
    if not calibrations.pooled.answers:
        yield Text(f"No answer with a confidence can be compared with {truth}.")
        return
    yield table(
        ("annotator", "kind ", *_FIGURES),
        [
            (name, kind, *_cells(one))
            for name, kind, one in [*calibrations.annotators, ("all", "", calibrations.pooled)]
        ],
    )
    yield table(
        ("confidence", "answers", "mean", "right", " "),
        [
            (
                f"{one.low:.1f} to {one.high:.1f}",
                count_cell(one.answers),
                share_cell(one.confidence),
                share_cell(one.accuracy),
                bar_cell(one.accuracy),
            )
            for one in calibrations.pooled.bins
        ],
    )


# -- Pairs of annotators in the terminal and as flat rows -----------------------------------------


_MOST_ROWS: Final = 200  # pairs that a person may read through
_F1: Final = ("F1 exact", "unlabeled", "overlap", "token F1", "unlabeled")
_NUMERIC: Final = ("pearson", "spearman", "concordance", "bias", "lower_limit", "upper_limit")


def pair_csv_rows(pairs: Sequence[PairAgreement]) -> list[dict[str, Any]]:
    """Return pairs as flat rows, for CSV."""
    return [
        {"annotator_1": pair.annotators[0], "annotator_2": pair.annotators[1]}
        | {k: v for k, v in pair.to_dict().items() if k not in {"annotators", "numeric"}}
        | (
            {name: getattr(pair.numeric, name).value for name in (*_NUMERIC, "sd")}
            if pair.numeric is not None
            else {}
        )
        for pair in pairs
    ]


def pairs_view(pairs: Sequence[PairAgreement]) -> Iterator[RenderableType]:
    """Yield the pairs, the least agreeing first."""
    ordered = sorted(pairs, key=lambda pair: (pair.kappa.value is None, pair.kappa.value or 0))
    numeric = any(pair.numeric is not None for pair in pairs)
    rows = [
        (
            *pair.annotators,
            count_cell(pair.kappa.items),
            figure_cell(pair.kappa.observed),
            figure_cell(pair.kappa.expected),
            figure_cell(pair.kappa.value),
            interval_cell(pair.kappa.ci_low, pair.kappa.ci_high),
            *(
                figure_cell(None if pair.numeric is None else getattr(pair.numeric, name).value)
                for name in (_NUMERIC if numeric else ())
            ),
            *(() if numeric else (figure_reading_words(pair.kappa),)),
        )
        for pair in ordered[:_MOST_ROWS]
    ]
    numbers = ("Pearson", "Spearman", "Lin", "bias", "from", "to")
    columns = (
        "annotator",
        "and",
        "items",
        "observed",
        "expected",
        "Cohen's kappa",
        "interval",
        *(numbers if numeric else ("reading ",)),
    )
    yield table(columns, rows, names=2)
    if len(pairs) > _MOST_ROWS:
        yield Text(f"The {_MOST_ROWS} lowest of {count_cell(len(pairs))} pairs; for all: --json")


def span_pair_csv_rows(pairs: Sequence[SpanPair]) -> list[dict[str, Any]]:
    """Return pairs of a project of spans as flat rows, one per pair and measure."""
    return [
        {
            "annotator_1": pair.annotators[0],
            "annotator_2": pair.annotators[1],
            "items": pair.documents,
            "measure": measure.measure,
            "value": measure.value,
            "precision": measure.precision,
            "recall": measure.recall,
            "true_positives": measure.true_positives,
            "undefined": measure.undefined,
        }
        for pair in pairs
        for measure in pair.measures
    ]


def span_pairs_view(pairs: Sequence[SpanPair]) -> Iterator[RenderableType]:
    """Yield the pairs of a project of spans, the least agreeing first."""
    ordered = sorted(pairs, key=lambda pair: pair.measures[0].value or 0)
    rows = [
        (
            *pair.annotators,
            count_cell(pair.documents),
            figure_cell(pair.measures[0].precision),
            figure_cell(pair.measures[0].recall),
            *(figure_cell(measure.value) for measure in pair.measures),
        )
        for pair in ordered[:_MOST_ROWS]
    ]
    columns = ("reference", "response", "documents", "precision", "recall", *_F1)
    yield table(columns, rows, names=2)


def group_csv_rows(grouped_agreement: GroupedAgreement) -> list[dict[str, Any]]:
    """Return groups as flat rows, for CSV: a column of each count and each measure."""
    rows = []
    for value, group in grouped_agreement.groups:
        lowest = group.summary.lowest
        rows.append(
            {"value": value}
            | group.counts.to_dict()
            | {
                "lowest_category": None if lowest is None else group.categories[lowest.category],
                "lowest_rate": None if lowest is None else lowest.rate,
            }
            | {coefficient.measure: coefficient.value for coefficient in group.measures}
        )
    return rows


def groups_view(grouped_agreement: GroupedAgreement) -> Iterator[RenderableType]:
    """Yield the parts of the page, in order; the group with the weakest category first."""
    yield Text.assemble(
        (grouped_agreement.project, "bold"),
        f"  {count_cell(len(grouped_agreement.groups))} groups of items by "
        f"{grouped_agreement.attribute}",
    )
    yield from selection_view(grouped_agreement.selection)
    # Percent agreement apart; and no column for a measure that no group has a figure of.
    measures = [
        name
        for name in MEASURES
        if name != "percent_agreement"
        and any(
            c.measure == name and c.value is not None
            for _, g in grouped_agreement.groups
            for c in g.measures
        )
    ]
    ordered = sorted(grouped_agreement.groups, key=lambda group: _lowest_rate(group[1]))
    yield table(
        (
            grouped_agreement.attribute,
            "items",
            "answers",
            "weakest ",
            "rate",
            *(MEASURES[name].title for name in measures),
        ),
        [
            (
                Text("without", style="dim") if value is None else value,
                count_cell(group.counts.items),
                count_cell(group.counts.answers),
                _weakest(group),
                figure_cell(group.summary.lowest.rate if group.summary.lowest else None),
                *(_with_interval(group, name) for name in measures),
            )
            for value, group in ordered
        ],
    )


def _lowest_rate(group: Assessment) -> float:
    lowest = group.summary.lowest
    return 2.0 if lowest is None or lowest.rate is None else lowest.rate


def _weakest(group: Assessment) -> str:
    lowest = group.summary.lowest
    return "-" if lowest is None else group.categories[lowest.category]


def _with_interval(group: Assessment, measure: str) -> str:
    """Return the figure above its interval: side by side few measures would fit on a screen."""
    one = group.measure(measure)
    if one.ci_low is None:
        return figure_cell(one.value)
    return f"{figure_cell(one.value)}\n{interval_cell(one.ci_low, one.ci_high)}"


def item_view(record: ItemRecord) -> Iterator[RenderableType]:
    """Yield the item, its text and attributes, then a row per label, past ones dimmed."""
    yield Text(record.name, style="bold")
    if record.aliases:
        yield Text(f"also known as {', '.join(record.aliases)}")
    if record.text:
        yield Text(record.text)
    for name, value in record.attributes.items():
        yield Text(f"{name}: {value}", style="dim")
    rows = []
    detailed = any(label.details for label in record.labels)
    for label in record.labels:
        style = "" if label.state == "stands" else "dim"
        span = "" if label.start is None else f" [{label.start}, {label.end})"
        answer = f"{label.category or '(' + label.answer + ')'}{span}"
        about = label.details
        cells = (
            *([] if label.question is None else [label.question]),
            label.annotator,
            str(label.pass_),
            answer,
            minute_cell(label.labeled_at),
            str(label.import_ or "-"),
            label.state,
            *([] if about is None else [figure_cell(about.confidence), about.comment or ""]),
        )
        rows.append([Text(cell, style=style) for cell in cells])
    several = any(label.question for label in record.labels)
    columns = (
        *(["question"] if several else ()),
        *("annotator", "pass", "answer ", "labeled at ", "import", "state "),
        *(("confidence", "comment ") if detailed else ()),
    )
    yield table(columns, rows)


def item_csv_rows(items: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return items as flat rows, for CSV: a column of votes per category."""
    names = sorted({name for item in items for name in item["votes"]})
    return [
        {"item": item["item"]}
        | {f"votes for {name}": item["votes"].get(name, 0) for name in names}
        | {key: item[key] for key in ("vote_score", "entropy", "gold")}
        for item in items
    ]


def most_disputed_items_first(items: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return items, the most disputed first."""
    return sorted(items, key=lambda item: -(item["entropy"] or 0))


def items_view(items: Sequence[dict[str, Any]]) -> RenderableType:
    """Return the items, the most disputed first."""
    ordered = most_disputed_items_first(items)
    rows = [
        (
            item["item"],
            ", ".join(f"{name} {votes}" for name, votes in item["votes"].items()),
            figure_cell(item["vote_score"]),
            figure_cell(item["entropy"]),
            item["gold"] or "-",
        )
        for item in ordered
    ]
    return table(("item", "votes ", "vote score", "entropy (bits)", "gold "), rows)


def confusion_csv_rows(payload: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the confusions of a question as flat rows, without the items that show them."""
    return [
        {
            "first": row["categories"][0],
            "second": row["categories"][1],
            "disagreements": row["disagreements"],
            "items": row["items"],
            "share": row["share"],
        }
        for row in payload["confusions"]
    ]


def confusions_view(payload: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Yield the categories that are confused, the most frequent first, and an item for each.

    The same without those flagged comes first: it is what to go by.
    """
    others = payload.get("without_flagged")
    if others is not None:
        yield Text(f"{without_flagged(others['annotators'])}:", style="bold")
        yield from confusions_view(others)
        yield Text(f"{WITH_FLAGGED}:")
    if not payload["confusions"]:
        yield Text("No categories are confused.")
        return
    rows = [
        (
            *row["categories"],
            count_cell(row["disagreements"]),
            share_cell(row["share"]),
            count_cell(row["items"]),
            row["examples"][0]["item"] if row["examples"] else "-",
        )
        for row in payload["confusions"]
    ]
    yield table(("one", "the other", "disagreements", "share", "items", "such as "), rows, names=2)
    yield Text(
        f"Shares are of {count_noun(payload['disagreements'], 'disagreement')}.", style="dim"
    )
