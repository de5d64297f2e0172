"""What a report is made of: what was asked, and what is known of each question, as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tracker.agreement.pairs import pair_weights
from tracker.counts.choosing import Choosing
from tracker.projects.questions import are_many_numbers

if TYPE_CHECKING:
    from tracker.ledger.agreement import LedgerState

Told = dict[str, Any]
SCALES_OF_NUMBERS = {"interval", "ratio"}


@dataclass(frozen=True)
class Asked:
    """What a report is of.

    Attributes:
        project: the project's name.
        questions: the names of the questions; all for none.
        selecting: which answers, see `Choosing`.
        pseudonyms: whether annotators are numbered instead of named.
        suppress_below: figures of fewer answers or items are left out.
        texts: whether texts of items are shown.
    """

    project: str
    questions: Sequence[str] = ()
    selecting: Choosing = field(default_factory=Choosing)
    pseudonyms: bool = False
    suppress_below: int = 0
    texts: bool = True

    @property
    def chosen(self) -> bool:
        return any(value for value in self.selecting.values())


@dataclass(frozen=True)
class Without:
    """A question without the answers of those flagged: what advice on definitions rests on.

    Attributes:
        annotators: whose answers are left out.
        agreement: the figures of the others.
        confusions: their categories; None of spans.
    """

    annotators: Sequence[str]
    agreement: Told
    confusions: Told | None


@dataclass(frozen=True)
class OfQuestion:
    """What is known of one question; see the methods of the ledger for each.

    Attributes:
        name: the question's.
        settings: what it asks for.
        agreement: its figures.
        audit: the findings on its annotators.
        status: its progress; with its goal, if it has one.
        history: its curve.
        every: the period of the curve's points; None if they are snapshots.
        pairs: each two annotators; of many those who agree least.
        confusions: categories; None of spans.
        without: the same without those flagged; None if nobody is, or nothing would be left.
        models: each beside the people, category by category, with its findings.
        judges: each as a judge, versions of a family in their order.
        short: items of too few answers.
        methods: the paragraph for a paper, and the entries it cites; None if undefined.
        preferences: how strong those are that it compares; None of another question, and of too
            few answers.
    """

    name: str
    settings: Told
    agreement: Told
    audit: Told
    status: Told
    history: Told
    every: str | None
    pairs: Sequence[Told]
    confusions: Told | None
    without: Without | None
    models: Sequence[Told]
    judges: Sequence[Told]
    short: Told
    methods: Told | None
    preferences: Told | None = None

    @property
    def advised(self) -> OfQuestion:
        """The question as advice on it has it: without the answers of those flagged."""
        if self.without is None:
            return self
        agreement = {**self.agreement, **self.without.agreement}
        return replace(self, agreement=agreement, confusions=self.without.confusions)

    @property
    def thresholds(self) -> tuple[float, float]:
        """What the lower end of the main figure has to reach; see `readiness_of`."""
        tentative, good = self.agreement["readiness"]["thresholds"]
        return tentative, good

    @property
    def weights(self) -> str | None:
        """With which weights two annotators are compared: answers in order may nearly agree."""
        return pair_weights(self.settings["answers"], self.settings["scale"])

    @property
    def numbers(self) -> bool:
        """Whether answers are numbers, too many of them to be looked at one by one."""
        about = self.settings
        return are_many_numbers(about["answers"], about["scale"], len(about["categories"]))

    @property
    def categories(self) -> Sequence[Told]:
        """The figures of each category, in `order`; none of numbers."""
        return () if self.numbers else self.in_order(self.agreement["categories"])

    @property
    def order(self) -> Sequence[str]:
        """The order of the categories on the page: the declared one, else the weakest first."""
        names: Sequence[str] = self.settings["categories"]
        if self.settings["scale"] != "nominal" or self.settings["categories_closed"]:
            return names
        rates = {row["category"]: row["rate"] for row in self.agreement["categories"]}
        return sorted(names, key=lambda name: (rates.get(name) is None, rates.get(name) or 0.0))

    def in_order(self, rows: Sequence[Told]) -> Sequence[Told]:
        """Return rows by their ``category`` in `order`; others last."""
        places = {name: place for place, name in enumerate(self.order)}
        return sorted(rows, key=lambda row: places.get(row["category"], len(places)))


@dataclass(frozen=True)
class Gathered:
    """Everything that a report shows.

    Attributes:
        asked: what it is of.
        questions: the weakest first.
        unfit: questions that have no figures, and why.
        annotators: by name: kind and labels.
        flags: recorded findings of every state.
        notes: on the time line.
        state: the state of the ledger.
        database: its URL without the password.
        one_of_several: whether the project asks several questions, of this page or not.
    """

    asked: Asked
    questions: Sequence[OfQuestion]
    unfit: Sequence[Told]
    annotators: Sequence[Told]
    flags: Sequence[Told]
    notes: Sequence[Told]
    state: LedgerState
    database: str
    one_of_several: bool

    @property
    def several(self) -> bool:
        return len(self.questions) > 1
