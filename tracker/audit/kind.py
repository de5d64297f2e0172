"""What a kind of finding is given, what it returns, and how it is registered.

A kind looks at the evidence and returns findings: figures and, where there is enough to go by,
a p-value. Whether a finding becomes a flag is decided over all findings together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from tracker.audit.evidence import Evidence
from tracker.audit.second_opinion import Consensus, Opinion
from tracker.audit.statistics.mantel_haenszel import Usage
from tracker.audit.thresholds import Threshold
from tracker.core.tallies import Answer, Pattern, answers_in_pattern

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
        low: the interval's lower end.
        high: its upper end.
    """

    measure: Measure
    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Finding:
    """One kind's result for one annotator, and one category or other annotator if it is about one.

    Attributes:
        kind: the kind's name.
        annotator: the annotator's id.
        category: the category's id, or None.
        observed: the annotator's own figure, None where there is none; of most kinds a share.
        expected: what the null hypothesis expects of it.
        peers: the co-annotators' figure, the annotator left out; None where there is none.
        n: answers the figures rest on.
        informative: items that could tell.
        effect: how far off.
        p_value: None where no test was made.
        notable: whether the effect is large enough to be flagged.
        suspicious: whether to say "insufficient" if no test was made, or if the test is
            significant and the effect not notable.
        severity: how bad it is if it is flagged.
        other: the other annotator's id where the finding is about a pair.
        details: further figures of the kind, ready for JSON.
    """

    kind: str
    annotator: int
    category: int | None
    observed: float | None
    expected: float | None
    peers: float | None
    n: int
    informative: int
    effect: Effect
    p_value: float | None
    notable: bool
    suspicious: bool
    severity: Severity
    other: int | None = None
    details: Mapping[str, object] = field(default_factory=dict)

    @property
    def key(self) -> Key:
        """Annotator, kind, category and other annotator: at most one finding has it."""
        return (self.annotator, self.kind, self.category, self.other)

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


def usage_finding(
    usage: Usage,
    kind: str,
    *,
    p_value: float | None,
    notable: bool,
    suspicious: bool,
    details: Mapping[str, object] | None = None,
) -> Finding:
    """A finding about one annotator's use of one category, with the contract's figures."""
    low, high = usage.odds_interval or (None, None)
    return Finding(
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


@dataclass(frozen=True)
class Flag:
    """One finding about one annotator after correction for all tests of the audit.

    Attributes:
        annotator: the annotator's id; of a pair, the lower one.
        kind: the kind of finding, as in the contract.
        category: the category's id, or None where the kind is not about one.
        state: "flagged"; "insufficient", if something looks off but too few items could tell or
            the second opinion does not confirm it; "clear".
        severity: size of the effect, None unless flagged.
        observed: the annotator's figure; of category kinds, share of the category in the answers
            to items that others answered too.
        expected: what the test expects of it; of category kinds, mean over these items of the
            share of their annotators who gave the category, the annotator included.
        peers: the same with the annotator left out; None where there is no such figure.
        n: those answers.
        informative: items that could tell; of category kinds, some but not all annotators gave it.
        effect: how far off, with its interval.
        p_value: of the test, None where none was made.
        q_value: the same corrected for all tests of the audit (Benjamini-Hochberg).
        refit: the figures from observed to q_value without the answers of flagged annotators,
            over the items that ``consensus`` rests on: of a large project a sample. None if
            there are none, or nothing is left to compare. They decide nothing.
        other: the other annotator's id, where the finding is about a pair; None otherwise.
        also: kinds of findings that this one explains, and which are not told apart.
        details: further figures of the kind.
        consensus: the second opinion: observed, expected, effect and p_value against a consensus
            of all answers; None if none was asked for.
    """

    annotator: int
    kind: str
    category: int | None
    state: State
    severity: Severity | None
    observed: float | None
    expected: float | None
    peers: float | None
    n: int
    informative: int
    effect: Effect
    p_value: float | None
    q_value: float | None
    refit: dict[str, Figure] | None
    other: int | None = None
    also: tuple[str, ...] = ()
    details: Mapping[str, object] = field(default_factory=dict)
    consensus: Mapping[str, Figure] | None = None

    @property
    def key(self) -> Key:
        """Annotator, kind, category and other annotator: what it is about."""
        return (self.annotator, self.kind, self.category, self.other)

    @property
    def unconfirmed(self) -> bool:
        """Whether the second opinion was asked, could tell, and did not confirm it."""
        told = self.consensus is not None and self.consensus["p_value"] is not None
        return told and self.state == "insufficient"

    @property
    def remark(self) -> bool:
        """Whether it is flagged, but no reason to think badly of the answers."""
        return self.severity == "remark"

    def to_dict(
        self, names: Mapping[int, str], category_name: str | None, of: int | None = None
    ) -> dict[str, object]:
        """Return the figures as JSON; an effect without a bound is None there.

        The contract's JSON has a sentence, too: `tracker.render.audit.finding_as_json`.

        Args:
            names: the annotators' names by id.
            category_name: of the category that the finding is about.
            of: the annotator of whom it is told, where it is about a pair; the other is ``with``.
        """
        partner = self.annotator if of is not None and of == self.other else self.other
        return {
            "kind": self.kind,
            "category": category_name,
            "state": self.state,
            "severity": self.severity,
            "observed": self.observed,
            "expected": self.expected,
            "n": self.n,
            "p_value": self.p_value,
            "q_value": self.q_value,
            "peers": self.peers,
            "informative": self.informative,
            "effect": _finite(self.effect.value),
            "effect_measure": self.effect.measure,
            "effect_low": _finite(self.effect.low),
            "effect_high": _finite(self.effect.high),
            "with": None if partner is None else names[partner],
            "also": list(self.also),
            "details": dict(self.details),
            "refit": self.refit and {name: _finite(value) for name, value in self.refit.items()},
            "consensus": self.consensus
            and {name: _finite(value) for name, value in self.consensus.items()},
        }


def _finite(value: Figure) -> Figure:
    return None if value is not None and math.isinf(value) else value


Points: TypeAlias = Mapping[int, float]
Example: TypeAlias = tuple[float, tuple[Answer, Pattern], int]
"""How well an answer shows a finding, the answer with its item's pattern, and its items."""
Examples: TypeAlias = Callable[[Flag, Evidence], Iterable[Example]]


def examples_for_kind(
    telling: Callable[[Flag, Answer, Pattern, Points], float],
) -> Examples:
    """Return examples that are any of the annotator's answers, by how telling each is.

    ``telling`` goes from 0 (not at all) to 1; it is asked about items that others answered too.
    """

    def examples(flag: Flag, evidence: Evidence) -> Iterator[Example]:
        points = evidence.points or {}
        for (own, pattern), items in evidence.tallies.counts.get(flag.annotator, {}).items():
            if answers_in_pattern(pattern) > 1:
                yield telling(flag, own, pattern, points), (own, pattern), items

    return examples


def example_disagreement(_flag: Flag, own: Answer, pattern: Pattern, _points: Points) -> float:
    """Return the share of the others who gave another answer."""
    return 1.0 - (dict(pattern)[own] - 1) / (answers_in_pattern(pattern) - 1)


BY_DISAGREEMENT = examples_for_kind(example_disagreement)


def example_category_use(flag: Flag, own: Answer, pattern: Pattern, _points: Points) -> float:
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
        name: as in the contract.
        needs: fields of ``Evidence`` without which the kind is not asked.
        reads: fields that it looks at, too, where they are given.
        find: all findings in the evidence, tested or not; of very many, a p-value alone if it
            is above alpha: a test that counts, and a finding that nobody would ask for.
        threshold: the least effect of a flag; `Evidence.floor` knows what the user made of it.
        spoils: whether such answers shift what is expected of the co-annotators, so that a refit
            leaves them out.
        confirm: a second opinion on a finding that stands out; None for kinds that do not
            compare annotators with each other.
        explains: kinds of findings that follow from this one, which is told alone.
        examples: the answers that show a finding.
        rows: what is looked up of the examples: the answers of the others, or instead of
            ``examples`` the fastest answers, or those that changed.
    """

    name: str
    needs: frozenset[str]
    find: Callable[[Evidence], Iterable[Finding | float]]
    threshold: Threshold | None = None
    reads: frozenset[str] = frozenset()
    spoils: bool = False
    confirm: Callable[[Finding, Consensus, Evidence], Opinion] | None = None
    explains: frozenset[str] = frozenset()
    examples: Examples = BY_DISAGREEMENT
    rows: Literal["answers", "fastest", "changed"] = "answers"
