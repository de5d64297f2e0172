"""Who of a pair answered later, and how much of the disagreement a finding explains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection

from tracker.audit.evidence import Evidence
from tracker.audit.kind import Finding
from tracker.audit.kinds.odd_import import NAME as ODD_IMPORT
from tracker.audit.kinds.odd_import import odd_file
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
        if (flag.state == "flagged" or "minority" in flag.details)
        if flag.other is not None and "model" not in flag.details
    ]
    orders = count_pair_order(connection, selection, pairs) if pairs else {}
    return [
        flag
        if order is None
        else flag.with_details(
            {"answered_alike": sum(order), "first_later": order[1], "second_later": order[0]}
        )
        for flag in findings
        for order in [orders.get((flag.annotator, flag.other or 0))]
    ]


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
