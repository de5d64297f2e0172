"""Options that choose which answers are counted, as every command that counts takes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from tracker.cli.context import LARGEST
from tracker.cli.output import Output, print_result
from tracker.core.errors import InvalidOption

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tracker.ledger import Asking, Computing, Ledger, Selecting


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


# -- Options that say what is asked about agreement, and how it is to be read ---------------------


MOST_SAMPLES = 1_000_000


@dataclass(frozen=True)
class MetricOptions:
    """What counts as agreement, and how sure a figure is."""

    TITLE: ClassVar = "How figures are computed"

    confidence: Annotated[
        float, typer.Option(help="Confidence level of the intervals.", show_default=True)
    ] = 0.95
    weights: Annotated[
        str | None,
        typer.Option(
            metavar="identity|linear|quadratic|ordinal",
            help="Weights for partial agreement: by the categories' numbers or, on an "
            "ordinal scale, their ranks.",
        ),
    ] = None
    scale: Annotated[
        str | None,
        typer.Option(
            "--scale",
            metavar="nominal|ordinal|interval|ratio",
            help="Treat the categories as being on this scale.",
        ),
    ] = None
    distance: Annotated[
        str | None,
        typer.Option(
            metavar="exact|jaccard|masi",
            help="Distance between sets of categories, for alpha. Default: exact.",
        ),
    ] = None

    @property
    def keywords(self) -> Computing:
        """The options as keyword arguments of the ledger."""
        return {
            "confidence": self.confidence,
            "weights": self.weights,
            "scale": self.scale,
            "distance": self.distance,
        }


@dataclass(frozen=True)
class FigureOptions(MetricOptions):
    """Likewise, with the method of the intervals."""

    interval: Annotated[
        str,
        typer.Option(
            metavar="asymmetric|t",
            help="Interval method: asymmetric (also reliable for few items) or Student's t.",
        ),
    ] = "asymmetric"

    @property
    def keywords(self) -> Computing:
        """Likewise."""
        return {**super().keywords, "interval": self.interval}


@dataclass(frozen=True)
class UncertaintyOptions:
    """Errors other than those of independent items."""

    TITLE: ClassVar = "Errors and intervals"

    bootstrap: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            max=MOST_SAMPLES,
            help="Errors and intervals from N bootstrap samples of the items.",
        ),
    ] = None
    seed: Annotated[
        int, typer.Option(metavar="N", max=LARGEST, help="Random seed for the bootstrap.")
    ] = 0
    resample: Annotated[
        str,
        typer.Option(
            metavar="items|annotators",
            help="What the errors generalize to: other items, or other annotators (jackknife).",
        ),
    ] = "items"
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="ATTRIBUTE",
            help="Attribute that groups similar items, such as a document; errors "
            "allow for the groups.",
        ),
    ] = None

    @property
    def keywords(self) -> Asking:
        """The options as keyword arguments of the ledger."""
        return {
            "bootstrap": self.bootstrap,
            "seed": self.seed,
            "resample": self.resample,
            "cluster": self.cluster,
        }


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
