"""Options that several commands have, and what a command about agreement was asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from tracker.cli.output import Output, print_result
from tracker.core.errors import InvalidOption
from tracker.core.operations import LARGEST

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tracker.agreement.asking import Asking
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


# -- Further questions about agreement: why, what if, against what, and how to report it ----------


def measure_option_name(name: str | None) -> str | None:
    """Return a measure as it is called in full."""
    if name is None:
        return None
    from tracker.measures.citations import full_measure_name

    return full_measure_name(name)


ItemTest = Annotated[
    str | None,
    typer.Option(
        "--test",
        metavar="TEST",
        help="Test of the items' agreement: paired_t or wilcoxon if both sides have the same "
        "items, else welch_t, mann_whitney or student_t (default: by the number of items).",
    ),
]

Limit = Annotated[
    int | None,
    typer.Option(
        "--limit",
        metavar="N",
        min=0,
        max=LARGEST,
        help="With --by item: how many items; 0 for all (default: 100, in JSON and CSV all).",
    ),
]


@dataclass(frozen=True)
class QuestionOptions:
    """Questions behind a figure, of which one can be asked at a time."""

    TITLE: ClassVar = "Further questions"

    explain: Annotated[
        str | None,
        typer.Option(
            metavar="MEASURE",
            callback=measure_option_name,
            help="Show what a figure is computed from, what was left out, and the formula.",
        ),
    ] = None
    influence: Annotated[
        str | None,
        typer.Option(
            "--influence",
            metavar="annotator|item|category",
            help="Show how the coefficient changes without each one.",
        ),
    ] = None
    merge: Annotated[
        list[str] | None,
        typer.Option(
            "--merge", metavar="A+B", help="Figures with these categories merged (repeatable)."
        ),
    ] = None
    best_merges: Annotated[
        bool,
        typer.Option(
            "--best-merges", help="Find the two categories that are hardest to tell apart."
        ),
    ] = False
    against: Annotated[
        str | None,
        typer.Option(
            metavar="OTHER",
            help="Test the difference to another project, or to other answers of this "
            "one: pilot, 'annotator=ann annotator=bob', 'until=2026-03-01'.",
        ),
    ] = None
    test: ItemTest = None
    self_: Annotated[
        bool,
        typer.Option(
            "--self", help="Compare each annotator with their own earlier pass over the same items."
        ),
    ] = False
    gold: Annotated[
        bool,
        typer.Option(
            "--gold", help="Compare each annotator with the reference: accuracy, confusion."
        ),
    ] = False
    calibration: Annotated[
        bool,
        typer.Option(
            "--calibration",
            help="Compare annotators' confidence with how often they are right, by the reference "
            "or, without one, the majority of the others.",
        ),
    ] = False
    methods: Annotated[
        bool,
        typer.Option(
            "--methods", help="Print the methods sentences for a paper, with citation keys."
        ),
    ] = False
    bibtex: Annotated[
        bool, typer.Option("--bibtex", help="With --methods: print the BibTeX entries.")
    ] = False

    def asked(self, by: str | None) -> str | None:
        """Return the option of the question that is asked, ``--by`` among them; raises for two."""
        ways = {
            "--by": by,
            "--explain": self.explain,
            "--influence": self.influence,
            "--merge": self.merge,
            "--best-merges": self.best_merges,
            "--against": self.against,
            "--self": self.self_,
            "--gold": self.gold,
            "--calibration": self.calibration,
            "--methods": self.methods or self.bibtex,
        }
        # An empty text was given, too, and is answered like any other that means nothing.
        given = [option for option, value in ways.items() if value == "" or value]
        if self.test is not None and self.against is None:
            raise InvalidOption("--test is of a difference", "add --against OTHER, or leave it out")
        if len(given) > 1:
            raise InvalidOption(
                f"{given[0]} and {given[1]} answer different questions", "choose one"
            )
        return given[0] if given else None


@dataclass(frozen=True)
class Asked:
    """What a command was asked, of which questions, with how its answer is printed."""

    ledger: Ledger
    project: str
    asking: Asking
    output: Output
    limit: int | None = None
    questions: Sequence[str] = ()

    @property
    def by_question(self) -> bool:
        """Whether a table of several questions answers it."""
        return len(self.questions) > 1

    def print(
        self,
        data: Any,
        *,
        rows: Iterable[Mapping[str, Any]] | None = None,
        view: Iterable[RenderableType] = (),
    ) -> None:
        """Print the answer; people see which question a page is about, if there are several."""
        heading = question_heading(self.ledger, self.project, self.questions)
        print_result(data, self.output, rows=rows, view=chain(heading, view))
