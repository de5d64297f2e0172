"""What a plan is asked for, as every face asks for it."""

from __future__ import annotations

from functools import partial
from typing import Annotated, TypedDict

from tracker.agreement.asking import Measuring
from tracker.core.operations import Option
from tracker.counts.choosing import QuestionNames, Selecting

_pilot = partial(Option, panel="Before there are answers")


class Planning(TypedDict, total=False):
    """What is wanted, and what it may cost."""

    cost: Annotated[
        float | None, Option("What an answer costs, in any currency.", metavar="AMOUNT", least=0.0)
    ]
    buy: Annotated[
        int, Option("Show what so many answers more would gain.", 500, metavar="ANSWERS", least=1)
    ]
    pilot: Annotated[
        bool, _pilot("Plan a project without answers, from what --assume says.", False)
    ]
    assume: Annotated[
        str | None,
        _pilot(
            "With --pilot: the alpha that is expected, and the shares of the categories.",
            metavar="alpha=A,prevalence=P[/P…]", examples=("alpha=.6,prevalence=.2",),
        ),
    ]  # fmt: skip
    answers_each: Annotated[
        int | None,
        _pilot(
            "With --pilot: answers to each item (default: 3).",
            name="annotators", metavar="N", least=2, most=50,
        ),
    ]  # fmt: skip


class PlanAsked(Planning, Measuring, Selecting, total=False):
    """All that can be asked of a plan."""


class DigestAsked(TypedDict, total=False):
    """Of what a digest is."""

    since: Annotated[
        str,
        Option("Since when: 7d, '3 weeks ago', 2026-03-01.", "7d", metavar="WHEN",
               examples=("7d",)),
    ]  # fmt: skip
    questions: QuestionNames
