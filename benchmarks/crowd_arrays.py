"""Answers of a crowd as arrays, and the evidence of an audit counted from them.

Thousands of crowds are audited in minutes this way; ``crowds.py`` has all that an audit looks at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracker.audit.findings import Evidence, Finding, audit
from tracker.audit.kind import TestResult
from tracker.audit.kinds.drift import drift_falls_since
from tracker.core.audit_tallies import (
    TRUTH,
    Blocks,
    Given,
    JointAnswers,
    PairPatterns,
    SharedItems,
    audit_tally_of_pairs,
    joint_answers_tally,
)
from tracker.core.tallies import AnnotatorTallies, Answer, Pattern
from tracker.core.tally_columns import KeyedTallies, keyed_columns

BLOCKS = 20
LEAST_SHARED = 20
DAY = 86_400_000_000

Ints = NDArray[np.int64]


def keyed_tallies_of(counts: Mapping[int, Mapping[Any, int]]) -> KeyedTallies:
    """Return nested counts as columns."""
    keys = [key for own_counts in counts.values() for key in own_counts]
    number = [items for own_counts in counts.values() for items in own_counts.values()]
    who = np.repeat(np.array([*counts], dtype=np.int64), [*map(len, counts.values())])
    return keyed_columns(who, keys, np.arange(len(keys)), np.array(number, dtype=np.int64))


@dataclass(frozen=True)
class Answers:
    """One row per answer, in single categories numbered from 0.

    Attributes:
        item: the item's number, shape (rows,), as are the next two.
        who: the annotator's.
        own: the category.
        block: which twentieth of the annotator's answers in time it is in; None without times.
        categories: how many there are.
        ordinal: whether they are places of a scale.
        truth: the known answer of each item, -1 if there is none; None without any.
    """

    item: Ints
    who: Ints
    own: Ints
    block: Ints | None
    categories: int
    ordinal: bool = False
    truth: Ints | None = None

    def flagged(self) -> list[Finding]:
        """The findings that stand up, without remarks."""
        return [flag for flag in self.audited() if flag.state == "flagged" and not flag.remark]

    def audited(self) -> list[Finding]:
        """All findings, confirmed or not."""
        return audit(self.evidence(), consult=self.joint)

    def share_standing_out(self, flags: Collection[Finding]) -> float:
        """Share of the answers by annotators about whom a finding stands out, confirmed or not."""
        told = (flag for flag in flags if flag.state == "flagged" or flag.unconfirmed)
        out = {who for flag in told for who in (flag.annotator, flag.other) if who is not None}
        return float(np.isin(self.who, [*out]).mean())

    def evidence(self) -> Evidence:
        """What an audit looks at."""
        patterns, code = self._patterns()
        owns = [(category,) for category in range(self.categories)]
        tallies: dict[int, dict[tuple[Answer, Pattern], int]] = {}
        for (who, met, own), items in _counted(self.who, code, self.own):
            tallies.setdefault(who, {})[owns[own], patterns[met]] = items
        gold: dict[int, dict[tuple[Answer, Answer, Pattern], int]] = {}
        if self.truth is not None:
            truth = self.truth[self.item]
            kept = truth >= 0
            columns = (self.who[kept], truth[kept], self.own[kept], code[kept])
            for (who, true, own, met), items in _counted(*columns):
                gold.setdefault(who, {})[owns[true], owns[own], patterns[met]] = items
        return Evidence(
            tallies=AnnotatorTallies(tallies),
            points={c: float(c) for c in range(self.categories)} if self.ordinal else None,
            gold=gold or None,
            blocks=self._blocks(patterns, code),
            pairs=self._pairs(patterns, code),
        )

    def joint(self, findings: Collection[TestResult]) -> JointAnswers:
        """Who gave what, and whether from the moment on that a finding is about."""
        since = {who: at // DAY for who, at in drift_falls_since(findings).items()}
        late = np.full(len(self.item), -1)
        if self.block is not None:
            for who, block in since.items():
                late[self.who == who] = self.block[self.who == who] >= block
        given: dict[int, list[Given]] = {}
        rows = zip(*(part.tolist() for part in (self.item, self.who, self.own, late)), strict=True)
        for item, who, own, after in rows:
            given.setdefault(item, []).append(Given(who, (own,), after))
        if self.truth is not None:
            for item in np.flatnonzero(self.truth >= 0).tolist():
                given.setdefault(item, []).append(Given(TRUTH, (int(self.truth[item]),)))
        return joint_answers_tally((tuple(joint), 1) for joint in given.values())

    def _patterns(self) -> tuple[list[Pattern], Ints]:
        """The distinct patterns, and which one each row's item has."""
        held = np.zeros((int(self.item.max()) + 1, self.categories), dtype=np.int64)
        np.add.at(held, (self.item, self.own), 1)
        rows, code = np.unique(held[self.item], axis=0, return_inverse=True)
        patterns = [tuple(((c,), n) for c, n in enumerate(row) if n) for row in rows.tolist()]
        return patterns, code.ravel()

    def _blocks(self, patterns: list[Pattern], code: Ints) -> Blocks | None:
        if self.block is None:
            return None
        counts: dict[int, Counter] = {}
        for (who, block, own, met), items in _counted(self.who, self.block, self.own, code):
            counts.setdefault(who, Counter())[block, None, (own,), patterns[met]] = items
        began = {block: block * DAY for block in range(BLOCKS)}
        return Blocks(keyed_tallies_of(counts), dict.fromkeys(counts, began))

    def _pairs(self, patterns: list[Pattern], code: Ints) -> SharedItems | None:
        one, other = self._shared()
        if not len(one):
            return None
        width = int(self.who.max()) + 1
        key = self.who[one] * width + self.who[other]
        keys, pair, shared = np.unique(key, return_inverse=True, return_counts=True)
        enough = shared >= LEAST_SHARED
        kept = enough[pair]
        if not kept.any():
            return None
        place = (np.cumsum(enough) - 1)[pair[kept]]
        same = np.where(self.own[one] == self.own[other], self.own[one], -1)[kept]
        counted = [(*key, items) for key, items in _counted(place, code[one][kept], same)]
        found = PairPatterns(
            tuple((number // width, number % width) for number in keys[enough].tolist()),
            tuple(patterns),
            tuple((category,) for category in range(self.categories)),
            *np.array(counted, dtype=np.int64).T,
        )
        return audit_tally_of_pairs(found)

    def _shared(self) -> tuple[Ints, Ints]:
        """Every two rows of an item, the lower annotator first."""
        order = np.lexsort((self.who, self.item))
        start = np.flatnonzero(np.diff(self.item[order], prepend=-1))
        size = np.diff(np.append(start, len(order)))
        found = [np.zeros((0, 2), dtype=np.int64)]
        for number in np.unique(size[size > 1]).tolist():
            rows = order[start[size == number][:, None] + np.arange(number)]
            one, other = np.triu_indices(number, 1)
            found.append(np.stack([rows[:, one].ravel(), rows[:, other].ravel()], axis=1))
        both = np.concatenate(found)
        return both[:, 0], both[:, 1]


def _counted(*columns: Ints) -> Iterator[tuple[tuple[int, ...], int]]:
    """The distinct rows of some columns, and how often each is there."""
    rows, number = np.unique(np.stack(columns, axis=1), axis=0, return_counts=True)
    yield from zip(map(tuple, rows.tolist()), number.tolist(), strict=True)
