"""Who is flagged, when the yardstick itself is made of the annotators under audit.

Answers that are far off shift what is expected of everyone else on the same items. So the audit is
repeated with the answers of flagged annotators taken out of everyone else's patterns, until the
flagged annotators are exactly those left out, or ``MAXIMUM_REFITS`` is reached.

Of two who copy the one is left out and the other stays: their answers count once.

Not all flagged annotators are left out at once. On an item of n annotators the own answers minus
T / n add up to 0, so answers that are off by d shift each of the other n - 1 by d / (n - 1): who
is flagged only because of others is off by less than they are, as long as the others are fewer
than half. Each refit therefore leaves out only the ones that are furthest off.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tracker.audit.correction import benjamini_hochberg
from tracker.audit.evidence import Evidence
from tracker.audit.finding import Finding, Key, Kind
from tracker.audit.flag import State

__all__ = ["MAXIMUM_REFITS", "Judged", "Regather", "Round", "Settled", "settle"]

MAXIMUM_REFITS = 5

NEAR_THE_TOP = 0.75
"""Annotators at least this part as far off as the furthest, by the same kind of finding, are left
out along with them. Two of an item's five can shift the other three by up to 2/3 of what they
themselves are off by."""

Regather: TypeAlias = Callable[[frozenset[int]], Evidence]


@dataclass(frozen=True)
class Judged:
    """A finding, its q-value (None where no test was made) and whether it is flagged."""

    finding: Finding
    q_value: float | None
    flagged: bool


@dataclass(frozen=True)
class Round:
    """All findings on one set of tallies, and the annotators whose answers were left out."""

    evidence: Evidence
    excluded: frozenset[int]
    judged: Mapping[Key, Judged]


@dataclass(frozen=True)
class Settled:
    """The first round, on all answers, and the last refit, None where none was made."""

    first: Round
    last: Round | None

    def states(self) -> dict[Key, State]:
        """What is said in the end, per finding of the first round."""
        return {key: _state(judged, self.last) for key, judged in self.first.judged.items()}

    def deciding(self, key: Key) -> Judged:
        """The refit's finding where it made a test, otherwise the first round's."""
        refit = self.last.judged.get(key) if self.last else None
        return refit if refit and refit.q_value is not None else self.first.judged[key]


def settle(kinds: Sequence[Kind], evidence: Evidence, regather: Regather | None) -> Settled:
    """Judge all findings, and again without flagged answers until that changes nothing.

    Args:
        kinds: what to look for.
        evidence: all answers.
        regather: the evidence with the answers of these annotators in no one's pattern but their
            own; None for no refit.
    """
    settled = Settled(_round(kinds, evidence, frozenset()), None)
    if regather is None:
        return settled
    tried = {frozenset[int]()}
    for _ in range(MAXIMUM_REFITS):
        excluded = _next_excluded(settled, kinds)
        if excluded in tried:
            break
        tried.add(excluded)
        settled = Settled(settled.first, _round(kinds, regather(excluded), excluded))
    return settled


def _round(kinds: Sequence[Kind], evidence: Evidence, excluded: frozenset[int]) -> Round:
    """One Benjamini-Hochberg correction over all tests of all kinds, annotators, categories."""
    asked = [kind for kind in kinds if not evidence.lacks(kind.needs)]
    tests = [one for kind in asked for one in kind.find(evidence)]
    findings = [one for one in tests if isinstance(one, Finding)]
    p_values = [finding.p_value for finding in findings if finding.p_value is not None]
    # The first q-values are those of findings; of p-values alone nobody asks for one.
    q_values = iter(benjamini_hochberg([*p_values, *(p for p in tests if isinstance(p, float))]))
    judged: dict[Key, Judged] = {}
    for finding in findings:
        q_value = None if finding.p_value is None else next(q_values)
        flagged = q_value is not None and q_value <= evidence.alpha and finding.notable
        judged[finding.key] = Judged(finding, q_value, flagged)
    return Round(evidence, excluded, judged)


def _next_excluded(settled: Settled, kinds: Sequence[Kind]) -> frozenset[int]:
    """Those left out and still flagged, and of the others flagged those furthest off.

    Kinds measure how far in units of their own, so the furthest are taken kind by kind: what
    others shift is the same sum that makes them stand out.
    """
    excluded = settled.last.excluded if settled.last else frozenset[int]()
    spoiling = {kind.name for kind in kinds if kind.spoils}
    leading = {kind.name for kind in kinds if kind.leads}
    flagged = [
        settled.deciding(key).finding
        for key, state in settled.states().items()
        if state == "flagged" and key[1] in spoiling
    ]
    kept = frozenset(finding.left_out for finding in flagged) & excluded
    candidates = [finding for finding in flagged if finding.left_out not in excluded]
    top: dict[str, float] = {}
    for finding in candidates:
        top[finding.kind] = max(top.get(finding.kind, 0.0), finding.strength)
    near = [one for one in candidates if one.strength >= NEAR_THE_TOP * top[one.kind]]
    first = [finding for finding in near if finding.kind in leading] or near
    return kept | {finding.left_out for finding in first}


def _state(first: Judged, last: Round | None) -> State:
    """The state of one finding.

    A refit that can test decides. One that cannot leaves flagged who was left out for it, since
    it compares them with no one new; of anyone else all that is known is that their answers
    differ from flagged ones, which is not enough. What was never tested stays as it looked.
    """
    refit = last.judged.get(first.finding.key) if last else None
    if refit is not None and refit.q_value is not None:
        return "flagged" if refit.flagged else "clear"
    if first.flagged:
        alone = last is None or first.finding.annotator in last.excluded
        return "flagged" if alone else "insufficient"
    return "insufficient" if first.finding.suspicious else "clear"
