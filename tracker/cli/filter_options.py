"""Options that choose which answers are counted, as every command that counts takes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from tracker.core.errors import InvalidOption

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tracker.ledger import Ledger, Selecting


@dataclass(frozen=True)
class MomentOptions:
    """The state of the ledger that is meant, on either clock."""

    TITLE: ClassVar = "Which answers"

    as_of: Annotated[
        str | None,
        typer.Option(
            "--as-of",
            metavar="WHEN",
            help="Labels as they stood at this time, by when they were given; a date "
            "is the end of that day. Answers without a time count from when they "
            "were recorded.",
        ),
    ] = None
    known_at: Annotated[
        str | None,
        typer.Option(
            "--known-at",
            metavar="WHEN",
            help="What the ledger knew at this time, by when it was recorded: before "
            "later imports and undos.",
        ),
    ] = None


@dataclass(frozen=True)
class ChosenAnswers(MomentOptions):
    """Which answers to a question are counted."""

    annotator: Annotated[
        list[str] | None,
        typer.Option(
            "--annotator",
            metavar="NAME",
            help="Only this annotator (repeatable); a model or reference named here is included.",
        ),
    ] = None
    exclude_annotator: Annotated[
        list[str] | None,
        typer.Option(
            "--exclude-annotator", metavar="NAME", help="Exclude this annotator (repeatable)."
        ),
    ] = None
    exclude_flagged: Annotated[
        bool,
        typer.Option(
            "--exclude-flagged",
            help="Exclude annotators with an open or acknowledged flag on the question.",
        ),
    ] = False
    since: Annotated[
        str | None,
        typer.Option(
            "--since",
            metavar="WHEN",
            help="Only answers labeled at this time or later: 2026-03-01T14:30 "
            "(UTC), 2026-03-01 (the start of that day), 7d, '3 weeks ago'. "
            "Answers without a time count from when they were recorded.",
        ),
    ] = None
    until: Annotated[
        str | None,
        typer.Option(
            "--until",
            metavar="WHEN",
            help="Only answers labeled at this time or earlier; a date is the end of that day.",
        ),
    ] = None
    where: Annotated[
        list[str] | None,
        typer.Option(
            "--where",
            metavar="ATTRIBUTE=VALUE",
            help="Only items with this attribute, kept by import --keep. Repeatable: "
            "values of one attribute are alternatives; different attributes must "
            "all match.",
        ),
    ] = None

    guideline: Annotated[
        str | None,
        typer.Option(
            "--guideline",
            metavar="NAME",
            help="Only answers labeled under this guideline: from its note, made with project "
            "note --guideline, to the next one's.",
        ),
    ] = None

    @property
    def selecting(self) -> Selecting:
        """The options as keyword arguments of the ledger; raises InvalidOption."""
        from tracker.ledger.parsing import values_by_attribute

        return {
            "annotators": self.annotator or (),
            "exclude_annotators": self.exclude_annotator or (),
            "exclude_flagged": self.exclude_flagged,
            "since": self.since,
            "until": self.until,
            "where": values_by_attribute(self.where or (), "--where "),
            "as_of": self.as_of,
            "known_at": self.known_at,
            "guideline": self.guideline,
        }


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


def question_words(names: Sequence[str]) -> list[str]:
    """Return the options that name the same questions in another command."""
    return [word for name in names for word in ("-q", name)]


@dataclass(frozen=True)
class AnswerOptions(ChosenAnswers):
    """Likewise, and which question they answer."""

    question: QuestionNames = None

    @property
    def selecting(self) -> Selecting:
        """Likewise; raises InvalidOption for two questions."""
        return {**super().selecting, "question": single_question(self.questions)}

    @property
    def questions(self) -> list[str]:
        """The questions named, each once."""
        return distinct_questions(self.question)


@dataclass(frozen=True)
class CurveAnswerOptions(AnswerOptions):
    """Likewise, for a curve, of which the times say where it begins and ends."""

    since: Annotated[
        str | None, typer.Option(metavar="WHEN", help="With --every: start of the curve.")
    ] = None
    until: Annotated[
        str | None, typer.Option(metavar="WHEN", help="With --every: end of the curve.")
    ] = None


def distinct_questions(names: list[str] | None) -> list[str]:
    """Return the names of questions as they are known, each once."""
    from tracker.ledger.parsing import distinct_names

    return distinct_names(names)


def single_question(names: list[str]) -> str | None:
    """Return the only question named, or None for none; raises InvalidOption for two."""
    if not names:
        return None
    first, *others = names
    if others:
        raise InvalidOption(
            f"this is about one question, not {first!r} and {others[0]!r}",
            "give --question once, and the command for each",
        )
    return first


def question_heading(
    ledger: Ledger, project: str, names: Sequence[str]
) -> Iterator[RenderableType]:
    """Yield the question that a page is about, if one was named and the project asks several."""
    if len(names) == 1 and len(ledger.question_names(project)) > 1:
        from tracker.render.cells import Text

        yield Text.assemble("Question: ", (names[0], "bold"))
