"""The sentences beside the figures of a report: how to read them, and where they come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tracker.measures.registry import MEASURES
from tracker.render.cells import figure_cell, minute_cell
from tracker.render.nouns import count_noun, listed, quoted

CATEGORIES: Final = (
    "A dot for each category, the weakest first: if one annotator chose it, how often another "
    "annotator of the same item chose it, too. The line is the 95% interval."
)
WHY_CATEGORIES: Final = (
    "Rate = agreements / potential agreements. An agreement is a pair of annotators and an item to "
    "which both gave the category; a potential one, to which at least one of them gave it.",
    "Uebersax, Raw agreement indices; intervals by Wilson (1927) on the effective number of items.",
)
NO_CATEGORIES: Final = "No category has a figure: no two annotators answered the same item."
MODELS: Final = (
    "A dot for each model: how often it gave the same answer as a person to the same item, with "
    "its 95% interval. The tick is the human ceiling: how often two people gave the same answer "
    "on the items that the model answered, too. A model that reaches it agrees with people as "
    "people do with each other."
)
WHY_MODELS: Final = (
    "Each model is counted with the people alone. Its figure is the mean over items of the share "
    "of people who gave its answer; the ceiling needs items with two people or more. "
    "Kappa is Cohen's with what most people gave, on the items on which one answer was given most.",
)
ON_CATEGORIES: Final = "Models on each category"
MODEL_CATEGORIES: Final = (
    "The same for each category, the widest gap below the ceiling first: if the model or a person "
    "chose the category, how often both did. The tick is that of two people on the same items."
)
WHY_MODEL_CATEGORIES: Final = (
    "Rate = agreements / potential agreements, as on each category above: of the model with each "
    "person, and of each two people on the items that the model answered, too.",
)
NO_CEILING: Final = "no two people share an item of the model with this category"
COEFFICIENTS: Final = "All coefficients"


def formula(measure: str) -> str:
    """Return a measure's formula and where it comes from."""
    about = MEASURES[measure]
    return f"{about.title}: {about.formula}. {about.source.rstrip('.')}."


def points_shown(number: int, every: str | None, title: str, *, events: bool) -> str:
    """Return what a curve shows."""
    if every is None:
        of = f"{number:,} recorded snapshots, each of what came since the one before"
    else:
        of = f"{count_noun(number, 'point')}, each of the items completed in one {every}"
    told = f"{title} over {of}, with its 95% interval; dotted, that of all answers so far."
    numbered = " Numbered lines are what happened: notes, guidelines and findings, listed below."
    return told + numbered if events else told


NO_CURVE: Final = (
    "There is one point in time so far. Take snapshots, or import answers with the times at which "
    "they were given, and the curve appears here."
)
NO_CURVE_OF_SPANS: Final = (
    "There is one point in time so far. Curves of spans are drawn from snapshots: take two or "
    "more, and the curve appears here."
)
NO_CURVE_OF_SPANS_CHOSEN: Final = (
    "Curves of spans are drawn from snapshots, and a snapshot has all answers: of some answers "
    "alone there is no curve."
)
NO_CURVE_CHOSEN: Final = "The answers chosen lie within one period, so there is no curve."
WHY_CURVE: Final = {
    None: "Each point is a snapshot: figures recorded at that time, with the tallies they follow "
    "from, less those of the snapshot before. A record never changes. A figure of all answers "
    "hides what happens late, because it still counts all that was before.",
    "rebuilt": "Each point has the figures of the items whose last answers came in that period. "
    "A figure of all answers hides what happens late, because it still counts all that was before.",
}


def event_note(note: Mapping[str, Any]) -> str:
    """Return a note, with its guideline."""
    guideline = note.get("guideline")
    return f"guideline {guideline}: {note['text']}" if guideline else str(note["text"])


def event_finding(flag: Mapping[str, Any]) -> str:
    """Return that a finding was recorded."""
    names = [name for name in (flag["annotator"], flag["with"]) if name is not None]
    about = " and ".join(names) or flag["subject"] or flag["category"] or "the design"
    return f"finding about {about}: {flag['kind'].replace('_', ' ')}, {flag['state']}"


PAIRS: Final = (
    "Each cell is Cohen's kappa of two annotators on the items that both answered: blue is "
    "agreement, white is chance, orange is worse. Annotators who agree stand beside each other."
)
PAIRS_IN_ORDER: Final = PAIRS.replace(
    "two annotators", "two annotators, weighted so that near answers nearly agree,"
)
WHY_WEIGHTS: Final = (
    "Quadratic weights: two answers that are d apart, of at most D, count as 1 - (d / D)² of an "
    "agreement. Cohen (1968), Psychological Bulletin 70, 213-220."
)
WHY_PAIRS: Final = (
    f"{MEASURES['cohen_kappa'].formula}. {MEASURES['cohen_kappa'].source}. The order is that of a "
    "hierarchical clustering of 1 - kappa by average linkage.",
)
NO_PAIRS: Final = "No two annotators answered the same item, so there is no pair to compare."
PAIRS_OF_SPANS: Final = "Exact F1 of each two annotators on the documents that both saw."

CONFUSIONS: Final = "Which categories stand in for each other, the most frequent first."
NO_CONFUSIONS: Final = (
    "No categories are confused: wherever two annotators answered the same item, they agree."
)
NOTHING_TO_CONFUSE: Final = "No item has two answers, so nothing can be confused."


def confusion_title(pair: Sequence[str]) -> str:
    """Return the heading over examples of a confusion."""
    return f"{quoted(pair[0])} or {quoted(pair[1])}"


def undefined_line(what: str, why: str) -> str:
    """Return that a figure is undefined, and why."""
    return f"{what[:1].upper()}{what[1:]}: {why.rstrip('.')}."


ALL_DEFINED: Final = "Every figure that this page asks for is defined."


def numbered(figure: Mapping[str, Any]) -> str:
    """Return how a coefficient's numbers give its value."""
    if figure["value"] is None:
        return ""
    if "expected_disagreement" in figure:
        within, overall = figure["observed_disagreement"], figure["expected_disagreement"]
        return f"1 - {within:.4f} / {overall:.4f} = {figure_cell(figure['value'])}"
    if figure.get("expected") is None or figure.get("observed") is None:
        return ""
    chance = figure["expected"]
    return (
        f"({figure['observed']:.4f} - {chance:.4f}) / (1 - {chance:.4f}) = "
        f"{figure_cell(figure['value'])}"
    )


def state_lines(change: int, recorded_at: int, version: str, made: str) -> list[str]:
    """Return which state of the ledger a page shows, and what made it."""
    if not change:
        return [f"No change is recorded yet. Made {made} by tracker {version}."]
    return [
        f"The ledger as of its change {change:,}, recorded {minute_cell(recorded_at)} UTC.",
        f"Made {made} UTC by tracker {version}.",
    ]


def chosen(words: str) -> str:
    """Return which answers a page is of."""
    return f"Only answers {words}."


PSEUDONYMS: Final = (
    "Annotators are numbered in the order in which they came; what they wrote is left out."
)
NOTES: Final = (
    "In notes the annotators' names are replaced as the project has them; a first name alone, or a "
    "nickname, stays: read the notes before you pass this page on."
)
TEXTS: Final = "Texts of items are shown as they are."
NO_TEXTS: Final = "Texts of items are left out."


def suppressed(least: int) -> str:
    """Return that small cells are left out."""
    return f"Figures and items that rest on fewer than {least:,} answers or items are not shown."


def more_rows(number: int) -> str:
    """Return how many rows are left out."""
    return f"{count_noun(number, 'more row')} {'is' if number == 1 else 'are'} not shown."


ABOUT: Final = "How far annotators agree, on what, since when, and what to do about it"
NO_METHODS: Final = "There is no figure to report, so there is no paragraph for a paper."


def categories_listed(names: Sequence[str]) -> str:
    """Return the categories of a question."""
    return listed(names, 20) if names else "none yet"
