"""Small crowds for the audit's tests: who answered what, and the tallies of that.

A record has all that an audit may look at: times, durations, skips, repeats, truths. Its evidence
is counted from the answers by plain loops; honest annotators are of equal skill.
"""

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise
from random import Random
from typing import Any, NamedTuple

import numpy as np

from tracker.audit.evidence import Evidence
from tracker.audit.kind import Finding, TestResult
from tracker.audit.kinds.drift import drift_falls_since
from tracker.audit.sentences import finding_sentence
from tracker.core.audit_tallies import (
    TRUTH,
    AnswerTimes,
    Blocks,
    Given,
    PairPatterns,
    audit_tally_of_pairs,
    joint_answers_tally,
)
from tracker.core.tallies import AnnotatorTallies, make_pattern
from tracker.core.tally_columns import KeyedTallies, keyed_columns

BLOCKS, MINUTE = 20, 60_000_000


def seeded(seed):
    return Random(seed)  # noqa: S311 - no secret is made with it


def keyed_tallies_of(counts: Mapping[int, Mapping[Any, int]]) -> KeyedTallies:
    """Return nested counts as columns."""
    keys = [key for own_counts in counts.values() for key in own_counts]
    number = [items for own_counts in counts.values() for items in own_counts.values()]
    who = np.repeat(np.array([*counts], dtype=np.int64), [*map(len, counts.values())])
    return keyed_columns(who, keys, np.arange(len(keys)), np.array(number, dtype=np.int64))


class Crowd(NamedTuple):
    items: list

    def consult(self, _=()):
        return joint_answers_tally(
            (tuple(Given(who, own) for who, own in answers.items()), 1) for answers in self.items
        )

    def tallies(self, excluded=()):
        counts = {}
        for answers in self.items:
            for annotator, own in answers.items():
                pattern = make_pattern(
                    answer
                    for other, answer in answers.items()
                    if other == annotator or other not in excluded
                )
                counts.setdefault(annotator, Counter())[own, pattern] += 1
        return AnnotatorTallies(counts)


def one(*items):
    return Crowd([{who: (category,) for who, category in item.items()} for item in items])


def mostly_right(accuracy, categories=3):
    """Give the true category with that probability, otherwise any of the others alike."""

    def voice(random, truth):
        if random.random() < accuracy:
            return truth
        return (truth + random.randrange(1, categories)) % categories

    return voice


def always(category):
    return lambda _random, _truth: category


def blindly(random, _truth):
    return random.randrange(3)


def leaning(category, share, otherwise):
    """Give the category to that share of any items, and to the rest as ``otherwise``."""
    return lambda random, truth: category if random.random() < share else otherwise(random, truth)


def simulate(random, voices, *, items, per_item, categories=3):
    """Return a crowd of balanced truths, with ``per_item`` annotators drawn for each item."""
    who, answered = sorted(voices), []
    for item in range(items):
        truth, chosen = item % categories, random.sample(who, per_item)
        answered.append({a: (voices[a](random, truth),) for a in chosen})
    return Crowd(answered)


def results(kind, tallies=None, **evidence):
    found = kind.find(Evidence(tallies or AnnotatorTallies(), **evidence))
    return {result.annotator: result for result in found if isinstance(result, TestResult)}


def sentence(found, annotator="A", category="B"):
    """Return what a person reads of a flag; of a finding as if nothing had been tested."""
    if isinstance(found, Finding):
        values = found.to_dict({found.annotator: annotator, found.other or -1: "other"}, category)
    else:
        values = vars(found) | {"state": "insufficient", "q_value": None, "consensus": None}
        values |= {"effect": found.effect.value, "effect_high": found.effect.high}
        values |= {"category": category}
    return finding_sentence(values, annotator, "other")


class Asked(NamedTuple):
    """One question to one annotator; ``others`` are the answers already given to the item."""

    random: object
    truth: int
    accuracy: float
    categories: int
    place: float
    before: int | None
    others: dict
    ordinal: bool

    def honest(self, accuracy=None):
        if self.random.random() < (self.accuracy if accuracy is None else accuracy):
            return self.truth
        if not self.ordinal:
            return (self.truth + self.random.randrange(1, self.categories)) % self.categories
        step = 1 if self.random.random() < 0.5 else -1
        near = self.truth + step
        return near if 0 <= near < self.categories else self.truth - step


class Person(NamedTuple):
    """How one annotator answers, answers again, skips, and how fast; all honest if not given."""

    voice: Callable = Asked.honest
    again: Callable = lambda asked, own: own if asked.random.random() < 0.85 else asked.honest()
    skips: float = 0.04
    pace: float = 1.0


def blind_answer(asked):
    return asked.random.randrange(asked.categories)


def lazy(asked):
    again = asked.before is not None and asked.random.random() < 0.5
    return asked.before if again else asked.honest()


@dataclass(frozen=True)
class Record:
    """Who answered what, when, for how long, and again."""

    items: list
    truths: list
    order: dict
    seconds: dict
    again: dict
    skipped: list
    categories: int
    ordinal: bool

    def evidence(self):
        met = [make_pattern((own,) for own in held.values()) for held in self.items]
        given = [(n, who, own) for n, held in enumerate(self.items) for who, own in held.items()]
        tallies = _grouped((who, ((own,), met[n])) for n, who, own in given)
        return Evidence(
            tallies=AnnotatorTallies(dict(sorted(tallies.items()))),
            points={c: float(c) for c in range(self.categories)} if self.ordinal else None,
            gold=_grouped(
                (who, ((self.truths[n],), (own,), met[n]))
                for n, who, own in given
                if self.truths[n] is not None
            ),
            repeats=_grouped(
                (who, ((self.items[item][who],), (later,), met[item]))
                for (who, item), later in self.again.items()
            ),
            sequences=keyed_tallies_of(
                _grouped(
                    (who, ((self.items[a][who],), (self.items[b][who],), met[b]))
                    for who, order in self.order.items()
                    for a, b in pairwise(order)
                )
            ),
            blocks=self._blocks(met),
            times=self.times,
            skips=self.skips,
            pairs=self.pairs,
        )

    def consult(self, findings):
        since = drift_falls_since(findings)
        joint = [[] for _ in self.items]
        for who, order in self.order.items():
            for place, item in enumerate(order):
                late = int(place * MINUTE >= since[who]) if who in since else -1
                joint[item].append(Given(who, (self.items[item][who],), late))
        for item, truth in enumerate(self.truths):
            if truth is not None:
                joint[item].append(Given(TRUTH, (truth,)))
        return joint_answers_tally((tuple(given), 1) for given in joint if given)

    def _blocks(self, met):
        counts, began = defaultdict(Counter), defaultdict(dict)
        for who, order in self.order.items():
            for place, item in enumerate(order):
                block, truth = _block(place, len(order)), self.truths[item]
                known = None if truth is None else (truth,)
                counts[who][block, known, (self.items[item][who],), met[item]] += 1
                began[who].setdefault(block, place * MINUTE)
        return Blocks(keyed_tallies_of(counts), began)

    @cached_property
    def times(self):
        found = {}
        for who, order in self.order.items():
            others = [[self.seconds[o, n] for o in self.items[n] if o != who] for n in order]
            own = [self.seconds[who, item] for item in order]
            ratios = [s / statistics.fmean(o) for s, o in zip(own, others, strict=True) if o]
            ratio = statistics.median(ratios) if ratios else None
            found[who] = AnswerTimes(len(order), statistics.median(own), len(ratios), ratio)
        return found

    @cached_property
    def pairs(self):
        return audit_tally_of_pairs(pair_patterns(self.items))

    @cached_property
    def skips(self):
        return _grouped(
            (who, (who in skipped, len(skipped), len(held) + len(skipped)))
            for held, skipped in zip(self.items, self.skipped, strict=True)
            for who in [*held, *skipped]
        )


def _block(place, number):
    """Return the block of a place; where they do not divide the first are longer by one."""
    size, longer = divmod(number, BLOCKS)
    block = place // (size + 1)
    return block if block < longer else longer + (place - longer * (size + 1)) // size


def _grouped(rows):
    found = defaultdict(Counter)
    for who, key in rows:
        found[who][key] += 1
    return dict(found)


def pair_patterns(items, least=20):
    rows, shared = Counter(), Counter()
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


def recorded(
    seed,
    planted=None,
    *,
    people=10,
    answers=80,
    per_item=4,
    categories=3,
    accuracy=0.8,
    spread=0.1,
    ordinal=False,
    gold=0.3,
    repeats=0.25,
    together=None,
):
    """Return honest annotators 0, 1, ... of about so many answers, but for those planted."""
    random = seeded(seed)
    persons = dict.fromkeys(range(people), Person()) | (planted or {})
    truths = [random.randrange(categories) for _ in range(people * answers // per_item)]
    number = len(truths)
    order = {who: [] for who in persons}
    for item in range(number):
        seated = random.sample(sorted(persons), per_item)
        if together and len({*together} & {*seated}) == 1:
            seated = [*together, *(who for who in seated if who not in together)][:per_item]
        for who in seated:
            order[who].append(item)
    easy = [accuracy + spread * random.uniform(-1, 1) for _ in truths]
    long = [random.gauss(2.0, 0.5) for _ in truths]
    items, skipped = [{} for _ in truths], [set() for _ in truths]
    seconds, again = {}, {}
    for who, mine in order.items():  # an annotator who is copied has the lower number
        random.shuffle(mine)
        pace, before = math.log(persons[who].pace) + random.gauss(0.0, 0.3), None
        for place, item in enumerate(mine):
            if random.random() < persons[who].skips:
                skipped[item].add(who)
                continue
            question = random, truths[item], easy[item], categories, place / len(mine), before
            asked = Asked(*question, items[item], ordinal)
            own = before = persons[who].voice(asked)
            seconds[who, item] = math.exp(long[item] + pace + random.gauss(0.0, 0.5))
            if random.random() < repeats:
                again[who, item] = persons[who].again(asked, own)
            items[item][who] = own
    order = {who: [item for item in mine if who in items[item]] for who, mine in order.items()}
    known = [truth if random.random() < gold else None for truth in truths]
    return Record(items, known, order, seconds, again, skipped, categories, ordinal)
