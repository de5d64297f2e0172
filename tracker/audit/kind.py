"""What a kind of finding is given, what it returns, and how it is registered.

A kind looks at the evidence and returns findings: figures and, where there is enough to go by,
a p-value. Whether a finding becomes a flag is decided over all findings together.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Self, TypeAlias

import numpy as np

from tracker.audit.evidence import Evidence, Threshold
from tracker.audit.second_opinion import Consensus, Opinion, finite_or_none
from tracker.audit.statistics.mantel_haenszel import Usage
from tracker.audit.statistics.pair_dependence import (
    pair_dependence_witnesses,
    surely_dependent_pairs,
)
from tracker.core.audit_tallies import JointAnswers
from tracker.core.tallies import Answer, FloatArray, Pattern, answers_in_pattern, share_of_same

MINIMUM_INFORMATIVE = 10
"""Informative items that a test needs; with fewer, none is made."""

MINIMUM_ANSWERS = 3
"""Answers to shared items below which nothing at all is said."""

MEDIUM_ODDS_RATIO, HIGH_ODDS_RATIO = 3.47, 6.71
"""Where an odds ratio stops being small, and medium (Chen, Cohen and Chen 2010, table 1: the
counterparts of Cohen's d of 0.5 and 0.8)."""

MEDIUM_GAP, HIGH_GAP = 0.2, 0.35
"""Where a difference of two shares stops being small, and medium."""

Severity: TypeAlias = Literal["high", "medium", "low", "remark"]
"""How bad a finding is; a remark says nothing of how good the answers are, and accuses nobody."""
Key: TypeAlias = tuple[int, str, int | None, int | None]
Measure: TypeAlias = Literal["odds ratio", "difference", "ratio", "points"]


@dataclass(frozen=True)
class Effect:
    """How far a figure is off, as what, with a 95% interval where there is one.

    Attributes:
        measure: "odds ratio" or "ratio" (1 is none), "difference" of shares or "points" of a
            scale (0 is none).
        value: None where undefined, ``inf`` where it has no bound.
    """

    measure: Measure
    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, kw_only=True)
class TestResult:
    """One kind's result for one annotator, and one category or other annotator if it is about one.

    Attributes:
        observed: the annotator's own figure, None where there is none; of most kinds a share.
        expected: what the null hypothesis expects of it.
        peers: the co-annotators' figure, the annotator left out; None where there is none.
        p_value: None where no test was made.
        notable: whether the effect is large enough to be flagged.
        suspicious: whether to say "insufficient" if no test was made, or if the test is
            significant and the effect not notable.
        severity: how bad it is if it is flagged; None of a `Finding` that is not.
        other: the other annotator's id where the finding is about a pair.
    """

    kind: str
    annotator: int
    category: int | None = None
    observed: float | None
    expected: float | None
    peers: float | None = None
    n: int
    informative: int
    effect: Effect
    p_value: float | None
    notable: bool
    suspicious: bool = False
    severity: Severity | None
    other: int | None = None
    details: Mapping[str, object] = field(default_factory=dict)

    @property
    def key(self) -> Key:
        """Annotator, kind, category and other annotator: at most one finding has it."""
        return (self.annotator, self.kind, self.category, self.other)

    def with_details(self, details: Mapping[str, object]) -> Self:
        """Return the same with further details."""
        return replace(self, details={**self.details, **details}) if details else self

    @property
    def over(self) -> bool:
        """Whether the annotator's figure is above the expected one."""
        return (self.observed or 0.0) > (self.expected or 0.0)


def severity_of_odds(odds_ratio: float | None) -> Severity:
    """How large an odds ratio is, on either side of 1; 0 and ``inf`` are "high"."""
    if odds_ratio is None:
        return "low"
    size = math.inf if odds_ratio == 0 else max(odds_ratio, 1.0 / odds_ratio)
    return severity_of_size(size, MEDIUM_ODDS_RATIO, HIGH_ODDS_RATIO)


def severity_of_gap(gap: float) -> Severity:
    """How large a difference of two shares is."""
    return severity_of_size(gap, MEDIUM_GAP, HIGH_GAP)


def severity_of_size(size: float, medium: float, high: float) -> Severity:
    """By the two bounds at which a size becomes medium, and high."""
    return "high" if size >= high else "medium" if size >= medium else "low"


def usage_result(
    usage: Usage,
    kind: str,
    *,
    p_value: float | None,
    notable: bool,
    suspicious: bool = False,
    details: Mapping[str, object] | None = None,
) -> TestResult:
    """A finding about one annotator's use of one category, with the contract's figures."""
    low, high = usage.odds_interval or (None, None)
    return TestResult(
        kind=kind,
        annotator=usage.annotator,
        category=usage.category,
        observed=usage.observed_share,
        expected=usage.expected_share,
        peers=usage.peer_share,
        n=usage.n,
        informative=usage.informative,
        effect=Effect("odds ratio", usage.odds_ratio, low, high),
        p_value=p_value,
        notable=notable,
        suspicious=suspicious,
        severity=severity_of_odds(usage.odds_ratio),
        details=details or {},
    )


State: TypeAlias = Literal["flagged", "insufficient", "clear"]
Figure: TypeAlias = float | int | None


@dataclass(frozen=True, kw_only=True)
class Finding(TestResult):
    """A test's result after correction for all tests of the audit, and what follows from it.

    Attributes:
        state: "flagged"; "insufficient", if something looks off but too few items could tell or
            the second opinion does not confirm it; "clear".
        also: kinds of findings that this one explains, and which are not told apart.
        refit: the same without the answers of flagged annotators, over the items that
            ``consensus`` rests on: of a large project a sample. None if there are none, or nothing
            is left to compare. It decides nothing.
        consensus: the second opinion, against a consensus of all answers; None if none was asked
            for.
    """

    q_value: float | None
    significant: bool
    state: State = "clear"
    also: tuple[str, ...] = ()
    refit: Finding | None = None
    consensus: Opinion | None = None

    @classmethod
    def from_test(cls, test: TestResult, **fields: object) -> Self:
        """Return a result with these fields; of thousands in a fifth of the time of `replace`."""
        finding = object.__new__(cls)
        vars(finding).update({"state": "clear", "also": (), "refit": None, "consensus": None})
        vars(finding).update(vars(test), **fields)
        return finding

    @property
    def stands_out(self) -> bool:
        """Whether the test is significant and the effect large enough."""
        return self.significant and self.notable

    @property
    def doubtful(self) -> bool:
        """Whether it is suspicious, and no test was made or the test is significant."""
        return self.suspicious and (self.significant or self.q_value is None)

    @property
    def unconfirmed(self) -> bool:
        """Whether the second opinion was asked, could tell, and did not confirm it."""
        consulted = self.consensus is not None and self.consensus.p_value is not None
        return consulted and self.state == "insufficient"

    @property
    def remark(self) -> bool:
        """Whether it is flagged, but no reason to think badly of the answers."""
        return self.severity == "remark"

    def to_dict(
        self, names: Mapping[int, str], category_name: str | None, of: int | None = None
    ) -> dict[str, object]:
        """Return the figures as JSON; an effect without a bound is None there.

        ``of`` is the annotator of whom it is told, where it is about a pair; the other is ``with``.
        The contract's JSON has a sentence, too: `tracker.audit.tables.finding_as_json`.
        """
        partner = self.annotator if of is not None and of == self.other else self.other
        figures = self._figures()
        refit = None if self.refit is None else self.refit._figures()
        return {
            "kind": self.kind,
            "category": category_name,
            "state": self.state,
            "severity": self.severity,
            **{name: figures[name] for name in _DECIDING},
            "peers": self.peers,
            "informative": self.informative,
            "effect": figures["effect"],
            "effect_measure": self.effect.measure,
            "effect_low": figures["effect_low"],
            "effect_high": figures["effect_high"],
            "with": None if partner is None else names[partner],
            "also": list(self.also),
            "details": dict(self.details),
            "refit": refit,
            "consensus": None if self.consensus is None else self.consensus.to_dict(),
        }

    def _figures(self) -> dict[str, Figure]:
        """Return the figures in the order in which JSON has those of a refit."""
        return {
            "observed": self.observed,
            "expected": self.expected,
            "peers": self.peers,
            "n": self.n,
            "informative": self.informative,
            "effect": finite_or_none(self.effect.value),
            "effect_low": finite_or_none(self.effect.low),
            "effect_high": finite_or_none(self.effect.high),
            "p_value": self.p_value,
            "q_value": self.q_value,
        }


_DECIDING = ("observed", "expected", "n", "p_value", "q_value")


class ProjectFinding(ABC):
    """A finding about a definition, some of the items or the design: about nobody's answers alone.

    Attributes:
        category: the id of the category that it is about, or None.
        certain: whether enough items could tell.
    """

    kind: ClassVar[str]
    severity: ClassVar[Severity] = "high"
    category: int | None = None
    certain: bool = True

    @property
    def subject(self) -> str | None:
        """The slice of the items that it is about, as attribute=value, if it is about one."""
        return None

    @property
    @abstractmethod
    def informative(self) -> int:
        """How many items or annotators it rests on."""

    @property
    def key(self) -> tuple[str, int | None, str | None]:
        """Kind, category and subject: what it is about."""
        return self.kind, self.category, self.subject

    @property
    def state(self) -> str:
        """Return "flagged", or "insufficient" if too few items could tell."""
        return "flagged" if self.certain else "insufficient"

    @abstractmethod
    def values(self, names: Mapping[int, Any], categories: Mapping[int, str]) -> dict[str, Any]:
        """Return what it is about and its figures as JSON; ``names`` are of annotators, by id."""


Points: TypeAlias = Mapping[int, float]
Example: TypeAlias = tuple[float, tuple[Answer, Pattern], int]
"""How well an answer shows a finding, the answer with its item's pattern, and its items."""
Examples: TypeAlias = Callable[[Finding, Evidence], Iterable[Example]]


def examples_for_kind(
    telling: Callable[[Finding, Answer, Pattern, Points], float],
) -> Examples:
    """Return examples that are any of the annotator's answers, by how telling each is.

    ``telling`` goes from 0 (not at all) to 1; it is asked about items that others answered too.
    """

    def examples(flag: Finding, evidence: Evidence) -> Iterator[Example]:
        points = evidence.points or {}
        for (own, pattern), items in evidence.tallies.counts.get(flag.annotator, {}).items():
            if answers_in_pattern(pattern) > 1:
                yield telling(flag, own, pattern, points), (own, pattern), items

    return examples


def example_disagreement(_flag: Finding, own: Answer, pattern: Pattern, _points: Points) -> float:
    """Return the share of the others who gave another answer."""
    return 1.0 - share_of_same(own, pattern)


BY_DISAGREEMENT = examples_for_kind(example_disagreement)


def example_category_use(flag: Finding, own: Answer, pattern: Pattern, _points: Points) -> float:
    """Return how few others gave the category that was given, or how many if it was not."""
    held = sum(count for answer, count in pattern if flag.category in answer)
    given = flag.category in own
    share = (held - given) / (answers_in_pattern(pattern) - 1)
    over = (flag.observed or 0.0) > (flag.expected or 0.0)
    if given != over:
        return 0.0
    return 1.0 - share if over else share


@dataclass(frozen=True)
class Kind:
    """One kind of finding.

    Attributes:
        needs: fields of ``Evidence`` without which the kind is not asked.
        reads: fields that it looks at, too, where they are given.
        find: all findings in the evidence, tested or not; of very many, the p-values alone that
            are above alpha: tests that count, and findings that nobody would ask for.
        threshold: the least effect of a flag; `Evidence.floor` knows what the user made of it.
        spoils: whether such answers shift what is expected of the co-annotators, so that a refit
            leaves them out.
        confirm: a second opinion on a finding that stands out; None for kinds that do not
            compare annotators with each other.
        explains: kinds of findings that follow from this one, which is told alone.
        examples: the answers that show a finding.
        minimum: informative items that its test needs.
        rows: what is looked up of the examples: the answers of the others, or instead of
            ``examples`` the fastest answers, or those that changed.
    """

    name: str
    needs: frozenset[str]
    find: Callable[[Evidence], Iterable[TestResult | FloatArray]]
    threshold: Threshold | None = None
    reads: frozenset[str] = frozenset()
    spoils: bool = False
    confirm: Callable[[TestResult, Consensus, Evidence], Opinion] | None = None
    explains: frozenset[str] = frozenset()
    examples: Examples = BY_DISAGREEMENT
    minimum: int = MINIMUM_INFORMATIVE
    rows: Literal["answers", "fastest", "changed"] = "answers"


# -- What a consensus says of a finding, by what the finding is about -----------------------------


_NOTHING = Opinion(None, None, None, None, holds=False)
LEAST_COPIED_SHARE = 0.6
"""Of the items on which a person and a model would differ, those on which they do not."""

_PART = 0.75
"""Part of the least effect, in log odds, that is asked of a use of a category: what is not sure of
the truth makes the odds against it smaller."""

_HALF = 0.5  # an answer added to either side of odds, so that they stay finite


def opinion_of_use(finding: TestResult, consensus: Consensus, least: float) -> Opinion:
    """Hold the use of a category against the truth, and against a typical annotator's.

    The effect is the smaller of both odds ratios, the p-value the larger: McNemar's test (1947)
    of answers that are wrong one way or the other, and the normal distribution of the count that
    typical annotators give.
    """
    share = consensus.of(finding.annotator)
    if share is None or finding.category is None:
        return _NOTHING
    held = np.array([finding.category in answer for answer in consensus.joint.answers])
    own, items = held[share.own].astype(np.float64), share.items
    true, typical = share.truth[:, held].sum(axis=1), share.expected[:, held].sum(axis=1)
    way = 1.0 if finding.over else -1.0
    counts = [float(items @ column) for column in (own, true, typical)]
    number = float(items.sum())
    odds = [_odds(counts[0], other, number) ** way for other in counts[1:]]
    over, under = float(items @ (own * (1 - true))), float(items @ ((1 - own) * true))
    wrong = _upper_binomial(*((over, under) if finding.over else (under, over)))
    error = math.sqrt(float(items @ (typical * (1 - typical))))
    p_value = max(wrong, _upper_normal(way * (counts[0] - counts[2]), error))
    effect = min(odds)
    return Opinion(
        counts[0] / number,
        counts[2] / number,
        effect**way,
        p_value,
        holds=effect >= least**_PART,
    )


def opinion_of_accuracy(finding: TestResult, consensus: Consensus, least: float) -> Opinion:
    """Hold the share of right answers against a typical annotator's on the same items."""
    share = consensus.of(finding.annotator)
    if share is None or share.items.sum() < 2:
        return _NOTHING
    gap, error = _mean(share.right - share.expected_right, share.items)
    return Opinion(
        _mean(share.right, share.items)[0],
        _mean(share.expected_right, share.items)[0],
        gap,
        _upper_normal(-gap, error),
        holds=gap <= -least,
    )


def opinion_of_points(
    finding: TestResult, consensus: Consensus, evidence: Evidence, least: float
) -> Opinion:
    """Hold answers on a scale against a typical annotator's, in standard deviations of these."""
    share = consensus.of(finding.annotator)
    points = evidence.points or {}
    if share is None or share.items.sum() < 2:
        return _NOTHING
    answers = consensus.joint.answers
    worth = np.array([points.get(answer[0], 0.0) if answer else 0.0 for answer in answers])
    expected = share.expected @ worth
    spread = math.sqrt(_mean(share.expected @ worth**2 - expected**2, share.items)[0])
    way = 1.0 if (finding.effect.value or 0.0) > 0 else -1.0
    off, error = _mean(worth[share.own] - expected, share.items)
    return Opinion(
        _mean(worth[share.own], share.items)[0],
        _mean(expected, share.items)[0],
        off,
        _upper_normal(way * off, error),
        holds=spread > 0 and way * off / spread >= least,
    )


SLIGHT, SLIGHT_PAIR, SLIGHT_SHIFT = 0.2, 0.12, 0.28
"""Parts of the variance, and of the standard deviation, of all answers on a scale: who is further
off by less in squared points, from the truth and from the others, and on average by less, is
strict or lenient, and no more."""


def with_slightness(
    opinion: Opinion, annotator: int, consensus: Consensus, evidence: Evidence
) -> Opinion:
    """Return the opinion; ``slight`` if on a scale they are hardly worse than a typical one."""
    share, points = consensus.of(annotator), evidence.points
    if share is None or points is None:
        return opinion
    joint = consensus.joint
    worth = np.array([points.get(answer[0], 0.0) if answer else 0.0 for answer in joint.answers])
    squares = (worth[:, None] - worth) ** 2
    distances = (share.truth * squares[share.own]).sum(axis=1)
    typical = share.truth @ (share.typical * squares).sum(axis=1)
    mean = _mean(worth[joint.answer], joint.weight)[0]
    variance = _mean((worth[joint.answer] - mean) ** 2, joint.weight)[0] or 1.0
    further = _mean(distances - typical, share.items)[0] / variance
    apart = _distances_from_others(joint, worth)
    pair = (apart[joint.annotators == annotator].sum() - np.median(apart)) / variance
    shift = _mean(worth[share.own] - share.expected @ worth, share.items)[0] / math.sqrt(variance)
    slight = further < SLIGHT and pair < SLIGHT_PAIR and abs(shift) < SLIGHT_SHIFT
    return replace(opinion, slight=bool(slight))


def _distances_from_others(joint: JointAnswers, worth: FloatArray) -> FloatArray:
    """Return each annotator's mean squared distance from the others' answers to the same items."""
    given, item = worth[joint.answer], joint.item
    number, total, squares = (np.bincount(item, given**power)[item] for power in range(3))
    apart = number * given**2 - 2 * given * total + squares
    sums, pairs = (
        np.bincount(joint.annotator, joint.weight * values, len(joint.annotators))
        for values in (apart, number - 1)
    )
    return np.asarray(sums / np.maximum(pairs, 1))


def opinion_of_fall(finding: TestResult, consensus: Consensus, least: float) -> Opinion:
    """Hold the share of right answers from some moment on against that before it."""
    share = consensus.of(finding.annotator)
    if share is None:
        return _NOTHING
    sides = [share.late == side for side in (0, 1)]
    if min(share.items[side].sum() for side in sides) < 2:
        return _NOTHING
    surplus = share.right - share.expected_right
    (before, error_before), (after, error_after) = (
        _mean(surplus[side], share.items[side]) for side in sides
    )
    right = [_mean(share.right[side], share.items[side])[0] for side in sides]
    return Opinion(
        right[1],
        right[0],
        after - before,
        _upper_normal(before - after, math.hypot(error_before, error_after)),
        holds=after - before <= -least,
    )


def opinion_of_pair(finding: TestResult, consensus: Consensus) -> Opinion:
    """Hold the agreement of two against what both give independently."""
    assert finding.other is not None
    place = consensus.pair(*sorted((finding.annotator, finding.other)))
    if place is None:
        return _NOTHING
    excess, error = float(consensus.excess[place]), float(consensus.error[place])
    agreed = float(consensus.pairs.agreed[place])
    holds = bool(surely_dependent_pairs(consensus.pairs, consensus.excess, consensus.error)[place])
    ratio = agreed / (agreed - excess) if agreed > excess else None
    # Beside one other annotator, two who agree may both be excellent, and the other one off.
    p_value = (
        _upper_normal(excess, error)
        if pair_dependence_witnesses(consensus.pairs, place) > 1
        else None
    )
    return Opinion(agreed, agreed - excess, ratio, p_value, holds=holds)


def opinion_of_person_and_model(finding: TestResult, consensus: Consensus) -> Opinion:
    """Hold the agreement of a person and a model against what both give independently.

    The two must share `LEAST_COPIED_SHARE` of the items on which they would not agree by
    themselves: a model is right so often that there are few of them.
    """
    opinion = opinion_of_pair(finding, consensus)
    if opinion.observed is None or opinion.expected is None:
        return opinion
    left = 1.0 - opinion.expected
    share = (opinion.observed - opinion.expected) / left if left > 0 else 0.0
    return replace(opinion, holds=share >= LEAST_COPIED_SHARE)


def _odds(count: float, other: float, number: float) -> float:
    """The odds of a count against another's, of the same number of answers."""
    first, second = count + _HALF, other + _HALF
    return first / (number + 1 - first) / (second / (number + 1 - second))


def _mean(values: FloatArray, items: FloatArray) -> tuple[float, float]:
    """The mean over items, and its standard error; 0 of fewer than two."""
    number = float(items.sum())
    mean = float(items @ values) / number
    variance = float(items @ (values - mean) ** 2) / max(number - 1.0, 1.0)
    return mean, math.sqrt(variance / number)


def _upper_normal(value: float, error: float) -> float:
    if error <= 0:
        return 0.0 if value > 0 else 1.0
    return 0.5 * math.erfc(value / error / math.sqrt(2.0))


def _upper_binomial(seen: float, rest: float) -> float:
    """The probability of so many of both, or more, at one half; of whole and other numbers."""
    from scipy.special import betainc

    return float(betainc(seen, rest + 1.0, 0.5)) if seen > 0 else 1.0
