"""What a model's answers are worth for a figure about all items: a share, or a mean of numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from operator import attrgetter
from shlex import quote
from typing import Annotated, Any, Final, NamedTuple

from sqlalchemy import Connection

from tracker.core.errors import InvalidOption, NoBasis
from tracker.core.results import Json, Record
from tracker.core.tallies import Answer, answers_in_pattern
from tracker.counts.filter import AnswerFilter, select_answers
from tracker.judge.asking import TUNING, USED_FOR
from tracker.judge.cells import (
    BY_MODEL,
    LATER,
    NOT_DRAWN,
    Cell,
    Cells,
    people_gave,
    people_number,
    share_of_equal_pairs,
)
from tracker.judge.panel_sql import count_panel, select_draws, without_tuning
from tracker.measures.intervals import check_confidence
from tracker.measures.prediction_powered import (
    Corrected,
    Estimated,
    PredictionPowered,
    Stratified,
    Stratum,
    human_only,
    neyman_allocation,
    prediction_powered_mean,
    rogan_gladen_share,
    stratified_mean,
)
from tracker.projects.annotators import find_models
from tracker.projects.categories import category_names, find_category
from tracker.projects.items import count_items_with_attribute
from tracker.projects.names import is_numeric_category_name
from tracker.projects.questions import QuestionInfo
from tracker.render.nouns import count_noun

NEXT: Final = 100  # human answers that are shared out
FEW_DIFFER, FEW_RARE = 10, 20  # items that differ, or have the rarer label: benchmarks/estimates.py
DRAWN_BY_MODEL: Final = "drawn_by_model"
ONLY_SHARES: Final = "only_shares"
NO_PREDICTION: Final = "no_prediction"
SHARE, MEAN, AGREEMENT = "share", "mean", "agreement"
ASSUMES: Final = {
    "human_only": "labelled items drawn at random from all",
    "prediction_powered": "labelled items drawn at random from all",
    "corrected": "the model errs as often on other items",
    "stratified": "drawn at random within each answer",
}


@dataclass(frozen=True)
class StratumShown(Record):
    """The items that the model gave one answer.

    Attributes:
        answer: the model's.
        items: how many have it.
        labeled: how many of them people answered.
        value: the figure among those; None if there are none.
        next: how many of the next `NEXT` human answers are best spent on them; None of a mean.
    """

    answer: str
    items: int
    labeled: int
    value: float | None
    next: int | None


@dataclass(frozen=True)
class ItemsLeftOut(Record):
    """Items that are in no estimate.

    Attributes:
        tuning: used to tune what the model is asked.
        undecided: people answered them, and are tied.
        without_model: people answered them, the model did not.
        later: they came after the draw, which could not choose them.
    """

    tuning: int
    undecided: int
    without_model: int
    later: int


@dataclass(frozen=True)
class Estimate(Record):
    """A figure of the population that the items are from, estimated in several ways.

    Attributes:
        project, question, model: by name.
        measure: "share" of items that have the category, "mean" of numbers, or "agreement": the
            mean share of the pairs of an item's people who gave the same answer.
        category: None but of a share.
        confidence: the level of the intervals.
        drawn: how it is known that labelled items were drawn: "said", "random" or "by_model".
        items: how many the model answered.
        labeled: how many of them people answered, too.
        differ: on how many of those the model and people differ; 0 of an agreement.
        unanswered: how many were drawn and not answered yet.
        human_only, prediction_powered, corrected, stratified: the estimates.
        strata: the items by the model's answer.
        left_out: items that are in no estimate.
    """

    project: str
    question: str
    model: str
    measure: str
    category: str | None
    confidence: float
    drawn: str
    items: int
    labeled: int
    differ: int
    unanswered: int
    human_only: Estimated
    prediction_powered: PredictionPowered
    corrected: Corrected
    stratified: Stratified
    strata: tuple[StratumShown, ...]
    left_out: ItemsLeftOut

    @property
    def assumes(self) -> Annotated[Mapping[str, str], Json()]:
        return ASSUMES


@dataclass(frozen=True)
class _Sorted:
    """The cells of a tally, sorted by what they are for an estimate.

    Attributes:
        labeled: ``{(number by the model, number by people): items}``.
        unlabeled: ``{number by the model: items}``.
        strata: by the model's answer.
        fates: what became of the other items, and of those that were drawn.
    """

    labeled: Counter[tuple[float, float]]
    unlabeled: Counter[float]
    strata: dict[Answer, Stratum]
    fates: Counter[str]


_By = Callable[[Cell], float | None]


class _Readers(NamedTuple):
    """What reads the model's number in a cell, the people's, and whether people gave a label."""

    by_model: _By
    by_people: _By
    is_labeled: Callable[[Cell], bool] = attrgetter("is_answered")


def estimate(
    connection: Connection,
    question: QuestionInfo,
    model: str,
    category: str | None,
    choice: AnswerFilter,
    *,
    measure: str = SHARE,
    random: bool = False,
    confidence: float = 0.95,
) -> Estimate:
    """Return a share, a mean or an agreement as people's and a model's answers have it.

    Raises InvalidOption for what does not fit, NoBasis if it is not known that the labelled items
    were drawn at random.
    """
    check_confidence(confidence)
    readers = _readers(connection, question, category, measure)
    (whose,) = find_models(connection, question.project, [model])
    people = without_tuning(select_answers(connection, question, choice))
    draws = None
    if not random:
        draws = select_draws(connection, question, whose.id)
        if not draws.random and not draws.by_model:
            raise NoBasis(
                "it is not known that the items that people answered were drawn at random",
                f"if they were: --random; to draw some: tracker assign "
                f"{quote(question.project.name)} --prefer random",
            )
    cells = count_panel(connection, people, [whose.id], draws)
    known = _sort(cells, readers)
    drawn = "said" if random else _check_drawn(question, known)
    share = measure == SHARE
    if drawn == "by_model":
        alone = Estimated(undefined=DRAWN_BY_MODEL)
        powered = PredictionPowered(undefined=DRAWN_BY_MODEL)
        corrected = Corrected(undefined=DRAWN_BY_MODEL)
    else:
        labels = Counter[float]()
        for (_, true), number in known.labeled.items():
            labels[true] += number
        alone = human_only(labels, confidence, share=share)
        powered = (
            PredictionPowered(undefined=NO_PREDICTION)
            if measure == AGREEMENT
            else prediction_powered_mean(known.labeled, known.unlabeled, confidence, share=share)
        )
        corrected = Corrected(undefined=ONLY_SHARES)
        if share:
            corrected = rogan_gladen_share(known.labeled, known.unlabeled, confidence)
    names = category_names(connection, question)
    titled = {
        "|".join(names[number] for number in answer) or "(none)": stratum
        for answer, stratum in known.strata.items()
    }
    stratified = stratified_mean(titled, confidence, share=share)
    return Estimate(
        question.project.name, question.name, whose.name, measure, category,
        confidence, drawn, known.labeled.total() + known.unlabeled.total(), known.labeled.total(),
        0 if measure == AGREEMENT else sum(
            number for (given, true), number in known.labeled.items() if given != true
        ),
        known.fates["unanswered"], alone, _worth(powered, alone), corrected,
        _worth(stratified, alone), _strata(titled, share=share),
        ItemsLeftOut(count_items_with_attribute(connection, question.project, USED_FOR, TUNING),
                *(known.fates[fate] for fate in ("undecided", "without_model", "later"))),
    )  # fmt: skip


def _readers(
    connection: Connection, question: QuestionInfo, category: str | None, measure: str
) -> _Readers:
    if question.answers == "spans":
        raise InvalidOption(
            f"{question.description} of spans, has no share of items", "name another question"
        )
    if measure == SHARE:
        if category is None:
            raise InvalidOption("whose share is to be estimated?", "name it: --category NAME")
        number = find_category(connection, question, category)
        return _Readers(
            lambda cell: None if cell.models[0] is None else float(number in cell.models[0]),
            lambda cell: people_gave(cell, number),
        )
    names = category_names(connection, question)
    if category is not None:
        raise InvalidOption(
            f"--{measure} is of all categories", f"leave out --category, or --{measure}"
        )
    if measure == AGREEMENT:
        return _Readers(
            lambda cell: None if cell.models[0] is None else 0.0,
            lambda cell: share_of_equal_pairs(cell.people),
            lambda cell: answers_in_pattern(cell.people) > 1,
        )
    if question.answers != "one" or not all(map(is_numeric_category_name, names.values())):
        raise InvalidOption(
            f"the categories of {question.title!r} are no numbers", "a share: --category NAME"
        )
    numbers = {place: float(name) for place, name in names.items()}
    return _Readers(
        lambda cell: None if cell.models[0] is None else numbers[cell.models[0][0]],
        lambda cell: people_number(cell, numbers),
    )


def _sort(cells: Cells, of: _Readers) -> _Sorted:
    known = _Sorted(Counter(), Counter(), {}, Counter())
    labels: dict[Answer, Counter[float]] = {}
    items: Counter[Answer] = Counter()
    for cell, number in cells.items():
        answer, given, true = cell.models[0], of.by_model(cell), of.by_people(cell)
        fate = None
        if answer is None or given is None:
            fate = "without_model" if cell.is_answered else None
        elif cell.drawn == LATER:
            fate = "later"
        elif not of.is_labeled(cell):
            fate = "unanswered" if cell.drawn != NOT_DRAWN else None
            known.unlabeled[given] += number
            items[answer] += number
        elif true is None:
            fate = "undecided"
        else:
            fate = {NOT_DRAWN: "otherwise", BY_MODEL: "by_model"}.get(cell.drawn)
            known.labeled[given, true] += number
            items[answer] += number
            labels.setdefault(answer, Counter())[true] += number
        if fate is not None:
            known.fates[fate] += number
    for answer in sorted(items):
        known.strata[answer] = Stratum(items[answer], labels.get(answer, {}))
    return known


def _check_drawn(question: QuestionInfo, known: _Sorted) -> str:
    """Return how the labelled items were drawn; raises NoBasis if some came otherwise."""
    otherwise, every = known.fates["otherwise"], known.labeled.total()
    if otherwise:
        raise NoBasis(
            f"{otherwise:,} of the {count_noun(every, 'item')} that people answered were not drawn "
            "at random before",
            "if they were all the same: --random; else choose the others: --where",
        )
    return "by_model" if known.fates["by_model"] else "random"


def _worth(of: Any, alone: Estimated) -> Any:
    """Return an estimate of a mean with what it is worth: by the widths of two intervals."""
    if of.value is None or of.worth is not None or alone.worth is None:
        return of
    widths = alone.ci_high - alone.ci_low, of.ci_high - of.ci_low  # type: ignore[operator]
    return replace(
        of, worth=round(alone.worth * (widths[0] / widths[1]) ** 2) if widths[1] else None
    )


def _strata(strata: Mapping[str, Stratum], *, share: bool) -> tuple[StratumShown, ...]:
    more = neyman_allocation([*strata.values()], NEXT) if share else [None] * len(strata)
    return tuple(
        StratumShown(
            answer, of.items, of.labeled,
            sum(value * number for value, number in of.labels.items()) / of.labeled
            if of.labeled else None,
            next_,
        )
        for (answer, of), next_ in zip(strata.items(), more, strict=True)
    )  # fmt: skip


def strata_for_draw(
    connection: Connection, question: QuestionInfo, model: int, category: str
) -> dict[Answer, Stratum]:
    """Return the items by a model's answer, with the people's answers about a category."""
    readers = _readers(connection, question, category, SHARE)
    people = without_tuning(select_answers(connection, question))
    return _sort(count_panel(connection, people, [model]), readers).strata
