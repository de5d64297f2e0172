"""The audit in the terminal: findings as sentences, then every annotator's figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from rich.console import RenderableType

from tracker.agreement.readiness import TITLES
from tracker.audit.columns import (
    EVIDENCE,
    FLAG_ACTS_OF_ONE,
    PEOPLE_OF_SEVERAL,
    SIGHTINGS,
    SLICES,
    finding_kinds,
    flag_state_text,
    flag_state_tone,
    flag_subject_text,
    people_columns,
)
from tracker.audit.flags import Recorded
from tracker.audit.sentences import MOST, finding_json_with_sentence, lacking_evidence_sentence
from tracker.render.blocks import STYLES, listing_table
from tracker.render.cells import Text, count_cell, share_cell
from tracker.render.filter import selection_view, selections_view
from tracker.render.nouns import count_noun

if TYPE_CHECKING:
    from tracker.audit.kind import Finding
    from tracker.audit.result import Audit, AuditByQuestion, AuditedAnnotator
    from tracker.audit.verdict import VerdictJson


_MOST_ROWS = 60  # annotators that a person reads through

_LOST = (
    "Annotators whose answers stand out, confirmed or not, gave {share} of the answers. The "
    "answers alone cannot say who is right: a few experts stand out as careless annotators do. "
    "Give the truth for 30% of the items, or settle these findings or exclude annotators "
    "(--exclude-annotator), then audit again."
)

_STYLES = {"flagged": "bold red", "insufficient": "yellow", "clear": "green", "remark": "cyan"}


def audit_as_json(audit: Audit, *, clear: bool = False) -> dict[str, Any]:
    """Return the JSON of an audit; ``clear`` findings only on request."""
    from tracker.audit.result import MOST_LOST

    return {
        "project": audit.project,
        "selection": None if audit.selection is None else dict(audit.selection),
        "annotators": [
            {"annotator": annotator.name, **annotator.figures}
            | {
                "flags": [
                    finding_as_json(audit, annotator, flag)
                    for flag in annotator.flags
                    if clear or flag.state != "clear"
                ]
            }
            for annotator in audit.annotators
        ],
        "yardstick": {
            "share_flagged": audit.lost,
            "share_standing_out": audit.standing_out,
            "lost": audit.standing_out > MOST_LOST,
        },
        "detectable_gap": audit.detectable_gap,
        "definitions": audit.definition_values(),
        "design": audit.design_values(),
        "models_left_out": list(audit.models_left_out),
        "not_applicable": [
            {"kind": kind, "why": lacking_evidence_sentence(need)}
            for kind, need in audit.not_applicable.items()
        ],
    }


def finding_as_json(audit: Audit, annotator: AuditedAnnotator, flag: Finding) -> dict[str, Any]:
    """Return one finding as JSON, as it is reported of one annotator."""
    other = None if flag.other is None else audit.names[flag.other]
    values = audit.finding_values(annotator, flag) | {"settled": flag.key in audit.settled}
    return finding_json_with_sentence(values, audit.names[flag.annotator], other)


def audit_view(
    audit: Audit, *, clear: bool = False, limit: int | None = None
) -> Iterator[RenderableType]:
    """Yield the parts of the page of one question, as `audit_by_question_view`."""
    from tracker.audit.result import AuditByQuestion

    of_one = AuditByQuestion(audit.project, (audit,))
    yield from audit_by_question_view(of_one, clear=clear, limit=limit)


def audit_by_question_view(
    audit_by_question: AuditByQuestion, *, clear: bool = False, limit: int | None = None
) -> Iterator[RenderableType]:
    """Yield the parts of the page: the strongest findings first, at most ``limit`` of them.

    Findings that are clear are shown only on request.
    """
    from tracker.audit.result import MOST_LOST

    audits = audit_by_question.audits
    several = len(audits) > 1
    names = {annotator.name for audit in audits for annotator in audit.annotators}
    flagged = len({annotator.name for _, annotator, _ in audit_by_question.flagged()})
    yield Text.assemble(
        (audit_by_question.project, "bold"),
        f"  {count_cell(flagged)} of {count_noun(len(names), 'annotator')} "
        f"{'has' if flagged == 1 else 'have'} at least one flagged finding"
        + (f" in {count_noun(len(audits), 'question')}" if several else ""),
    )
    yield from selections_view({audit.question: audit.selection for audit in audits})
    # Of a text the same is said of every question.
    design = {str(row): row for audit in audits for row in audit.design_values()}
    yield from design_view([*design.values()])
    for audit in audits:
        yield from definitions_view(audit.definition_values(), audit.question if several else None)
    findings = audit_by_question.by_strength(clear=clear)
    for audit, annotator, flag in findings[:limit]:
        values = finding_as_json(audit, annotator, flag)
        yield from finding_lines(annotator.name, values, audit.question if several else None)
    if limit is not None and len(findings) > limit:
        yield Text(f"{count_noun(len(findings) - limit, 'more finding')}: --limit 0", style="dim")
    for audit in audits:
        if audit.standing_out > MOST_LOST:
            lost = _LOST.format(share=share_cell(audit.standing_out))
            yield Text(f"{audit.question}: {lost}" if several else lost, style="yellow")
    models = sorted({name for audit in audits for name in audit.models_left_out})
    yield from _models_left_out(audit_by_question.project, models, alone=not names)
    yield from _not_looked_for(audit_by_question)
    rows = [
        {**({"question": audit.question} if several else {}), **row}
        for audit in audits
        for row in audit.to_dict(clear=clear)["annotators"]
    ]
    if several:
        rows.sort(key=lambda row: (not finding_kinds(row), row["annotator"]))
    if len(rows) > _MOST_ROWS:
        if not several:  # with a finding, then by agreement with the others
            rows.sort(key=lambda row: (not finding_kinds(row), row["agreement_with_peers"] or 0))
        yield Text(f"The {_MOST_ROWS} to look at first; for all of them: --json")
    yield listing_table(PEOPLE_OF_SEVERAL if several else people_columns(rows), rows[:_MOST_ROWS])


def design_view(design: Sequence[Mapping[str, Any]]) -> Iterator[RenderableType]:
    """Yield what is wrong with who was given what; it stands above all else."""
    for finding in design:
        yield Text.assemble(
            (f"{'design':<13}", _STYLES["insufficient"]),
            (f"{finding['kind']}  ", "bold"),
            finding["why"],
        )


def definitions_view(
    definitions: Sequence[Mapping[str, Any]], question: str | None = None
) -> Iterator[RenderableType]:
    """Yield what is wrong with definitions or some of the items; it stands above people."""
    of = "" if question is None else f"{question}: "
    for definition in definitions:
        yield Text.assemble(
            (f"{definition['state']:<13}", _STYLES[definition["state"]]),
            (f"{definition['kind']}  ", "bold"),
            f"{of}{definition['why']}",
        )
        if definition.get("evidence"):
            yield Text(f"  items that show it: {', '.join(definition['evidence'])}", style="dim")


def _models_left_out(
    project: str, models: Sequence[str], *, alone: bool
) -> Iterator[RenderableType]:
    if models:
        from tracker.agreement.sentences import models_left_out_sentence

        yield Text(models_left_out_sentence(models, project, alone=alone), style="yellow")


def _not_looked_for(audit_by_question: AuditByQuestion) -> Iterator[RenderableType]:
    """Yield what was not looked for, the questions that lack the same together."""
    by_lack: dict[str, list[str]] = {}
    for audit in audit_by_question.audits:
        if audit.not_applicable:
            by_lack.setdefault(_lacking(audit.not_applicable), []).append(audit.question)
    for lacking, names in by_lack.items():
        of = "" if len(names) == len(audit_by_question.audits) else f"{', '.join(names)}: "
        yield Text(f"{of}not looked for: {lacking}", style="dim")


def finding_lines(
    annotator: str, flag: Mapping[str, Any], question: str | None = None
) -> Iterator[RenderableType]:
    """Yield one finding: its state and sentence, and the items that show it, if given.

    If the project asks several questions, ``question`` is the finding's.
    """
    about = (annotator, flag["category"], flag["with"])
    sentence = flag["why"] or ", ".join(name for name in about if name is not None)
    remark = flag["severity"] == "remark"
    state = "remark" if remark else flag["state"]
    severity = f", {flag['severity']}" if flag["severity"] and not remark else ""
    yield Text.assemble(
        (f"{state:<13}", _STYLES[state]),
        (f"{flag['kind']}{severity}  ", "bold"),
        "" if question is None else f"{question}: ",
        Text(str(sentence)),
    )
    for row in flag.get("evidence", ()):
        yield Text(f"  {finding_item_line(row)}", style="dim")


def finding_item_line(row: Mapping[str, Any]) -> str:
    """Return an item that shows a finding: the own answer or time, and the others' if told."""
    if "seconds" in row:
        others = f", the others {row['others_seconds']:.3g} s" if "others_seconds" in row else ""
        return f"{row['item']}: {row['seconds']:.3g} s{others}"
    line = f"{row['item']}: {row['answer'] or 'none'}"
    if "again" in row:
        return f"{line}, then {row['again'] or 'none'}"
    if row.get("confidence") is not None:
        line += f" (confidence {row['confidence']:.2g})"
    counts = ", ".join(f"{n} {answer or 'none'}" for answer, n in row.get("others", {}).items())
    line += f", the others {counts}" if counts else ""
    return f'{line}; comment: "{row["comment"]}"' if row.get("comment") else line


def _lacking(not_applicable: Mapping[str, str]) -> str:
    """Return the kinds, those that lack the same together."""
    by_reason: dict[str, list[str]] = {}
    for kind, need in not_applicable.items():
        by_reason.setdefault(lacking_evidence_sentence(need), []).append(kind)
    return "; ".join(f"{', '.join(kinds)} ({reason})" for reason, kinds in by_reason.items())


# -- Recorded findings in the terminal: the list, one flag's page, what was done ------------------


# Told elsewhere on a flag's page.
_TOLD = {"kind", "category", "with", "state", "severity", "why", "selection"}


def recorded_flags_in_words(recorded: Recorded) -> str:
    """Return what became of an audit's findings: "2 new, 3 seen again, 1 no longer found"."""
    again = f"{recorded.again:,} seen again"
    if recorded.reopened:
        again += f" ({recorded.reopened:,} reopened)"
    return f"{recorded.new:,} new, {again}, {recorded.closed:,} no longer found"


def flag_view(payload: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Yield one flag's page: what, the figures when last seen, what was done, each sighting."""
    category = None if payload["category"] is None else f'"{payload["category"]}"'
    about = ", ".join(filter(None, (flag_subject_text(payload), category))) or "the design"
    where = (payload["project"], *([payload["question"]] if "question" in payload else []))
    yield Text.assemble(
        (f"flag {payload['flag']}", "bold"),
        "  ",
        (flag_state_text(payload), STYLES[flag_state_tone(payload)]),
        f"  {payload['severity']} {payload['kind']} in {', '.join(where)}: {about}",
    )
    yield Text(payload["why"] or "")
    yield from selection_view(payload["evidence"]["selection"])
    figures = [
        {
            "figure": name.replace("_", " "),
            "value": f"{value:.4g}" if isinstance(value, float) else str(value),
        }
        for name, value in _figures(payload["evidence"])
        if name not in _TOLD
    ]
    yield listing_table(EVIDENCE, figures)
    yield listing_table(FLAG_ACTS_OF_ONE, payload["changes"])
    yield Text(f"Seen by {count_noun(payload['times_seen'], 'recorded audit')}:")
    yield listing_table(SIGHTINGS, payload["sightings"])


def flag_standing_in_words(row: Mapping[str, Any]) -> str:
    """Return a flag's state, and what became of its appeal, each with who did it, in their order.

    Such as "acknowledged by mia; appealed by ada".
    """
    settled: str = row["state"]
    appeal = row["appeal"]
    if row["state_by"] is not None:
        settled += f" by {row['state_by']}"
    if appeal is None:
        return settled
    objected = f"appealed by {appeal['by']}"
    if appeal["outcome"] == "upheld":
        return f"{objected}; upheld, and so {settled}"
    if appeal["outcome"] == "rejected":
        objected += f", rejected by {appeal['answered_by']}"
    order = [settled, objected] if row["state_at"] < appeal["at"] else [objected, settled]
    return "; ".join(order)


def _figures(evidence: Mapping[str, Any], under: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the figures of the evidence that are known, those of a part under its name."""
    for name, value in evidence.items():
        if isinstance(value, Mapping):
            if name != "selection":
                yield from _figures(value, f"{under}{name} ")
        elif isinstance(value, list):
            words = [str(element) for element in value if not isinstance(element, Mapping)]
            if words:
                yield f"{under}{name}", ", ".join(words)
        elif value is not None:
            yield f"{under}{name}", value


_MOST_SLICES: Final = 60


def slices_view(project: str, rows: Sequence[Mapping[str, Any]]) -> Iterator[RenderableType]:
    """Yield a row per slice, and how to see one of them by itself."""
    weak = sum(row["weak"] for row in rows)
    yield Text.assemble(
        (project, "bold"),
        f"  {count_cell(weak)} of {count_cell(len(rows))} slices of the items are surely worse "
        "than the rest",
    )
    if not rows:
        yield Text("Keep attributes of the items to search them: tracker import FILE --keep COLUMN")
        return
    yield listing_table(SLICES, rows[:_MOST_SLICES])
    yield Text("explains: the share of all disagreement that the slice adds", style="dim")


_READINESS_STYLES: Final = {
    "not_yet": "bold red", "tentative": "bold yellow", "good_enough": "bold green",
}  # fmt: skip


def verdict_view(verdict: VerdictJson, nothing: str = "") -> Iterator[RenderableType]:
    """Yield a line a concern, with its command, and whether the labels can be trusted.

    Without any concern, ``nothing``.
    """
    concerns, weakest = verdict["verdict"], verdict["readiness"]
    if not concerns and nothing:
        yield Text(nothing, style="green")
    for concern in concerns[:MOST]:
        yield Text.assemble((concern["why"], "yellow"), (f"  {concern['command']}", "dim"))
    if len(concerns) > MOST:
        yield Text(f"{len(concerns) - MOST:,} more are in the report and the audit.", style="dim")
    if weakest is not None and weakest["state"] is not None:
        style = _READINESS_STYLES[weakest["state"]]
        yield Text.assemble((f"{TITLES[weakest['state']]}. ", style), weakest["why"])
