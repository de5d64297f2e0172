"""Crowds of honest annotators with others planted among them."""

from __future__ import annotations

import csv
import heapq
import math
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Final, Literal, NamedTuple, TypeAlias, get_args

from tracker.core.errors import InvalidOption

# -- The members of a crowd: kinds of annotators, their numbers, and their seats at items ---------


Kind: TypeAlias = Literal["honest", "constant", "random", "copier", "lazy"]

MOST_ANNOTATORS: Final = 100_000
SHAPE: Final = "Write it as honest=20,constant=1,random=1,copier=1,lazy=2."

_KINDS: Final[tuple[Kind, ...]] = get_args(Kind)


class Group(NamedTuple):
    """A number of annotators of one kind.

    ``honest`` ones give the truth with a common probability and otherwise any other category;
    ``constant`` ones always give one and the same category; ``random`` ones give any;
    ``copier`` ones repeat the answer of an honest one; ``lazy`` ones give the commonest
    category to 99% of the items, picked at random, and otherwise any other.
    """

    kind: Kind
    number: int


DEFAULT_ROSTER: Final = (
    Group("honest", 20),
    Group("constant", 1),
    Group("random", 1),
    Group("copier", 1),
    Group("lazy", 2),
)


def parse_roster(text: str) -> tuple[Group, ...]:
    """Return a crowd's roster from its text, ``honest=20,constant=1,random=1,copier=1,lazy=2``.

    Kinds may come in any order, each once; those left out have no annotators.

    Raises:
        InvalidOption: A part is not KIND=NUMBER, its kind is unknown or comes twice, or the
            whole is not a crowd that can answer.
    """
    groups = tuple(_group(part.strip()) for part in text.split(","))
    kinds = [group.kind for group in groups]
    for kind in kinds:
        once = kinds.count(kind) == 1
        require_for_simulation(once, f"{kind!r} comes twice in the annotators", SHAPE)
    roster_numbers(groups)
    return groups


def _group(part: str) -> Group:
    name, equals, number = (piece.strip() for piece in part.partition("="))
    message = f"{part!r} among the annotators is not KIND=NUMBER"
    require_for_simulation(equals == "=", message, SHAPE)
    kind = _kind(name)
    valid = number.isascii() and number.isdigit() and len(number) <= len(str(MOST_ANNOTATORS))
    message = f"{number!r} is not a number of {kind} annotators"
    require_for_simulation(valid, message, f"Give a whole number from 0 to {MOST_ANNOTATORS}.")
    return Group(kind, int(number))


def _kind(name: str) -> Kind:
    for kind in _KINDS:
        if kind == name:
            return kind
    raise InvalidOption(
        f"there is no kind of annotator {name!r}", f"Take from {', '.join(_KINDS)}. {SHAPE}"
    )


def roster_numbers(groups: Sequence[Group]) -> dict[Kind, int]:
    """Return how many annotators of each kind, every kind named, honest ones first."""
    numbers: dict[Kind, int] = dict.fromkeys(_KINDS, 0)
    for kind, number in groups:
        require_for_simulation(number >= 0, f"{number} {kind} annotators cannot be", SHAPE)
        numbers[_kind(kind)] += number
    total = sum(numbers.values())
    message = f"{total} annotators cannot be simulated"
    require_for_simulation(
        1 <= total <= MOST_ANNOTATORS, message, f"Ask for 1 to {MOST_ANNOTATORS}."
    )
    copied = numbers["honest"] > 0 or numbers["copier"] == 0
    message = "copiers have no honest annotator to copy"
    require_for_simulation(copied, message, "Add honest=1 or more.")
    return numbers


class _Member(NamedTuple):
    """One annotator of a crowd; ``copies`` is the place in the roster of whom it copies."""

    name: str
    kind: Kind
    copies: int | None = None


class Roster:
    """The members of a crowd, honest ones first, and the teams they are given items in.

    A team is a list of places in the roster: one member, or an honest one and its copiers.
    """

    def __init__(self, numbers: dict[Kind, int]) -> None:
        self.members = [
            _Member(name, kind, place % numbers["honest"] if kind == "copier" else None)
            for kind in _KINDS
            for place, name in enumerate(_names(kind, numbers[kind]))
        ]
        teams: dict[int, list[int]] = {}
        for place, member in enumerate(self.members):
            teams.setdefault(place if member.copies is None else member.copies, []).append(place)
        self.teams = list(teams.values())


def _names(kind: Kind, count: int) -> list[str]:
    """Return names that sort in the order of their numbers."""
    stem, least = ("annotator", 2) if kind == "honest" else (kind, 1)
    return [f"{stem} {number:0{roster_name_width(count, least)}}" for number in range(1, count + 1)]


_Turn: TypeAlias = tuple[float, float, int]
"""A team in the queue: items so far per member, a random number, its place among the teams."""


def roster_seatings(roster: Roster, seats: int, source: random.Random) -> Iterator[list[int]]:
    """Yield for each item in turn who answers it: ascending places in the roster, without end.

    The teams with the fewest items so far go first, in random order among equals. A team too
    large for the seats left waits for the next item; one too large for any item is split, and
    so is the first in the queue where no other team would fill the seats.
    """
    seats = min(seats, len(roster.members))
    queue: list[_Turn] = [(0.0, source.random(), place) for place in range(len(roster.teams))]
    heapq.heapify(queue)
    while True:
        seated: list[int] = []
        served: list[_Turn] = []
        held: list[_Turn] = []
        while len(seated) < seats:
            room, last = seats - len(seated), not queue
            load, tie, place = held.pop(0) if last else heapq.heappop(queue)
            team = roster.teams[place]
            if room < len(team) <= seats and not last:
                held.append((load, tie, place))
                continue
            members = team
            if len(team) > room:
                members = sorted(team, key=lambda _: source.random())[:room]
            seated += members
            served.append((load + len(members) / len(team), source.random(), place))
        for turn in held + served:
            heapq.heappush(queue, turn)
        yield sorted(seated)


class Row(NamedTuple):
    """One answer of one annotator to one item, all by name.

    ``gold`` is the item's true category, None if the experiment has no truth; ``labeled_at``
    when the answer was given, None if the experiment knows no time.
    """

    item: str
    annotator: str
    category: str
    gold: str | None
    labeled_at: str | None = None


def write_simulated_rows(rows: Iterable[Row], file: IO[str]) -> None:
    """Write rows as CSV, with the columns that the first row has a value for."""
    writer = csv.writer(file, lineterminator="\n")
    written: list[int] = []
    for row in rows:
        if not written:
            written = [place for place, value in enumerate(row) if value is not None]
            writer.writerow([Row._fields[place] for place in written])
        writer.writerow([row[place] for place in written])


def require_for_simulation(holds: bool, message: str, mend: str) -> None:
    """Raise InvalidOption if a condition does not hold."""
    if not holds:
        raise InvalidOption(message, mend)


def check_simulated_number(number: int, unit: str) -> None:
    message = f"{number} {unit} cannot be simulated"
    require_for_simulation(number >= 1, message, "Ask for 1 or more.")


def simulation_random(name: str, seed: int) -> random.Random:
    """Return the random numbers of a simulation; the same for the same name and seed."""
    return random.Random(f"{name} {seed}")  # noqa: S311 - an experiment, not a secret


def draw_simulated_choice(choices: Sequence[str], source: random.Random) -> str:
    """Return one of the choices, all equally likely."""
    return choices[int(source.random() * len(choices))]


def roster_name_width(largest: int, at_least: int) -> int:
    """Return the number of digits to which numbers are padded, so that names sort."""
    return max(at_least, len(str(largest)))


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
        InvalidOption: An argument is out of its range.
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
    message = f"{accuracy} is not a probability"
    require_for_simulation(0 <= accuracy <= 1, message, "Give an accuracy from 0 to 1.")
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
        others = [other for other in self.categories if other != category]
        return draw_simulated_choice(others, source)

    def answer(self, kind: Kind, truth: str, accuracy: float, source: random.Random) -> str:
        """Return what one annotator answers alone; without its model, a copier answers honestly."""
        if kind == "constant":
            return self.constant
        if kind == "random":
            return draw_simulated_choice(self.categories, source)
        usual, often = (self.commonest, 0.99) if kind == "lazy" else (truth, accuracy)
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


EXPERIMENTS: Final = ("high", "low", "mixed")


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
    require_for_simulation(
        name in EXPERIMENTS,
        f"there is no experiment {name!r}",
        "Take one of high, low and mixed.",
    )
    check_simulated_number(items, "items")
    return _experiment_rows(name, items, simulation_random(name, seed))


def _experiment_rows(name: str, items: int, source: random.Random) -> Iterator[Row]:
    width = roster_name_width(items, at_least=4)
    for place in range(items):
        item = f"item {place + 1:0{width}}"
        first, second = _model(place, source), _model(place, source)
        own = name == "mixed" and first != 0
        third = 1 if own else _model(place + (name == "low"), source)
        for annotator, category in zip("ABC", (first, second, third), strict=True):
            yield Row(item, annotator, str(category), None)


def _model(place: int, source: random.Random) -> int:
    drawn = source.random()
    slip = 0 if drawn < 0.95 else 1 if drawn < 0.975 else 2
    return (place + slip) % 3
