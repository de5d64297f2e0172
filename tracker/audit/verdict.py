"""What is flagged: what a test finds, and a consensus of all answers confirms.

1. Every kind looks at all answers, and one correction is made for all tests, of all questions
   that are audited together. What is significant there, with an effect that is large enough, is
   a candidate. Nothing later makes it less significant: more data never finds less.
2. Among co-annotators nobody knows which of them is off. So each candidate needs a second
   opinion (`gather_second_opinion`); kinds that compare annotators with themselves, with the
   truth or with everybody's habits need none.
3. The figures are computed once more without the answers of flagged annotators (``refit``), over
   the items that the second opinion rests on. They are shown, and decide nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from tracker.audit.evidence import Evidence
from tracker.audit.kind import Finding, Key, Kind, State
from tracker.audit.second_opinion import Opinion, second_opinion_consensus
from tracker.audit.statistics.fdr import benjamini_hochberg
from tracker.core.audit_tallies import JointAnswers, audit_tallies_without, joint_answers_of

Consult: TypeAlias = Callable[[Collection[Finding]], JointAnswers]
"""Return the answers to some items of the annotators whom these findings are about."""
Tests: TypeAlias = Sequence[Finding | float]
"""Findings, tested or not; of tests that nobody would ask for, the p-value alone."""


@dataclass(frozen=True)
class Judged:
    """A finding, its q-value (None if no test was made) and what follows from both.

    It stands out if the test is significant and the effect large enough; it is doubtful if it is
    suspicious, and no test was made or the test is significant.
    """

    finding: Finding
    q_value: float | None
    stands_out: bool
    doubtful: bool


@dataclass(frozen=True)
class Verdict:
    """All findings, and what was said of those that stand out.

    Attributes:
        judged: every finding, on all answers.
        opinions: of those that stand out and need a second opinion.
        refit: findings without the answers of annotators who are flagged, over the items of the
            second opinion.
    """

    judged: Mapping[Key, Judged]
    opinions: Mapping[Key, Opinion] = field(default_factory=dict)
    refit: Mapping[Key, Judged] = field(default_factory=dict)

    def states(self) -> dict[Key, State]:
        """Return the state of each finding."""
        return {key: self._state(key, judged) for key, judged in self.judged.items()}

    def _state(self, key: Key, judged: Judged) -> State:
        """A finding that stands out is never clear: it is insufficient if nothing confirms it."""
        if not judged.stands_out:
            return "insufficient" if judged.doubtful else "clear"
        opinion = self.opinions.get(key)
        return "flagged" if opinion is None or opinion.agrees else "insufficient"


def settle_verdict(
    kinds: Sequence[Kind],
    evidence: Evidence,
    consult: Consult | None,
    judged: Mapping[Key, Judged] | None = None,
) -> Verdict:
    """Judge all findings, and ask for a second opinion on those that stand out.

    Args:
        kinds: what to look for.
        evidence: all answers.
        consult: the answers that a second opinion rests on; None to do without.
        judged: the findings, if they were judged with those of other questions.
    """
    if judged is None:
        (judged,) = judge_tests([make_tests(kinds, evidence)], evidence.alpha)
    named = {kind.name: kind for kind in kinds if kind.confirm is not None}
    asked = [one.finding for one in judged.values() if one.stands_out and one.finding.kind in named]
    if consult is None or not asked:
        return Verdict(judged)
    # Models never have a say in a finding about people alone.
    of_models = [finding for finding in asked if finding.other in evidence.model_ids]
    asked = [finding for finding in asked if finding.other not in evidence.model_ids]
    opinions = _opinions_beside_models(named, evidence, of_models, consult)
    if not asked:
        return Verdict(judged, opinions)
    joint = consult(asked)
    verdict = Verdict(judged, opinions | _opinions(named, evidence, asked, joint))
    flagged = [key for key, state in verdict.states().items() if state == "flagged"]
    excluded = frozenset(key[0] for key in flagged if key[1] in named and named[key[1]].spoils)
    if not excluded:
        return verdict
    left = Evidence(
        audit_tallies_without(joint, excluded),
        several=evidence.several,
        alpha=evidence.alpha,
        floors=evidence.floors,
        points=evidence.points,
    )
    spoiling = make_tests([kind for kind in kinds if kind.spoils], left)
    (refit,) = judge_tests([spoiling], left.alpha)
    return Verdict(judged, verdict.opinions, refit)


def make_tests(kinds: Sequence[Kind], evidence: Evidence) -> Tests:
    """Make the tests of all kinds that the evidence suffices for."""
    asked = [kind for kind in kinds if not evidence.lacks(kind.needs)]
    return [one for kind in asked for one in kind.find(evidence)]


def judge_tests(questions: Sequence[Tests], alpha: float) -> list[dict[Key, Judged]]:
    """Return the findings of each question after one correction of Benjamini and Hochberg.

    It is over all tests of all kinds, annotators, categories and questions.
    """
    p_values = (_p_value(one) for tests in questions for one in tests)
    q_values = iter(benjamini_hochberg([p_value for p_value in p_values if p_value is not None]))
    judged: list[dict[Key, Judged]] = []
    for tests in questions:
        judged.append({})
        for one in tests:
            q_value = None if _p_value(one) is None else next(q_values)
            if isinstance(one, Finding):
                significant = q_value is not None and q_value <= alpha
                judged[-1][one.key] = Judged(
                    one,
                    q_value,
                    stands_out=significant and one.notable,
                    doubtful=one.suspicious and (significant or q_value is None),
                )
    return judged


def _p_value(test: Finding | float) -> float | None:
    return test.p_value if isinstance(test, Finding) else test


def _opinions_beside_models(
    kinds: Mapping[str, Kind], evidence: Evidence, asked: Sequence[Finding], consult: Consult
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
    kinds: Mapping[str, Kind], evidence: Evidence, asked: Sequence[Finding], joint: JointAnswers
) -> dict[Key, Opinion]:
    """A second opinion on each of these findings, all of kinds that need one."""
    # An answer of several categories holds each or not; of one category, it is that or another.
    about = {finding.category for finding in asked} if evidence.several else {None}
    consensus = {c: second_opinion_consensus(joint if c is None else joint.about(c)) for c in about}
    opinions = {}
    for finding in asked:
        one = consensus[finding.category if evidence.several else None]
        confirm = kinds[finding.kind].confirm
        assert confirm is not None
        opinions[finding.key] = confirm(finding, one, evidence)
    return opinions
