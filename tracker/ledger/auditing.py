"""Audits as every face shows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from math import inf
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, Unpack

from tracker.audit.looking import Testing
from tracker.core.operations import Option, operation
from tracker.core.results import Answer
from tracker.counts.choosing import Answers
from tracker.ledger.namespace import Namespace
from tracker.ledger.parameters import Project

if TYPE_CHECKING:
    from tracker.audit.flags import Recorded
    from tracker.audit.result import AuditByQuestion
    from tracker.ledger import Ledger

_of_command = partial(Option, faces=frozenset({"command"}))
Everything = Annotated[
    bool, Option("Also show the tests that found nothing.", name="all", in_query=True)
]


class Reporting(TypedDict, total=False):
    """What is shown of an audit, and what is done with it."""

    limit: Annotated[
        int,
        _of_command("Findings to show as text; 0 for all.", 10, metavar="N", least=0, most=inf),
    ]
    config: Annotated[
        str | None,
        _of_command(
            "Smallest effects worth a flag: the table [audit] of a TOML file.", metavar="FILE"
        ),
    ]
    record: Annotated[bool, _of_command("Record the flagged findings.", False)]
    fail_on: Annotated[
        str | None,
        _of_command("Exit with 1 if there is such a finding.", metavar="flagged[:KIND]"),
    ]
    pseudonyms: Annotated[
        bool,
        Option(
            "Replace names with pseudonyms that are stable in this database "
            "and meaningless elsewhere.",
            False, in_query=True,
        ),
    ]  # fmt: skip
    suppress_below: Annotated[
        int | None,
        Option("Leave out figures based on fewer than N answers.", metavar="N", in_query=True),
    ]


class Auditing(Testing, Reporting, Answers, total=False):
    """All that can be asked of an audit, of one question or several."""


class AuditFindings(Namespace):
    """What audits find about annotators."""

    _ledger: Ledger

    @operation("audit", "GET /projects/{project}/audit", "getAudit")
    def audit(
        self, project: Project, *, everything: Everything = False, **asked: Unpack[Auditing]
    ) -> Annotated[Answer, AuditByQuestion]:
        """Test each annotator against the co-annotators of the same items.

        A finding is flagged if it is significant among all tests of the audit and large enough, and
        if a consensus model of all answers agrees. The strongest are shown first. What a finding
        means, and what it does not mean, is in docs/audit.md. If the project asks several
        questions, the false discovery rate holds over the tests of all of them.

        Examples:
        - `tracker audit reviews`
        - `tracker audit reviews --evidence 5`
        - `tracker audit reviews --record --fail-on flagged`
        - `tracker audit reviews --kind copying --since 7d`
        - `tracker audit rubric --question tone --question clarity`

        Next: `tracker flags list reviews`
        """
        from tracker.audit.tables import audit_by_question_view
        from tracker.render.nouns import count_noun

        ledger, looking, recorded = self._ledger, dict[str, Any](asked), None
        reporting = {name: looking.pop(name, None) for name in Reporting.__annotations__}
        looking["config"], fail_on = reporting["config"], reporting["fail_on"]
        if reporting["record"]:
            audit, recorded = ledger.record_audit_by_question(project, **looking)
        else:
            audit = ledger.audit_by_question(project, **looking)
        fails = audit.failing(fail_on) if fail_on is not None else []
        private = {name: reporting[name] for name in ("pseudonyms", "suppress_below")}
        pages = tuple(ledger.anonymized(page, **private) for page in audit.audits)
        shown = replace(audit, audits=pages)
        payload = partial(shown.to_dict, clear=everything)
        failure = None
        if fails:
            verb = "fails" if len(fails) == 1 else "fail"
            failure = f"{count_noun(len(fails), 'finding')} {verb} {fail_on}"
        return Answer(
            payload,
            lambda: audit_rows(payload()),
            lambda: audit_by_question_view(
                shown, clear=everything, limit=reporting["limit"] or None
            ),
            hints=_hints(shown, project, recorded, everything=everything),
            failure=failure,
        )

    @operation(None, "POST /projects/{project}/audit", "recordAudit")
    def record(
        self, project: Project, *, everything: Everything = False, **asked: Unpack[Auditing]
    ) -> Annotated[Answer, AuditByQuestion]:
        """Make the tests, and record what is flagged; `tracker audit PROJECT --record`."""
        asked["record"] = True
        return self.audit(project, everything=everything, **asked)


def audit_rows(payload: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return one row per finding about an annotator, without what has no place in a table."""
    nested = {"refit", "consensus", "details", "evidence"}
    return [
        ({"question": page["question"]} if "question" in page else {})
        | {"annotator": annotator["annotator"]}
        | {key: value for key, value in flag.items() if key not in nested}
        | {"also": " ".join(flag["also"])}
        for page in payload.get("questions", [payload])
        for annotator in page["annotators"]
        for flag in annotator["flags"]
    ]


def _hints(
    shown: AuditByQuestion, project: str, recorded: Recorded | None, *, everything: bool
) -> list[str]:
    from tracker.audit.tables import recorded_flags_in_words

    if recorded is not None:
        words = recorded_flags_in_words(recorded)
        return [f"recorded: {words}; see: tracker flags list {quote(project)}"]
    if shown.flagged():
        return [
            f"to see one: tracker annotator show NAME -p {quote(project)}; "
            f"to keep them: tracker audit {quote(project)} --record"
        ]
    if everything:
        return []
    return [f"nothing is flagged; to see every test: tracker audit {quote(project)} --all"]
