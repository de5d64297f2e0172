"""What can be asked in a query: the options of the commands, by the same names.

A hyphen of an option is an underscore, as in the JSON. FastAPI reads the annotations of these
classes as they are, so they are no texts here.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from fastapi import Query

from tracker.core.errors import InvalidOption
from tracker.ledger.parsing import distinct_names, values_by_attribute
from tracker.web.request import LARGEST, Then

if TYPE_CHECKING:
    from tracker.ledger import Asking, Computing, Selecting

MOST_SAMPLES = 1_000_000

Question = Annotated[
    str | None,
    Query(description="Of a project that asks several questions: this one, by name."),
]
Questions = Annotated[
    tuple[str, ...],
    Query(
        description="Of a project that asks several questions: only this one (repeatable).",
        examples=[["tone"]],
    ),
]
Measures = Annotated[
    tuple[str, ...],
    Query(
        description="Only this measure (repeatable); short names such as alpha will do.",
        examples=[["krippendorff_alpha"]],
    ),
]


@dataclass(frozen=True)
class Moment:
    """The state of the ledger that is meant, on either clock."""

    as_of: Annotated[
        str | None,
        Query(
            description="Labels as they stood at this time, by when they were given. A date is the "
            "end of that day; 7d is seven days ago.",
            examples=["2026-03-31"],
        ),
    ] = None
    known_at: Annotated[
        str | None,
        Query(description="What the ledger knew at this time, by when it was recorded."),
    ] = None

    @property
    def then(self) -> Then:
        """The moment as keyword arguments of the ledger."""
        return {"as_of": self.as_of, "known_at": self.known_at}


@dataclass(frozen=True)
class ChosenAnswers(Moment):
    """Which answers are counted."""

    annotator: Annotated[
        tuple[str, ...],
        Query(description="Only this annotator (repeatable); also a model or reference."),
    ] = ()
    exclude_annotator: Annotated[
        tuple[str, ...], Query(description="All but this annotator (repeatable).")
    ] = ()
    exclude_flagged: Annotated[
        bool, Query(description="All but annotators with an open or acknowledged flag.")
    ] = False
    since: Annotated[
        str | None, Query(description="Only answers labeled then or later.", examples=["7d"])
    ] = None
    until: Annotated[str | None, Query(description="Only answers labeled then or earlier.")] = None
    where: Annotated[
        tuple[str, ...],
        Query(
            description="Only items with this attribute, as ATTRIBUTE=VALUE (repeatable).",
            examples=[["language=nl"]],
        ),
    ] = ()
    guideline: Annotated[
        str | None, Query(description="Only answers labeled under this guideline.")
    ] = None

    @property
    def selecting(self) -> "Selecting":
        """The parameters as keyword arguments of the ledger; raises InvalidOption."""
        return {
            "annotators": self.annotator,
            "exclude_annotators": self.exclude_annotator,
            "exclude_flagged": self.exclude_flagged,
            "since": self.since,
            "until": self.until,
            "where": values_by_attribute(self.where, "where="),
            "as_of": self.as_of,
            "known_at": self.known_at,
            "guideline": self.guideline,
        }


@dataclass(frozen=True)
class Answers(ChosenAnswers):
    """Likewise, and which questions they answer."""

    question: Questions = ()

    @property
    def questions(self) -> list[str]:
        """The questions named, each once."""
        return distinct_names(self.question)

    @property
    def of_one(self) -> "Selecting":
        """Likewise, of the question named; raises InvalidOption for two."""
        names = self.questions
        if len(names) > 1:
            raise InvalidOption(
                f"this is about one question, not {names[0]!r} and {names[1]!r}",
                "give question once",
            )
        return {**self.selecting, "question": names[0] if names else None}


@dataclass(frozen=True)
class Metric:
    """What counts as agreement, and how sure a figure is."""

    confidence: Annotated[
        float, Query(description="Confidence level of the intervals.", gt=0, lt=1)
    ] = 0.95
    weights: Annotated[
        str | None,
        Query(description="Weights for partial agreement: identity, linear, quadratic, ordinal."),
    ] = None
    scale: Annotated[
        str | None,
        Query(description="Treat the categories as nominal, ordinal, interval or ratio."),
    ] = None
    distance: Annotated[
        str | None,
        Query(description="Distance between sets of categories: exact, jaccard or masi."),
    ] = None

    @property
    def keywords(self) -> "Computing":
        """The parameters as keyword arguments of the ledger."""
        return {
            "confidence": self.confidence,
            "weights": self.weights,
            "scale": self.scale,
            "distance": self.distance,
        }


@dataclass(frozen=True)
class Figures(Metric):
    """Likewise, with the method of the intervals."""

    interval: Annotated[str, Query(description="Interval method: asymmetric, or Student's t.")] = (
        "asymmetric"
    )

    @property
    def keywords(self) -> "Computing":
        """Likewise."""
        return {**super().keywords, "interval": self.interval}


@dataclass(frozen=True)
class Uncertainty:
    """Errors other than those of independent items."""

    bootstrap: Annotated[
        int | None,
        Query(description="Errors from so many bootstrap samples.", ge=0, le=MOST_SAMPLES),
    ] = None
    seed: Annotated[int, Query(description="Of the random numbers.", ge=0, le=LARGEST)] = 0
    resample: Annotated[
        str, Query(description="What errors generalize to: other items, or annotators.")
    ] = "items"
    cluster: Annotated[
        str | None, Query(description="Attribute whose values group items that are alike.")
    ] = None

    @property
    def keywords(self) -> "Asking":
        """The parameters as keyword arguments of the ledger."""
        return {
            "bootstrap": self.bootstrap,
            "seed": self.seed,
            "resample": self.resample,
            "cluster": self.cluster,
        }
