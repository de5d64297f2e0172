"""What a kind of finding is given, what it returns, and how it is registered.

A kind looks at the evidence and returns findings: figures and, where there is enough to go by,
a p-value. Whether a finding becomes a flag is decided over all findings together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

from tracker.audit.strata import Usage, usages
from tracker.tally import AnnotatorTallies

__all__ = [
    "MINIMUM_ANSWERS",
    "MINIMUM_INFORMATIVE",
    "Evidence",
    "Finding",
    "Key",
    "Kind",
    "Severity",
    "severity_of",
    "usage_finding",
]

MINIMUM_INFORMATIVE = 10
"""Informative items that a test needs; with fewer, none is made."""

MINIMUM_ANSWERS = 3
"""Answers to shared items below which nothing at all is said."""

MEDIUM_ODDS_RATIO, HIGH_ODDS_RATIO = 3.47, 6.71
"""Where an odds ratio stops being small, and medium (Chen, Cohen and Chen 2010, table 1: the
counterparts of Cohen's d of 0.5 and 0.8)."""

Severity: TypeAlias = Literal["high", "medium", "low"]
Key: TypeAlias = tuple[int, str, int | None]


@dataclass(frozen=True)
class Evidence:
    """What kinds may look at; a field that is None was not given.

    Attributes:
        tallies: annotator x own answer x pattern.
        several: whether an answer may hold any number of categories.
        alpha: the false discovery rate to hold.
    """

    tallies: AnnotatorTallies
    several: bool
    alpha: float

    @cached_property
    def usages(self) -> list[Usage]:
        """Every annotator's use of every category, counted once for all kinds."""
        return usages(self.tallies)

    def offers(self, needs: Iterable[str]) -> bool:
        """Whether all the named fields were given."""
        return all(getattr(self, need) is not None for need in needs)


@dataclass(frozen=True)
class Finding:
    """One kind's result for one annotator, and one category where it is about one.

    Attributes:
        kind: the kind's name.
        annotator: the annotator's id.
        category: the category's id, or None.
        observed: the annotator's own figure; for category kinds a share, 0 to 1.
        expected: what the null hypothesis expects of it.
        peers: the co-annotators' figure, the annotator left out.
        n: answers the figures rest on.
        informative: items that could tell.
        odds_ratio: the effect, annotator to peers; may be ``inf``, None where undefined.
        p_value: None where no test was made.
        notable: whether the effect is large enough to be flagged.
        suspicious: whether to say "insufficient" where no test was made.
        strength: how far the answers are off, 0 to 1; ranks annotators in a refit.
    """

    kind: str
    annotator: int
    category: int | None
    observed: float
    expected: float
    peers: float
    n: int
    informative: int
    odds_ratio: float | None
    p_value: float | None
    notable: bool
    suspicious: bool
    strength: float

    @property
    def key(self) -> Key:
        """Annotator, kind and category: at most one finding has it."""
        return (self.annotator, self.kind, self.category)

    @property
    def over(self) -> bool:
        """Whether the annotator's figure is above the expected one."""
        return self.observed > self.expected


@dataclass(frozen=True)
class Kind:
    """One kind of finding.

    Attributes:
        name: as in the contract.
        needs: fields of ``Evidence`` without which the kind is not asked.
        find: all findings in the evidence, tested or not.
        why: one sentence about a finding, without its full stop, with ``{annotator}`` and
            ``{category}`` in place of the names; for a finding without a test or with one.
        leads: whether, of two annotators whose answers are equally far off, the one with this
            finding is the first to be left out of the others' yardstick.
    """

    name: str
    needs: frozenset[str]
    find: Callable[[Evidence], Iterable[Finding]]
    why: Callable[[Finding], str]
    leads: bool = False


def severity_of(odds_ratio: float | None) -> Severity:
    """How large an odds ratio is, on either side of 1; 0 and ``inf`` are "high"."""
    if odds_ratio is None:
        return "low"
    size = math.inf if odds_ratio == 0 else max(odds_ratio, 1.0 / odds_ratio)
    if size >= HIGH_ODDS_RATIO:
        return "high"
    return "medium" if size >= MEDIUM_ODDS_RATIO else "low"


def usage_finding(
    usage: Usage, kind: str, *, p_value: float | None, notable: bool, suspicious: bool
) -> Finding:
    """A finding about one annotator's use of one category, with the contract's figures."""
    return Finding(
        kind=kind,
        annotator=usage.annotator,
        category=usage.category,
        observed=usage.observed_share,
        expected=usage.expected_share,
        peers=usage.peer_share,
        n=usage.n,
        informative=usage.informative,
        odds_ratio=usage.odds_ratio,
        p_value=p_value,
        notable=notable,
        suspicious=suspicious,
        strength=abs(usage.excess),
    )
