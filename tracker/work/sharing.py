"""Items shared among people: each item to as many as it needs, loads and pairs alike.

The loads differ by one at most, unless who answered what before leaves no other way; any two people
then share as many items as any other two, as nearly as the loads permit. That is a design with
nearly balanced blocks (John and Mitchell 1977, "Optimal incomplete block designs", Journal of the
Royal Statistical Society B 39:39-43); it is built item by item, and mended by exchanges.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.intp]

_TRIES: Final = 20_000, 10  # exchanges of items: at least, and for each pair of people
_DRAWN: Final = 1_000  # items that have random numbers of their own


@dataclass
class Shares:
    """Who gets which items, by number from 0.

    Attributes:
        people: of each item, those who get it.
        loads: of each person, how many items they get.
        pairs: of each two people, how many items both get; on the diagonal nothing.
    """

    people: list[list[int]]
    loads: Indices
    pairs: NDArray[np.int32]
    _items: list[set[int]] = field(default_factory=list, repr=False)

    def give(self, item: int, person: int) -> None:
        self._count(item, person, 1)
        self.people[item].append(person)
        self._items[person].add(item)

    def take(self, item: int, person: int) -> None:
        self.people[item].remove(person)
        self._items[person].discard(item)
        self._count(item, person, -1)

    def _count(self, item: int, person: int, change: int) -> None:
        for other in self.people[item]:
            self.pairs[person, other] += change
            self.pairs[other, person] += change
        self.loads[person] += change

    def items_of(self, person: int) -> list[int]:
        """Return the items of a person in their order."""
        return sorted(self._items[person])


def share_items(
    needs: Sequence[int],
    people: int,
    barred: Mapping[int, Collection[int]],
    *,
    most: int | None = None,
    standing: Collection[int] = (),
    seed: int = 0,
) -> Shares:
    """Return who gets which of some items, the first of which are given first.

    Args:
        needs: of each item, how many people it needs.
        people: how many there are.
        barred: of an item, who may not have it; an item gets fewer people if too few are left.
        most: how many items a person gets at most. An item that not enough people have room for is
            left out.
        standing: people of whom each item gets one, the first items first, as far as loads permit.
        seed: of the numbers drawn where several choices are as good.
    """
    sharing = _Sharing(needs, people, barred, most, sorted(standing), np.random.default_rng(seed))
    sharing.give_in_turn()
    sharing.level_loads()
    sharing.level_pairs()
    return sharing.shares


class _Sharing:
    def __init__(
        self,
        needs: Sequence[int],
        people: int,
        barred: Mapping[int, Collection[int]],
        most: int | None,
        standing: list[int],
        random: np.random.Generator,
    ) -> None:
        self.needs, self.barred, self.random = needs, barred, random
        self.most = len(needs) if most is None else most
        self.standing = np.zeros(people, bool)
        self.standing[standing] = True
        self.shares = Shares(
            [[] for _ in needs],
            np.zeros(people, np.intp),
            np.zeros((people, people), np.int32),
            [set() for _ in range(people)],
        )

    def give_in_turn(self) -> None:
        """Give each item to those with the least load and, of these, who share least with others.

        One of those of standing comes first, as long as none of them has more than a fair share.
        """
        shares, loads, standing = self.shares, self.shares.loads, self.standing
        each = (min(n, len(loads) - len(self.barred.get(i, ()))) for i, n in enumerate(self.needs))
        fair = min(self.most, -(-sum(each) // len(loads)))
        room = len(loads) if self.most else 0  # people who have room
        of_load = 4.0 * (len(self.needs) + 1)  # more than the items that any two share
        costs = self.random.random((_DRAWN, len(loads)))
        base = np.full(len(loads), 0.0 if self.most else np.inf)
        for item, needed in enumerate(self.needs):
            if not room:
                break
            cost = base + costs[item % _DRAWN]
            barred = self.barred.get(item, ())
            cost[list(barred)] = np.inf
            wanted = min(needed, len(loads) - len(barred))
            if wanted > room - sum(base[person] < np.inf for person in barred):
                continue
            for place in range(wanted):
                person = int(cost.argmin())
                if standing.any():
                    first = np.where(standing if place == 0 else ~standing, cost, np.inf)
                    first[loads >= fair] = np.inf
                    if first.min() < np.inf:
                        person = int(first.argmin())
                cost += 2.0 * shares.pairs[person]
                cost[person] = np.inf
                shares.give(item, person)
                base[person] += of_load
                if loads[person] == self.most:
                    base[person] = np.inf
                    room -= 1

    # -- Loads --------------------------------------------------------------------------------

    def level_loads(self) -> None:
        """Hand items on, along chains of people, until no chain makes the loads more alike.

        A chain from one with a load of two more, at least, to another: each hands an item to the
        next one, who may have it. When there is none, the loads are as alike as can be.
        """
        loads = self.shares.loads
        stuck: set[int] = set()
        while len(stuck) < len(loads):
            order = [int(person) for person in np.argsort(-loads, kind="stable")]
            first = next((person for person in order if person not in stuck), None)
            if first is None or loads[first] - loads.min() < 2:
                break
            chain = self._chain(first)
            if chain is None:
                stuck.add(first)
                continue
            for person, item, other in chain:
                self.shares.take(item, person)
                self.shares.give(item, other)

    def _chain(self, first: int) -> list[tuple[int, int, int]] | None:
        """Return steps (person, item, next person) to one with two items less; None for none."""
        loads = self.shares.loads
        before: dict[int, tuple[int, int]] = {}
        waiting = deque([first])
        while waiting:
            person = waiting.popleft()
            unreached = {other for other in range(len(loads)) if other not in before} - {first}
            for item in self.shares.items_of(person):
                for other in sorted(unreached):
                    if not self._may_replace(item, person, other):
                        continue
                    unreached.discard(other)
                    before[other] = (person, item)
                    if loads[first] - loads[other] >= 2:
                        return _steps(before, first, other)
                    waiting.append(other)
                if not unreached:
                    break
        return None

    def _may_replace(self, item: int, person: int, other: int) -> bool:
        """Return whether somebody may have an item instead of a person."""
        has = self.shares.people[item]
        return other not in has and other not in self.barred.get(item, ())

    # -- Pairs --------------------------------------------------------------------------------

    def level_pairs(self) -> None:
        """Exchange people between items until pairs share alike, or no exchange helps any more.

        An exchange leaves all loads as they are, and lowers the sum of squares of what pairs share.
        """
        pairs, people = self.shares.pairs, len(self.shares.loads)
        if people < 3:
            return
        above = np.triu_indices(people, 1)
        least, for_each = _TRIES
        self.tries = max(least, for_each * len(above[0]))
        while self.tries > 0:
            counts = pairs[above]
            if counts.max() - counts.min() <= 1:
                return
            most = np.flatnonzero(counts > max(float(counts.mean()), int(counts.min()) + 1))
            self.random.shuffle(most)
            exchanged = 0
            for pair in most:
                exchanged += self._part(int(above[0][pair]), int(above[1][pair]))
            if not exchanged:
                return

    def _part(self, one: int, other: int) -> bool:
        """Exchange one of two people in an item of both for a third; returns whether it helps."""
        shares = self.shares
        both = list(shares._items[one] & shares._items[other])
        self.random.shuffle(both)
        for item in both:
            if self.tries <= 0:
                break
            for leaving, staying in ((one, other), (other, one)):
                # Who shares least with the one who stays comes first.
                order = np.argsort(
                    shares.pairs[staying] + self.random.random(len(shares.loads)), kind="stable"
                )
                for third in map(int, order[:4]):
                    if third not in (one, other) and self._exchange(item, leaving, third):
                        return True
        return False

    def _exchange(self, item: int, leaving: int, coming: int) -> bool:
        """Let ``coming`` have an item of ``leaving``, who gets one of theirs, if pairs gain."""
        shares = self.shares
        if self.standing[leaving] != self.standing[coming]:
            return False
        if not self._may_replace(item, leaving, coming):
            return False
        theirs = list(shares._items[coming] - shares._items[leaving])
        if not theirs:
            return False
        gain = self._gain(item, leaving, coming)
        for place in self.random.permutation(len(theirs))[:8]:
            back = theirs[place]
            self.tries -= 1
            if not self._may_replace(back, coming, leaving):
                continue
            if gain + self._gain(back, coming, leaving, but=item) > 0:
                for what, giver, taker in ((item, leaving, coming), (back, coming, leaving)):
                    shares.take(what, giver)
                    shares.give(what, taker)
                return True
        return False

    def _gain(self, item: int, leaving: int, coming: int, but: int | None = None) -> int:
        """Return by how much half the sum of squares falls if one gets an item for another."""
        pairs = self.shares.pairs
        rest = [person for person in self.shares.people[item] if person != leaving]
        moved = set() if but is None else set(self.shares.people[but])
        gain = 0
        for person in rest:
            shift = 1 if person in moved else 0  # both items have them: the first move counts
            gain += (int(pairs[leaving, person]) + shift) - (int(pairs[coming, person]) - shift) - 1
        return gain


def _steps(
    before: Mapping[int, tuple[int, int]], first: int, last: int
) -> list[tuple[int, int, int]]:
    steps = []
    while last != first:
        person, item = before[last]
        steps.append((person, item, last))
        last = person
    return steps
