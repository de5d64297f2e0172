"""Audits of annotators: evidence in, flags out."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import NamedTuple, TypeAlias

import numpy as np

from tracker.audit.evidence import Evidence
from tracker.audit.joint_tallies import annotator_tallies_without
from tracker.audit.kind import Finding, Key, Kind, Severity, State, TestResult
from tracker.audit.kinds import KINDS
from tracker.audit.kinds.category_bias import CATEGORY_BIAS, category_bias_result
from tracker.audit.kinds.constant_category import CONSTANT_CATEGORY
from tracker.audit.kinds.copying import COPYING
from tracker.audit.minorities import find_minority
from tracker.audit.second_opinion import Opinion, second_opinion_consensus
from tracker.audit.statistics.exact_tests import benjamini_hochberg
from tracker.audit.statistics.mantel_haenszel import mantel_haenszel_usages
from tracker.audit.statistics.peer_agreement import majority_kappa, majority_tables
from tracker.audit.statistics.point_differences import Difference, point_differences
from tracker.core.audit_tallies import Blocks, JointAnswers, joint_answers_of
from tracker.core.tallies import (
    AnnotatorTallies,
    Answer,
    FloatArray,
    Pattern,
    answers_in_pattern,
    share_of_same,
)
from tracker.core.tally_columns import TallyColumns, tally_columns_of

# -- One finding said once ------------------------------------------------------------------------


def overlapping_findings(
    findings: Mapping[Key, TestResult], states: Mapping[Key, State], evidence: Evidence
) -> tuple[set[Key], dict[Key, tuple[str, ...]]]:
    """The keys of findings to drop, and of those kept the kinds that they explain."""
    dropped, also = _explained(states, several=evidence.several)
    biases: dict[int, list[Key]] = {}
    constants: dict[int, list[Key]] = {}
    for key, state in states.items():
        if key[1] == CATEGORY_BIAS.name and key not in dropped:
            biases.setdefault(key[0], []).append(key)
        elif key[1] == CONSTANT_CATEGORY.name and state != "clear":
            constants.setdefault(key[0], []).append(key)
    for annotator, keys in biases.items():
        constant = constants.get(annotator, [])
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
        explained = tuple(sorted(KINDS[cause].explains & kinds.keys()))
        dropped |= {key for kind in explained for key in kinds[kind]}
        unsure = insufficient.get(annotator, ())
        dropped |= {key for key in unsure if key[1] in KINDS[cause].explains}
        also |= dict.fromkeys(kinds[cause], explained)
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
    findings: Mapping[Key, TestResult],
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


def _distinct(flagged: list[TestResult], evidence: Evidence) -> list[TestResult]:
    """The strongest bias of one annotator, and others that stand without those before them."""
    kept: list[TestResult] = []
    for finding in sorted(flagged, key=_strongest_first):
        reported = frozenset(other.category for other in kept if other.category is not None)
        if not reported or _stands_without(finding, reported, evidence):
            kept.append(finding)
    return kept


def _strongest_first(finding: TestResult) -> tuple[float, bool, int]:
    """By p-value; mirror images have equal ones but for rounding, and over-use goes first."""
    return (_comparable(finding.p_value), not finding.over, finding.category or 0)


def _comparable(p_value: float | None) -> float:
    """Return a p-value without its last digits, which depend on the processor; 2 for none."""
    return 2.0 if p_value is None else float(f"{p_value:.6e}")


def _furthest_first(finding: TestResult) -> tuple[float, bool, int]:
    more = ((finding.observed or 0.0) - (finding.expected or 0.0)) * finding.n
    return (-round(abs(more) / finding.informative, 9), not finding.over, finding.category or 0)


def _stands_without(finding: TestResult, reported: frozenset[int], evidence: Evidence) -> bool:
    stripped = _stripped(evidence.tallies, finding.annotator, reported)
    for usage in mantel_haenszel_usages(tally_columns_of(stripped).shared):
        if usage.category == finding.category:
            again = category_bias_result(usage, evidence)
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


# -- What is flagged: what a test finds, and a consensus of all answers confirms ------------------


Consult: TypeAlias = Callable[[Collection[TestResult]], JointAnswers]
"""Return the answers to some items of the annotators whom these findings are about."""


class Tests(NamedTuple):
    """Findings, tested or not; and the p-values of tests that nobody would ask for, (tests,)."""

    results: Sequence[TestResult]
    others: FloatArray


@dataclass(frozen=True)
class Verdict:
    """All findings, and what was said of those that stand out.

    Attributes:
        opinions: of those that stand out and need a second opinion.
        refit: findings without the answers of annotators who are flagged, over the items of the
            second opinion.
    """

    findings: Mapping[Key, Finding]
    opinions: Mapping[Key, Opinion] = field(default_factory=dict)
    refit: Mapping[Key, Finding] = field(default_factory=dict)

    def states(self) -> dict[Key, State]:
        """Return the state of each finding."""
        return {key: self._state(finding) for key, finding in self.findings.items()}

    def _state(self, finding: Finding) -> State:
        """A finding that stands out is never clear: it is insufficient if nothing confirms it."""
        if not finding.stands_out:
            return "insufficient" if finding.doubtful else "clear"
        opinion = self.opinions.get(finding.key)
        return "flagged" if opinion is None or opinion.agrees else "insufficient"


def decide_findings(
    kinds: Sequence[Kind],
    evidence: Evidence,
    consult: Consult | None,
    findings: Mapping[Key, Finding] | None = None,
) -> Verdict:
    """Judge all findings, and ask for a second opinion on those that stand out; as `audit`."""
    if findings is None:
        (findings,) = judge_tests([make_tests(kinds, evidence)], evidence.alpha)
    named = {kind.name: kind for kind in kinds if kind.confirm is not None}
    asked = [
        finding for finding in findings.values() if finding.stands_out and finding.kind in named
    ]
    if consult is None or not asked:
        return Verdict(findings)
    # Models never have a say in a finding about people alone.
    of_models = [finding for finding in asked if finding.other in evidence.model_ids]
    asked = [finding for finding in asked if finding.other not in evidence.model_ids]
    opinions = _opinions_beside_models(named, evidence, of_models, consult)
    if not asked:
        return Verdict(findings, opinions)
    joint = consult(asked)
    verdict = Verdict(findings, opinions | _opinions(named, evidence, asked, joint))
    flagged = [key for key, state in verdict.states().items() if state == "flagged"]
    excluded = frozenset(key[0] for key in flagged if key[1] in named and named[key[1]].spoils)
    if not excluded:
        return verdict
    left = Evidence(
        annotator_tallies_without(joint, excluded),
        several=evidence.several,
        alpha=evidence.alpha,
        floors=evidence.floors,
        points=evidence.points,
    )
    spoiling = make_tests([kind for kind in kinds if kind.spoils], left)
    (refit,) = judge_tests([spoiling], left.alpha)
    return Verdict(findings, verdict.opinions, refit)


def make_tests(kinds: Sequence[Kind], evidence: Evidence) -> Tests:
    """Make the tests of all kinds that the evidence suffices for."""
    asked = [kind for kind in kinds if not evidence.lacks(kind.needs)]
    results, others = list[TestResult](), [np.zeros(0)]
    for test in chain.from_iterable(kind.find(evidence) for kind in asked):
        if isinstance(test, TestResult):
            results.append(test)
        else:
            others.append(test)
    return Tests(results, np.concatenate(others))


def judge_tests(questions: Sequence[Tests], alpha: float) -> list[dict[Key, Finding]]:
    """Return the findings of each question after one correction of Benjamini and Hochberg.

    It is over all tests of all kinds, annotators, categories and questions.
    """
    tested = [test.p_value for tests in questions for test in tests.results]
    known = [p_value for p_value in tested if p_value is not None]
    others = (tests.others.tolist() for tests in questions)
    q_values = iter(benjamini_hochberg([*known, *chain.from_iterable(others)]))
    judged: list[dict[Key, Finding]] = []
    for tests in questions:
        judged.append({})
        for test in tests.results:
            q_value = None if test.p_value is None else next(q_values)
            significant = q_value is not None and q_value <= alpha
            judged[-1][test.key] = Finding.from_test(test, q_value=q_value, significant=significant)
    return judged


def is_any_confirmed(
    kinds: Sequence[Kind], evidence: Evidence, tests: Sequence[TestResult], consult: Consult
) -> bool:
    """Return whether a second opinion confirms any of these, or none is asked for one of them."""
    named = {kind.name: kind for kind in kinds if kind.confirm is not None}
    if any(test.kind not in named for test in tests):
        return True
    opinions = _opinions(named, evidence, tests, consult(tests))
    return any(opinion.agrees for opinion in opinions.values())


def _opinions_beside_models(
    kinds: Mapping[str, Kind], evidence: Evidence, asked: Sequence[TestResult], consult: Consult
) -> dict[Key, Opinion]:
    """A second opinion on findings about a person and a model: all people, and that model."""
    if not asked:
        return {}
    joint, opinions = consult(asked), dict[Key, Opinion]()
    for model in sorted({finding.other for finding in asked if finding.other is not None}):
        about = [finding for finding in asked if finding.other == model]
        beside = joint_answers_of(joint, evidence.model_ids, model)
        opinions |= _opinions(kinds, evidence, about, beside)
    return opinions


def _opinions(
    kinds: Mapping[str, Kind], evidence: Evidence, asked: Sequence[TestResult], joint: JointAnswers
) -> dict[Key, Opinion]:
    """A second opinion on each of these findings, all of kinds that need one."""
    # An answer of several categories holds each or not; of one category, it is that or another.
    about = {finding.category for finding in asked} if evidence.several else {None}
    consensus = {c: second_opinion_consensus(joint if c is None else joint.about(c)) for c in about}
    opinions = {}
    for finding in asked:
        yardstick = consensus[finding.category if evidence.several else None]
        confirm = kinds[finding.kind].confirm
        assert confirm is not None
        opinion = confirm(finding, yardstick, evidence)
        if opinion.agrees:
            opinion = replace(opinion, minority=find_minority(finding, yardstick))
        opinions[finding.key] = opinion
    return opinions


_MOST_DIFFERING = 5
_FEWEST_IN_PART = 20  # items of a part of an annotator's time
_FEWEST_PARTS, _MOST_PARTS = 3, 10
_ORDER: dict[State, int] = {"flagged": 0, "insufficient": 1, "clear": 2}


def audit(
    evidence: Evidence,
    kinds: Sequence[Kind] | None = None,
    consult: Consult | None = None,
    findings: Mapping[Key, Finding] | None = None,
) -> list[Finding]:
    """Return what can be said of each annotator's answers against those of the same items' others.

    Args:
        evidence: all answers.
        kinds: what to look for, all if None; one correction is made for all tests of these.
        consult: the answers that a second opinion on some findings rests on, and figures without
            those of flagged annotators. Without it a finding that stands out is flagged.
        findings: as they were judged, if that was done with those of other questions.

    Returns:
        Flags of every state, by annotator; flagged, then insufficient, then clear; then by kind
        and by p-value. Duplicates (`overlap`) are not among them.
    """
    verdict = decide_findings(kinds or tuple(KINDS.values()), evidence, consult, findings)
    states = verdict.states()
    dropped, also = overlapping_findings(verdict.findings, states, evidence)
    severities: dict[Key, Severity | None] = {
        key: "remark" for key, opinion in verdict.opinions.items() if opinion.slight
    }
    flags = [
        Finding.from_test(
            finding,
            state=states[key],
            severity=severities.get(key, finding.severity) if states[key] == "flagged" else None,
            also=also.get(key, ()),
            refit=verdict.refit.get(key),
            consensus=opinion,
            details={**finding.details, **(opinion.minority if opinion else {})},
        )
        for key, finding in verdict.findings.items()
        for opinion in [verdict.opinions.get(key)]
        if key not in dropped
    ]
    return sorted(flags, key=_sort_key)


def not_applicable_kinds(evidence: Evidence, kinds: Sequence[Kind] | None = None) -> dict[str, str]:
    """Return the kinds that the evidence lacks something for: the first field that is missing."""
    asked = kinds or tuple(KINDS.values())
    missing = {kind.name: evidence.lacks(sorted(kind.needs)) for kind in asked}
    return {kind: needs[0] for kind, needs in missing.items() if needs}


def _sort_key(flag: Finding) -> tuple[int, int, int, float, int, int]:
    category = -1 if flag.category is None else flag.category
    rank = _ORDER[flag.state], [*KINDS].index(flag.kind), _comparable(flag.p_value)
    return (flag.annotator, *rank, category, flag.other or 0)


class Part(NamedTuple):
    """A part of the answers of an annotator, in the order of their times.

    Attributes:
        began: when its first answer was given, in microseconds since 1970.
        items: items among them that others answered too.
        agreement: mean over these of the share of co-annotators who gave the same answer.
    """

    began: int
    items: int
    agreement: float
    standard_error: float


@dataclass(frozen=True)
class AnnotatorFigures:
    """One annotator's figures.

    Attributes:
        agreement_with_peers: mean over the shared items of the share of co-annotators who gave
            exactly the same answer; None where no item is shared.
        agreement_interval: its 95% interval over items, within 0 to 1; None below two.
        agreement_of_peers: the co-annotators' agreement with each other on the same items; None
            where none has three answers.
        difference: on an ordered scale, from the others' answers to the same items; None elsewhere.
        kappa_with_majority: Cohen's kappa with what most of the others gave, without the items
            on which answers are equally common; None where undefined.
        category_shares: for each category the annotator used, the share of all their answers that
            hold it; the shares exceed 1 together where an answer holds several.
        peer_shares: for each category of the shared items, the mean over these of the share of
            co-annotators who gave it.
        differs: the answers that differ from what most of the others gave, with theirs and the
            number of items, the most frequent of them.
        course: the agreement with the others in the parts of the annotator's time, in order.
    """

    answers: int
    items_shared: int
    agreement_with_peers: float | None
    agreement_interval: tuple[float, float] | None
    agreement_of_peers: float | None
    difference: Difference | None
    kappa_with_majority: float | None
    category_shares: Mapping[int, float]
    peer_shares: Mapping[int, float]
    differs: Sequence[tuple[Answer, Answer, int]]
    course: Sequence[Part]


def audited_annotator_figures(evidence: Evidence) -> dict[int, AnnotatorFigures]:
    """The figures of every annotator in the tallies, by id, in the order given there."""
    majority = majority_tables(evidence.shared_columns, ties=False)
    peers: dict[int, dict[int, float]] = {}
    for usage in evidence.usages:
        peers.setdefault(usage.annotator, {})[usage.category] = usage.peer_share
    kinds = evidence.shared_columns.distinct_answers
    points = evidence.points
    differences = point_differences(evidence.shared_columns, points) if points else {}
    figures, courses = {}, {} if evidence.blocks is None else _courses(evidence.blocks)
    annotators, own = evidence.columns.annotators.tolist(), _own_shares(evidence.columns)
    for place, (annotator, (answers, shares)) in enumerate(zip(annotators, own, strict=True)):
        alignment = evidence.alignments.get(annotator)
        figures[annotator] = AnnotatorFigures(
            answers=answers,
            items_shared=alignment.n if alignment else 0,
            agreement_with_peers=alignment.observed if alignment else None,
            agreement_interval=alignment.observed_interval if alignment else None,
            agreement_of_peers=alignment.peers if alignment else None,
            difference=differences.get(annotator),
            kappa_with_majority=majority_kappa(majority[place]),
            category_shares=shares,
            peer_shares=peers.get(annotator, {}),
            differs=_differing(majority[place], kinds),
            course=courses.get(annotator, []),
        )
    return figures


def _courses(blocks: Blocks) -> dict[int, list[Part]]:
    """Return the agreement with the others of each annotator's answers, in parts of their time."""
    shares = np.array([
        share_of_same(own, pattern) if answers_in_pattern(pattern) > 1 else np.nan
        for _, _, own, pattern in blocks.tallies.every_key
    ])  # fmt: skip
    sums = np.stack(blocks.powers(shares), axis=2)
    return {
        annotator: [*_course(own_sums[:number], blocks.began[annotator])]
        for annotator, own_sums, number in zip(
            blocks.tallies, sums, blocks.numbers.tolist(), strict=True
        )
    }


def _course(sums: FloatArray, began: Mapping[int, int]) -> Iterator[Part]:
    """Yield blocks of answers put together so that each part has answers enough.

    ``sums`` are the items of each block, their shares of same answers, and these squared.
    """
    number = min(_MOST_PARTS, int(sums[:, 0].sum()) // _FEWEST_IN_PART)
    if number < _FEWEST_PARTS:
        return
    for places in np.array_split(np.arange(len(sums)), number):
        items, total, squares = sums[places].sum(axis=0).tolist()
        if items > 1:
            mean = total / items
            variance = max(squares - items * mean**2, 0.0) / (items - 1)
            first = min(began[place] for place in places.tolist() if place in began)
            yield Part(first, round(items), mean, math.sqrt(variance / items))


def _differing(table: FloatArray, answers: Sequence[Answer]) -> list[tuple[Answer, Answer, int]]:
    apart = table - np.diag(np.diag(table))
    first = np.argsort(-apart, axis=None, kind="stable")[:_MOST_DIFFERING]
    return [
        (answers[own], answers[others], round(apart[others, own]))
        for others, own in zip(*np.unravel_index(first, apart.shape), strict=True)
        if apart[others, own]
    ]


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
