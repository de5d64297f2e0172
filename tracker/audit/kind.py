"""What a kind of finding is given, what it returns, and how it is registered.

A kind looks at the evidence and returns findings: figures and, where there is enough to go by,
a p-value. Whether a finding becomes a flag is decided over all findings together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from tracker.audit.evidence import Evidence
from tracker.audit.second_opinion import Consensus, Opinion
from tracker.audit.statistics.mantel_haenszel import Usage

MINIMUM_INFORMATIVE = 10
"""Informative items that a test needs; with fewer, none is made."""

MINIMUM_ANSWERS = 3
"""Answers to shared items below which nothing at all is said."""

MEDIUM_ODDS_RATIO, HIGH_ODDS_RATIO = 3.47, 6.71
"""Where an odds ratio stops being small, and medium (Chen, Cohen and Chen 2010, table 1: the
counterparts of Cohen's d of 0.5 and 0.8)."""

MEDIUM_GAP, HIGH_GAP = 0.2, 0.35
"""Where a difference of two shares stops being small, and medium."""

Severity: TypeAlias = Literal["high", "medium", "low"]
Key: TypeAlias = tuple[int, str, int | None, int | None]
Measure: TypeAlias = Literal["odds ratio", "difference", "ratio", "points"]


@dataclass(frozen=True)
class Effect:
    """How far a figure is off, as what, with a 95 % interval where there is one.

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
        suspicious: whether to say "insufficient" where no test was made.
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


@dataclass(frozen=True)
class Kind:
    """One kind of finding.

    Attributes:
        name: as in the contract.
        needs: fields of ``Evidence`` without which the kind is not asked.
        find: all findings in the evidence, tested or not; of very many, a p-value alone where
            it is above alpha: a test that counts, and a finding that nobody would ask for.
        spoils: whether such answers shift what is expected of the co-annotators, so that a refit
            leaves them out.
        confirm: a second opinion on a finding that stands out; None for kinds that do not
            compare annotators with each other.
    """

    name: str
    needs: frozenset[str]
    find: Callable[[Evidence], Iterable[Finding | float]]
    spoils: bool = False
    confirm: Callable[[Finding, Consensus, Evidence], Opinion] | None = None


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
