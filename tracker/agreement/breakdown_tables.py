"""Agreement within and between groups of annotators, in the terminal and as flat rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rich.console import RenderableType

from tracker.agreement import columns
from tracker.agreement.gold import GOLD, Calibrations
from tracker.agreement.groups import AnnotatorGroups, GroupedAgreement
from tracker.agreement.pairs import MOST_PAIRS, PairAgreement, PairRows
from tracker.agreement.sentences import WITH_FLAGGED, without_flagged
from tracker.agreement.spans import SpanPair
from tracker.agreement.tables import unfit_questions_view
from tracker.core.results import ByQuestion
from tracker.measures.words import figure_reading_words
from tracker.projects.items import ItemRecord
from tracker.render.blocks import listing_table
from tracker.render.cells import Text, count_cell, level_cell
from tracker.render.filter import selection_view, selections_view
from tracker.render.nouns import count_noun


def annotator_group_csv_rows(annotator_groups: AnnotatorGroups) -> list[dict[str, Any]]:
    groups = [
        {"first": group.value, "second": None, "annotators": group.annotators,
         **group.alpha.to_dict()}
        for group in annotator_groups.groups
    ]  # fmt: skip
    pairs = [
        {"first": pair.first, "second": pair.second, "annotators": None,
         **pair.reliability.to_dict()}
        for pair in annotator_groups.pairs
    ]  # fmt: skip
    return groups + pairs


def annotator_groups_view(annotator_groups: AnnotatorGroups) -> Iterator[RenderableType]:
    """Yield the groups with alpha within each, then the agreement between every two."""
    yield Text.assemble(
        (annotator_groups.project, "bold"),
        f"  {count_noun(len(annotator_groups.groups), 'group')} of annotators by "
        f"{annotator_groups.attribute}",
    )
    yield from selection_view(annotator_groups.selection)
    if not annotator_groups.groups:
        return
    level = level_cell(annotator_groups.groups[0].alpha.confidence)
    yield listing_table(
        columns.annotator_group_columns(annotator_groups.attribute),
        [
            group.to_dict() | {"reading": figure_reading_words(group.alpha)}
            for group in annotator_groups.groups
        ],
        level=level,
    )
    if annotator_groups.pairs:
        pairs = [pair.to_dict() for pair in annotator_groups.pairs]
        yield listing_table(columns.between_columns(annotator_groups.attribute), pairs, level=level)
        yield Text(
            "Between groups: cross-replication reliability, over pairs of one answer of each.",
            style="dim",
        )


def calibration_csv_rows(calibrations: Calibrations) -> list[dict[str, Any]]:
    pooled = {"annotator": None, "kind": None, **calibrations.pooled.to_dict()}
    return [
        {key: row[key] for key in _WHOLE} | calibration_bin
        for row in [*(annotator.to_dict() for annotator in calibrations.annotators), pooled]
        for calibration_bin in row["bins"]
    ]


_WHOLE = ("annotator", "kind", "brier_score", "expected_calibration_error")


def calibration_by_question_csv_rows(
    calibrations: ByQuestion[Calibrations],
) -> list[dict[str, Any]]:
    rows = [
        {"question": name, **row}
        for name, page in calibrations.questions.items()
        for row in calibration_csv_rows(page)
    ]
    return rows + [question.to_dict() for question in calibrations.unfit]


def calibration_by_question_view(
    calibrations: ByQuestion[Calibrations],
) -> Iterator[RenderableType]:
    """Yield a row per question, the worst calibrated first: all of its annotators pooled."""
    first = next(iter(calibrations.questions.values()))
    yield Text.assemble((calibrations.project, "bold"), f"  confidence against {_truth(first)}")
    yield from selections_view(
        {name: page.selection for name, page in calibrations.questions.items()}
    )
    rows = [{"question": name, **_page_of(page)} for name, page in calibrations.questions.items()]
    yield listing_table((*columns.CALIBRATION_COLUMNS, *columns.WORST_COLUMNS), rows)
    yield from unfit_questions_view(calibrations.unfit)


def _page_of(calibrations: Calibrations) -> dict[str, Any]:
    worst = calibrations.annotators[0].to_dict() if calibrations.annotators else None
    return calibrations.pooled.to_dict() | {"worst": worst}


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
    pooled = calibrations.pooled.to_dict()
    rows = [annotator.to_dict() for annotator in calibrations.annotators]
    yield listing_table(
        columns.CALIBRATION_COLUMNS, [*rows, {"annotator": "all", "kind": "", **pooled}]
    )
    yield listing_table(columns.BIN_COLUMNS, pooled["bins"])


_NUMERIC: Final = ("pearson", "spearman", "concordance", "bias", "lower_limit", "upper_limit")


def pair_csv_rows(pairs: Sequence[PairAgreement]) -> list[dict[str, Any]]:
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


def pairs_view(pairs: PairRows[PairAgreement]) -> Iterator[RenderableType]:
    rows = [
        pair.to_dict()
        | ({} if pair.numeric is not None else {"reading": figure_reading_words(pair.kappa)})
        for pair in pairs.lowest()
    ]
    level = level_cell(pairs[0].kappa.confidence if pairs else 0.95)
    yield listing_table(columns.pair_columns(rows), rows, level=level)
    if len(pairs) > MOST_PAIRS:
        yield Text(f"The {MOST_PAIRS} lowest of {count_cell(len(pairs))} pairs; for all: --json")


def span_pair_csv_rows(pairs: Sequence[SpanPair]) -> list[dict[str, Any]]:
    rows = []
    for pair in pairs:
        first, second = pair.annotators
        row = {"annotator_1": first, "annotator_2": second, "items": pair.documents}
        figures = {key: value for key, value in pair.to_dict().items() if isinstance(value, dict)}
        rows += [{**row, "measure": name, **figure} for name, figure in figures.items()]
    return rows


def span_pairs_view(pairs: PairRows[SpanPair]) -> Iterator[RenderableType]:
    rows = [pair.to_dict() for pair in pairs.lowest()]
    yield listing_table(columns.SPAN_PAIR_COLUMNS, rows)


def group_csv_rows(grouped_agreement: GroupedAgreement) -> list[dict[str, Any]]:
    rows = []
    for group in grouped_agreement.to_dict()["groups"]:
        lowest = group["summary"]["lowest"] or {"category": None, "rate": None}
        rows.append(
            {"value": group["value"], **group["counts"]}
            | {f"lowest_{key}": lowest[key] for key in ("category", "rate")}
            | {figure["measure"]: figure["value"] for figure in group["measures"]}
        )
    return rows


def groups_view(grouped_agreement: GroupedAgreement) -> Iterator[RenderableType]:
    """Yield the parts of the page, in order; the group with the weakest category first."""
    yield Text.assemble(
        (grouped_agreement.project, "bold"),
        f"  {count_noun(len(grouped_agreement.groups), 'group')} of items by "
        f"{grouped_agreement.attribute}",
    )
    yield from selection_view(grouped_agreement.selection)
    rows = sorted(grouped_agreement.to_dict()["groups"], key=_lowest_rate)
    yield listing_table(columns.group_columns(grouped_agreement.attribute, rows), rows)


def _lowest_rate(group: Mapping[str, Any]) -> float:
    lowest = group["summary"]["lowest"]
    return 2.0 if lowest is None or lowest["rate"] is None else lowest["rate"]


def item_view(record: ItemRecord) -> Iterator[RenderableType]:
    yield Text(record.name, style="bold")
    if record.aliases:
        yield Text(f"also known as {', '.join(record.aliases)}")
    if record.text:
        yield Text(record.text)
    for name, value in record.attributes.items():
        yield Text(f"{name}: {value}", style="dim")
    rows = [label.to_dict() for label in record.labels]
    yield listing_table(columns.LABEL_COLUMNS, rows)


def item_csv_rows(items: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    names = sorted({name for item in items for name in item["votes"]})
    return [
        {"item": item["item"]}
        | {f"votes for {name}": item["votes"].get(name, 0) for name in names}
        | {key: cell for key, cell in item.items() if key not in {"item", "votes"}}
        for item in items
    ]


def most_disputed_items_first(items: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    def agreement(item: Mapping[str, Any]) -> float:
        f1 = item.get("span_f1_exact")
        return -(item.get("entropy") or 0) if f1 is None else f1 - 1

    return sorted(items, key=agreement)


def items_view(items: Sequence[dict[str, Any]]) -> RenderableType:
    of_spans = items and "spans" in items[0]
    cells = columns.SPAN_ITEM_COLUMNS if of_spans else columns.ITEM_COLUMNS
    return listing_table(cells, most_disputed_items_first(items))


def confusion_csv_rows(payload: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {"first": row["categories"][0], "second": row["categories"][1]}
        | {key: row[key] for key in ("disagreements", "items", "share")}
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
    yield listing_table(columns.CONFUSION_COLUMNS, payload["confusions"])
    yield Text(
        f"Shares are of {count_noun(payload['disagreements'], 'disagreement')}.", style="dim"
    )
