"""One finding said once.

Who over-uses one category under-uses another: where an answer holds exactly one category, the
shares add up to 1. These rules drop what says nothing new; they never add a finding.

1. A category bias is dropped where ``constant_category`` is flagged for the annotator (where
   answers hold several categories: for the annotator and that category).
2. Of an annotator's flagged biases the strongest stays. Another stays only if the annotator's
   *other* answers are biased too: with the answers of the categories already reported taken out
   of every item, the same test is made again (p at most alpha, the same effect, the same
   direction). With two categories nothing is left, so the mirror image never stays.
3. Where all answers are one category, or say nothing of the items, that is why they agree with
   few others and lean to an end of the scale: ``low_agreement``, ``severity_bias`` and, beside
   ``constant_category``, ``random_answers`` are told as ``also`` of the finding that explains
   them; insufficient ones are dropped. Such an annotator shares answers with others without
   copying.
4. An insufficient bias is dropped where anything else is said of the annotator, and only the one
   furthest off stays. (Where answers hold several categories: where ``constant_category`` is
   insufficient for that category.)
"""

from __future__ import annotations

from collections.abc import Mapping

from tracker.audit.evidence import Evidence
from tracker.audit.kind import Finding, Key, State
from tracker.audit.kinds import KINDS
from tracker.audit.kinds.category_bias import CATEGORY_BIAS, category_bias_finding
from tracker.audit.kinds.constant_category import CONSTANT_CATEGORY
from tracker.audit.kinds.copying import COPYING
from tracker.audit.statistics.mantel_haenszel import mantel_haenszel_usages
from tracker.core.tallies import AnnotatorTallies, Pattern
from tracker.core.tally_columns import tally_columns_of


def overlapping_findings(
    findings: Mapping[Key, Finding], states: Mapping[Key, State], evidence: Evidence
) -> tuple[set[Key], dict[Key, tuple[str, ...]]]:
    """The keys of findings to drop, and of those kept the kinds that they explain.

    Args:
        findings: each finding as it was decided.
        states: the state of each.
        evidence: the tallies that flagged findings were decided on.
    """
    dropped, also = _explained(states, several=evidence.several)
    biases: dict[int, list[Key]] = {}
    said: dict[int, list[Key]] = {}
    for key, state in states.items():
        if key[1] == CATEGORY_BIAS.name and key not in dropped:
            biases.setdefault(key[0], []).append(key)
        elif key[1] == CONSTANT_CATEGORY.name and state != "clear":
            said.setdefault(key[0], []).append(key)
    for annotator, keys in biases.items():
        constant = said.get(annotator, [])
        if evidence.several:
            dropped |= _covered_several(keys, constant, states)
        else:
            dropped |= _covered_single(keys, constant, findings, states, evidence)
    return dropped, also


def _explained(
    states: Mapping[Key, State], *, several: bool
) -> tuple[set[Key], dict[Key, tuple[str, ...]]]:
    """Return what follows from answers that are all alike, or that say nothing (rule 3)."""
    flagged: dict[int, dict[str, list[Key]]] = {}
    insufficient: dict[int, list[Key]] = {}
    for key, state in states.items():
        if state == "flagged":
            flagged.setdefault(key[0], {}).setdefault(key[1], []).append(key)
        elif state == "insufficient":
            insufficient.setdefault(key[0], []).append(key)
    dropped: set[Key] = set()
    also: dict[Key, tuple[str, ...]] = {}
    blind: set[int] = set()
    for annotator, kinds in flagged.items():
        # Of several categories an answer, a finding about one says nothing of the others.
        causes = (
            kind.name
            for kind in KINDS.values()
            if kind.explains
            and any(not several or key[2] is None for key in kinds.get(kind.name, ()))
        )
        cause = next(causes, None)
        if cause is None:
            continue
        blind.add(annotator)
        told = tuple(sorted(KINDS[cause].explains & kinds.keys()))
        dropped |= {key for kind in told for key in kinds[kind]}
        unsure = insufficient.get(annotator, ())
        dropped |= {key for key in unsure if key[1] in KINDS[cause].explains}
        also |= dict.fromkeys(kinds[cause], told)
    return dropped | {
        key for key in states if key[1] == COPYING.name and blind & {key[0], key[3]}
    }, also


def _covered_several(keys: list[Key], constant: list[Key], states: Mapping[Key, State]) -> set[Key]:
    """Categories are independent: only the same category is a duplicate."""
    state_of = {key[2]: states[key] for key in constant}
    return {
        key
        for key in keys
        if key[2] in state_of and (state_of[key[2]] == "flagged" or states[key] == "insufficient")
    }


def _covered_single(
    keys: list[Key],
    constant: list[Key],
    findings: Mapping[Key, Finding],
    states: Mapping[Key, State],
    evidence: Evidence,
) -> set[Key]:
    if any(states[key] == "flagged" for key in constant):
        return set(keys)
    flagged = [findings[key] for key in keys if states[key] == "flagged"]
    insufficient = [findings[key] for key in keys if states[key] == "insufficient"]
    kept = {finding.key for finding in _distinct(flagged, evidence)}
    if not flagged and not constant and insufficient:
        kept.add(min(insufficient, key=_furthest_first).key)
    return {finding.key for finding in [*flagged, *insufficient]} - kept


def _distinct(flagged: list[Finding], evidence: Evidence) -> list[Finding]:
    """The strongest bias of one annotator, and others that stand without those before them."""
    kept: list[Finding] = []
    for finding in sorted(flagged, key=_strongest_first):
        reported = frozenset(other.category for other in kept if other.category is not None)
        if not reported or _stands_without(finding, reported, evidence):
            kept.append(finding)
    return kept


def _strongest_first(finding: Finding) -> tuple[float, bool, int]:
    """By p-value; mirror images have equal ones but for rounding, and over-use goes first."""
    return (float(f"{finding.p_value:.6e}"), not finding.over, finding.category or 0)


def _furthest_first(finding: Finding) -> tuple[float, bool, int]:
    more = ((finding.observed or 0.0) - (finding.expected or 0.0)) * finding.n
    return (-round(abs(more) / finding.informative, 9), not finding.over, finding.category or 0)


def _stands_without(finding: Finding, reported: frozenset[int], evidence: Evidence) -> bool:
    stripped = _stripped(evidence.tallies, finding.annotator, reported)
    for usage in mantel_haenszel_usages(tally_columns_of(stripped).shared):
        if usage.category == finding.category:
            again = category_bias_finding(usage, evidence)
            significant = again.p_value is not None and again.p_value <= evidence.alpha
            return significant and again.notable and again.over == finding.over
    return False


def _stripped(
    tallies: AnnotatorTallies, annotator: int, categories: frozenset[int]
) -> AnnotatorTallies:
    """One annotator's tallies without any answer, own or other, that holds these categories."""
    counts: dict[tuple[tuple[int, ...], Pattern], int] = {}
    for (own, pattern), items in tallies.counts.get(annotator, {}).items():
        if categories.isdisjoint(own):
            rest = tuple(pair for pair in pattern if categories.isdisjoint(pair[0]))
            counts[own, rest] = counts.get((own, rest), 0) + items
    return AnnotatorTallies({annotator: counts})
