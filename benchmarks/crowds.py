"""Simulated crowds with everything an audit looks at, and the evidence counted plainly from them.

A crowd answers with times, durations, skips, repeats and some known truths. Honest annotators are
of equal skill and err alike; items differ in difficulty, and so do the items that each is given.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from random import Random

import numpy as np
from crowd_arrays import keyed_tallies_of

from tracker.audit.findings import Evidence
from tracker.audit.kind import TestResult
from tracker.audit.kinds.drift import drift_falls_since
from tracker.core.audit_tallies import (
    TRUTH,
    AnswerTimes,
    Blocks,
    Given,
    JointAnswers,
    PairPatterns,
    audit_tally_of_pairs,
    joint_answers_tally,
)
from tracker.core.tallies import AnnotatorTallies, Answer, Pattern, make_pattern

BLOCKS = 20
LEAST_SHARED = 20
DAY = 86_400_000_000

Voice = Callable[["Asked"], int]


@dataclass
class Asked:
    """One question to one annotator: what a voice may go by."""

    random: Random
    truth: int
    accuracy: float
    categories: int
    place: float  # of the answer among the annotator's, 0 to 1
    before: int | None
    others: dict[int, int]  # answers already given to the item

    def honest(self) -> int:
        """The truth as often as the item allows, otherwise any other category alike."""
        if self.random.random() < self.accuracy:
            return self.truth
        return (self.truth + self.random.randrange(1, self.categories)) % self.categories


def honest(asked: Asked) -> int:
    """The truth as often as the item allows."""
    return asked.honest()


def always(category: int) -> Voice:
    """One category whatever the item."""
    return lambda _: category


def blindly(asked: Asked) -> int:
    """Any category alike."""
    return asked.random.randrange(asked.categories)


def copies(whom: int) -> Voice:
    """What another gave, where both were asked."""
    return lambda asked: asked.others.get(whom, asked.honest())


def leans(category: int, share: float) -> Voice:
    """One category to that share of items, unseen."""
    return lambda asked: category if asked.random.random() < share else asked.honest()


def lower(by: float) -> Voice:
    """Answers one place lower than honestly, that often."""
    return lambda asked: max(asked.honest() - (asked.random.random() < by), 0)


def tires(after: float) -> Voice:
    """Answers blindly from a point in time on."""
    return lambda asked: blindly(asked) if asked.place > after else asked.honest()


def repeats_itself(share: float) -> Voice:
    """The answer before, that often."""

    def voice(asked: Asked) -> int:
        again = asked.before is not None and asked.random.random() < share
        return asked.before if again and asked.before is not None else asked.honest()

    return voice


def skilled(accuracy: float) -> Voice:
    """Right with a probability of its own."""

    def voice(asked: Asked) -> int:
        asked.accuracy = accuracy
        return asked.honest()

    return voice


@dataclass
class Crowd:
    """Who answered what; one dict of answers by annotator for each item."""

    ordinal: bool
    items: list[dict[int, int]]
    truths: list[int | None]
    order: dict[int, list[int]]  # of each annotator, the items in the order answered
    seconds: dict[tuple[int, int], float]
    again: dict[tuple[int, int], int]
    skipped: list[set[int]]
    categories: int
    bad: set[int] = field(default_factory=set)

    def evidence(self) -> Evidence:
        """What an audit looks at."""
        patterns = [make_pattern((own,) for own in answers.values()) for answers in self.items]
        met = [
            dict.fromkeys(answers, pattern)
            for answers, pattern in zip(self.items, patterns, strict=True)
        ]
        return Evidence(
            tallies=self._tallies(met),
            points={c: float(c) for c in range(self.categories)} if self.ordinal else None,
            gold=self._gold(met),
            repeats=self._repeats(met),
            sequences=keyed_tallies_of(self._sequences(met)),
            blocks=self._blocks(met),
            times=self._times(),
            skips=self._skips(),
            pairs=audit_tally_of_pairs(self._pairs()),
        )

    def consult(self, findings: Collection[TestResult]) -> JointAnswers:
        """Who gave what, and whether from the moment on that a finding is about."""
        since = drift_falls_since(findings)
        joint: list[list[Given]] = [[] for _ in self.items]
        for who, order in self.order.items():
            for place, item in enumerate(order):
                late = int(place * DAY // 10 >= since[who]) if who in since else -1
                joint[item].append(Given(who, (self.items[item][who],), late))
        for item, truth in enumerate(self.truths):
            if truth is not None:
                joint[item].append(Given(TRUTH, (truth,)))
        return joint_answers_tally((tuple(given), 1) for given in joint if given)

    def _tallies(self, met: list[dict[int, Pattern]]) -> AnnotatorTallies:
        counts: dict[int, Counter[tuple[Answer, Pattern]]] = defaultdict(Counter)
        for answers, patterns in zip(self.items, met, strict=True):
            for who, own in answers.items():
                counts[who][(own,), patterns[who]] += 1
        return AnnotatorTallies(dict(sorted(counts.items())))

    def _gold(self, met: list[dict[int, Pattern]]) -> dict[int, Counter]:
        counts: dict[int, Counter] = defaultdict(Counter)
        for answers, patterns, truth in zip(self.items, met, self.truths, strict=True):
            if truth is not None:
                for who, own in answers.items():
                    counts[who][(truth,), (own,), patterns[who]] += 1
        return counts

    def _repeats(self, met: list[dict[int, Pattern]]) -> dict[int, Counter]:
        counts: dict[int, Counter] = defaultdict(Counter)
        for (who, item), later in self.again.items():
            counts[who][(self.items[item][who],), (later,), met[item][who]] += 1
        return counts

    def _sequences(self, met: list[dict[int, Pattern]]) -> dict[int, Counter]:
        counts: dict[int, Counter] = defaultdict(Counter)
        for who, order in self.order.items():
            for before, item in pairwise(order):
                previous, own = self.items[before][who], self.items[item][who]
                counts[who][(previous,), (own,), met[item][who]] += 1
        return counts

    def _blocks(self, met: list[dict[int, Pattern]]) -> Blocks:
        counts: dict[int, Counter] = defaultdict(Counter)
        began: dict[int, dict[int, int]] = defaultdict(dict)
        for who, order in self.order.items():
            for place, item in enumerate(order):
                block = place * BLOCKS // len(order)
                truth = self.truths[item]
                known = None if truth is None else (truth,)
                counts[who][block, known, (self.items[item][who],), met[item][who]] += 1
                began[who].setdefault(block, place * DAY // 10)
        return Blocks(keyed_tallies_of(counts), began)

    def _times(self) -> dict[int, AnswerTimes]:
        found = {}
        for who, order in self.order.items():
            mine = [self.seconds[who, item] for item in order]
            ratios = []
            for item in order:
                others = [self.seconds[o, item] for o in self.items[item] if o != who]
                if others:
                    ratios.append(self.seconds[who, item] / (sum(others) / len(others)))
            if mine:
                ratio = float(np.median(ratios)) if ratios else None
                found[who] = AnswerTimes(len(mine), float(np.median(mine)), len(ratios), ratio)
        return found

    def _skips(self) -> dict[int, Counter]:
        counts: dict[int, Counter] = defaultdict(Counter)
        for answers, skipped in zip(self.items, self.skipped, strict=True):
            size = len(answers) + len(skipped)
            for who in answers:
                counts[who][False, len(skipped), size] += 1
            for who in skipped:
                counts[who][True, len(skipped), size] += 1
        return counts

    def _pairs(self) -> PairPatterns:
        rows: Counter[tuple[tuple[int, int], Pattern, Answer | None]] = Counter()
        shared: Counter[tuple[int, int]] = Counter()
        for answers in self.items:
            pattern = make_pattern((own,) for own in answers.values())
            for one, other in combinations(sorted(answers), 2):
                shared[one, other] += 1
                same = answers[one] == answers[other]
                rows[(one, other), pattern, (answers[one],) if same else None] += 1
        pairs = {p: i for i, p in enumerate(p for p, n in shared.items() if n >= LEAST_SHARED)}
        kept = [(pair, p, same, n) for (pair, p, same), n in rows.items() if pair in pairs]
        patterns = {p: i for i, p in enumerate(dict.fromkeys(p for _, p, _, _ in kept))}
        answers = tuple((c,) for c in range(self.categories))
        columns = [
            (pairs[pair], patterns[p], -1 if same is None else same[0], n)
            for pair, p, same, n in kept
        ]
        table = np.array(columns, dtype=np.int64).reshape(-1, 4).T
        return PairPatterns(tuple(pairs), tuple(patterns), answers, *table)


def make_crowd(
    random: Random,
    voices: dict[int, Voice],
    *,
    answers: int,
    per_item: int,
    categories: int,
    shares: list[float] | None = None,
    accuracy: float = 0.8,
    spread: float = 0.0,
    mixed: bool = False,
    ordinal: bool = False,
    gold: float = 0.25,
    again: float = 0.15,
    skips: float = 0.03,
    together: tuple[int, int] | None = None,
) -> Crowd:
    """A crowd in which each annotator answers about so many items.

    Args:
        random: where every draw comes from.
        voices: how each annotator answers, by id.
        answers: of each annotator.
        per_item: different annotators of an item.
        categories: how many.
        shares: how common each is among the truths; None for balanced.
        accuracy: of an honest answer, averaged over items.
        spread: by how much an item's own accuracy may differ from that, either way.
        mixed: whether annotators are given some truths and difficulties more than others.
        ordinal: whether an error is to the category next to the truth.
        gold: share of items whose truth is known.
        again: share of answers that are asked a second time.
        skips: share of items that are skipped.
        together: two who are always given the same items.
    """
    who = sorted(voices)
    number = max(1, round(len(who) * answers / per_item))
    truths = random.choices(range(categories), shares or [1.0] * categories, k=number)
    easy = [accuracy + spread * (2 * random.random() - 1) for _ in range(number)]
    taste = {w: [random.uniform(0.3, 1.7) for _ in range(categories)] for w in who}
    patience = {w: random.uniform(-1.5, 1.5) for w in who}
    given = dict.fromkeys(who, 0)
    seats: list[list[int]] = []
    for item in range(number):

        def turn(w: int, item: int = item) -> float:
            """Who has the fewest answers goes first, more or less, by taste where it is mixed."""
            wish = taste[w][truths[item]] * math.exp(patience[w] * (easy[item] - accuracy) * 3)
            return given[w] - math.log(random.random()) / (wish if mixed else 1.0) * answers * 0.1

        chosen = sorted(who, key=turn)[:per_item]
        if together and len(set(together) & set(chosen)) == 1 and per_item > 1:
            rest = [w for w in chosen if w not in together]
            chosen = [*together, *rest][:per_item]
        for w in chosen:
            given[w] += 1
        seats.append(chosen)
    return _answered(random, voices, seats, truths, easy, categories, ordinal, gold, again, skips)


def _answered(
    random: Random,
    voices: dict[int, Voice],
    seats: list[list[int]],
    truths: list[int],
    easy: list[float],
    categories: int,
    ordinal: bool,
    gold: float,
    again: float,
    skips: float,
) -> Crowd:
    order: dict[int, list[int]] = {who: [] for who in sorted(voices)}
    for item, seated in enumerate(seats):
        for who in seated:
            order[who].append(item)
    for mine in order.values():
        random.shuffle(mine)
    place = {
        (who, item): n / len(mine) for who, mine in order.items() for n, item in enumerate(mine)
    }
    items: list[dict[int, int]] = [{} for _ in seats]
    skipped: list[set[int]] = [set() for _ in seats]
    speed = {who: random.gauss(0.0, 0.35) for who in voices}
    slow = [random.gauss(2.0, 0.5) for _ in seats]
    seconds, repeated = {}, {}
    for who, mine in order.items():  # a copier's model has the lower id
        before = None
        for item in mine:
            if random.random() < skips:
                skipped[item].add(who)
                continue
            asked = Asked(
                random, truths[item], easy[item], categories, place[who, item], before, items[item]
            )
            own = voices[who](asked)
            if ordinal and voices[who] is honest:
                own = _beside(random, asked)
            items[item][who] = before = own
            seconds[who, item] = math.exp(slow[item] + speed[who] + random.gauss(0.0, 0.6))
            if random.random() < again:
                repeated[who, item] = _beside(random, asked) if ordinal else asked.honest()
    order = {who: [i for i in mine if who in items[i]] for who, mine in order.items()}
    known = [truth if random.random() < gold else None for truth in truths]
    return Crowd(ordinal, items, known, order, seconds, repeated, skipped, categories)


def _beside(random: Random, asked: Asked) -> int:
    """On a scale: the truth, or a place next to it, either way alike."""
    if random.random() < asked.accuracy:
        return asked.truth
    step = 1 if random.random() < 0.5 else -1
    other = asked.truth + step
    return other if 0 <= other < asked.categories else asked.truth - step
