"""The sentences that a paper needs about a coefficient, and what they cite."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from tracker.agreement.assessment import Assessment
from tracker.core.errors import InvalidOption
from tracker.core.version import VERSION
from tracker.measures import MEASURES
from tracker.measures.citations import SOURCES, bibtex
from tracker.measures.coefficient import Coefficient

__all__ = ["Methods", "methods"]

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
    "t": "a standard error linearised over items and Student's t [@gwet2014]",
    "log": "a standard error linearised over items and Student's t on the logarithm of one less "
    "the figure [@gwet2014]",
    "posterior": "the posterior of the shares of items of each kind, two items supposed "
    "beforehand [@rubin1981]",
    "Wilson": "a standard error linearised over items and the effective number of items that it "
    "amounts to [@wilson1927]",
    "one-sided exact": "the exact one-sided bound, there being no disagreement",
    "bootstrap": "percentiles of a bootstrap over items [@efron1979]",
    "jackknife over annotators": "a jackknife over annotators and Student's t [@gwet2014]",
}


@dataclass(frozen=True)
class Methods:
    """A paragraph with citation keys, such as ``[@cohen1960]``, and their entries."""

    project: str
    text: str
    citations: tuple[str, ...]

    @property
    def bibtex(self) -> str:
        """The entries of what is cited."""
        return bibtex(self.citations)

    def to_dict(self) -> dict[str, Any]:
        """The paragraph as JSON."""
        return {
            "project": self.project,
            "text": self.text,
            "citations": list(self.citations),
            "bibtex": self.bibtex,
        }


def methods(found: Assessment, measure: str | None = None) -> Methods:
    """How the project's agreement was measured, in words for a paper.

    Args:
        found: the assessment, with the measure among its figures.
        measure: which; by default alpha or, of spans, the exact F1.

    Raises:
        InvalidOption: the measure has no value, so that there is nothing to report.
    """
    names = [one.measure for one in found.measures]
    usual = "krippendorff_alpha" if "krippendorff_alpha" in names else names[0]
    figure = found.measure(measure or usual)
    if figure.value is None:
        raise InvalidOption(
            f"{figure.measure} is undefined here ({figure.undefined}): there is nothing to report"
        )
    about = MEASURES[figure.measure]
    parts = [
        _what(found),
        f"Agreement was measured by {about.title} [@{about.cite}]{_reading(figure)}: "
        f"{_value(figure)}.",
        _left_out(found, figure),
        f"Computed with tracker {VERSION}.",
    ]
    text = " ".join(part for part in parts if part)
    cited = (piece.split("]")[0] for piece in text.split("[@")[1:])
    keys = [key for key in cited if key in SOURCES]  # an attribute may be called anything
    return Methods(found.project, text, tuple(dict.fromkeys(keys)))


def _what(found: Assessment) -> str:
    counts = found.counts
    each = counts.answers / counts.items
    return (
        f"{counts.annotators} annotators gave {counts.answers:,} answers to {counts.items:,} "
        f"items ({each:.1f} per item on average), of which {counts.items_compared:,} were answered "
        f"by two or more; {len(found.rates)} categories were in use or declared."
    )


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
