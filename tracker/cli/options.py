"""Options that several commands have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tracker.ledger import Ledger

QuestionNames = Annotated[
    list[str] | None,
    typer.Option(
        "--question",
        "-q",
        metavar="NAME",
        help="Of a project that asks several questions: this one; repeatable for a table of some.",
    ),
]
QuestionName = Annotated[
    str | None,
    typer.Option(
        "--question",
        "-q",
        metavar="NAME",
        help="Of a project that asks several questions: this one.",
    ),
]
CURVE = {"since": "With --every: start of the curve.", "until": "With --every: end of the curve."}
"""What the options that choose answers mean to a curve."""


def question_words(names: Sequence[str]) -> list[str]:
    """Return the options that name the same questions in another command."""
    return [word for name in names for word in ("-q", name)]


def question_heading(
    ledger: Ledger, project: str, names: Sequence[str]
) -> Iterator[RenderableType]:
    """Yield the question that a page is about, if one was named and the project asks several."""
    if len(names) == 1 and len(ledger.question_names(project)) > 1:
        from tracker.render.cells import Text

        yield Text.assemble("Question: ", (names[0], "bold"))
