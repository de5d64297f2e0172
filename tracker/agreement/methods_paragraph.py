"""What a paper reports of a coefficient: a paragraph, and what it cites."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tracker.agreement.assessment import Assessment
from tracker.core.errors import InvalidOption
from tracker.core.shown import Message
from tracker.measures.citations import SOURCES, bibtex


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
    text = str(Message("methods.paragraph", found=found, figure=figure))
    cited = (piece.split("]")[0] for piece in text.split("[@")[1:])
    keys = [key for key in cited if key in SOURCES]  # an attribute may be called anything
    return Methods(found.project, text, tuple(dict.fromkeys(keys)))
