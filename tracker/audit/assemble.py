"""From a verdict to flags: figures on all answers, and what else was said of them."""

from __future__ import annotations

from tracker.audit.finding import Figure, Flag, State
from tracker.audit.kind import Finding, Key, Kind
from tracker.audit.sentences import confirmed, short_of_items, tested, unconfirmed
from tracker.audit.verdict import Judged, Verdict

__all__ = ["assemble"]


def assemble(
    verdict: Verdict, key: Key, state: State, kind: Kind, also: tuple[str, ...] = ()
) -> Flag:
    """Return the flag of one finding; ``kind`` words its sentence, ``also`` is what it explains."""
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
        why=None if state == "clear" else _why(verdict, judged, kind),
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


def _why(verdict: Verdict, judged: Judged, kind: Kind) -> str:
    """One sentence, with the figures that decided."""
    finding: Finding = judged.finding
    sentence = kind.why(finding)
    if judged.q_value is None:
        return f"{sentence}, but {short_of_items(finding.informative)}."
    opinion = verdict.opinions.get(finding.key)
    parts = [sentence, tested(finding, judged.q_value)]
    if opinion is not None:
        parts.append(confirmed(finding, opinion) if opinion.agrees else unconfirmed())
    return "; ".join(parts) + "."
