"""Those who stand out and agree with each other: careless people do not, a few experts do.

Where most err alike, who is right stands out, and no answer says so. Experts then give the same
answers against most of the others; who is careless, or errs in one direction, shares few of theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tracker.audit.evidence import Evidence
from tracker.audit.kind import Finding
from tracker.audit.kinds.category_bias import CATEGORY_BIAS
from tracker.audit.kinds.copying import COPYING
from tracker.audit.kinds.low_agreement import LOW_AGREEMENT
from tracker.audit.kinds.severity_bias import SEVERITY_BIAS
from tracker.core.audit_tallies import DIFFERENT, MINORITY

LEAST_SHARED_ANSWERS = 10
"""Answers against most of the others that one shares with those who stand out, at least."""

LEAST_SHARE = 0.5
"""Of the items on which one of two who stand out differs from most, those on which both do alike.

In simulated crowds it is 0.7 to 1.0 of two experts, and below 0.4 of careless ones."""

TIMES_OTHERS = 2.0
"""Times as often as with the others."""

ENOUGH_TRUTHS = 0.3
"""Share of an annotator's answers with a truth, above which nobody need ask for more."""

_KINDS = frozenset({CATEGORY_BIAS.name, LOW_AGREEMENT.name, SEVERITY_BIAS.name})


def flags_of_minorities(findings: Sequence[Finding], evidence: Evidence) -> list[Finding]:
    """Return the flags; those of people who may be a minority that is right say so.

    Two who are flagged for copying stand out, too: experts agree that much. That flag itself
    says already that they agree.
    """
    standing = {
        who
        for flag in findings
        if flag.kind in {*_KINDS, COPYING.name} and _stands_out(flag)
        for who in (flag.annotator, flag.other)
        if who is not None
    }
    agreeing = _who_agree(standing, evidence) if len(standing) > 1 else set()
    return [
        replace(flag, details={**flag.details, "minority": True})
        if flag.annotator in agreeing and flag.kind in _KINDS and flag.state == "flagged"
        else flag
        for flag in findings
    ]


def _stands_out(flag: Finding) -> bool:
    return flag.state == "flagged" or flag.unconfirmed


def _who_agree(standing: set[int], evidence: Evidence) -> set[int]:
    """Return those who agree with the others who stand out where they differ from most."""
    pairs = evidence.pairs
    if pairs is None:
        return set()
    given, rows = pairs.given[pairs.kind], len(pairs.pairs)
    alike, apart = (
        np.bincount(pairs.pair, pairs.items * (given == which), rows)
        for which in (MINORITY, DIFFERENT)
    )
    agreeing = set()
    members = np.array(pairs.pairs)
    own = np.isin(members, sorted(standing))
    for who in standing:
        mine = (members == who).any(axis=1)
        both = mine & own.all(axis=1)
        with_them, with_others = (
            _share(float(alike[some].sum()), float(apart[some].sum()))
            for some in (both, mine & ~both)
        )
        enough = alike[both].sum() >= LEAST_SHARED_ANSWERS
        clearly = with_them >= max(LEAST_SHARE, TIMES_OTHERS * with_others)
        if enough and clearly and not _is_judged(who, evidence):
            agreeing.add(who)
    return agreeing


def _share(alike: float, apart: float) -> float:
    return alike / (alike + apart) if alike else 0.0


def _is_judged(annotator: int, evidence: Evidence) -> bool:
    """Return whether truths are known of so many of the answers that no more are needed."""
    judged = sum((evidence.gold or {}).get(annotator, {}).values())
    columns = evidence.columns
    answers = columns.number[columns.annotators[columns.owner] == annotator].sum()
    return judged >= ENOUGH_TRUTHS * float(answers)
