"""What an audit looks for, and the counts that it needs from the database for that."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Unpack

from sqlalchemy import Connection

from tracker.agreement.query import has_order
from tracker.audit.counts_sql import select_answer_durations, select_joint_sample
from tracker.audit.evidence import (
    DEFAULT_ALPHA,
    Evidence,
    Floors,
    Threshold,
    audit_thresholds_from_file,
)
from tracker.audit.findings import not_applicable_kinds
from tracker.audit.kind import Kind, TestResult
from tracker.audit.kinds import KINDS
from tracker.audit.kinds.drift import drift_falls_since
from tracker.audit.shared_sql import count_items_beside_models, count_shared_items
from tracker.core.audit_tallies import JointAnswers
from tracker.core.errors import InvalidOption
from tracker.core.tallies import AnnotatorTallies, answers_in_pattern
from tracker.counts.annotator_patterns import gold_tallies
from tracker.counts.choosing import Selecting
from tracker.counts.comparisons import count_shown
from tracker.counts.filter import EVERYTHING, AnswerFilter, make_answer_filter
from tracker.counts.import_tallies import count_file_tallies
from tracker.counts.retest import repeat_tallies
from tracker.counts.selection import Selection
from tracker.counts.tallies import Present, count_annotator_tallies, skip_tallies
from tracker.counts.timeline import count_timeline_blocks, count_transitions
from tracker.projects.categories import category_names
from tracker.projects.names import near_names
from tracker.projects.questions import QuestionInfo

_BLOCKS = 20  # of each annotator's answers in time: a fall is dated to a twentieth of them
_PAIRS = 200  # that a second opinion is asked for


@dataclass(frozen=True)
class AuditQuery:
    """What an audit looks for, among which answers.

    Attributes:
        evidence: how many items to show for each finding that stands up.
    """

    alpha: float = DEFAULT_ALPHA
    floors: Floors = field(default_factory=dict)
    kinds: tuple[Kind, ...] = field(default_factory=lambda: tuple(KINDS.values()))
    filter: AnswerFilter = EVERYTHING
    evidence: int = 0

    @property
    def whole(self) -> bool:
        """Whether all answers are looked at for all kinds of findings, by the usual rules.

        Only such an audit can say that a finding is gone: a stricter one may just not see it.
        """
        return replace(self, evidence=0) == AuditQuery()


def audit_query(
    *,
    alpha: float = DEFAULT_ALPHA,
    kinds: Sequence[str] = (),
    exclude_kinds: Sequence[str] = (),
    evidence: int = 0,
    floors: Floors | None = None,
    config: str | Path | None = None,
    **selecting: Unpack[Selecting],
) -> AuditQuery:
    """Return the query that the arguments of `Looking` make.

    Raises InvalidOption for an unknown kind, or none left, and Refused for an unfit file.
    """
    floors = floors or {}
    known = [threshold.name for threshold in all_thresholds()]
    for name in floors.keys() - known:
        raise InvalidOption(f"there is no threshold {name!r}", near_names(name, known))
    if config is not None:
        floors = audit_thresholds_from_file(Path(config), all_thresholds())
    wanted, unwanted = audit_kinds_named(kinds), audit_kinds_named(exclude_kinds)
    left = tuple(kind for kind in wanted or KINDS.values() if kind not in unwanted)
    if not left:
        raise InvalidOption("no kind of finding is left to look for")
    if evidence < 0:
        raise InvalidOption(f"{evidence} items of evidence cannot be", "use 5, or 0 for none")
    return AuditQuery(alpha, floors, left, make_answer_filter(**selecting), evidence)


def audit_kinds_named(names: Sequence[str]) -> tuple[Kind, ...]:
    """The kinds of these names, in the order of `KINDS`; raises InvalidOption, with near names."""
    for name in names:
        if name not in KINDS:
            raise InvalidOption(
                f"there is no kind of finding {name!r}",
                near_names(name, KINDS) or f"the kinds are: {', '.join(KINDS)}",
            )
    return tuple(kind for kind in KINDS.values() if kind.name in names)


def all_thresholds() -> list[Threshold]:
    """Return the thresholds of all kinds of findings, which users can set."""
    return [kind.threshold for kind in KINDS.values() if kind.threshold is not None]


def gather_evidence(
    connection: Connection,
    selection: Selection,
    query: AuditQuery,
    there: Present,
    *,
    needs: Collection[str] | None = None,
    models: Collection[int] = (),
) -> Evidence:
    """The evidence that the question's kinds need, or of the fields ``needs`` alone.

    ``models`` are those that people may be held beside. What is not ``there``, no time or no
    truth, is None in it.
    """
    asked = set(needs or (need for kind in query.kinds for need in kind.needs | kind.reads))
    if needs is None:
        asked |= {"gold", "repeats", "points"}  # figures of annotators, whatever is tested
    spans = selection.question.answers == "spans"
    tallies = AnnotatorTallies()
    files = count_file_tallies(connection, selection) if "files" in asked and not spans else None
    if files is not None:  # of which the others are sums
        tallies = AnnotatorTallies(files.columns.merged(files.annotators))
    elif not spans:
        tallies = count_annotator_tallies(connection, selection)
    evidence = Evidence(
        tallies,
        several=selection.question.answers == "several",
        alpha=query.alpha,
        floors=query.floors,
        files=files,
    )
    counted: dict[str, Any] = {
        need: count.make(connection, selection) or None
        for need, count in _COUNTS.items()
        if need in asked and (count.of_spans or not spans) and count.there(selection, there)
    }
    most = max(map(answers_in_pattern, evidence.columns.patterns), default=0)
    if "pairs" in asked and not spans:
        pairs = count_shared_items(connection, selection, most)
        counted |= {"pairs": pairs if pairs.pairs else None, "linked": pairs.linked}
    if models and "models" in asked and not spans:
        counted["models"] = count_items_beside_models(connection, selection, models, most)
    return replace(evidence, **counted)


def kinds_not_looked_for(
    question: QuestionInfo, evidence: Evidence, kinds: Sequence[Kind]
) -> dict[str, str]:
    """Return the kinds that could not be looked for, by the field of `Evidence` that is missing.

    In place of the field it is "spans" if no project of spans has it. What is looked for in
    preferences alone is not missed in other questions, unless nothing else is asked for.
    """
    if not question.preference:
        kinds = [kind for kind in kinds if "orders" not in kind.needs] or kinds
    lacking = not_applicable_kinds(evidence, kinds)
    if question.answers != "spans":
        return lacking
    of_spans = {need for need, count in _COUNTS.items() if count.of_spans}
    return lacking | {kind.name: "spans" for kind in kinds if not kind.needs <= of_spans}


def gather_second_opinion(
    connection: Connection,
    selection: Selection,
    evidence: Evidence,
    findings: Collection[TestResult],
) -> JointAnswers:
    """Return the answers that a second opinion on these findings rests on.

    Of very many pairs those are looked at that stand out most. If they are about models, these
    models' answers are among them.
    """
    models = evidence.model_ids & {finding.other for finding in findings}
    if models:
        selection = selection.with_models(frozenset(models))
    single = {finding.annotator for finding in findings if finding.other is None}
    pairs = [finding for finding in findings if finding.other is not None]
    pairs = sorted(pairs, key=lambda finding: finding.p_value or 0.0)[:_PAIRS]
    return select_joint_sample(
        connection,
        selection,
        int(evidence.columns.number.sum()),
        single,
        {(finding.annotator, finding.other) for finding in pairs if finding.other is not None},
        drift_falls_since(findings),
    )


def _points(connection: Connection, selection: Selection) -> dict[int, float] | None:
    """Return each category's place in order, or its number; None if there is no order."""
    question = selection.question
    if question.scale == "nominal" or question.answers != "one":
        return None
    names = category_names(connection, question)
    if question.scale == "ordinal":
        places = {category: float(place) for place, category in enumerate(names, start=1)}
        return places if has_order(question, names) else None
    return {category: float(name) for category, name in names.items()}


class _Count(NamedTuple):
    """How a field of the evidence is counted.

    Attributes:
        there: whether the labels hold what it is about.
        of_spans: whether a project of spans has it, too.
    """

    make: Callable[[Connection, Selection], Any]
    there: Callable[[Selection, Present], bool] = lambda _selection, _there: True
    of_spans: bool = False


_COUNTS = {
    "times": _Count(select_answer_durations, lambda _, there: there.seconds, of_spans=True),
    "skips": _Count(skip_tallies, lambda _, there: there.empty, of_spans=True),
    "points": _Count(_points),
    "gold": _Count(gold_tallies, lambda selection, _: bool(selection.references)),
    "repeats": _Count(repeat_tallies, lambda _, there: there.repeats),
    "sequences": _Count(count_transitions, lambda _, there: there.times),
    "blocks": _Count(partial(count_timeline_blocks, number=_BLOCKS), lambda _, there: there.times),
    "orders": _Count(count_shown, lambda selection, _: bool(selection.question.preference)),
}
"""The fields of the evidence that not every audit needs, each with how it is counted."""
