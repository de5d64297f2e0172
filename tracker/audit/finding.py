"""A flag: what an audit says of one annotator, with its evidence."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from tracker.audit.kind import Effect, Key, Severity

State: TypeAlias = Literal["flagged", "insufficient", "clear"]
Figure: TypeAlias = float | int | None


@dataclass(frozen=True)
class Flag:
    """One finding about one annotator after correction for all tests of the audit.

    Attributes:
        annotator: the annotator's id; of a pair, the lower one.
        kind: the kind of finding, as in the contract.
        category: the category's id, or None where the kind is not about one.
        state: "flagged"; "insufficient", where something looks off but too few items could tell;
            "clear".
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

    def to_dict(
        self, names: Mapping[int, str], category_name: str | None, of: int | None = None
    ) -> dict[str, object]:
        """Return the figures as JSON; an effect without a bound is None there.

        The contract's JSON has a sentence, too: `tracker.render.audit.finding_dict`.

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
