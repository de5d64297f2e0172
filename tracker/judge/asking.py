"""What is asked about models as judges, as every face asks for it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Final, TypedDict

from tracker.agreement.asking import Measuring, full_name_of
from tracker.core.operations import Option
from tracker.counts.choosing import Answers, distinct_names

USED_FOR: Final = "used-for"
USES: Final = ("tuning", "nothing")
TUNING: Final = USES[0]
"""The attribute, and its value, of items on which a judge's prompt was tuned."""
RANDOM, ESTIMATE = "random", "estimate"
"""How the items of a batch are drawn: what `assign` records of it as ``prefer``."""
MARGIN: Final = 0.05
EPSILON: Final = 0.2
EXPERTISE: Final = "expertise"
EPSILONS: Final = {"expert": 0.2, "skilled": 0.15, "crowd": 0.1}
"""How much nearer to each other people may be, by the attribute `EXPERTISE` of annotators:
Calderon, Reichart and Dror (2025), section 4: the less a person costs, the less."""

_bar = partial(Option, panel="The bar")


class JudgeOptions(TypedDict, total=False):
    """Which models are judged, and against which bar."""

    models: Annotated[
        Sequence[str],
        Option(
            "Only this model (repeatable). Default: every model that answered.",
            name="model", metavar="NAME", read=distinct_names, examples=("gpt",), in_query=True,
        ),
    ]  # fmt: skip
    measure: Annotated[
        str,
        _bar(
            "The coefficient of the verdict; of spans span_f1_exact.", "krippendorff_alpha",
            metavar="NAME", read=full_name_of, examples=("percent_agreement",),
        ),
    ]  # fmt: skip
    margin: Annotated[
        float,
        _bar("How far below people's agreement with each other a model may be.", MARGIN,
             least=0.0, most=1.0),
    ]  # fmt: skip
    epsilon: Annotated[
        float | None,
        _bar(
            "Of the alternative annotator test: how much nearer to the others a person may be. "
            f"Default: {EPSILON}, or by the annotators' attribute {EXPERTISE}: "
            + ", ".join(f"{name} {value}" for name, value in EPSILONS.items()) + ".",
            least=0.0, most=1.0,
        ),
    ]  # fmt: skip

    group: Annotated[
        str | None,
        Option(
            "Ask whether a model sides with one group of people, by this attribute of theirs.",
            metavar="ATTRIBUTE", examples=("team",),
        ),
    ]  # fmt: skip


class JudgeAsked(JudgeOptions, Measuring, Answers, total=False):
    """All that can be asked about models as judges."""
