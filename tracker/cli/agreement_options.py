"""Options that say what is asked about agreement, and how it is to be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from tracker.cli.project_options import LARGEST
from tracker.core.errors import InvalidOption

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from tracker.agreement import Question, Uncertainty
    from tracker.ledger import Ledger
    from tracker.projects.project import ProjectInfo

__all__ = [
    "Against",
    "Asked",
    "BestMerges",
    "Bibtex",
    "Bootstrap",
    "Cluster",
    "Distance",
    "Explain",
    "Gold",
    "InfluenceOf",
    "Merges",
    "Methods",
    "ReadAs",
    "Resample",
    "Seed",
    "Self",
    "Weights",
    "only_one",
    "refuse_unused",
]

MOST_SAMPLES = 1_000_000

Weights = Annotated[
    str | None,
    typer.Option(
        metavar="identity|linear|quadratic|ordinal",
        help="Weights for partial agreement: by the categories' numbers or, on an "
        "ordinal scale, their ranks.",
    ),
]
ReadAs = Annotated[
    str | None,
    typer.Option(
        "--scale",
        metavar="nominal|ordinal|interval|ratio",
        help="Treat the categories as being on this scale.",
    ),
]
Distance = Annotated[
    str | None,
    typer.Option(
        metavar="exact|jaccard|masi",
        help="Distance between sets of categories, for alpha. Default: exact.",
    ),
]
Bootstrap = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        max=MOST_SAMPLES,
        help="Errors and intervals from N bootstrap samples of the items.",
    ),
]
Seed = Annotated[int, typer.Option(metavar="N", max=LARGEST, help="Random seed for the bootstrap.")]
Resample = Annotated[
    str,
    typer.Option(
        metavar="items|annotators",
        help="What the errors generalise to: other items, or other annotators (jackknife).",
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="ATTRIBUTE",
        help="Attribute that groups similar items, such as a document; errors "
        "allow for the groups.",
    ),
]
Merges = Annotated[
    list[str] | None,
    typer.Option(
        "--merge", metavar="A+B", help="Figures with these categories merged (repeatable)."
    ),
]
BestMerges = Annotated[
    bool,
    typer.Option("--best-merges", help="Find the two categories that are hardest to tell apart."),
]
InfluenceOf = Annotated[
    str | None,
    typer.Option(
        "--influence",
        metavar="annotator|item|category",
        help="Show how the coefficient changes without each one.",
    ),
]


def full_name_of_one(name: str | None) -> str | None:
    """A measure as it is called in full."""
    if name is None:
        return None
    from tracker.measures.short_names import full_name

    return full_name(name)


Explain = Annotated[
    str | None,
    typer.Option(
        metavar="MEASURE",
        callback=full_name_of_one,
        help="Show what a figure is computed from, what was left out, and the formula.",
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
Methods = Annotated[
    bool,
    typer.Option("--methods", help="Print the methods sentences for a paper, with citation keys."),
]
Bibtex = Annotated[bool, typer.Option("--bibtex", help="With --methods: print the BibTeX entries.")]
Self = Annotated[
    bool,
    typer.Option(
        "--self", help="Compare each annotator with their own earlier pass over the same items."
    ),
]
Gold = Annotated[
    bool,
    typer.Option("--gold", help="Compare each annotator with the reference: accuracy, confusion."),
]
Against = Annotated[
    str | None,
    typer.Option(
        metavar="OTHER",
        help="Test the difference to another project, or to other answers of this "
        "one: pilot, 'annotator=ann annotator=bob', 'until=2026-03-01'.",
    ),
]


_READINGS: Final = ("--weights", "--scale", "--distance")
_NOT_USED: Final = {
    "--gold": ("--measure", *_READINGS, "--interval"),
    "--by annotator": ("--measure", *_READINGS, "--interval"),
    "--by item": ("--measure", *_READINGS, "--interval"),
    "--influence": ("--interval",),
    "--best-merges": ("--interval",),
    "--against": ("--interval",),
    "--explain": ("--measure",),
}


def refuse_unused(way: str, question: Question) -> None:
    """Raise InvalidOption for an option that would not change what this way answers."""
    reading = question.reading
    given = {
        "--measure": question.measures,
        "--weights": reading.weights,
        "--scale": reading.scale,
        "--distance": reading.distance,
        "--interval": question.interval != type(question).interval,
    }
    for option in _NOT_USED.get(way, ()):
        if given[option]:
            raise InvalidOption(f"{way} does not depend on {option}", f"leave out: {option}")
    if way in {"--influence", "--best-merges"} and len(question.measures) > 1:
        raise InvalidOption(f"{way} is of one measure", "give one --measure, or none")


def only_one(ways: dict[str, Any]) -> str | None:
    """Which of the options that answer different questions was given; raises for two."""
    # An empty text was given, too, and is answered like any other that means nothing.
    given = [option for option, value in ways.items() if value == "" or value]
    if len(given) > 1:
        raise InvalidOption(f"{given[0]} and {given[1]} answer different questions", "choose one")
    return given[0] if given else None


@dataclass(frozen=True)
class Asked:
    """What a command was asked, with how its answer is printed."""

    ledger: Ledger
    project: str
    question: Question
    uncertainty: Uncertainty
    as_json: bool
    as_csv: bool
    limit: int | None = None

    def reading(self) -> AbstractContextManager[tuple[Any, ProjectInfo]]:
        """A connection that sees the state asked about, and the project."""
        return self.ledger.reading(self.project, self.question.choice)

    @property
    def ways(self) -> dict[str, bool]:
        """How to print, as `show` takes it."""
        return {"as_json": self.as_json, "as_csv": self.as_csv}
