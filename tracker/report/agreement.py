"""Agreement in the terminal: the weakest category first, every figure with its interval."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from tracker.assess import Assessment, PairAgreement
from tracker.measures import MEASURES
from tracker.measures.coefficient import Coefficient
from tracker.measures.conventions import krippendorff_reading, landis_koch
from tracker.measures.rates import CategoryRate
from tracker.report.cells import bar, count, figure, interval, share, table

__all__ = ["REASONS", "agreement_view", "item_rows", "pair_rows", "show_items", "show_pairs"]

REASONS = {
    "no_overlap": "no item has two answers",
    "single_category": "all answers are one category",
    "too_few_items": "there are no answers yet",
    "too_few_annotators": "fewer than two annotators",
    "not_applicable": "does not apply to this project",
}

_HIGH, _LOW = 0.9, 0.5
"""Raw agreement above the one and a category rate below the other contradict each other."""


def agreement_view(found: Assessment) -> Iterator[RenderableType]:
    """The parts of the page, in order."""
    counts = found.counts
    yield Text.assemble(
        (found.project, "bold"),
        f"  {count(counts.items_compared)} of {count(counts.items)} items compared, "
        f"{count(counts.annotators)} annotators, {count(counts.answers)} answers",
    )
    yield from _lead(found)
    if found.rates:
        yield _rates_table(found)
    yield _measures_table(found.measures)
    if found.gold is not None:
        yield _gold_line(found)
    yield Text(
        "Readings are conventions: Landis and Koch (1977); Krippendorff (2004): below 0.667 "
        "discard, to 0.8 tentative.",
        style="dim",
    )


def _lead(found: Assessment) -> Iterator[Text]:
    summed = found.summary
    lowest = summed.lowest
    if lowest is None or lowest.rate is None:
        return
    name = found.categories[lowest.category]
    yield Text.assemble(
        "Weakest category: ",
        (name, "bold yellow" if lowest.rate < _LOW else "bold"),
        f"  {figure(lowest.rate)} ({interval(lowest.ci_low, lowest.ci_high)}). "
        f"Where one annotator chose it, another did too in {share(lowest.rate)} of "
        f"{count(lowest.potential_agreements)} pairs.",
    )
    yield from _lazy_pair(found, lowest, name)


def _lazy_pair(found: Assessment, lowest: CategoryRate, name: str) -> Iterator[Text]:
    """Superb raw agreement beside a category nobody agrees on is what haste looks like."""
    raw = next((c.value for c in found.measures if c.measure == "percent_agreement"), None)
    if raw is None or lowest.rate is None or raw < _HIGH or lowest.rate >= _LOW:
        return
    commonest = max(found.rates, key=lambda rate: rate.labels)
    part = commonest.labels / max(found.counts.answers, 1)
    yield Text(
        f"! Raw agreement of {share(raw)} hides this: {share(part)} of the answers are "
        f"{found.categories[commonest.category]!r}, and annotators who gave it without looking "
        f"would agree as often. On {name!r} they hardly agree at all.",
        style="bold red",
    )


def _rates_table(found: Assessment) -> RenderableType:
    lowest = found.summary.lowest
    rows = [
        (
            Text(
                found.categories[rate.category],
                style="bold" if lowest is not None and rate.category == lowest.category else "",
            ),
            count(rate.labels),
            f"{count(rate.agreements)} / {count(rate.potential_agreements)}",
            figure(rate.rate),
            interval(rate.ci_low, rate.ci_high),
            bar(rate.rate),
            figure(rate.specific_agreement),
        )
        for rate in found.rates
    ]
    confidence = found.rates[0].confidence
    columns = (
        "category",
        "labels",
        "agreed / possible",
        "rate",
        f"{confidence:.0%} interval",
        "rate ",
        "specific agreement",
    )
    return table(columns, rows)


def _measures_table(measures: Sequence[Coefficient]) -> RenderableType:
    rows = []
    for coefficient in measures:
        value = coefficient.value
        chance_corrected = coefficient.measure != "percent_agreement"
        reading = ""
        if value is None:
            reading = REASONS[coefficient.undefined or "not_applicable"]
        elif chance_corrected:
            reading = f"{landis_koch(value)}; {krippendorff_reading(value)}"
        rows.append(
            (
                MEASURES[coefficient.measure].title,
                figure(value),
                interval(coefficient.ci_low, coefficient.ci_high),
                figure(coefficient.observed),
                figure(coefficient.expected),
                count(coefficient.items),
                reading,
            )
        )
    confidence = measures[0].confidence if measures else 0.95
    columns = (
        "measure",
        "value",
        f"{confidence:.0%} interval",
        "observed",
        "expected",
        "items",
        "reading ",
    )
    return table(columns, rows)


def _gold_line(found: Assessment) -> Text:
    gold = found.gold
    if gold is None or gold.observed is None:
        return Text("No answer meets an item with a truth.")
    kappa = gold.cohen_kappa
    reading = "" if kappa is None else f", {landis_koch(kappa)}"
    return Text(
        f"Against the truth: {count(gold.answers)} answers to {count(gold.items)} items, "
        f"{share(gold.observed)} right where chance alone gives {share(gold.expected)}; "
        f"Cohen's kappa {figure(kappa)}{reading}."
    )


def pair_rows(pairs: Sequence[PairAgreement]) -> list[dict[str, Any]]:
    """Pairs as flat rows, for CSV."""
    return [
        {"annotator_1": pair.annotators[0], "annotator_2": pair.annotators[1]}
        | {key: value for key, value in pair.to_dict().items() if key != "annotators"}
        for pair in pairs
    ]


def show_pairs(pairs: Sequence[PairAgreement]) -> RenderableType:
    """The pairs, the least agreeing first."""
    ordered = sorted(pairs, key=lambda pair: (pair.kappa.value is None, pair.kappa.value or 0))
    rows = [
        (
            *pair.annotators,
            count(pair.kappa.items),
            figure(pair.kappa.observed),
            figure(pair.kappa.expected),
            figure(pair.kappa.value),
            interval(pair.kappa.ci_low, pair.kappa.ci_high),
            landis_koch(pair.kappa.value)
            if pair.kappa.value is not None
            else REASONS[pair.kappa.undefined or "not_applicable"],
        )
        for pair in ordered
    ]
    columns = (
        "annotator",
        "and",
        "items",
        "observed",
        "expected",
        "Cohen's kappa",
        "interval",
        "reading ",
    )
    return table(columns, rows, left=2)


def item_rows(items: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Items as flat rows, for CSV: a column of votes per category."""
    names = sorted({name for item in items for name in item["votes"]})
    return [
        {"item": item["item"]}
        | {f"votes for {name}": item["votes"].get(name, 0) for name in names}
        | {key: item[key] for key in ("vote_score", "entropy", "gold")}
        for item in items
    ]


def show_items(items: Sequence[Mapping[str, Any]]) -> RenderableType:
    """The items, the most disputed first."""
    ordered = sorted(items, key=lambda item: -(item["entropy"] or 0))
    rows = [
        (
            item["item"],
            ", ".join(f"{name} {votes}" for name, votes in item["votes"].items()),
            figure(item["vote_score"]),
            figure(item["entropy"]),
            item["gold"] or "-",
        )
        for item in ordered
    ]
    return table(("item", "votes ", "vote score", "entropy (bits)", "gold "), rows)
