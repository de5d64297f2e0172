"""What is asked about agreement, as every face asks for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Annotated, Final, TypedDict

from tracker.core.operations import Option
from tracker.counts.choosing import Answers, Selecting

MOST_SAMPLES = 1_000_000
SHORT_NAMES: Final = "short names such as alpha and ac1 will do."

_computed = partial(Option, panel="How figures are computed", in_query=True)
_sure = partial(Option, panel="Errors and intervals", in_query=True)


def full_name_of(name: str) -> str:
    """Return the full name of a measure."""
    from tracker.measures.citations import full_measure_name

    return full_measure_name(name)


def _full_names(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(map(full_name_of, names)))


class Measuring(TypedDict, total=False):
    """What counts as agreement, and how sure a figure is."""

    confidence: Annotated[float, _computed("Confidence level of the intervals.", 0.95)]
    weights: Annotated[
        str | None,
        _computed(
            "Weights for partial agreement: by the categories' numbers or, on an ordinal scale, "
            "their ranks.",
            metavar="identity|linear|quadratic|ordinal",
        ),
    ]
    scale: Annotated[
        str | None,
        _computed(
            "Treat the categories as being on this scale.",
            metavar="nominal|ordinal|interval|ratio",
        ),
    ]
    distance: Annotated[
        str | None,
        _computed(
            "Distance between sets of categories, for alpha. Default: exact.",
            metavar="exact|jaccard|masi",
        ),
    ]


class Computing(Measuring, total=False):
    """How figures are computed, with the method of the intervals, see `confidence_bounds`."""

    interval: Annotated[
        str,
        _computed(
            "Interval method: asymmetric (also reliable for few items) or Student's t.",
            "asymmetric", metavar="asymmetric|t",
        ),
    ]  # fmt: skip


class Resampling(TypedDict, total=False):
    """Errors other than those of independent items."""

    bootstrap: Annotated[
        int | None,
        _sure(
            "Errors and intervals from N bootstrap samples of the items.",
            metavar="N", most=MOST_SAMPLES,
        ),
    ]  # fmt: skip
    seed: Annotated[int, _sure("Random seed for the bootstrap.", 0, metavar="N")]
    resample: Annotated[
        str,
        _sure(
            "What the errors generalize to: other items, or other annotators (jackknife).",
            "items", metavar="items|annotators",
        ),
    ]  # fmt: skip
    cluster: Annotated[
        str | None,
        _sure(
            "Attribute that groups similar items, such as a document; errors allow for the groups.",
            metavar="ATTRIBUTE",
        ),
    ]


class Measured(TypedDict, total=False):
    """Which measures are shown: those named, all that fit for none."""

    measures: Annotated[
        Sequence[str],
        Option(
            f"Only this measure (repeatable); {SHORT_NAMES}",
            name="measure", metavar="NAME", read=_full_names, examples=("krippendorff_alpha",),
        ),
    ]  # fmt: skip


class Asking(Measured, Computing, Resampling, Selecting, total=False):
    """All that can be asked about the agreement on one question."""


# -- Further questions about agreement: why, what if, against what, and how to report it ----------


OF_ITEMS: Final = "attribute:"
OF_ANNOTATORS: Final = "annotator-attribute:"
BREAKDOWNS: Final = (
    "category", "annotator", "model", "pair", "item", "confusion", "import", "slice", OF_ITEMS,
    OF_ANNOTATORS,
)  # fmt: skip
BREAKDOWN_WORDS: Final = "|".join(BREAKDOWNS).replace(":", ":NAME")
_further = partial(Option, panel="Further questions")


class Differing(TypedDict, total=False):
    """How a difference between two states is tested."""

    test: Annotated[
        str | None,
        _further(
            "Test of the items' agreement: paired_t or wilcoxon if both sides have the same items, "
            "else welch_t, mann_whitney or student_t (default: by the number of items).",
            metavar="TEST",
        ),
    ]


class Further(Differing, total=False):
    """Questions behind a figure, of which one can be asked at a time."""

    by: Annotated[
        str | None,
        Option(
            "One row per category, annotator, model beside the people, pair, item, two categories "
            "that are confused, import, slice of the items beside the rest, value of an item "
            "attribute, or group of annotators by an attribute of theirs.",
            metavar=BREAKDOWN_WORDS, words=BREAKDOWNS, examples=("pair",),
        ),
    ]  # fmt: skip
    limit: Annotated[
        int | None,
        Option(
            "With --by item: how many items; 0 for all (default: 100, in JSON and CSV all).",
            metavar="N", least=0,
        ),
    ]  # fmt: skip
    explain: Annotated[
        str | None,
        _further(
            "Show what a figure is computed from, what was left out, and the formula.",
            metavar="MEASURE",
            read=full_name_of,
        ),
    ]
    influence: Annotated[
        str | None,
        _further(
            "Show how the coefficient changes without each one.",
            metavar="annotator|item|category",
        ),
    ]
    merge: Annotated[
        Sequence[str],
        _further("Figures with these categories merged (repeatable).", metavar="A+B"),
    ]
    best_merges: Annotated[
        bool, _further("Find the two categories that are hardest to tell apart.", False)
    ]
    against: Annotated[
        str | None,
        _further(
            "Test the difference to another project, or to other answers of this one: pilot, "
            "'annotator=ann annotator=bob', 'until=2026-03-01'.",
            metavar="OTHER",
        ),
    ]
    self_: Annotated[
        bool,
        _further("Compare each annotator with their own earlier pass over the same items.", False),
    ]
    gold: Annotated[
        bool, _further("Compare each annotator with the reference: accuracy, confusion.", False)
    ]
    calibration: Annotated[
        bool,
        _further(
            "Compare annotators' confidence with how often they are right, by the reference or, "
            "without one, the majority of the others.",
            False,
        ),
    ]
    strengths: Annotated[
        bool,
        _further(
            "Of preferences: how strong each of the compared is, its ranks, who answers by the "
            "place, and models beside the people.",
            False,
        ),
    ]
    methods: Annotated[
        bool, _further("Print the methods sentences for a paper, with citation keys.", False)
    ]
    bibtex: Annotated[
        bool,
        _further("With --methods: print the BibTeX entries.", False, faces=frozenset({"command"})),
    ]


class Comparing(Differing, Measuring, total=False):
    """How two states are compared."""


class AgreementAsked(Measured, Computing, Answers, Resampling, Further, total=False):
    """All that can be asked about agreement, of one question or several."""
