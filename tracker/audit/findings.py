"""Audits of annotators: evidence in, flags out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tracker.audit.evidence import Evidence
from tracker.audit.kind import Figure, Flag, Key, Kind, State
from tracker.audit.kinds import KINDS
from tracker.audit.overlap import overlapping_findings
from tracker.audit.statistics.majority import majority_kappa, majority_tables
from tracker.audit.verdict import Consult, Judged, Verdict, settle_verdict
from tracker.core.tally_columns import TallyColumns

_ORDER: dict[State, int] = {"flagged": 0, "insufficient": 1, "clear": 2}


def audit(
    evidence: Evidence,
    kinds: Sequence[Kind] | None = None,
    consult: Consult | None = None,
    judged: Mapping[Key, Judged] | None = None,
) -> list[Flag]:
    """Return what can be said of each annotator's answers against those of the same items' others.

    Args:
        evidence: all answers.
        kinds: what to look for, all if None; one correction is made for all tests of these.
        consult: the answers that a second opinion on some findings rests on, and figures without
            those of flagged annotators. Without it a finding that stands out is flagged.
        judged: the findings, if they were judged with those of other questions.

    Returns:
        Flags of every state, by annotator; flagged, then insufficient, then clear; then by kind
        and by p-value. Duplicates (`overlap`) are not among them.
    """
    verdict = settle_verdict(kinds or tuple(KINDS.values()), evidence, consult, judged)
    states = verdict.states()
    findings = {key: judged.finding for key, judged in verdict.judged.items()}
    dropped, also = overlapping_findings(findings, states, evidence)
    flags = [
        flag_audit_finding(verdict, key, state, also.get(key, ()))
        for key, state in states.items()
        if key not in dropped
    ]
    place = {name: index for index, name in enumerate(KINDS)}
    return sorted(flags, key=lambda flag: _sort_key(flag, place))


def not_applicable_kinds(evidence: Evidence, kinds: Sequence[Kind] | None = None) -> dict[str, str]:
    """Return the kinds that the evidence lacks something for: the first field that is missing."""
    asked = kinds or tuple(KINDS.values())
    missing = {kind.name: evidence.lacks(sorted(kind.needs)) for kind in asked}
    return {kind: needs[0] for kind, needs in missing.items() if needs}


def _sort_key(flag: Flag, place: dict[str, int]) -> tuple[int, int, int, float, int, int]:
    p_value = 2.0 if flag.p_value is None else flag.p_value
    category = -1 if flag.category is None else flag.category
    other = flag.other or 0
    return (flag.annotator, _ORDER[flag.state], place[flag.kind], p_value, category, other)


def flag_audit_finding(
    verdict: Verdict, key: Key, state: State, also: tuple[str, ...] = ()
) -> Flag:
    """Return the flag of one finding; ``also`` are the kinds that it explains."""
    judged = verdict.judged[key]
    finding = judged.finding
    opinion, refit = verdict.opinions.get(key), verdict.refit.get(key)
    return Flag(
        annotator=finding.annotator,
        kind=finding.kind,
        category=finding.category,
        state=state,
        severity=finding.severity if state == "flagged" else None,
        observed=finding.observed,
        expected=finding.expected,
        peers=finding.peers,
        n=finding.n,
        informative=finding.informative,
        effect=finding.effect,
        p_value=finding.p_value,
        q_value=judged.q_value,
        refit=None if refit is None else _figures(refit),
        other=finding.other,
        also=also,
        details=finding.details,
        consensus=None if opinion is None else opinion.to_dict(),
    )


def _figures(refit: Judged) -> dict[str, Figure]:
    finding = refit.finding
    return {
        "observed": finding.observed,
        "expected": finding.expected,
        "peers": finding.peers,
        "n": finding.n,
        "informative": finding.informative,
        "effect": finding.effect.value,
        "effect_low": finding.effect.low,
        "effect_high": finding.effect.high,
        "p_value": finding.p_value,
        "q_value": refit.q_value,
    }


@dataclass(frozen=True)
class AnnotatorFigures:
    """One annotator's figures.

    Attributes:
        answers: answers given, one an item.
        items_shared: items among them that others answered too.
        agreement_with_peers: mean over the shared items of the share of co-annotators who gave
            exactly the same answer; None where no item is shared.
        agreement_interval: its 95% interval over items, within 0 to 1; None below two.
        agreement_of_peers: the co-annotators' agreement with each other on the same items; None
            where none has three answers.
        kappa_with_majority: Cohen's kappa with what most of the others gave, without the items
            on which answers are equally common; None where undefined.
        category_shares: for each category the annotator used, the share of all their answers that
            hold it; the shares exceed 1 together where an answer holds several.
        peer_shares: for each category of the shared items, the mean over these of the share of
            co-annotators who gave it.
    """

    answers: int
    items_shared: int
    agreement_with_peers: float | None
    agreement_interval: tuple[float, float] | None
    agreement_of_peers: float | None
    kappa_with_majority: float | None
    category_shares: Mapping[int, float]
    peer_shares: Mapping[int, float]


def audited_annotator_figures(evidence: Evidence) -> dict[int, AnnotatorFigures]:
    """The figures of every annotator in the tallies, by id, in the order given there."""
    majority = majority_tables(evidence.shared_columns, ties=False)
    peers: dict[int, dict[int, float]] = {}
    for usage in evidence.usages:
        peers.setdefault(usage.annotator, {})[usage.category] = usage.peer_share
    found = {}
    annotators, own = evidence.columns.annotators.tolist(), _own_shares(evidence.columns)
    for place, (annotator, (answers, shares)) in enumerate(zip(annotators, own, strict=True)):
        alignment = evidence.alignments.get(annotator)
        found[annotator] = AnnotatorFigures(
            answers=answers,
            items_shared=alignment.n if alignment else 0,
            agreement_with_peers=alignment.observed if alignment else None,
            agreement_interval=alignment.observed_interval if alignment else None,
            agreement_of_peers=alignment.peers if alignment else None,
            kappa_with_majority=majority_kappa(majority[place]),
            category_shares=shares,
            peer_shares=peers.get(annotator, {}),
        )
    return found


def _own_shares(columns: TallyColumns) -> Iterator[tuple[int, dict[int, float]]]:
    """Of each annotator the answers, and the share of them that hold each category used."""
    shape = len(columns.annotators), len(columns.answers)
    cell = columns.owner * shape[1] + columns.own
    given = np.bincount(cell, columns.number, shape[0] * shape[1]).reshape(shape).astype(np.int64)
    for row in given.tolist():
        held: Counter[int] = Counter()
        for own, items in zip(columns.answers, row, strict=True):
            if items:
                held.update(dict.fromkeys(own, items))
        answers = sum(row)
        yield answers, {category: held[category] / answers for category in sorted(held)}
