"""Plans: how many answers it takes to know a figure as well as one wants to, and by which ways.

The error of a figure follows from what each item brings to it, which the ledger has. More items
are taken to be as those that there are; what items would bring with more answers lies within the
bounds of `tracker.measures.more_answers`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final, Literal, NamedTuple

import numpy as np
from sqlalchemy import Connection

from tracker.agreement.coefficients import (
    check_agreement_measures,
    refuse_study_of_spans,
    unknown_measure,
)
from tracker.agreement.query import Query, check_metric, sample_under_metric
from tracker.agreement.run import assess
from tracker.core import clock
from tracker.core.errors import InvalidOption
from tracker.core.results import Json, Record
from tracker.core.tallies import ItemPatterns, answers_in_pattern
from tracker.counts.annotator_patterns import select_answering_annotators
from tracker.counts.filter import select_answers
from tracker.counts.tallies import count_item_patterns
from tracker.history.status import Pace, question_pace
from tracker.measures.intervals import Coefficient
from tracker.measures.more_answers import Between, assumed_patterns
from tracker.measures.registry import MEASURES
from tracker.measures.sample import Sample, sample_for_measures
from tracker.plan.projection import (
    SEED,
    Measured,
    Projected,
    Reads,
    assurance,
    certainty,
    precision_of,
    rate_of,
    share_of,
    variance_bounds,
)
from tracker.projects.categories import category_names, find_category
from tracker.projects.goals import Want
from tracker.projects.questions import QuestionInfo

WAYS: Final = ("more_items", "more_answers", "both")
_MOST_ANSWERS = 10  # to an item, or twice those of today
_UNKNOWN: Final[dict[str, Any]] = dict.fromkeys(
    ("answers_low", "answers_high", "half_width_low", "half_width_high")
)
_SMALL = 0.01  # a half-width
_SURE = 0.95  # that the bounds of a half-width, and of the answers to collect, hold

# -- What is assumed, if there are no answers ----------------------------------------------------


class Assumed(NamedTuple):
    """What is expected of a project without answers: alpha, and each category's share."""

    alpha: float
    shares: Sequence[float]


_MEND = "such as: --assume alpha=.6,prevalence=.2"


def read_assumed(text: str) -> Assumed:
    """Return what ``alpha=.6,prevalence=.2`` says; raises InvalidOption.

    A single share is that of one of two categories; of more, the last may be left out.
    """
    parts = dict(part.partition("=")[::2] for part in text.replace(" ", "").split(","))
    if {*parts} != {"alpha", "prevalence"}:
        raise InvalidOption(f"--assume {text!r} does not say alpha and prevalence", _MEND)
    try:
        alpha = float(parts["alpha"])
        shares = [float(share) for share in parts["prevalence"].split("/")]
    except ValueError:
        raise InvalidOption(f"--assume {text!r} has something that is no number", _MEND) from None
    if len(shares) == 1 or sum(shares) < 1 - 1e-9:
        shares.append(1 - sum(shares))
    if not 0 < alpha < 1:
        raise InvalidOption("--assume: alpha is between 0 and 1", _MEND)
    if min(shares) <= 0 or not math.isclose(sum(shares), 1):
        raise InvalidOption("--assume: shares are above 0, and add up to 1 at most", _MEND)
    return Assumed(alpha, shares)


@dataclass(frozen=True)
class Now(Record):
    """A figure as it is, and what it rests on; a half-width is half that of its interval."""

    value: float | None
    half_width: float | None
    items: int
    answers_per_item: float


@dataclass(frozen=True)
class Way(Record):
    """A way to get to the wanted half-width.

    Attributes:
        way: more items with as many answers as those of today, more answers to the items that
            there are, or other numbers of both.
        items: the items in all.
        answers_per_item: the answers to each new item, and at least to each of today's.
        answers: the answers to collect.
        answers_low, answers_high: the bounds of what it takes; None if there is none, or if it may
            take more than this way can give.
        half_width: the one expected, with its bounds; None if nothing says how sure it is.
        cost: of the answers, if the cost of one is known.
        ready_on: the day on which they are there at the pace of today.
    """

    way: Literal["more_items", "more_answers", "both"]
    items: int
    answers_per_item: float
    answers: int
    answers_low: int | None
    answers_high: int | None
    half_width: float
    half_width_low: float | None
    half_width_high: float | None
    cost: float | None
    ready_on: str | None


@dataclass(frozen=True)
class Bought(Record):
    """What some answers more would gain, given to new items or to today's."""

    way: Literal["more_items", "more_answers"]
    answers: int
    half_width: float


def half_width_text(half_width: float | None) -> str:
    """Return a half-width with its sign, a small one with two digits that say something."""
    if half_width is None:
        return "-"
    return f"±{half_width:.3f}" if half_width >= _SMALL else f"±{half_width:.2g}"


@dataclass(frozen=True)
class LeftOut(Record):
    """A way that does not lead there, and why."""

    way: str
    why: str


@dataclass(frozen=True)
class Plan(Record):
    """What it takes to know a figure as well as is wanted: the ways there, the cheapest first."""

    project: str | None
    question: str | None
    measure: str
    confidence: float
    now: Now
    wanted: float
    reached: bool
    ways: Sequence[Way]
    left_out: Sequence[LeftOut]
    buys: Annotated[Sequence[Bought], Json("next")]
    pace: Pace | None
    assumed: Mapping[str, Any] | None


class Costs(NamedTuple):
    """What an answer costs, how many more are asked about, and when more of them are there."""

    each: float | None
    buy: int
    when_there: Callable[[int], int | None] = lambda _: None


def make_plan(
    connection: Connection, question: QuestionInfo, query: Query, want: Want, costs: Costs
) -> Plan:
    """Return the plan of a question.

    Raises InvalidOption for a figure that does not fit it, or of which there is none yet.
    """
    ways: _MoreItems | Ways
    pace = question_pace(connection, question)
    if pace is not None:
        costs = costs._replace(when_there=pace.when_there)
    if want.category is None and (
        question.answers == "spans" or _needs(want.measure) != "patterns"
    ):
        now, ways = _of_whole(connection, question, query, want, costs)
    else:
        now, ways = _of_patterns(connection, question, query, want, costs)
    reached = now.half_width is not None and now.half_width <= want.half_width
    names = question.project.name, question.name, want.name
    every = ways.all() if not reached else ()
    return Plan(*names, query.confidence, now, want.half_width, reached, every,
                ways.left_out, ways.buys(), pace, None)  # fmt: skip


def make_pilot_plan(
    assumed: Assumed, answers: int, want: Want, costs: Costs, confidence: float
) -> Plan:
    """Return the plan of a project that has no answers yet, with so many to each item.

    Raises InvalidOption for a figure that needs more than the answers of each item.
    """
    if want.category is not None or _needs(want.measure) != "patterns":
        raise InvalidOption(f"--pilot cannot plan {want.name}", "such as: --want 'alpha +-0.05'")
    categories = [*range(1, len(assumed.shares) + 1)]

    def read(patterns: ItemPatterns) -> Sample:
        return sample_for_measures(
            patterns, answers, categories=categories, declared=True, values={},
            weighting="identity", by_rank=False, scale="nominal", several=False, ordered=False,
        )  # fmt: skip

    def drawn(number: int) -> ItemPatterns:
        generator = np.random.default_rng([SEED, number])
        return assumed_patterns(assumed.shares, assumed.alpha, number, generator)

    measured = _measured(want, None, read)
    projected = Projected(measured, confidence, drawn(answers), drawn)
    now = Now(assumed.alpha, None, 0, float(answers))
    ways = Ways(projected, now, {}, None, want, costs)
    told = {"alpha": assumed.alpha, "prevalence": list(assumed.shares)}
    return Plan(None, None, want.name, confidence, now, want.half_width, False,
                ways.all(), ways.left_out, (), None, told)  # fmt: skip


def _needs(measure: str) -> str:
    if measure not in MEASURES:
        raise unknown_measure(measure, [*MEASURES])
    return MEASURES[measure].needs


def _measured(want: Want, category: int | None, read: Reads) -> Measured:
    if category is not None:
        return (rate_of if want.measure == "rate" else share_of)(category, read)
    function = MEASURES[want.measure].function
    assert function is not None
    return lambda patterns: function(read(patterns))


def _of_patterns(
    connection: Connection, question: QuestionInfo, query: Query, want: Want, costs: Costs
) -> tuple[Now, Ways]:
    """Return a figure that follows from the items' patterns, and the ways of it."""
    refuse_study_of_spans(question)
    names = category_names(connection, question)
    check_metric(question, names, query.metric)
    category = None
    if want.category is None:
        check_agreement_measures(question, (want.measure,), query.metric, few=True)
    else:
        category = find_category(connection, question, want.category)
    selection = select_answers(connection, question, query.filter)
    patterns = count_item_patterns(connection, selection)
    people = len(select_answering_annotators(connection, selection))

    def read(some: ItemPatterns) -> Sample:
        return sample_under_metric(question, names, some, people, query.metric)

    measured = _measured(want, category, read)
    if precision_of(patterns, measured, query.confidence) is None:
        raise _no_error_yet(want)
    projected = Projected(measured, query.confidence, patterns)
    estimate = projected.today.estimate
    figure = estimate.coefficient(query.confidence, query.interval)
    now = _now(figure, patterns.items, patterns.answers)
    sizes: Counter[int] = Counter()
    for pattern, items in patterns:
        sizes[answers_in_pattern(pattern)] += items
    return now, Ways(projected, now, sizes, certainty(estimate), want, costs)


def _of_whole(
    connection: Connection, question: QuestionInfo, query: Query, want: Want, costs: Costs
) -> tuple[Now, _MoreItems]:
    """Return a figure that does not, such as those of pairs and of spans: of it more items tell."""
    asked = replace(query, measures=(want.measure,))
    assessment = assess(connection, question, asked)
    figure = next((row for row in assessment.measures if row.measure == want.measure), None)
    if figure is None or figure.value is None or figure.ci_high is None:
        raise _no_error_yet(want)
    now = _now(figure, assessment.counts.items, assessment.counts.answers)
    return now, _MoreItems(now, want, costs)


def _now(figure: Coefficient, items: int, answers: int) -> Now:
    half_width = None
    if figure.ci_low is not None and figure.ci_high is not None:
        half_width = (figure.ci_high - figure.ci_low) / 2
    return Now(figure.value, half_width, items, answers / max(items, 1))


def _no_error_yet(want: Want) -> InvalidOption:
    return InvalidOption(
        f"{want.name} has no error yet, from which a plan would follow",
        "before there are answers: tracker plan --pilot --assume alpha=.6,prevalence=.2 "
        "--want 'alpha +-0.05'",
    )


class _MoreItems:
    """The way of more items of a figure whose error falls with the root of their number."""

    def __init__(self, now: Now, want: Want, costs: Costs) -> None:
        self._now, self._want, self._costs = now, want, costs
        self.left_out = [
            LeftOut(way, f"{want.name} does not follow from how many gave an item which answer")
            for way in WAYS[1:]
        ]

    def all(self) -> list[Way]:
        now = self._now
        assert now.half_width is not None
        items = math.ceil(now.items * (now.half_width / self._want.half_width) ** 2)
        answers = math.ceil((items - now.items) * now.answers_per_item)
        half_width = self._want.half_width
        return [_way("more_items", items, now.answers_per_item, answers, (None, None),
                     (half_width, None, None), self._costs)]  # fmt: skip

    def buys(self) -> list[Bought]:
        now, buy = self._now, self._costs.buy
        assert now.half_width is not None
        items = now.items + buy / now.answers_per_item
        return [Bought("more_items", buy, now.half_width * math.sqrt(now.items / items))]


def _way(
    way: Any,
    items: int,
    each: float,
    answers: int,
    bounds: tuple[int | None, int | None],
    half_width: tuple[float, float | None, float | None],
    costs: Costs,
) -> Way:
    """Return a way with its cost, and when it is done."""
    ready = costs.when_there(answers)
    ready_on = None if ready is None else str(clock.date_of_number(ready // clock.DAY))
    cost = None if costs.each is None else answers * costs.each
    expected, low, high = half_width
    return Way(way, items, each, answers, *bounds, expected, low, high, cost, ready_on)


class Ways:
    """The ways of a figure that follows from the items' patterns."""

    def __init__(
        self,
        projected: Projected,
        now: Now,
        sizes: Mapping[int, int],
        freedom: float | None,
        want: Want,
        costs: Costs,
    ) -> None:
        """``sizes`` are today's items by their answers; ``freedom`` that of the figure's error.

        If there is none, as nothing is known but what was assumed, nothing has bounds.
        """
        self._projected, self._now, self._want, self._costs = projected, now, want, costs
        self._sizes = sizes
        self._sure, self._known = freedom is not None, variance_bounds(freedom, _SURE)
        self._goal = want.half_width * assurance(freedom)
        self.left_out: list[LeftOut] = []

    def all(self) -> list[Way]:
        """Return the ways that lead there, the cheapest first."""
        every = [self._with_new_items(None), self._more_answers(), self._both()]
        ways = sorted(filter(None, every), key=lambda way: way.answers)
        return ways if self._sure else [replace(way, **_UNKNOWN) for way in ways]

    def _with_new_items(self, answers: int | None) -> Way | None:
        """Return the way of new items with so many answers each, or as many as those of today."""
        now, today = self._now, self._projected.today
        each = now.answers_per_item if answers is None else answers
        own = Between.exactly(today.variance)
        then = own if answers is None else self._projected.variance(answers)
        # Today's items are topped up if that makes them better.
        topped_up = self._missing(answers)
        first = then if topped_up and answers is not None else own

        def needed(half_width: float, bound: str, times: float = 1.0) -> int | None:
            variances = getattr(first, bound) * times, getattr(then, bound) * times
            items = today.items_for(half_width, now.items, *variances)
            return None if items is None else math.ceil(items - 1e-6)

        def to_collect(items: int | None) -> int | None:
            return None if items is None else math.ceil((items - now.items) * each) + topped_up

        items = needed(self._goal, "expected")
        if items is None or (answers is not None and items <= now.items):
            return None
        low, high = self._known

        def half_width(bound: str, times: float = 1.0) -> float:
            old, new = getattr(first, bound), getattr(then, bound)
            mean = (now.items * old + (items - now.items) * new) / items
            return today.half_width(items, mean * times)

        goal = self._want.half_width
        return _way(
            "more_items" if answers is None else "both", items, each, to_collect(items) or 0,
            (to_collect(needed(goal, "low", low)), to_collect(needed(goal, "high", high))),
            (half_width("expected"), half_width("low", low), half_width("high", high)),
            self._costs,
        )  # fmt: skip

    def _more_answers(self) -> Way | None:
        """Return the way of the fewest answers to each of today's items that are enough."""
        if not self._now.items:
            return None
        low, high = self._known
        choices, goal = self._choices, self._want.half_width

        def enough(half_width: float, bound: str, times: float = 1.0) -> int | None:
            return next((n for n in choices if self._half_width(n, bound, times) <= half_width),
                        None)  # fmt: skip

        answers = enough(self._goal, "expected")
        if answers is None:
            left = self._half_width(choices[-1], "expected")
            self.left_out.append(LeftOut("more_answers", (
                f"even {choices[-1]} answers to each of the {self._now.items:,} items are expected "
                f"to leave {half_width_text(left)}"
            )))  # fmt: skip
            return None
        fewest, most = enough(goal, "low", low), enough(goal, "high", high)
        return _way(
            "more_answers", self._now.items, answers, self._missing(answers),
            (None if fewest is None else self._missing(fewest),
             None if most is None else self._missing(most)),
            (self._half_width(answers, "expected"), self._half_width(answers, "low", low),
             self._half_width(answers, "high", high)),
            self._costs,
        )  # fmt: skip

    def _both(self) -> Way | None:
        """Return the cheapest of the ways of new items with another number of answers."""
        today = round(self._now.answers_per_item)
        ways = [self._with_new_items(answers) for answers in range(2, self._most + 1)
                if answers != today]  # fmt: skip
        return min(filter(None, ways), key=lambda way: way.answers, default=None)

    @property
    def _most(self) -> int:
        return max(_MOST_ANSWERS, 2 * math.ceil(self._now.answers_per_item))

    @property
    def _choices(self) -> range:
        """Numbers of answers by which today's items can be topped up."""
        return range(max(math.floor(self._now.answers_per_item), 1) + 1, self._most + 1)

    def _half_width(self, answers: int, bound: str, times: float = 1.0) -> float:
        variance = getattr(self._projected.variance(answers), bound) * times
        return self._projected.today.half_width(self._now.items, variance)

    def _missing(self, answers: int | None) -> int:
        """Return how many answers today's items lack of so many to each."""
        return sum(max((answers or 0) - size, 0) * items for size, items in self._sizes.items())

    def buys(self) -> list[Bought]:
        """Return what some answers more would gain."""
        now, buy, today = self._now, self._costs.buy, self._projected.today
        items = now.items + buy / now.answers_per_item
        bought = [Bought("more_items", buy, today.half_width(items))]
        before, given = today.variance, 0
        for answers in self._choices:
            variance, missing = self._projected.variance(answers).expected, self._missing(answers)
            if buy <= missing:
                part = (buy - given) / (missing - given)
                half_width = today.half_width(now.items, before + (variance - before) * part)
                return [*bought, Bought("more_answers", buy, half_width)]
            before, given = variance, missing
        return bought
