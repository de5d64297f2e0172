"""What is asked about agreement, as every face asks for it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated, TypedDict

from tracker.core.operations import Option
from tracker.counts.choosing import Selecting

MOST_SAMPLES = 1_000_000

_computed = partial(Option, panel="How figures are computed")
_sure = partial(Option, panel="Errors and intervals")


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


class Asking(Computing, Resampling, Selecting, total=False):
    """All that is asked about agreement; of the measures only those named, if any is."""

    measures: Annotated[
        Sequence[str],
        Option(
            "Only this measure (repeatable); short names such as alpha and ac1 will do.",
            name="measure", metavar="NAME", examples=("krippendorff_alpha",),
        ),
    ]  # fmt: skip
