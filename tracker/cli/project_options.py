"""Options for a project's settings: `project create`, `project set` and `import` take them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from tracker.ledger.projects import ProjectOptions


LARGEST = 2**31 - 1
"""The largest number an option takes: what a column of numbers holds on every database."""


@dataclass(frozen=True)
class Settings:
    """The options for settings that can change."""

    scale: Annotated[
        str | None,
        typer.Option(metavar="nominal|ordinal|interval|ratio", help="Scale of the categories."),
    ] = None
    categories: Annotated[
        str | None, typer.Option(metavar="A,B,C", help="Closed list of categories, in order.")
    ] = None
    wanted: Annotated[
        int | None,
        typer.Option(metavar="N", max=LARGEST, help="Target number of answers per item."),
    ] = None

    @property
    def names(self) -> tuple[str, ...] | None:
        """The categories, each by itself."""
        if self.categories is None:
            return None
        return tuple(name.strip() for name in self.categories.split(",") if name.strip())


@dataclass(frozen=True)
class NewProject(Settings):
    """The options for a project that is made."""

    answers: Annotated[
        str | None,
        typer.Option(
            metavar="one|several|spans", help="Kind of answer: one category, several, or spans."
        ),
    ] = None
    offsets: Annotated[
        str | None, typer.Option(metavar="characters|tokens", help="Unit of span offsets.")
    ] = None

    @property
    def options(self) -> ProjectOptions:
        """The options as the ledger takes them."""
        from tracker.ledger.projects import ProjectOptions

        return ProjectOptions(self.answers, self.scale, self.offsets, self.names, self.wanted)
