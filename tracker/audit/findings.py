"""Audits of annotators: evidence in, flags out; one kind of finding a file.

A new kind is a ``Kind`` in a file of its own, entered in ``KINDS``; what it needs beyond the
annotator tallies is a field of ``Evidence``.
"""

from __future__ import annotations

from collections.abc import Sequence

from tracker.audit.assemble import assemble
from tracker.audit.evidence import Evidence
from tracker.audit.finding import Flag, State
from tracker.audit.kind import Kind
from tracker.audit.kinds.category_bias import CATEGORY_BIAS
from tracker.audit.kinds.constant_category import CONSTANT_CATEGORY
from tracker.audit.kinds.copying import COPYING
from tracker.audit.kinds.drift import DRIFT
from tracker.audit.kinds.empty_answers import EMPTY_ANSWERS
from tracker.audit.kinds.low_agreement import LOW_AGREEMENT
from tracker.audit.kinds.low_gold_accuracy import LOW_GOLD_ACCURACY
from tracker.audit.kinds.low_self_agreement import LOW_SELF_AGREEMENT
from tracker.audit.kinds.random_answers import RANDOM_ANSWERS
from tracker.audit.kinds.severity_bias import SEVERITY_BIAS
from tracker.audit.kinds.straight_lining import STRAIGHT_LINING
from tracker.audit.kinds.too_fast import TOO_FAST
from tracker.audit.overlap import redundant
from tracker.audit.verdict import Consult, settle

KINDS: tuple[Kind, ...] = (
    CONSTANT_CATEGORY,
    RANDOM_ANSWERS,
    CATEGORY_BIAS,
    SEVERITY_BIAS,
    LOW_AGREEMENT,
    LOW_GOLD_ACCURACY,
    LOW_SELF_AGREEMENT,
    DRIFT,
    STRAIGHT_LINING,
    TOO_FAST,
    COPYING,
    EMPTY_ANSWERS,
)

_ORDER: dict[State, int] = {"flagged": 0, "insufficient": 1, "clear": 2}


def audit(
    evidence: Evidence,
    kinds: Sequence[Kind] = KINDS,
    consult: Consult | None = None,
) -> list[Flag]:
    """What can be said of each annotator's answers against those of the same items' others.

    Args:
        evidence: all answers.
        kinds: what to look for; one correction is made for all tests of these.
        consult: the answers that a second opinion on some findings rests on, and figures without
            those of flagged annotators. Without it a finding that stands out is flagged.

    Returns:
        Flags of every state, by annotator; flagged, then insufficient, then clear; then by kind
        and by p-value. Duplicates (`overlap`) are not among them.
    """
    verdict = settle(kinds, evidence, consult)
    states = verdict.states()
    findings = {key: judged.finding for key, judged in verdict.judged.items()}
    dropped, also = redundant(findings, states, evidence)
    flags = [
        assemble(verdict, key, state, also.get(key, ()))
        for key, state in states.items()
        if key not in dropped
    ]
    place = {kind.name: index for index, kind in enumerate(KINDS)}
    return sorted(flags, key=lambda flag: _sort_key(flag, place))


def not_applicable(evidence: Evidence, kinds: Sequence[Kind] = KINDS) -> dict[str, str]:
    """Return the kinds that the evidence lacks something for: the first field that is missing."""
    found = {kind.name: evidence.lacks(sorted(kind.needs)) for kind in kinds}
    return {kind: needs[0] for kind, needs in found.items() if needs}


def _sort_key(flag: Flag, place: dict[str, int]) -> tuple[int, int, int, float, int, int]:
    p_value = 2.0 if flag.p_value is None else flag.p_value
    category = -1 if flag.category is None else flag.category
    other = flag.other or 0
    return (flag.annotator, _ORDER[flag.state], place[flag.kind], p_value, category, other)
