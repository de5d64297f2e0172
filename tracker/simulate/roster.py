"""The members of a crowd: kinds of annotators, their numbers, and their seats at items."""

from __future__ import annotations

import csv
import heapq
import random
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Final, Literal, NamedTuple, TypeAlias, get_args

from tracker.core.errors import InvalidOption

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
        require_for_simulation(
            kinds.count(kind) == 1, f"{kind!r} comes twice in the annotators", SHAPE
        )
    roster_numbers(groups)
    return groups


def _group(part: str) -> Group:
    name, equals, number = (piece.strip() for piece in part.partition("="))
    require_for_simulation(
        equals == "=", f"{part!r} among the annotators is not KIND=NUMBER", SHAPE
    )
    kind = _kind(name)
    whole = number.isascii() and number.isdigit() and len(number) <= len(str(MOST_ANNOTATORS))
    message = f"{number!r} is not a number of {kind} annotators"
    require_for_simulation(whole, message, f"Give a whole number from 0 to {MOST_ANNOTATORS}.")
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
    require_for_simulation(
        copied, "copiers have no honest annotator to copy", "Add honest=1 or more."
    )
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
            members = team if len(team) <= room else draw_roster_members(team, room, source)
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


def check_simulated_number(number: int, what: str) -> None:
    """Raise InvalidOption for a number below 1."""
    require_for_simulation(
        number >= 1, f"{number} {what} cannot be simulated", "Ask for 1 or more."
    )


def simulation_random(name: str, seed: int) -> random.Random:
    """Return the random numbers of a simulation; the same for the same name and seed."""
    return random.Random(f"{name} {seed}")  # noqa: S311 - an experiment, not a secret


def draw_simulated_choice(choices: Sequence[str], source: random.Random) -> str:
    """Return one of the choices, all equally likely."""
    return choices[int(source.random() * len(choices))]


def draw_roster_members(members: Sequence[int], number: int, source: random.Random) -> list[int]:
    """Return so many of the members, in random order."""
    return sorted(members, key=lambda _: source.random())[:number]


def roster_name_width(largest: int, at_least: int) -> int:
    """Return the number of digits to which numbers are padded, so that names sort."""
    return max(at_least, len(str(largest)))
