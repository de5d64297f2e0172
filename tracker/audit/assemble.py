"""From a verdict to flags: figures on all answers, and what else was said of them."""

from __future__ import annotations

from tracker.audit.finding import Figure, Flag, State
from tracker.audit.kind import Key
from tracker.audit.verdict import Judged, Verdict


def assemble(verdict: Verdict, key: Key, state: State, also: tuple[str, ...] = ()) -> Flag:
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
