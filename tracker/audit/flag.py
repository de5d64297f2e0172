"""A flag: what an audit says of one annotator, with its evidence."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

from tracker.audit.finding import Severity

__all__ = ["Figure", "Flag", "State", "why"]

State: TypeAlias = Literal["flagged", "insufficient", "clear"]
Figure: TypeAlias = float | int | None


@dataclass(frozen=True)
class Flag:
    """One finding about one annotator after correction for all tests of the audit.

    Attributes:
        annotator: the annotator's id.
        kind: the kind of finding, as in the contract.
        category: the category's id, or None where the kind is not about one.
        state: "flagged"; "insufficient", where something looks off but too few items could tell;
            "clear".
        severity: size of the effect, None unless flagged.
        observed: for category kinds, share of the category in the annotator's answers to items
            that others answered too.
        expected: mean over these items of the share of their annotators who gave the category,
            the annotator included.
        peers: the same with the annotator left out.
        n: those answers.
        informative: those of the items that could tell: some but not all annotators gave it.
        odds_ratio: common odds ratio over the items, annotator to co-annotators; ``inf`` where it
            has no bound, None where undefined.
        p_value: of the test, None where none was made.
        q_value: the same corrected for all tests of the audit (Benjamini-Hochberg).
        why: a sentence with ``{annotator}`` and ``{category}`` in place of names; None if clear.
        refit: observed, expected, peers, n, p_value, q_value, odds_ratio and informative without
            the answers of the other flagged annotators; None where no refit was made, or where
            it left no shared item with the category. All other figures are before any refit;
            the state rests on the refit where it could test.
    """

    annotator: int
    kind: str
    category: int | None
    state: State
    severity: Severity | None
    observed: float
    expected: float
    peers: float
    n: int
    informative: int
    odds_ratio: float | None
    p_value: float | None
    q_value: float | None
    why: str | None
    refit: dict[str, Figure] | None

    def to_dict(self, annotator_name: str, category_name: str | None) -> dict[str, object]:
        """The flag as the contract's JSON; an odds ratio without a bound is None there."""
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
            "why": why(self, annotator_name, category_name),
            "peers": self.peers,
            "informative": self.informative,
            "odds_ratio": _finite(self.odds_ratio),
            "refit": self.refit and {name: _finite(value) for name, value in self.refit.items()},
        }


def why(flag: Flag, annotator_name: str, category_name: str | None) -> str | None:
    """One plain sentence with the numbers and the names; None if the flag is clear."""
    if flag.why is None:
        return None
    return flag.why.format(annotator=annotator_name, category=f'"{category_name}"')


def _finite(value: Figure) -> Figure:
    return None if value is not None and math.isinf(value) else value
