"""From settled findings to flags: the first round's figures, the last word's state."""

from __future__ import annotations

from tracker.audit.finding import Finding, Key, Kind
from tracker.audit.flag import Figure, Flag, State
from tracker.audit.rounds import Judged, Settled
from tracker.audit.wording import short_of_items, tested, without_others

__all__ = ["assemble"]


def assemble(
    settled: Settled, key: Key, state: State, kind: Kind, also: tuple[str, ...] = ()
) -> Flag:
    """The flag of one finding; ``kind`` words its sentence, ``also`` is what it explains."""
    first = settled.first.judged[key]
    finding = first.finding
    refit = settled.last.judged.get(key) if settled.last else None
    return Flag(
        annotator=finding.annotator,
        kind=finding.kind,
        category=finding.category,
        state=state,
        severity=settled.deciding(key).finding.severity if state == "flagged" else None,
        observed=finding.observed,
        expected=finding.expected,
        peers=finding.peers,
        n=finding.n,
        informative=finding.informative,
        effect=finding.effect,
        p_value=finding.p_value,
        q_value=first.q_value,
        why=None if state == "clear" else _why(settled, first, refit, state, kind),
        refit=None if refit is None else _figures(refit),
        other=finding.other,
        also=also,
        details=finding.details,
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


def _why(settled: Settled, first: Judged, refit: Judged | None, state: State, kind: Kind) -> str:
    finding = first.finding
    sentence = kind.why(finding)
    if state == "insufficient":
        return f"{sentence}, but {_shortage(finding, first, refit)}."
    parts = [sentence, tested(finding, first.q_value if first.q_value is not None else 1.0)]
    others = settled.last.excluded - {finding.annotator} if settled.last else frozenset[int]()
    alone = finding.other is None
    if alone and kind.spoils and others and refit is not None and refit.q_value is not None:
        parts.append(without_others(refit.finding, refit.q_value))
    return "; ".join(parts) + "."


def _shortage(finding: Finding, first: Judged, refit: Judged | None) -> str:
    """Too few items from the start, or only once other flagged annotators are left out."""
    if first.q_value is None:
        return short_of_items(finding.informative, refitted=False)
    left = refit.finding.informative if refit else 0
    return short_of_items(left, refitted=True)
