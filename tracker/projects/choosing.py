"""How questions are answered, as every face asks for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, TypedDict

from tracker.core.operations import Option

Timezone = Annotated[
    str | None,
    Option(
        "Time zone in which days begin, such as Europe/Berlin; else UTC.",
        metavar="ZONE", examples=("Europe/Berlin",),
    ),
]  # fmt: skip


class OfProject(TypedDict, total=False):
    """What is set for a project as a whole; None leaves one as it is."""

    timezone: Timezone
    tentative_from: Annotated[
        float | None,
        Option(
            "Lower end of the interval that tentative conclusions need (.667 at first).",
            metavar="X",
        ),
    ]
    good_from: Annotated[
        float | None,
        Option("Lower end of the interval that is good enough (.8 at first).", metavar="X"),
    ]
    item_link: Annotated[
        str | None,
        Option(
            'Address of an item elsewhere, with {item} or the name of an attribute; "" for none.',
            metavar="URL",
            examples=("https://label.example.com/tasks/{task_id}",),
        ),
    ]
    media_hosts: Annotated[
        Sequence[str] | None,
        Option(
            'Hosts whose pictures, sound and films the pages show; "" for none.',
            metavar="HOST,…",
            in_one=True,
            examples=("media.example.com",),
        ),
    ]


class Settings(TypedDict, total=False):
    """The settings of a question that can change; None leaves one as it is."""

    scale: Annotated[
        str | None,
        Option("Scale of the categories.", metavar="nominal|ordinal|interval|ratio"),
    ]
    categories: Annotated[
        Sequence[str] | None,
        Option("Closed list of categories, in order.", metavar="A,B,C", in_one=True),
    ]
    wanted: Annotated[
        int | None, Option("Target number of answers per item.", metavar="N", least=0)
    ]


class NewSettings(Settings, total=False):
    """The settings of a question that is made; None is the default."""

    answers: Annotated[
        str | None,
        Option(
            "Kind of answer: one category, several, spans, or which of two is better.",
            metavar="one|several|spans|preference",
        ),
    ]
    offsets: Annotated[str | None, Option("Unit of span offsets.", metavar="characters|tokens")]


class Goal(TypedDict, total=False):
    """How well a figure of a question is to be known; "" is no goal, None leaves it as it is."""

    goal: Annotated[
        str | None,
        Option(
            "How well a figure is to be known, as in tracker plan --want; \"\" for no goal.",
            metavar="FIGURE+-H", examples=("alpha +-0.05",),
        ),
    ]  # fmt: skip
    deadline: Annotated[
        str | None,
        Option("The day by which it is to be.", metavar="DATE", examples=("2026-12-31",)),
    ]


class OwnPage(TypedDict, total=False):
    """What annotators find who answer on their own page; "" is nothing, None leaves it."""

    instructions: Annotated[
        str | None,
        Option(
            'What annotators are told who answer on their page; "" for nothing.',
            metavar="TEXT", longest=20_000,
        ),
    ]  # fmt: skip
    also_asks: Annotated[
        str | None,
        Option(
            'What the page asks for besides: confidence, comment, or both; "" for neither.',
            metavar="confidence,comment", examples=("confidence",),
        ),
    ]  # fmt: skip


class ChangedSettings(Settings, Goal, OwnPage, total=False):
    """The settings of a question to change; ``wanted`` of 0 is no number."""

    opened: Annotated[
        bool, Option("Accept categories that are not on the list.", False, name="open")
    ]


class ChangedProject(ChangedSettings, OfProject, total=False):
    """The settings of a project, and of one of its questions, to change."""
