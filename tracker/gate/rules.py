"""Rules that pause people: a file of them, and whom they pause now, on which evidence."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

from sqlalchemy import Connection

from tracker.audit.flags import settled_audits
from tracker.audit.kinds import KINDS
from tracker.audit.kinds.copying import COPYING
from tracker.audit.query import AuditQuery
from tracker.audit.result import Audit
from tracker.audit.statistics.exact_tests import clopper_pearson
from tracker.audit.statistics.peer_agreement import untied_majority
from tracker.core.results import Hidden, Json, Record
from tracker.counts.annotator_patterns import select_answering_annotators
from tracker.counts.filter import AnswerFilter, select_answers
from tracker.counts.in_turn import recent_gold_tallies, recent_shared_answers
from tracker.counts.selection import Selection
from tracker.gate.config import Place, Table, toml_file_text, toml_tables
from tracker.projects.annotators import (
    annotator_names,
    find_away,
    find_returned,
    pause_annotator,
)
from tracker.projects.names import near_names
from tracker.projects.projects import ProjectInfo
from tracker.projects.questions import QuestionInfo, list_questions
from tracker.render.blocks import Column

TAIL = 0.001
"""How likely the bound of a share is wrong at one look: rules are looked at every day."""
GOLD, AGREEMENT = "gold accuracy", "agreement"
_FINDING = re.compile(r"finding\s+(\S+)")
_SHARE = re.compile(
    rf"({GOLD}|{AGREEMENT})\s*<\s*(\d*\.?\d+)\s+over\s+the\s+last\s+(\d{{1,4}})", re.IGNORECASE
)
_FORMS: Final = "such as: gold accuracy < .8 over the last 30; agreement < .5 over the last 50; " \
                "finding random_answers"  # fmt: skip
_KEYS: Final = ("when", "then", "question")
_LONGEST = 1_000  # answers that a rule looks back over


@dataclass(frozen=True)
class Rule:
    """When somebody is paused: by a share of their last answers, or by a finding.

    Attributes:
        place: where it stands in the file.
        when: as the file says it, in one spelling.
        kind: "gold accuracy", "agreement", or the kind of finding.
        below: the share that they are surely below; of a finding 0.
        last: of so many answers; of a finding 0.
        question: the question it is about; None for each.
    """

    place: Place
    when: str
    kind: str
    below: float = 0.0
    last: int = 0
    question: str | None = None


def surely_at_most(right: int, answers: int) -> float:
    """Return the exact upper bound of a share, which is wrong with a probability of `TAIL`."""
    return clopper_pearson(right, answers, TAIL)[1]


def read_rules(path: Path) -> list[Rule]:
    """Return the rules of a file; raises Refused, with the line, where it says what cannot be."""
    init = f"tracker rules init --rules {shlex.quote(str(path))}"
    return parse_rules(toml_file_text(path, "--rules", init), str(path))


def parse_rules(text: str, source: str) -> list[Rule]:
    """Return the same of a text; ``source`` is its name in messages."""
    top, tables = toml_tables(text, source, "rule", ("rule",))
    if not tables:
        mend = 'begin one with the line [[rule]], such as: when = "finding random_answers"'
        raise top.refused("there is no rule", mend, key="rule")
    return [_rule(table) for table in tables]


def _rule(table: Table) -> Rule:
    for key in table.told:
        if key not in _KEYS:
            mend = near_names(key, _KEYS) or f"a rule may have: {', '.join(_KEYS)}"
            raise table.refused(f"there is no key {key!r} of a rule", mend, key=key)
    when, question = table.text("when"), table.text("question")
    if when is None:
        raise table.refused("the rule does not say when", _FORMS)
    if table.word("then", ("pause",), "act") is None:
        raise table.refused("the rule does not say what then", 'add: then = "pause"')
    finding = _FINDING.fullmatch(when)
    if finding is not None:
        kind = finding[1]
        if kind == COPYING.name:
            mend = "it does not say who of them copied: see tracker audit"
            raise table.refused(f"{kind} is about two people", mend, key="when")
        table.check_known(kind, KINDS, "kind of finding", "when")
        return Rule(table.place, f"finding {kind}", kind, question=question)
    return _rule_of_share(table, when, question)


def _rule_of_share(table: Table, when: str, question: str | None) -> Rule:
    share = _SHARE.fullmatch(when)
    if share is None:
        raise table.refused(f"a rule cannot be read: {when!r}", _FORMS, key="when")
    kind, below, last = share[1].lower(), float(share[2]), int(share[3])
    if not 0 < below <= 1:
        raise table.refused(f"{share[2]} is no share", "give one above 0, up to 1", key="when")
    if not 0 < last <= _LONGEST:
        mend = f"give a number from 1 to {_LONGEST:,}"
        raise table.refused(f"the last {last} cannot be looked at", mend, key="when")
    if surely_at_most(0, last) >= below:
        raise table.refused(
            f"{last} answers are too few to be sure that a share is below {below:g}",
            f"even of none right in {last}, {surely_at_most(0, last):.2f} may be: look at more",
            key="when",
        )
    return Rule(
        table.place, f"{kind} < {below:g} over the last {last}", kind, below, last, question
    )


@dataclass(frozen=True)
class Firing(Record):
    """One person whom a rule pauses, and the evidence: a share with its bound, or a finding."""

    id: Annotated[int, Hidden]
    annotator: str
    rule: str
    question: str
    figure: float | None
    answers: int
    bound: Annotated[float | None, Json(rare=True)] = None
    q_value: Annotated[float | None, Json(rare=True)] = None

    @property
    def evidence(self) -> dict[str, Any]:
        """The figures, as the change log keeps them."""
        figures = {"figure": self.figure, "bound": self.bound, "q": self.q_value}
        known = {name: float(f"{v:.3g}") for name, v in figures.items() if v is not None}
        return known | {"answers": self.answers}

    @property
    def note(self) -> str:
        """What is shown with the person who is paused."""
        figures = ", ".join(f"{name} {value:,}" for name, value in self.evidence.items())
        return f"rule {self.rule}: {figures}"


@dataclass(frozen=True)
class RuleLook(Record):
    """One rule on one question: of how many people it could be told, of all who are there.

    ``spared`` counts those it does not pause because they are half of all or more.
    """

    rule: str
    question: str
    line: int
    told: int
    people: int
    spared: Annotated[int | None, Json(rare=True)] = None


@dataclass(frozen=True)
class RulesChecked(Record):
    """Whom the rules of a file pause, and what they looked at."""

    project: str
    dry_run: bool
    paused: tuple[Firing, ...]
    rules: tuple[RuleLook, ...]

    def view(self) -> Iterator[Any]:
        """Yield who is paused and why, and what was looked at."""
        from tracker.render.blocks import listing_table

        yield listing_table(LOOKS, [look.to_dict() for look in self.rules])
        if not self.paused:
            yield "nobody is paused"
            return
        yield listing_table(FIRINGS, [firing.to_dict() for firing in self.paused])

    def warnings(self) -> Iterator[str]:
        """Yield who is paused, so that it is seen whatever becomes of the output."""
        verb = "would be paused" if self.dry_run else "is paused"
        for firing in self.paused:
            yield f"{firing.annotator} {verb}: {firing.note}"
        for look in self.rules:
            if look.spared:
                yield (
                    f"{look.rule} fails {look.spared} of {look.told} people and pauses none: the "
                    f"question {look.question!r} is hard, or the rule; give a lower share"
                )

    def hints(self) -> Iterator[str]:
        """Yield how to take it back."""
        for firing in () if self.dry_run else self.paused[:1]:
            words = f"{shlex.quote(firing.annotator)} -p {shlex.quote(self.project)}"
            yield f"to undo: tracker annotator resume {words}"


LOOKS: Final = (
    Column("rule", kind="title"),
    Column("question", kind="name"),
    Column("told", "people with enough answers", "count"),
    Column("people", "of", "count"),
)
FIRINGS: Final = (
    Column("annotator", kind="name"),
    Column("rule", kind="title"),
    Column("question"),
    Column("figure", kind="figure"),
    Column("bound", "at most", "figure", rare=True),
    Column("q_value", "q", "p", rare=True),
    Column("answers", kind="count"),
)


def check_rules(
    connection: Connection, project: ProjectInfo, rules: Sequence[Rule], source: str
) -> RulesChecked:
    """Return whom rules pause; nothing is stored.

    Looked at are people who are there. Whoever was resumed, or is back, is judged by answers given
    since. A person is paused once, by the first rule that fires. A rule on agreement that half of
    the people or more fail pauses none. Raises Refused for a rule of a question that the project
    does not have, or that has no such figure.
    """
    questions = list_questions(connection, project)
    present = _Present(connection, project, questions)
    looks, paused = [], dict[int, Firing]()
    for rule in rules:
        for question in _questions_of(rule, questions, source):
            told = present.told(rule, question)
            here = present.people(question)
            fired = {n: firing for n, firing in told.items() if firing is not None and n in here}
            number = len(told.keys() & here)
            spared = len(fired) if rule.kind == AGREEMENT and len(fired) * 2 >= number > 2 else None
            looks.append(
                RuleLook(rule.when, question.name, rule.place.line, number, len(here), spared)
            )
            if not spared:
                paused = fired | paused
    ordered = sorted(paused.values(), key=lambda firing: firing.annotator)
    return RulesChecked(project.name, False, tuple(ordered), tuple(looks))


def pause_by_rules(
    connection: Connection, project: ProjectInfo, firings: Iterable[Firing]
) -> tuple[Firing, ...]:
    """Pause people, each by a change that has the evidence; returns those who were there still."""
    away = find_away(connection, project).keys()
    paused = tuple(firing for firing in firings if firing.id not in away)
    for firing in paused:
        evidence = {"rule": firing.rule, "evidence": firing.evidence}
        pause_annotator(connection, project, firing.annotator, firing.note, evidence)
    return paused


def _questions_of(rule: Rule, questions: Sequence[QuestionInfo], source: str) -> list[QuestionInfo]:
    """Return the questions of a rule: the one that it names, or all that have its figure."""
    table = Table(source, {}, rule.place)
    named = [question for question in questions if rule.question in {None, question.name}]
    if not named:
        names = [question.name for question in questions]
        mend = near_names(rule.question or "", names) or f"it has: {', '.join(names)}"
        raise table.refused(f"there is no question {rule.question!r}", mend, key="question")
    fit = [question for question in named if not rule.last or _is_compared(question)]
    if not fit:
        mend = "a rule may rest on a finding instead: finding KIND"
        raise table.refused(f"{rule.kind} is not of spans or numbers", mend, key="when")
    return fit


def _is_compared(question: QuestionInfo) -> bool:
    """Return whether two answers can be expected to be the very same."""
    return question.answers != "spans" and question.scale not in {"interval", "ratio"}


class _Present:
    """A project as its rules see it; what several rules rest on is counted once."""

    def __init__(
        self, connection: Connection, project: ProjectInfo, questions: Sequence[QuestionInfo]
    ) -> None:
        self._connection, self._project, self._questions = connection, project, questions
        self._names = annotator_names(connection, project)
        self._returned = find_returned(connection, project)
        self._away = find_away(connection, project).keys()
        self._audits: dict[int | None, dict[str, Audit]] = {}

    def people(self, question: QuestionInfo) -> set[int]:
        """Return the people who are there and answered a question."""
        selection = select_answers(self._connection, question)
        return {*select_answering_annotators(self._connection, selection)} - self._away

    def told(self, rule: Rule, question: QuestionInfo) -> Mapping[int, Firing | None]:
        """Return of whom a rule can be told, each with the evidence if it fires."""
        if not rule.last:
            return self._by_finding(rule, question)
        selection = select_answers(self._connection, question)
        since = self._returned
        if rule.kind == GOLD:
            tallies = recent_gold_tallies(self._connection, selection, rule.last, since)
        else:
            tallies = self._with_others(selection, rule.last)
        told: dict[int, Firing | None] = {}
        for annotator, (right, answers) in tallies.items():
            if answers == rule.last:
                bound = surely_at_most(right, answers)
                told[annotator] = None if bound >= rule.below else Firing(
                    annotator, self._names[annotator], rule.when, question.name,
                    right / answers, answers, bound,
                )  # fmt: skip
        return told

    def _with_others(self, selection: Selection, last: int) -> dict[int, tuple[int, int]]:
        """Return how often people were with most of the others at last, and of how many answers.

        Of twice as many answers those are left out on which the others are divided.
        """
        shared = recent_shared_answers(self._connection, selection, 2 * last, self._returned)
        tallies = {}
        for annotator, rows in shared.items():
            most = ((own, untied_majority(own, pattern)) for own, pattern in rows)
            outcomes = [own == other for own, other in most if other is not None][:last]
            tallies[annotator] = sum(outcomes), len(outcomes)
        return tallies

    def _by_finding(self, rule: Rule, question: QuestionInfo) -> Mapping[int, Firing | None]:
        told: dict[int, Firing | None] = dict.fromkeys(self.people(question))
        audit = self._audit(question, None)
        if rule.kind in audit.not_applicable:
            return {}
        fired = self._found(rule.kind, question, None)
        later = [self._returned[number] for number in fired if number in self._returned]
        again = self._found(rule.kind, question, max(later)) if later else {}
        fired = {n: f for n, f in fired.items() if n not in self._returned}
        return told | fired | {n: f for n, f in again.items() if n in self._returned}

    def _found(self, kind: str, question: QuestionInfo, since: int | None) -> Mapping[int, Firing]:
        """Return the findings of a kind that stand up and nobody settled, by annotator."""
        audit = self._audit(question, since)
        return {
            who.id: Firing(who.id, who.name, f"finding {kind}", question.name, flag.observed,
                           flag.n, q_value=flag.q_value)
            for who, flag in audit.flagged((kind,))
            if flag.kind == kind and flag.other is None and flag.key not in audit.settled
        }  # fmt: skip

    def _audit(self, question: QuestionInfo, since: int | None) -> Audit:
        """Return the audit of a question, of all answers or of those after a moment."""
        if since not in self._audits:
            choice = AnswerFilter(since=None if since is None else since + 1)
            audits = settled_audits(self._connection, self._questions, AuditQuery(filter=choice))
            self._audits[since] = {audit.question: audit for audit in audits}
        return self._audits[since][question.name]
