"""The sentences that a paper needs about a coefficient, with citation keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tracker.agreement.result import Assessment
from tracker.core.version import VERSION
from tracker.measures.intervals import Coefficient
from tracker.measures.registry import MEASURES

_DISTANCES: Final = {
    "nominal": "the nominal distance",
    "ordinal": "the ordinal distance",
    "interval": "the interval distance",
    "ratio": "the ratio distance",
    "exact": "answers equal only as whole sets",
    "jaccard": "the Jaccard distance between sets",
    "masi": "the MASI distance between sets [@passonneau2006]",
}
_INTERVALS: Final = {
    "t": "a standard error linearized over items and a t interval [@gwet2014]",
    "log": "a standard error linearized over items and a t interval on log(1 - coefficient) "
    "[@gwet2014]",
    "posterior": "a Bayesian bootstrap over item patterns with a prior weight of two items "
    "[@rubin1981]",
    "Wilson": "a standard error linearized over items and the effective number of items that it "
    "amounts to [@wilson1927]",
    "posterior and Wilson": "the wider of a Bayesian bootstrap over item patterns [@rubin1981] and "
    "the effective number of items that a standard error linearized over items amounts to "
    "[@wilson1927]",
    "one-sided exact": "the exact one-sided bound, there being no disagreement",
    "bootstrap": "percentiles of a bootstrap over items [@efron1979]",
    "jackknife over annotators": "a jackknife over annotators and Student's t [@gwet2014]",
}


def methods_paragraph(found: Assessment, figures: Sequence[Coefficient]) -> str:
    """Return how the project's agreement was measured, by each figure, in words for a paper."""
    parts = [_what(found)]
    for figure in figures:
        about = MEASURES[figure.measure]
        also = "also " if figure is not figures[0] else ""
        parts.append(
            f"Agreement was {also}measured by {about.title} [@{about.cite}]{_reading(figure)}: "
            f"{_value(figure)}."
        )
    left_out = [_left_out(found, figure) for figure in figures]
    if len(set(left_out)) > 1:
        # Figures differ in what a single answer counts for: each sentence names its own.
        named = zip(figures, left_out, strict=True)
        left_out = [f"{MEASURES[one.measure].title}: {text}" for one, text in named if text]
    parts += [*dict.fromkeys(left_out), f"Computed with tracker {VERSION}."]
    return " ".join(part for part in parts if part)


def _what(found: Assessment) -> str:
    counts = found.counts
    each = counts.answers / counts.items
    return (
        f"{counts.annotators} annotators gave {counts.answers:,} answers to {counts.items:,} "
        f"items ({each:.1f} per item on average), of which {counts.items_compared:,} were answered "
        f"by two or more; {_in_use(len(found.rates))} in use or declared."
    )


def _in_use(categories: int) -> str:
    return "1 category was" if categories == 1 else f"{categories:,} categories were"


def _reading(figure: Coefficient) -> str:
    word = figure.details.get("distance") or figure.details.get("scale")
    if word is not None:
        return f" with {_DISTANCES[str(word)]}"
    weights = figure.details.get("weights")
    if weights in {None, "identity"}:
        return ""
    return f" with {weights} weights [@{'gwet2014' if weights == 'ordinal' else 'cohen1968'}]"


def _value(figure: Coefficient) -> str:
    text = f"{figure.value:.3f}"
    if figure.ci_low is None or figure.ci_high is None:
        return text
    method = figure.method or ""
    how = _INTERVALS.get(method, f"a standard error {method}")
    return (
        f"{text}, {100 * figure.confidence:.12g}% confidence interval [{figure.ci_low:.3f}, "
        f"{figure.ci_high:.3f}] from {how} (n = {figure.items:,} items)"
    )


def _left_out(found: Assessment, figure: Coefficient) -> str:
    alone = found.counts.items - found.counts.items_compared
    if not alone:
        return ""
    items = "One item" if alone == 1 else f"{alone:,} items"
    if figure.items == found.counts.items_compared:
        return f"{items} with a single answer did not enter."
    return f"{items} with a single answer entered the chance term only."


def methods_numbers_sentence(figure: Coefficient) -> str:
    """Return how the numbers give the value, or why there is none."""
    if figure.value is None:
        return f"undefined: {MEASURES[figure.measure].undefined.get(figure.undefined or '', '')}"
    value = f"{figure.value:.6g}"
    if "expected_disagreement" in figure.details:
        within, overall = (
            figure.details[f"{part}_disagreement"] for part in ("observed", "expected")
        )
        return f"1 - {within:.6g} / {overall:.6g} = {value}"
    mean_of = {"percent_agreement": f"{figure.items:,} items", "light_kappa": "the pairs' kappas"}
    if figure.measure in mean_of:
        return f"mean of {mean_of[figure.measure]} = {value}"
    if "precision" in figure.details:
        return _harmonic_mean(figure)
    if figure.expected is None:
        return value
    chance = f"{figure.expected:.6g}"
    return f"({figure.observed:.6g} - {chance}) / (1 - {chance}) = {value}"


def _harmonic_mean(figure: Coefficient) -> str:
    """Return how an F1 follows from precision and recall."""
    precision, recall = figure.details["precision"], figure.details["recall"]
    if not figure.value:
        return "no true positive: 0"
    return (
        f"precision {precision:.6g}, recall {recall:.6g}: 2 x {precision:.6g} x {recall:.6g} "
        f"/ ({precision:.6g} + {recall:.6g}) = {figure.value:.6g}"
    )
