"""Small crowds with all that an audit may look at: times, durations, skips, repeats, truths.

The evidence is counted from the answers by plain loops. Honest annotators are of equal skill.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise
from random import Random
from typing import NamedTuple

import numpy as np

from tests.audit.crowds import seeded
from tracker.audit.findings import Evidence
from tracker.audit.kind import TestResult
from tracker.audit.kinds.drift import drift_falls_since
from tracker.core.audit_tallies import (
    TRUTH,
    AnswerTimes,
    Blocks,
    FileTallies,
    Given,
    ImportedFile,
    JointAnswers,
    PairPatterns,
    SharedItems,
    audit_tally_of_pairs,
    joint_answers_tally,
)
from tracker.core.tallies import AnnotatorTallies, Pattern, make_pattern
from tracker.core.tally_columns import keyed_tallies_of, tally_columns_of

BLOCKS = 20
FILES = 5


class Asked(NamedTuple):
    """One question to one annotator; ``others`` are the answers already given to the item."""

    random: Random
    truth: int
    accuracy: float
    categories: int
    place: float
    before: int | None
    others: Mapping[int, int]
    ordinal: bool
    file: int

    def honest(self, accuracy: float | None = None) -> int:
        if self.random.random() < (self.accuracy if accuracy is None else accuracy):
            return self.truth
        if not self.ordinal:
            return (self.truth + self.random.randrange(1, self.categories)) % self.categories
        step = 1 if self.random.random() < 0.5 else -1
        beside = self.truth + step
        return beside if 0 <= beside < self.categories else self.truth - step


class Person(NamedTuple):
    """How one annotator answers, answers again, skips, and how fast; all honest if not given."""

    voice: Callable[[Asked], int] = Asked.honest
    again: Callable[[Asked, int], int] = lambda asked, own: (
        own if asked.random.random() < 0.85 else asked.honest()
    )
    skips: float = 0.04
    pace: float = 1.0


@dataclass(frozen=True)
class Record:
    """Who answered what, when, for how long, and again."""

    items: list[dict[int, int]]
    truths: list[int | None]
    order: dict[int, list[int]]
    seconds: dict[tuple[int, int], float]
    again: dict[tuple[int, int], int]
    skipped: list[set[int]]
    categories: int
    ordinal: bool
    files: list[int]

    def evidence(self) -> Evidence:
        met = [_met(held) for held in self.items]
        return Evidence(
            tallies=self._tallies(met),
            points={c: float(c) for c in range(self.categories)} if self.ordinal else None,
            gold=self._gold(met),
            repeats=_grouped(
                (who, ((self.items[item][who],), (later,), met[item][who]))
                for (who, item), later in self.again.items()
            ),
            sequences=keyed_tallies_of(
                _grouped(
                    (who, ((self.items[a][who],), (self.items[b][who],), met[b][who]))
                    for who, order in self.order.items()
                    for a, b in pairwise(order)
                )
            ),
            blocks=self._blocks(met),
            times=self.times,
            skips=self.skips,
            pairs=self.pairs,
            files=self._files(met),
        )

    def consult(self, findings: Collection[TestResult]) -> JointAnswers:
        since = drift_falls_since(findings)
        joint: list[list[Given]] = [[] for _ in self.items]
        for who, order in self.order.items():
            for place, item in enumerate(order):
                late = int(place * 60_000_000 >= since[who]) if who in since else -1
                joint[item].append(Given(who, (self.items[item][who],), late))
        for item, truth in enumerate(self.truths):
            if truth is not None:
                joint[item].append(Given(TRUTH, (truth,)))
        return joint_answers_tally((tuple(given), 1) for given in joint if given)

    def _tallies(self, met: list[dict[int, Pattern]]) -> AnnotatorTallies:
        rows = (
            (who, ((own,), patterns[who]))
            for held, patterns in zip(self.items, met, strict=True)
            for who, own in held.items()
        )
        return AnnotatorTallies(dict(sorted(_grouped(rows).items())))

    def _gold(self, met: list[dict[int, Pattern]]) -> dict[int, Counter]:
        return _grouped(
            (who, ((truth,), (own,), patterns[who]))
            for held, patterns, truth in zip(self.items, met, self.truths, strict=True)
            if truth is not None
            for who, own in held.items()
        )

    def _blocks(self, met: list[dict[int, Pattern]]) -> Blocks:
        counts: dict[int, Counter] = defaultdict(Counter)
        began: dict[int, dict[int, int]] = defaultdict(dict)
        for who, order in self.order.items():
            for place, item in enumerate(order):
                block, truth = _block(place, len(order)), self.truths[item]
                known = None if truth is None else (truth,)
                counts[who][block, known, (self.items[item][who],), met[item][who]] += 1
                began[who].setdefault(block, place * 60_000_000)
        return Blocks(keyed_tallies_of(counts), began)

    def _files(self, met: list[dict[int, Pattern]]) -> FileTallies:
        rows = (
            ((who, self.files[item]), ((own,), met[item][who]))
            for item, held in enumerate(self.items)
            for who, own in held.items()
        )
        counts = dict(sorted(_grouped(rows).items()))
        return FileTallies(
            tally_columns_of(AnnotatorTallies(dict(enumerate(counts.values())))),
            tuple(who for who, _ in counts),
            tuple(ImportedFile(1 + file, 1 + file, 1, f"{file}.csv") for _, file in counts),
        )

    @cached_property
    def times(self) -> dict[int, AnswerTimes]:
        found = {}
        for who, order in self.order.items():
            ratios = []
            for item in order:
                others = [self.seconds[o, item] for o in self.items[item] if o != who]
                if others:
                    ratios.append(self.seconds[who, item] / statistics.fmean(others))
            mine = statistics.median(self.seconds[who, item] for item in order)
            ratio = statistics.median(ratios) if ratios else None
            found[who] = AnswerTimes(len(order), mine, len(ratios), ratio)
        return found

    @cached_property
    def pairs(self) -> SharedItems:
        return audit_tally_of_pairs(pair_patterns(self.items))

    @cached_property
    def skips(self) -> dict[int, Counter]:
        return _grouped(
            (who, (who in skipped, len(skipped), len(held) + len(skipped)))
            for held, skipped in zip(self.items, self.skipped, strict=True)
            for who in [*held, *skipped]
        )


def _block(place: int, number: int) -> int:
    """Which of the blocks a place is in; where they do not divide the first are longer by one."""
    size, longer = divmod(number, BLOCKS)
    block = place // (size + 1)
    return block if block < longer else longer + (place - longer * (size + 1)) // size


def _met(held: Mapping[int, int]) -> dict[int, Pattern]:
    """The pattern that each annotator of an item meets."""
    return dict.fromkeys(held, make_pattern((own,) for own in held.values()))


def pair_patterns(items: list[dict[int, int]], least: int = 20) -> PairPatterns:
    """The shared items of every two who share that many."""
    rows: Counter = Counter()
    shared: Counter = Counter()
    for held in items:
        pattern = make_pattern((own,) for own in held.values())
        for pair in combinations(sorted(held), 2):
            shared[pair] += 1
            one, other = (held[who] for who in pair)
            rows[pair, pattern, (one,) if one == other else None] += 1
    pairs = {pair: n for n, pair in enumerate(p for p, items in shared.items() if items >= least)}
    kept = {key: number for key, number in rows.items() if key[0] in pairs}
    patterns = {p: n for n, p in enumerate(dict.fromkeys(pattern for _, pattern, _ in kept))}
    answers = {a: n for n, a in enumerate(sorted({a for p in patterns for a, _ in p}))}
    columns = [
        (pairs[pair], patterns[p], -1 if same is None else answers[same], number)
        for (pair, p, same), number in kept.items()
    ]
    table = np.array(columns, dtype=np.int64).reshape(-1, 4).T
    return PairPatterns(tuple(pairs), tuple(patterns), tuple(answers), *table)


def _grouped(rows) -> dict[int, Counter]:
    found: dict[int, Counter] = defaultdict(Counter)
    for who, key in rows:
        found[who][key] += 1
    return dict(found)


def recorded(
    seed: int,
    planted: Mapping[int, Person] | None = None,
    *,
    people: int = 10,
    answers: int = 80,
    per_item: int = 4,
    categories: int = 3,
    accuracy: float = 0.8,
    spread: float = 0.1,
    ordinal: bool = False,
    gold: float = 0.3,
    repeats: float = 0.25,
    together: tuple[int, int] | None = None,
) -> Record:
    """Honest annotators 0, 1, ... of about so many answers, but for those planted."""
    random = seeded(seed)
    persons = dict.fromkeys(range(people), Person()) | (planted or {})
    truths = [random.randrange(categories) for _ in range(people * answers // per_item)]
    order: dict[int, list[int]] = {who: [] for who in persons}
    for item in range(len(truths)):
        seated = random.sample(sorted(persons), per_item)
        if together and len({*together} & {*seated}) == 1:
            seated = [*together, *(who for who in seated if who not in together)][:per_item]
        for who in seated:
            order[who].append(item)
    easy = [accuracy + spread * random.uniform(-1, 1) for _ in truths]
    long = [random.gauss(2.0, 0.5) for _ in truths]
    items: list[dict[int, int]] = [{} for _ in truths]
    skipped: list[set[int]] = [set() for _ in truths]
    seconds, again = {}, {}
    files = [item * FILES // len(truths) for item in range(len(truths))]
    for who, mine in order.items():  # whom a planted one copies has the lower number
        random.shuffle(mine)
        pace, before = math.log(persons[who].pace) + random.gauss(0.0, 0.3), None
        for place, item in enumerate(mine):
            if random.random() < persons[who].skips:
                skipped[item].add(who)
                continue
            asked = Asked(
                random,
                truths[item],
                easy[item],
                categories,
                place / len(mine),
                before,
                items[item],
                ordinal,
                files[item],
            )
            own = before = persons[who].voice(asked)
            seconds[who, item] = math.exp(long[item] + pace + random.gauss(0.0, 0.5))
            if random.random() < repeats:
                again[who, item] = persons[who].again(asked, own)
            items[item][who] = own
    order = {who: [item for item in mine if who in items[item]] for who, mine in order.items()}
    known = [truth if random.random() < gold else None for truth in truths]
    return Record(items, known, order, seconds, again, skipped, categories, ordinal, files)
