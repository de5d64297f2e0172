"""Each check held against the project as it is now."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias, TypedDict

from sqlalchemy import Connection

from tracker.audit.kinds import KINDS
from tracker.audit.verdict import NO_VERDICT, ConcernJson, Verdict, WeakestJson, project_verdict
from tracker.core.results import Json, Message, Record, Spread
from tracker.counts.filter import EVERYTHING, AnswerFilter
from tracker.gate.config import (
    AtLeast,
    Bound,
    Check,
    GateConfig,
    ItemsAtLeast,
    JudgeTrusted,
    MaxDrop,
    NoFlags,
    OverlapAtLeast,
    refused_toml_table,
)
from tracker.gate.context import AuditsNow, Present, Standing, gate_standings
from tracker.gate.sentences import (
    NO_ANSWER,
    NO_CATEGORY,
    NO_JUDGE,
    asked_sentence,
    at_least_sentence,
    drop_sentence,
    flags_sentence,
    items_sentence,
    judge_sentence,
    no_bound_sentence,
    no_figure_sentence,
    no_snapshot_sentence,
    not_in_snapshot_sentence,
    not_looked_for_sentence,
    one_level_sentence,
    overlap_sentence,
    read_otherwise_sentence,
)
from tracker.history.snapshot import SnapshotRecord
from tracker.judge.result import VERDICTS
from tracker.projects.categories import category_names
from tracker.projects.names import near_names
from tracker.projects.questions import QuestionInfo, list_questions
from tracker.render.formats import Shown

if TYPE_CHECKING:
    import pandas as pd


# -- What a gate said, as a value, as JSON and as a frame -----------------------------------------


Kind: TypeAlias = Literal[
    "at_least", "max_drop", "flags", "items_at_least", "overlap_at_least", "judge"
]


@dataclass(frozen=True, kw_only=True)
class CheckResult(Record):
    """One check, or what it says of one category.

    Attributes:
        name: its name, or what it asks for.
        question: the question it is about, if the project asks several.
        measure: the measure's name, where it is about one.
        category: the category's, likewise.
        model: the model's whose agreement with people is meant; None for that of people.
        threshold: the number in the file; of flags 0.
        value: what was held against it: the figure or a bound; how far it fell; how
            many annotators were found; items; their share. None where there is none.
        bound: which of the figure and its bounds that is.
        passed: None where it cannot be computed.
        reason: why it passes or not.
        kind: what sort of check it is.
        undefined: why it could not be computed, in a word; None where it could.
        line: of the file, where the check begins.
        details: what else is known, ready for JSON.
    """

    name: Annotated[Message | str, Json("check", write=str)]
    question: Annotated[str | None, Json(rare=True)] = None
    measure: str | None = None
    category: str | None = None
    model: str | None = None
    threshold: float | None = None
    value: float | None = None
    bound: Bound = "value"
    passed: bool | None
    reason: Annotated[Message | str, Json("why", write=str)]
    kind: Kind
    undefined: str | None = None
    line: int
    details: Annotated[Mapping[str, Any], Spread] = field(default_factory=dict)

    @property
    def check(self) -> str:
        """The name, or what is asked for, in words."""
        return str(self.name)

    @property
    def full_name(self) -> str:
        """The name with the question, if the project asks several."""
        return self.check if self.question is None else f"{self.question}: {self.check}"

    @property
    def why(self) -> str:
        """The reason, one sentence."""
        return str(self.reason)

    def unknown(self, reason: Message | str, undefined: str | None) -> CheckResult:
        """Return the same check if it cannot be computed."""
        return replace(self, passed=None, value=None, reason=reason, undefined=undefined)


class GateJson(TypedDict):
    """What became of each check."""

    project: str
    passed: bool
    config: str
    selection: dict[str, Any] | None
    checks: list[CheckResult]
    readiness: WeakestJson | None
    verdict: list[ConcernJson]


@dataclass(frozen=True, repr=False)
class GateResult(Shown):
    """What became of every check, in the order of the file.

    ``config`` is the file's name as it was given; ``selection`` says which answers were looked
    at, as JSON; None for all. ``verdict`` is what is plainly wrong, and whether the labels can be
    trusted, whether a check asks for it or not: see `tracker.audit.verdict.Verdict`.
    """

    project: str
    config: str
    checks: tuple[CheckResult, ...]
    selection: Mapping[str, Any] | None = None
    verdict: Verdict = NO_VERDICT

    @property
    def passed(self) -> bool:
        """Whether every check passed: what cannot be computed does not."""
        return bool(self.checks) and all(check.passed is True for check in self.checks)

    @property
    def failed(self) -> list[CheckResult]:
        """The checks that did not hold."""
        return [check for check in self.checks if check.passed is False]

    @property
    def unknown(self) -> list[CheckResult]:
        """The checks that could not be computed."""
        return [check for check in self.checks if check.passed is None]

    def to_dict(self) -> Annotated[dict[str, Any], GateJson]:
        """The contract's JSON of ``tracker gate``."""
        return {
            "project": self.project,
            "passed": self.passed,
            "config": self.config,
            "selection": None if self.selection is None else dict(self.selection),
            "checks": [check.to_dict() for check in self.checks],
            "readiness": self.verdict.weakest,
            "verdict": [concern.to_dict(self.project) for concern in self.verdict.concerns],
        }

    def to_frame(self) -> pd.DataFrame:
        """One row per check."""
        import pandas as pd

        return pd.DataFrame([check.to_dict() for check in self.checks])


# -- Checks of figures: at least so much, and not fallen by more than so much ---------------------


ROUNDING: Final = 1e-9
"""Figures that differ by less are the same but for rounding: 0.8 - 0.7 is not 0.1."""


def gate_check_name(check: Check, category: str | None = None) -> Message | str:
    """Return a check's name, or what it asks for; ``category`` is the one of each."""
    if check.name is None:
        return Message(asked_sentence, check=check, category=category)
    each = isinstance(check, AtLeast | MaxDrop) and category not in {None, check.figure.category}
    return f"{check.name}: {category}" if each else check.name


def figure_check_results(check: AtLeast | MaxDrop, now: Present) -> Iterator[CheckResult]:
    """What becomes of a check of a figure, one result for each category where it is of each."""
    standings = now.standings(check.figure)
    if not standings:
        nothing = _plain(check, check.figure.measure, check.figure.category)
        yield nothing.unknown(NO_CATEGORY, "no_category")
    for figure in standings:
        if isinstance(check, AtLeast):
            yield _least(check, figure)
        else:
            fall = _fall_of_level(check, figure, now)
            if check.figure.recent:
                yield _one_level(check, figure) if fall is None else fall
            else:
                yield _drop(check, figure, now) if fall is None or fall.passed else fall


def _plain(check: AtLeast | MaxDrop, measure: str | None, category: str | None) -> CheckResult:
    """A check of which nothing is known yet."""
    return CheckResult(
        name=gate_check_name(check, category),
        kind="at_least" if isinstance(check, AtLeast) else "max_drop",
        passed=None,
        reason=NO_CATEGORY,
        line=check.place.line,
        measure=measure,
        category=category,
        model=check.figure.model,
        threshold=check.at_least if isinstance(check, AtLeast) else check.max_drop,
        bound=check.on if isinstance(check, AtLeast) else "value",
    )


def _least(check: AtLeast, figure: Standing) -> CheckResult:
    details = {
        "figure": figure.value,
        "ci_low": figure.low,
        "ci_high": figure.high,
        "confidence": figure.confidence,
        **({} if figure.model is None else {"people": figure.people}),
    }
    plain = replace(_plain(check, figure.measure, figure.category), details=details)
    value = {"ci_low": figure.low, "ci_high": figure.high}.get(check.on, figure.value)
    if figure.value is None:
        return plain.unknown(Message(no_figure_sentence, figure=figure), figure.undefined)
    if value is None:
        return plain.unknown(Message(no_bound_sentence, figure=figure), "no_interval")
    passed = value >= check.at_least - ROUNDING
    reason = Message(
        at_least_sentence,
        figure=figure,
        value=value,
        threshold=check.at_least,
        bound=check.on,
        passed=passed,
    )
    return replace(plain, passed=passed, value=value, reason=reason)


def _drop(check: MaxDrop, figure: Standing, now: Present) -> CheckResult:
    then = now.snapshots[check.since]
    plain = _plain(check, figure.measure, figure.category)
    if then is None:
        chosen = now.selection is not None
        reason = Message(no_snapshot_sentence, project=now.question.project.name, chosen=chosen)
        return plain.unknown(reason, "no_snapshot")
    same = replace(check.figure, category=figure.category)
    before = next(iter(gate_standings(then.assessment, same)), None)
    if before is None:
        reason = Message(not_in_snapshot_sentence, figure=figure, since=then)
        return plain.unknown(reason, "not_in_snapshot")
    details = {"figure": figure.value, "then": before.value, "since": then.id}
    plain = replace(plain, details=details)
    if figure.value is None or before.value is None:
        lacking, where = (figure, None) if figure.value is None else (before, then)
        reason = Message(no_figure_sentence, figure=lacking, since=where)
        return plain.unknown(reason, lacking.undefined)
    if before.read != figure.read:
        reason = Message(read_otherwise_sentence, figure=figure, since=then)
        return plain.unknown(reason, "read_otherwise")
    return _fallen(check, figure, before.value, {"since": then.id}, then)


def _fallen(
    check: MaxDrop,
    figure: Standing,
    before: float,
    since: Mapping[str, str | int | None],
    snapshot: SnapshotRecord | None = None,
) -> CheckResult:
    """What becomes of a figure that was another one in a snapshot, or on the level before."""
    assert figure.value is not None
    drop = before - figure.value
    fell = drop if drop > ROUNDING else None
    reason = Message(
        drop_sentence, figure=figure, before=before, fell=fell, most=check.max_drop, since=snapshot
    )
    plain = _plain(check, figure.measure, figure.category)
    plain = replace(plain, details={"figure": figure.value, "then": before, **since})
    passed = drop <= check.max_drop + ROUNDING
    return replace(plain, passed=passed, value=drop, reason=reason)


def _one_level(check: MaxDrop, figure: Standing) -> CheckResult:
    """What becomes of a check of the last change of level if there was none."""
    plain = _plain(check, figure.measure, figure.category)
    if figure.value is None:
        return plain.unknown(Message(no_figure_sentence, figure=figure), figure.undefined)
    details = {"figure": figure.value, "then": None, "since": None}
    reason = Message(one_level_sentence, figure=figure)
    return replace(plain, passed=True, value=0.0, reason=reason, details=details)


def _fall_of_level(check: MaxDrop, figure: Standing, now: Present) -> CheckResult | None:
    """By how much a figure fell when the level of agreement changed last; None if it cannot say."""
    levels = now.level_of(figure.category)
    if levels is None:
        return None
    same = replace(check.figure, category=figure.category)
    sides = (gate_standings(level, same) for level in (levels.before, levels.now))
    before, since = (next(iter(figures), None) for figures in sides)
    if before is None or since is None or before.value is None or since.value is None:
        return None
    day = {"since": None, "level_since": levels.day}
    return _fallen(check, replace(since, since=levels.day), before.value, day)


@dataclass
class Found:
    """Findings of some kinds; the numbers of flags that settle others.

    A finding has annotators, a kind, and the kinds asked for if that is none of them but explains
    them.
    """

    findings: list[tuple[tuple[str, ...], str, tuple[str, ...]]] = field(default_factory=list)
    settled: list[int] = field(default_factory=list)


def gate_findings_now(now: Present, kinds: Sequence[str]) -> Found:
    """The findings of these kinds, or of any for none, each once.

    A finding is of its kind, and of those that it explains.
    """
    names = now.audit.names
    once = {flag.key: flag for _, flag in now.audit.flagged(kinds)}
    result = Found()
    for flag in once.values():
        if kinds and not {flag.kind, *flag.also} & {*kinds}:
            continue
        if flag.key in now.audit.settled:
            result.settled.append(now.audit.settled[flag.key])
            continue
        who = (flag.annotator,) if flag.other is None else (flag.annotator, flag.other)
        people = tuple(sorted(names[number] for number in who))
        explained = () if flag.kind in kinds else tuple(k for k in kinds if k in flag.also)
        result.findings.append((people, flag.kind, explained))
    for finding in now.audit.definitions:
        if not finding.certain or (kinds and finding.kind not in kinds):
            continue
        if finding.key in now.audit.settled:
            result.settled.append(now.audit.settled[finding.key])
            continue
        category = None if finding.category is None else now.audit.categories[finding.category]
        about = category or str(finding.subject).replace("=", " ", 1)
        result.findings.append(((about,), finding.kind, ()))
    return result


def gate_kinds_not_applicable(now: Present, kinds: Sequence[str]) -> dict[str, str]:
    """The kinds that could not be looked for, and what they lack.

    Of any kind it is enough that some could be looked for: no project has all that all need.
    """
    lacking = now.audit.not_applicable
    if kinds:
        return {kind: lacking[kind] for kind in kinds if kind in lacking}
    of_any = [
        name for name, kind in KINDS.items()
        if now.question.preference or "orders" not in kind.needs
    ]  # fmt: skip
    return dict(lacking) if lacking.keys() >= {*of_any} else {}


def judge_gate(
    connection: Connection,
    questions: Sequence[QuestionInfo],
    config: GateConfig,
    choice: AnswerFilter = EVERYTHING,
    *,
    with_verdict: bool = False,
) -> GateResult:
    """Return what becomes of every check, of the question that it names or of each of these.

    If asked for, the verdict on the project is there, too: it takes an audit.

    Raises Refused where the file does not fit the project, NotFound for a snapshot or an
    annotator that is not there, InvalidOption for a choice of answers that does not fit.
    """
    every = list_questions(connection, questions[0].project)
    names = {question.name: {*category_names(connection, question).values()} for question in every}
    for check in config.checks:
        if check.question is not None and check.question not in names:
            mend = near_names(check.question, names) or f"it has: {', '.join(names)}"
            message = f"{questions[0].project.name!r} has no question {check.question!r}"
            raise refused_toml_table(config.source, check.place, message, mend, key="question")
    audits = AuditsNow(connection, questions, choice)
    seen = []
    for question in questions:
        places = [n for n, check in enumerate(config.checks) if _is_of(check, question.name, names)]
        asked = replace(config, checks=tuple(config.checks[n] for n in places))
        now = Present(connection, question, asked, choice, audits)
        _ = now.snapshots  # one that is not there is told before anything is counted
        seen.append((places, now))
    results_by_check: dict[int, list[CheckResult]] = {n: [] for n in range(len(config.checks))}
    for places, now in seen:
        name = now.question.name if len(every) > 1 else None
        for place, check in zip(places, now.config.checks, strict=True):
            results_by_check[place] += (
                replace(result, question=name) for result in _results(check, now)
            )
    results = tuple(result for of_check in results_by_check.values() for result in of_check)
    project = questions[0].project.name
    result = GateResult(project, config.source, results, seen[0][1].selection)
    if not with_verdict:
        return result
    verdict = project_verdict(connection, questions, choice, list(audits.by_question.values()))
    return replace(result, verdict=verdict)


def _is_of(check: Check, question: str, names: Mapping[str, Collection[str]]) -> bool:
    """Return whether a check is of a question, by the names of the categories of each.

    One that names no question but a category is of the questions that have it; if none does, it
    is of all, and refused.
    """
    if check.question is not None:
        return check.question == question
    category = check.figure.category if isinstance(check, AtLeast | MaxDrop) else None
    having = {name for name, known in names.items() if category in known}
    return not having or question in having


def _results(check: Check, now: Present) -> Iterator[CheckResult]:
    match check:
        case AtLeast() | MaxDrop():
            yield from figure_check_results(check, now)
        case NoFlags():
            yield _of_flags(check, now)
        case ItemsAtLeast():
            yield _of_items(check, now)
        case OverlapAtLeast():
            yield _of_overlap(check, now)
        case JudgeTrusted():
            yield _of_judge(check, now)


def _of_flags(check: NoFlags, now: Present) -> CheckResult:
    findings = gate_findings_now(now, check.kinds)
    lacking = gate_kinds_not_applicable(now, check.kinds)
    who = sorted({name for names, kind, _ in findings.findings if kind in KINDS for name in names})
    result = CheckResult(
        name=gate_check_name(check),
        kind="flags",
        passed=not findings.findings,
        reason=Message(flags_sentence, findings=findings.findings, settled=findings.settled),
        line=check.place.line,
        threshold=0,
        value=len(who) or len(findings.findings),
        details={"flags": list(check.kinds), "annotators": who, "settled": findings.settled},
    )
    if not findings.findings and lacking:
        reason = Message(not_looked_for_sentence, needs=lacking, any_kind=not check.kinds)
        return result.unknown(reason, "not_applicable")
    return result


def _of_items(check: ItemsAtLeast, now: Present) -> CheckResult:
    items = now.assessment.counts.items_compared
    return CheckResult(
        name=gate_check_name(check),
        kind="items_at_least",
        passed=items >= check.items,
        reason=Message(items_sentence, number=items, threshold=check.items),
        line=check.place.line,
        threshold=check.items,
        value=items,
    )


def _of_overlap(check: OverlapAtLeast, now: Present) -> CheckResult:
    counts = now.assessment.counts
    share = counts.items_compared / counts.items if counts.items else 0.0
    result = CheckResult(
        name=gate_check_name(check),
        kind="overlap_at_least",
        passed=share >= check.share - ROUNDING,
        reason=Message(overlap_sentence, share=share, threshold=check.share),
        line=check.place.line,
        threshold=check.share,
        value=share,
    )
    if not counts.items:
        return result.unknown(NO_ANSWER, "too_few_items")
    return result


def _of_judge(check: JudgeTrusted, now: Present) -> CheckResult:
    """What becomes of a model that has to be trusted; unknown if there are too few items to say."""
    plain = CheckResult(
        name=gate_check_name(check),
        kind="judge",
        passed=None,
        reason=NO_JUDGE,
        line=check.place.line,
        model=check.model,
        threshold=-check.margin,
    )
    judge = now.judge(check.model, check.margin)
    if judge is None:
        return replace(plain, undefined="no_overlap")
    reason = Message(judge_sentence, verdict=VERDICTS[judge.verdict], why=judge.why)
    row = judge.main
    details = {"verdict": judge.verdict, "difference": row.difference, "more": judge.more}
    result = replace(
        plain, measure=judge.measure, value=row.ci_low, bound="ci_low", details=details,
        reason=reason,
    )  # fmt: skip
    if judge.verdict == "insufficient":
        return result.unknown(reason, "too_few_items")
    return replace(result, passed=judge.verdict == "trusted")
