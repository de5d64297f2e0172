"""An audit as a value: each annotator's figures and findings, as JSON and as a frame."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from tracker.audit.divided import DividedDefinition
from tracker.audit.kind import Finding, Key, ProjectFinding
from tracker.audit.kinds import KINDS
from tracker.audit.kinds.low_agreement import LOW_AGREEMENT, detectable_gap
from tracker.audit.query import audit_kinds_named
from tracker.audit.sentences import definitions_sentence
from tracker.core.errors import InvalidOption
from tracker.core.results import Message, json_by_question
from tracker.render.formats import Shown, result_as_json

if TYPE_CHECKING:
    import pandas as pd


MOST_LOST = 1 / 3
"""Share of answers by flagged annotators above which what the others are held against is lost."""

_STATES = ("flagged", "insufficient", "clear")
_SEVERITIES = ("high", "medium", "low", "remark")


class AuditJson(TypedDict):
    """The findings about each annotator, and what is wrong with definitions and the design."""

    project: str
    selection: dict[str, Any] | None
    annotators: list[dict[str, Any]]
    yardstick: dict[str, Any]
    detectable_gap: float | None
    definitions: list[dict[str, Any]]
    design: list[dict[str, Any]]
    models_left_out: list[str]
    not_applicable: list[dict[str, str]]


class _AuditOfQuestion(AuditJson):
    """The findings of one of several questions."""

    question: str


class AuditsJson(TypedDict):
    """The findings of each question."""

    project: str
    questions: list[_AuditOfQuestion]


@dataclass(frozen=True)
class AuditedAnnotator:
    """One annotator: figures as JSON, and findings; one about a pair is both annotators'."""

    id: int
    name: str
    figures: Mapping[str, Any]
    flags: tuple[Finding, ...]


@dataclass(frozen=True, repr=False)
class Audit(Shown):
    """The findings on a project's annotators, by name.

    Attributes:
        selection: which answers the findings rest on, as JSON; None for all.
        not_applicable: kinds that could not be looked for, and what is missing: a field of
            `Evidence`, or "spans" if it is not looked for in spans.
        shown: of findings that stand up, the items that show them best, as JSON.
        models: names by id of the models that answered, and were not asked for: people are held
            beside them, and they are in no figure.
        definitions: what is wrong with a definition or some of the items, not with a person.
        design: what is wrong with who was given which items.
        settled: numbers of the recorded flags by which people settled findings, by the findings'
            keys.
    """

    project: str
    annotators: tuple[AuditedAnnotator, ...]
    categories: Mapping[int, str]
    selection: Mapping[str, Any] | None = None
    not_applicable: Mapping[str, str] = field(default_factory=dict)
    shown: Mapping[Key, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    question: str = ""
    models: Mapping[int, str] = field(default_factory=dict)
    definitions: tuple[ProjectFinding, ...] = ()
    design: tuple[ProjectFinding, ...] = ()
    settled: Mapping[Any, int] = field(default_factory=dict)

    def with_evidence(self, most: int) -> Audit:
        """Return the audit with no more items for each finding."""
        shown = {key: rows[:most] for key, rows in self.shown.items()} if most else {}
        return replace(self, shown=shown)

    def flagged(self, remarks: Collection[str] = ()) -> list[tuple[AuditedAnnotator, Finding]]:
        """Return every finding that stands up, with its annotator; of a pair, with both.

        Remarks accuse nobody: they are among them only if their kind is named.
        """
        return [
            (annotator, flag)
            for annotator in self.annotators
            for flag in annotator.flags
            if flag.state == "flagged" and (not flag.remark or flag.kind in remarks)
        ]

    @property
    def flagged_names(self) -> list[str]:
        """The names of all annotators with a finding that stands up; of a pair, both."""
        return sorted({annotator.name for annotator, _ in self.flagged()})

    @property
    def lost(self) -> float:
        """Share of the answers that annotators gave whose answers shift everybody's yardstick.

        They have a flag of their own of a kind that says so.
        """
        spoiling = {name for name, kind in KINDS.items() if kind.spoils}
        return self._share(
            {annotator.id for annotator, flag in self.flagged() if flag.kind in spoiling}
        )

    @property
    def standing_out(self) -> float:
        """Share of the answers by annotators about whom a finding stands out, confirmed or not.

        What only follows from a category that is read in two ways does not count. Above `MOST_LOST`
        nothing says whose answers the yardstick is: if 60% answer badly, so many
        stand out in two of five simulated crowds, and the consensus confirms few of these findings;
        if nobody does, in 1%.
        """
        standing = {
            annotator.id
            for annotator in self.annotators
            for flag in annotator.flags
            if flag.unconfirmed or (flag.state == "flagged" and not flag.remark)
            if not flag.details.get("divided")
        }
        return self._share(standing)

    def _share(self, annotators: Collection[int]) -> float:
        answers = {
            annotator.id: int(annotator.figures["answers"] or 0) for annotator in self.annotators
        }
        total = sum(answers.values())
        return sum(answers[annotator] for annotator in annotators) / total if total else 0.0

    def by_strength(self, *, clear: bool = False) -> list[tuple[AuditedAnnotator, Finding]]:
        """Return each finding once, with one annotator: flagged, by severity, the surest first."""
        once = {
            flag.key: (annotator, flag)
            for annotator in reversed(self.annotators)
            for flag in annotator.flags
        }
        rows = [row for row in once.values() if clear or row[1].state != "clear"]
        return sorted(rows, key=lambda row: (*finding_strength(row[1]), row[0].name))

    def to_dict(self, *, clear: bool = False) -> Annotated[dict[str, Any], AuditJson]:
        """Return the JSON of ``tracker audit``; ``clear`` findings only on request."""
        return result_as_json(self, clear=clear)

    def finding_values(self, annotator: AuditedAnnotator, flag: Finding) -> dict[str, Any]:
        """Return one finding as JSON without its sentence, as it is reported of one annotator."""
        values = flag.to_dict(self.names, self.category_name(flag), annotator.id)
        items = self.shown.get(flag.key)
        return values if items is None else values | {"evidence": list(items)}

    def definition_values(self) -> list[dict[str, Any]]:
        """Return what is wrong with definitions and slices of the items, as JSON."""
        return [
            self._as_json(definition, question=self.question) for definition in self.definitions
        ]

    def design_values(self) -> list[dict[str, Any]]:
        """Return what is wrong with the design, as JSON."""
        return [self._as_json(finding) for finding in self.design]

    def _as_json(self, finding: ProjectFinding, **about: str) -> dict[str, Any]:
        values = {
            "kind": finding.kind,
            **about,
            "state": finding.state,
            **finding.values(self.names, self.categories),
            "settled": finding.key in self.settled,
        }
        sentence = Message(definitions_sentence, values=values, project=self.project)
        return values | {"why": str(sentence)}

    @property
    def detectable_gap(self) -> float | None:
        """By how much less somebody has to agree with the others to be found in most cases."""
        flags = (flag for annotator in self.annotators for flag in annotator.flags)
        findings = [flag for flag in flags if flag.kind == LOW_AGREEMENT.name]
        return detectable_gap(findings, len(self.annotators))

    def project_findings(self) -> list[ProjectFinding]:
        """Return the findings that stand up and are about nobody."""
        return [finding for finding in (*self.definitions, *self.design) if finding.certain]

    def category_name(self, flag: Finding) -> str | None:
        """The name of the category that a finding is about."""
        return None if flag.category is None else self.categories[flag.category]

    def failing(self, condition: str) -> list[Finding]:
        """Return the findings that ``--fail-on flagged[:kind]`` names, each once.

        A finding is of its kind, and of those that it explains; remarks only if their kind is
        named. Raises InvalidOption.
        """
        state, _, kind = condition.partition(":")
        if state != "flagged" or condition.endswith(":"):
            raise InvalidOption(
                f"--fail-on {condition!r} is not flagged or flagged:KIND",
                "for example: --fail-on flagged:constant_category",
            )
        kinds = {entry.name for entry in audit_kinds_named([kind] if kind else [])}
        once = {flag.key: flag for _, flag in self.flagged(kinds)}
        return [flag for flag in once.values() if not kinds or kinds & {flag.kind, *flag.also}]

    def to_frame(self) -> pd.DataFrame:
        """One row per annotator; ``flags`` holds the kinds of the findings that stand up."""
        import pandas as pd

        rows = self.to_dict()["annotators"]
        for row in rows:
            flagged = (flag for flag in row["flags"] if flag["state"] == "flagged")
            row["flags"] = [flag["kind"] for flag in flagged if flag["severity"] != "remark"]
            shares, peers = row.pop("category_shares"), row.pop("peer_shares")
            for listed in _LISTED:
                row.pop(listed, None)
            row |= {f"share of {name}": share for name, share in shares.items()}
            row |= {f"peers' share of {name}": share for name, share in peers.items()}
        return pd.DataFrame(rows)

    @property
    def names(self) -> dict[int, str]:
        """The names of annotators and of models by id."""
        return {annotator.id: annotator.name for annotator in self.annotators} | {**self.models}

    @property
    def models_left_out(self) -> tuple[str, ...]:
        """The names of the models that answered, and were not asked for."""
        return tuple(sorted(self.models.values()))


def finding_strength(flag: Finding) -> tuple[bool, int, int, float]:
    """Return the rank of a finding: flagged first, by severity, the surest first; remarks last."""
    severity = _SEVERITIES.index(flag.severity) if flag.severity else len(_SEVERITIES)
    p_value = 1.0 if flag.p_value is None else flag.p_value
    return flag.remark, _STATES.index(flag.state), severity, p_value


_OF_SHARED = (
    *("agreement_with_peers", "agreement_low", "agreement_high", "agreement_of_peers"),
    *("mean_difference", "spread_of_difference", "kappa_with_majority"),
)
_OF_ANSWERS = ("median_seconds", "days_active", "first_answer", "last_answer")
_RESTING_ON = dict.fromkeys(_OF_SHARED, "items_shared") | dict.fromkeys(_OF_ANSWERS, "answers")
_RESTING_ON |= {"self_agreement": "repeats", "gold_accuracy": "gold_answers"}
"""Each figure, and the number of answers that it rests on."""

_LISTED = ("differs", "course")
"""Figures that are tables of their own; each row has its number of items."""
_SHARES = {"category_shares": "answers", "peer_shares": "items_shared"}


def renamed_audit(
    audit: Audit, names: Mapping[int, str], ids: Mapping[str, int] | None = None
) -> Audit:
    """Return the audit with other names of the annotators, in the order of these.

    ``ids`` are the numbers of all annotators of the project, also of those left out, by name;
    without them the selection keeps its names.
    """
    annotators = (replace(annotator, name=names[annotator.id]) for annotator in audit.annotators)
    selection = audit.selection
    if selection is not None and ids is not None:
        others = {
            key: sorted(names[ids[name]] for name in selection[key] or ())
            for key in ("annotators", "excluded")
        }
        selection = {**selection, **others}
    ordered = tuple(sorted(annotators, key=lambda annotator: annotator.name))
    models = {number: names[number] for number in audit.models}
    return replace(audit, annotators=ordered, selection=selection, models=models)


def suppressed_audit(audit: Audit, least: int) -> Audit:
    """The audit without cells of fewer than ``least`` answers.

    Figures of fewer are None, findings that rest on fewer are left out, and so are the items of
    the others, each of them a cell of few answers.

    Raises InvalidOption where ``least`` is negative.
    """
    check_audit_suppress_below(least)
    annotators = tuple(
        replace(
            annotator,
            figures=suppressed_audit_figures(annotator.figures, least),
            flags=tuple(flag for flag in annotator.flags if flag.n >= least),
        )
        for annotator in audit.annotators
    )
    definitions = tuple(
        replace(definition, items=())
        if least > 1 and isinstance(definition, DividedDefinition)
        else definition
        for definition in audit.definitions
    )
    shown = {} if least > 1 else audit.shown
    return replace(audit, annotators=annotators, shown=shown, definitions=definitions)


def check_audit_suppress_below(least: int) -> None:
    """Raise InvalidOption where no cell could have fewer than so many answers."""
    if least < 0:
        raise InvalidOption(f"cells of fewer than {least} answers cannot be", "use 5, for one")


def suppressed_audit_figures(figures: Mapping[str, Any], least: int) -> dict[str, Any]:
    """An annotator's figures with None for those of fewer than ``least`` answers.

    A share whose number of answers, or whose rest, is under ``least`` but not 0 is such a cell.
    """
    row = dict(figures)
    for name, number in _RESTING_ON.items():
        if (figures.get(number) or 0) < least and name in row:
            row[name] = None
    for name in _LISTED:
        if name in row:
            row[name] = [cell for cell in row[name] if cell["items"] >= least]
    for name, number in _SHARES.items():
        answers = figures.get(number) or 0
        row[name] = {
            category: None if _small(share, answers, least) else share
            for category, share in figures[name].items()
        }
    return row


def _small(share: float, answers: int, least: int) -> bool:
    cells = (share * answers, (1.0 - share) * answers)
    return answers < least or any(0.5 < cell < least - 0.5 for cell in cells)


# -- The audits of several questions, whose tests are corrected together --------------------------


@dataclass(frozen=True, repr=False)
class AuditByQuestion(Shown):
    """The findings on a project's annotators, question by question."""

    project: str
    audits: tuple[Audit, ...]

    def to_dict(self, *, clear: bool = False) -> Annotated[dict[str, Any], AuditJson | AuditsJson]:
        """Return the JSON of ``tracker audit``: of one question its own, of several all."""
        pages = {audit.question: audit.to_dict(clear=clear) for audit in self.audits}
        return json_by_question({"project": self.project}, pages)

    def flagged(self) -> list[tuple[Audit, AuditedAnnotator, Finding]]:
        """Return every finding that stands up, with its audit and annotator; of a pair, both."""
        return [(audit, *row) for audit in self.audits for row in audit.flagged()]

    def by_strength(self, *, clear: bool = False) -> list[tuple[Audit, AuditedAnnotator, Finding]]:
        """Return each finding once, as `Audit.by_strength` of all questions together."""
        rows = [(audit, *row) for audit in self.audits for row in audit.by_strength(clear=clear)]
        return sorted(rows, key=lambda row: (*finding_strength(row[2]), row[1].name))

    def failing(self, condition: str) -> list[Finding]:
        """Return the findings that ``--fail-on`` names; see `Audit.failing`."""
        return [flag for audit in self.audits for flag in audit.failing(condition)]

    def to_frame(self) -> pd.DataFrame:
        """Return one row per annotator and question; of one question, as its own audit."""
        import pandas as pd

        if len(self.audits) == 1:
            return self.audits[0].to_frame()
        frames = [audit.to_frame() for audit in self.audits]
        for audit, frame in zip(self.audits, frames, strict=True):
            frame.insert(0, "question", audit.question)
        return pd.concat(frames, ignore_index=True)
