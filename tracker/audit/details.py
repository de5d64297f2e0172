"""What the details of findings say beside their tests.

Who of a pair answered later; who may be a minority that is right; how much of the disagreement a
finding explains.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from sqlalchemy import Connection

from tracker.audit.evidence import Evidence
from tracker.audit.kind import Finding
from tracker.audit.kinds.category_bias import CATEGORY_BIAS
from tracker.audit.kinds.copying import COPYING
from tracker.audit.kinds.low_agreement import LOW_AGREEMENT
from tracker.audit.kinds.odd_import import NAME as ODD_IMPORT
from tracker.audit.kinds.odd_import import odd_file
from tracker.audit.kinds.severity_bias import SEVERITY_BIAS
from tracker.core.audit_tallies import DIFFERENT, MINORITY
from tracker.counts.retest import count_pair_order
from tracker.counts.selection import Selection
from tracker.measures.disagreement import explained_by_owners


def with_order(
    connection: Connection, selection: Selection, findings: Sequence[Finding]
) -> list[Finding]:
    """Return the findings; those of copying with how often each one's answers came later.

    Counted are the items that both answered alike; on some of them the times may not be known.
    """
    pairs = [
        (flag.annotator, flag.other)
        for flag in findings
        if flag.state == "flagged" and flag.other is not None and "model" not in flag.details
    ]
    orders = count_pair_order(connection, selection, pairs) if pairs else {}
    return [
        flag
        if flag.other is None or (flag.annotator, flag.other) not in orders
        else flag.with_details(_order_details(*orders[flag.annotator, flag.other]))
        for flag in findings
    ]


def _order_details(first: int, second: int, together: int) -> dict[str, object]:
    return {
        "answered_alike": first + second + together,
        "first_later": second,
        "second_later": first,
    }


# -- Those who stand out and agree with each other: careless people do not, a few experts do ------

# Where most err alike, who is right stands out, and no answer says so. Experts then give the same
# answers against most of the others; who is careless, or errs in one direction, shares few.

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


def with_minorities(findings: Sequence[Finding], evidence: Evidence) -> list[Finding]:
    """Return the findings; those of people who may be a minority that is right say so.

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
        flag.with_details({"minority": True})
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


# -- How much of the disagreement a finding explains: it is counted again without its answers -----


def with_explained(flags: Sequence[Finding], evidence: Evidence) -> list[Finding]:
    """Return the findings; those that stand up have ``explained`` among their details.

    It is the share by which the mean disagreement falls without the annotator's answers, or
    without those of the file that is odd. Findings about a pair have none: answers that are
    alike hide disagreement.
    """
    flagged = [flag for flag in flags if flag.state == "flagged" and flag.other is None]
    if not flagged:
        return list(flags)
    annotators = explained_by_owners(evidence.columns)
    odd = any(flag.kind == ODD_IMPORT for flag in flagged)
    files = explained_by_owners(evidence.files.columns) if odd and evidence.files else {}
    shares = {flag.key: _explained_by(flag, evidence, annotators, files) for flag in flagged}
    return [
        flag if shares.get(flag.key) is None else flag.with_details({"explained": shares[flag.key]})
        for flag in flags
    ]


def _explained_by(
    flag: Finding,
    evidence: Evidence,
    annotators: Mapping[int, float],
    files: Mapping[int, float],
) -> float | None:
    """Return what a flag explains; None if its answers are compared with nobody's."""
    if flag.kind != ODD_IMPORT or evidence.files is None:
        return annotators.get(flag.annotator)
    tallies, file = evidence.files, odd_file(flag.details, evidence)
    owners = tallies.columns.annotators.tolist()
    parts = zip(owners, tallies.annotators, tallies.files, strict=True)
    return next(
        (files[owner] for owner, who, of in parts if who == flag.annotator and of == file), None
    )
