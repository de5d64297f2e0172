"""The verdict on a project: what is plainly wrong, whatever it is about, the weightiest first.

Nothing is told that somebody settled, by dismissing or resolving the recorded finding.

A concern is about a period (the level of agreement changed), some of the items, a definition, an
annotator, a pair of them, an imported file, or the design of the project. It weighs what it
explains: the share of the disagreement that is gone if it is counted again without it.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypedDict

from sqlalchemy import Connection

from tracker.agreement.query import Query
from tracker.agreement.readiness import ReadinessJson
from tracker.agreement.run import assess
from tracker.agreement.sentences import main_figure_sentence
from tracker.audit.flags import settled_audits
from tracker.audit.query import AuditQuery
from tracker.audit.result import Audit
from tracker.audit.sentences import verdict_sentence
from tracker.audit.slices_sql import GUIDELINE, IMPORT
from tracker.core.results import Message
from tracker.counts.filter import EVERYTHING, AnswerFilter
from tracker.projects.questions import QuestionInfo
from tracker.render.nouns import of_question

_SUBJECTS: Final = {
    "weak_slice": "slice",
    "divided_definition": "category",
    "odd_import": "import",
    "copying": "pair",
}
_FIRST: Final = {"period": 0, "category": 1}
"""What comes before all others: findings about people may only follow from it."""
_SEVERITIES: Final = ("high", "medium", "low")


class Figures(NamedTuple):
    """What is known of one question, as JSON.

    Attributes:
        question: its name; None if the project asks no other.
        recent: the last change of the level of agreement; None if there is none.
        changes: of single annotators, categories and shares.
    """

    question: str | None
    recent: Mapping[str, Any] | None
    changes: Sequence[Mapping[str, Any]]
    audit: Mapping[str, Any]


class ConcernJson(TypedDict):
    """What is plainly wrong: a period, slice, category, annotator, pair, import or the project."""

    subject: str
    names: list[str]
    kind: str
    question: str | None
    explained: float | None
    why: str
    command: str


class WeakestJson(ReadinessJson):
    """Whether the labels of the weakest question can be trusted, and a sentence that says so."""

    question: str | None
    why: str


class VerdictJson(TypedDict, total=False):
    """What is plainly wrong with a project, the weightiest first; whether it can be trusted."""

    readiness: WeakestJson | None
    verdict: list[ConcernJson]
    detectable_gap: float | None


@dataclass(frozen=True)
class Concern:
    """Something that is plainly wrong.

    Attributes:
        subject: "period", "slice", "category", "annotator", "pair", "import", "share" or "project".
        names: of what it is about: annotators, the category, attribute and value, the day.
        kind: of the finding; "recent" and "changed" of changes over time.
        verb: the words of the command that shows more, without the project.
    """

    subject: str
    names: tuple[str, ...]
    kind: str
    question: str | None
    explained: float | None
    severity: str | None
    finding: Mapping[str, Any]
    verb: tuple[str, ...]

    @property
    def why(self) -> str:
        """One plain sentence."""
        return str(
            Message(
                verdict_sentence,
                subject=self.subject,
                names=self.names,
                finding=self.finding,
                explained=self.explained,
                question=self.question,
            )
        )

    @property
    def weight(self) -> tuple[int, float, int]:
        """What it is ordered by, the weightiest first."""
        severity = 0 if self.severity is None else _SEVERITIES.index(self.severity)
        return _FIRST.get(self.subject, 2), -max(self.explained or 0.0, 0.0), severity

    def to_dict(self, project: str) -> ConcernJson:
        """Return the concern as JSON, with the command that shows more."""
        asked = () if self.question is None else ("-q", self.question)
        verb, *words = self.verb
        return {
            "subject": self.subject,
            "names": list(self.names),
            "kind": self.kind,
            "question": self.question,
            "explained": self.explained,
            "why": self.why,
            "command": shlex.join(["tracker", verb, project, *words, *asked]),
        }


class Verdict(NamedTuple):
    """What is plainly wrong with a project, and how large a thing could not have been seen.

    Attributes:
        detectable_gap: by how much less an annotator has to agree with the others to be found in
            most cases, of the question in which that is most; None if nobody could be.
        weakest: whether the labels of the weakest question can be trusted; None without a figure.
    """

    concerns: list[Concern]
    detectable_gap: float | None
    weakest: WeakestJson | None = None

    def to_dict(self, project: str) -> VerdictJson:
        """Return the entries of ``tracker status --json``."""
        return {
            "readiness": self.weakest,
            "verdict": [concern.to_dict(project) for concern in self.concerns],
            "detectable_gap": self.detectable_gap,
        }


NO_VERDICT: Final = Verdict([], None)


def concerns_of(questions: Iterable[Figures]) -> list[Concern]:
    """Return all concerns about some questions, the weightiest first; the same one once."""
    concerns = [concern for figures in questions for concern in _of_question(figures)]
    unique = {
        (concern.kind, concern.question, concern.names, concern.why): concern
        for concern in reversed(concerns)
    }
    return sorted(unique.values(), key=lambda concern: (*concern.weight, concern.names))


def project_verdict(
    connection: Connection,
    questions: Sequence[QuestionInfo],
    choice: AnswerFilter = EVERYTHING,
    audits: Sequence[Audit] | None = None,
) -> Verdict:
    """Return what is wrong with some questions of a project.

    That rests on the level of agreement of each and on its audit, unless ``audits`` are given.
    """
    if audits is None:
        audits = settled_audits(connection, questions, AuditQuery(filter=choice))
    several = len(questions) > 1
    figures, weakest = [], list[WeakestJson]()
    for question, audit in zip(questions, audits, strict=True):
        recent, changes = None, ()
        if question.answers != "spans":
            query = Query(("krippendorff_alpha",), filter=choice)
            payload = assess(connection, question, query, recent=True).to_dict()
            recent, changes = payload["recent"], payload["changes"]
            weakest.append(weakest_json(question.name if several else None, payload))
        name = question.name if several else None
        figures.append(Figures(name, recent, changes, audit.to_dict()))
    gaps = [audit.detectable_gap for audit in audits if audit.detectable_gap is not None]
    stated = (row for row in weakest if row["state"] is not None)
    least = min(stated, key=lambda row: row["bound"] or 0.0, default=None)
    return Verdict(concerns_of(figures), max(gaps, default=None), least)


def weakest_json(question: str | None, agreement: Mapping[str, Any]) -> WeakestJson:
    """Return whether the labels of a question can be trusted, by its figures as JSON."""
    readiness: ReadinessJson = agreement["readiness"]
    figure = next(row for row in agreement["measures"] if row["measure"] == readiness["measure"])
    begin = "" if question is None else of_question(question)
    why = begin + main_figure_sentence(figure, readiness["thresholds"])
    return {**readiness, "question": question, "why": why}


def _of_question(figures: Figures) -> Iterator[Concern]:
    name, recent = figures.question, figures.recent
    if recent is not None:
        yield Concern(
            "period", (recent["day"],), "recent", name, recent["explained"], None, recent,
            ("agreement", "--since", recent["day"]),
        )  # fmt: skip
    for row in figures.changes:
        yield Concern(
            row["subject"], (row["name"],), "changed", name, None, None, row,
            ("agreement", "--since", row["day"]),
        )  # fmt: skip
    for row in figures.audit["definitions"]:
        if row["state"] != "flagged" or row["settled"]:
            continue
        slices = row["kind"] == "weak_slice"
        if slices and recent is not None and row["attribute"] in {IMPORT, GUIDELINE}:
            continue  # those of a worse period say the same again
        names = (row["attribute"], row["value"]) if slices else (row["category"],)
        verb = ("agreement", "--by", "slice") if slices else ("audit",)
        yield _concern(row, names, name, row.get("explained"), verb)
    for row in figures.audit["design"]:
        if not row["settled"]:
            yield Concern("project", (), row["kind"], None, None, None, row, ("audit",))
    yield from _of_people(figures)


def _of_people(figures: Figures) -> Iterator[Concern]:
    """Yield one concern an annotator, file and pair, of its gravest finding."""
    findings: dict[tuple[str, tuple[str, ...]], list[Mapping[str, Any]]] = {}
    for row in figures.audit["annotators"]:
        for flag in row["flags"]:
            if flag["state"] != "flagged" or flag["severity"] == "remark" or flag["settled"]:
                continue
            subject = _SUBJECTS.get(flag["kind"], "annotator")
            pair = () if flag["with"] is None else (flag["with"],)
            names = tuple(sorted((row["annotator"], *pair)))
            names += (str(flag["details"]["import"]),) if subject == "import" else ()
            findings.setdefault((subject, names), []).append(flag)
    for (_, names), flags in findings.items():
        flag = min(
            flags, key=lambda flag: (_SEVERITIES.index(flag["severity"]), flag["p_value"] or 0.0)
        )
        verb = ("audit",)
        yield _concern(flag, names, figures.question, flag["details"].get("explained"), verb)


def _concern(
    row: Mapping[str, Any],
    names: tuple[str, ...],
    question: str | None,
    explained: float | None,
    verb: tuple[str, ...],
) -> Concern:
    subject = _SUBJECTS.get(row["kind"], "annotator")
    severity = row.get("severity")
    return Concern(subject, names, row["kind"], question, explained, severity, row, verb)
