"""How much of the disagreement a finding explains: it is counted again without its answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tracker.audit.evidence import Evidence
from tracker.audit.kind import Finding
from tracker.audit.kinds.odd_import import NAME as ODD_IMPORT
from tracker.audit.kinds.odd_import import odd_file
from tracker.measures.disagreement import explained_by_owners


def with_explained(flags: Sequence[Finding], evidence: Evidence) -> list[Finding]:
    """Return the flags; those that stand up have ``explained`` among their details.

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
    shares = {flag.key: _of(flag, evidence, annotators, files) for flag in flagged}
    return [
        flag
        if shares.get(flag.key) is None
        else replace(flag, details={**flag.details, "explained": shares[flag.key]})
        for flag in flags
    ]


def _of(
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
