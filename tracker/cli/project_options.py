"""Options that make a project, as `project create` and `import` take them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from tracker.projects.project import ProjectOptions

__all__ = ["Answers", "LARGEST", "Categories", "Offsets", "Scale", "Wanted", "project_options"]

Answers = Annotated[
    str | None,
    typer.Option(
        metavar="one|several|spans", help="Kind of answer: one category, several, or spans."
    ),
]
Scale = Annotated[
    str | None,
    typer.Option(metavar="nominal|ordinal|interval|ratio", help="Scale of the categories."),
]
Categories = Annotated[
    str | None, typer.Option(metavar="A,B,C", help="Closed list of categories, in order.")
]
LARGEST = 2**31 - 1
"""The largest number an option takes: what a column of numbers holds on every database."""

Wanted = Annotated[
    int | None, typer.Option(metavar="N", max=LARGEST, help="Target number of answers per item.")
]
Offsets = Annotated[
    str | None, typer.Option(metavar="characters|tokens", help="Unit of span offsets.")
]


def project_options(
    answers: str | None,
    scale: str | None,
    offsets: str | None,
    categories: str | None,
    wanted: int | None,
) -> ProjectOptions:
    """The options as the catalogue takes them."""
    from tracker.projects.project import ProjectOptions

    names = None
    if categories is not None:
        names = tuple(name.strip() for name in categories.split(",") if name.strip())
    return ProjectOptions(answers, scale, offsets, names, wanted)
