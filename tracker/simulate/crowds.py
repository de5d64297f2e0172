"""Crowds of honest annotators with others planted among them."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

from tracker.core.errors import InvalidOption
from tracker.simulate.roster import (
    DEFAULT_ROSTER,
    Group,
    Kind,
    Roster,
    Row,
    check_simulated_number,
    draw_simulated_choice,
    require_for_simulation,
    roster_name_width,
    roster_numbers,
    roster_seatings,
    simulation_random,
)

LAZY_SHARE: Final = 0.99


def simulate_crowd(
    items: int = 1000,
    seed: int = 0,
    annotators: Sequence[Group] = DEFAULT_ROSTER,
    *,
    answers_per_item: int = 5,
    categories: Sequence[str] = ("negative", "positive"),
    shares: Sequence[float] | None = None,
    accuracy: float = 0.8,
    spread: float = 0.0,
    constant: str | None = None,
) -> Iterator[Row]:
    """Return the answers of a crowd of honest annotators of equal skill and of planted bad ones.

    Annotators are named by kind and number: ``annotator 01``, ``constant 1``, ``random 1``,
    ``copier 1``, ``lazy 1``. Copier n copies honest annotator n, counted round where there are
    fewer; the two are given the same items, as far as an item takes as many answers, and the
    copier answers honestly where they are not. Who answers an item is random, but all are
    given nearly as many items.

    Args:
        items: How many items, 1 or more.
        seed: Any integer; another one gives another draw.
        annotators: Who takes part. Groups of one kind are added together.
        answers_per_item: Different annotators per item, 1 or more; all where there are fewer.
        categories: Two names or more, each once.
        shares: How common each category is among the truths, as numbers in proportion,
            in the order of ``categories``; None for all alike.
        accuracy: The probability that an honest answer is the truth, averaged over items.
        spread: How far items differ in difficulty: an item's own accuracy is drawn evenly
            from ``accuracy`` less ``spread`` to ``accuracy`` plus ``spread``.
        constant: What the constant ones give; None for the last of ``categories``.

    Returns:
        Rows item by item, in the items' order; ``gold`` is the item's truth.

    Raises:
        InvalidOption: An argument is outside what is said above.
    """
    check_simulated_number(items, "items")
    check_simulated_number(answers_per_item, "answers per item")
    _check_accuracy(accuracy, spread)
    names = tuple(categories)
    plan = _Plan(
        categories=names,
        shares=(1.0,) * len(names) if shares is None else tuple(shares),
        accuracy=accuracy,
        spread=spread,
        constant="".join(names[-1:]) if constant is None else constant,
    )
    _check_categories(plan)
    roster = Roster(roster_numbers(annotators))
    return _crowd_rows(items, answers_per_item, roster, plan, simulation_random("crowd", seed))


def _check_categories(plan: _Plan) -> None:
    names, shares = plan.categories, plan.shares
    distinct = len(names) > 1 and len(set(names)) == len(names) and "" not in names
    message = "a crowd needs two categories or more, none empty or twice"
    require_for_simulation(distinct, message, "Name them as in negative,positive.")
    among = f"{plan.constant!r} is not among the categories"
    require_for_simulation(plan.constant in names, among, f"Take from {', '.join(names)}.")
    # A share that is not a number passes no comparison, and none so large overflows the sum.
    fit = len(shares) == len(names) and all(0 <= share < 1e100 for share in shares)
    mend = "Give one for each, in order: 0 or more, and not all 0."
    require_for_simulation(fit and any(shares), "the categories' shares do not fit", mend)


def _check_accuracy(accuracy: float, spread: float) -> None:
    probable = 0 <= accuracy <= 1
    require_for_simulation(
        probable, f"{accuracy} is not a probability", "Give an accuracy from 0 to 1."
    )
    room = min(accuracy, 1 - accuracy)
    # 1 - .8 is a hair less than .2, and a spread of .2 about .8 is meant to fit.
    fits = 0 <= spread <= room + 1e-12
    message = f"a spread of {spread} about an accuracy of {accuracy} goes outside 0 to 1"
    require_for_simulation(fits, message, f"Give a spread from 0 to {room:.6g}.")


@dataclass(frozen=True)
class _Plan:
    """The task of a crowd and its skills; the fields are ``crowd``'s arguments."""

    categories: tuple[str, ...]
    shares: tuple[float, ...]
    accuracy: float
    spread: float
    constant: str

    @property
    def commonest(self) -> str:
        return self.categories[self.shares.index(max(self.shares))]

    def truth(self, source: random.Random) -> str:
        left = source.random() * math.fsum(self.shares)
        for category, share in zip(self.categories, self.shares, strict=True):
            left -= share
            if left < 0:
                return category
        return self.commonest

    def item_accuracy(self, source: random.Random) -> float:
        return self.accuracy + self.spread * (2 * source.random() - 1)

    def other_than(self, category: str, source: random.Random) -> str:
        return draw_simulated_choice(
            [other for other in self.categories if other != category], source
        )

    def answer(self, kind: Kind, truth: str, accuracy: float, source: random.Random) -> str:
        """Return what one annotator answers alone; without its model, a copier answers honestly."""
        if kind == "constant":
            return self.constant
        if kind == "random":
            return draw_simulated_choice(self.categories, source)
        usual, often = (self.commonest, LAZY_SHARE) if kind == "lazy" else (truth, accuracy)
        return usual if source.random() < often else self.other_than(usual, source)


def _crowd_rows(
    items: int, seats: int, roster: Roster, plan: _Plan, source: random.Random
) -> Iterator[Row]:
    width = roster_name_width(items, at_least=4)
    for number, seated in zip(
        range(1, items + 1), roster_seatings(roster, seats, source), strict=False
    ):
        item = f"item {number:0{width}}"
        truth, accuracy = plan.truth(source), plan.item_accuracy(source)
        answers: dict[int, str] = {}
        for place in seated:  # honest ones come first, so a copier's model has answered
            member = roster.members[place]
            copied = None if member.copies is None else answers.get(member.copies)
            answers[place] = copied or plan.answer(member.kind, truth, accuracy, source)
            yield Row(item, member.name, answers[place], truth)


Experiment: TypeAlias = Literal["high", "low", "mixed"]


def simulate_experiment(name: str, items: int = 1000, seed: int = 0) -> Iterator[Row]:
    """Return the answers of A, B and C in an experiment of P. W. Siegel's notebook (2018).

    With i the item's place, counted from 0, ``model(i)`` is i mod 3 with probability .95, and
    (i + 1) mod 3 and (i + 2) mod 3 with .025 each. In ``high`` all three draw from
    ``model(i)``. In ``low`` A and B do and C draws from ``model(i + 1)``. In ``mixed`` A and B
    do, and C draws from ``model(i)`` where A gave 0 and gives 1 elsewhere.

    Args:
        name: ``high``, ``low`` or ``mixed``.
        items: How many items, 1 or more; each gets three answers.
        seed: Any integer; another one gives another draw.

    Returns:
        Rows item by item, in the items' order. ``gold`` is None: the notebook has no truth.

    Raises:
        InvalidOption: No experiment has this name, or there are no items.
    """
    known: tuple[Experiment, ...] = get_args(Experiment)
    for experiment_name in known:
        if experiment_name == name:
            check_simulated_number(items, "items")
            return _experiment_rows(experiment_name, items, simulation_random(name, seed))
    raise InvalidOption(f"there is no experiment {name!r}", "Take one of high, low and mixed.")


def _experiment_rows(name: Experiment, items: int, source: random.Random) -> Iterator[Row]:
    width = roster_name_width(items, at_least=4)
    for place in range(items):
        item = f"item {place + 1:0{width}}"
        first, second = _model(place, source), _model(place, source)
        third = _third(name, place, first, source)
        for annotator, category in zip("ABC", (first, second, third), strict=True):
            yield Row(item, annotator, str(category), None)


def _model(place: int, source: random.Random) -> int:
    drawn = source.random()
    slip = 0 if drawn < 0.95 else 1 if drawn < 0.975 else 2
    return (place + slip) % 3


def _third(name: Experiment, place: int, first: int, source: random.Random) -> int:
    if name == "low":
        return _model(place + 1, source)
    if name == "mixed" and first != 0:
        return 1
    return _model(place, source)
