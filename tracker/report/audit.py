"""The audit in the terminal: findings as sentences, then every annotator's figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from tracker.auditing import Audit
from tracker.report.cells import count, figure, share, table
from tracker.report.selection import selection_line

__all__ = ["audit_view", "show_annotators"]

_MOST_SHARES = 6  # categories that have a column
_MOST_ROWS = 60  # annotators that a person reads through

_STYLES = {"flagged": "bold red", "insufficient": "yellow", "clear": "green"}


def audit_view(found: Audit, *, clear: bool = False) -> Iterator[RenderableType]:
    """The parts of the page, in order; findings that are clear only on request."""
    flagged = len({annotator.name for annotator, _ in found.flagged()})
    total = len(found.annotators)
    yield Text.assemble(
        (found.project, "bold"),
        f"  {count(total)} annotators, {count(flagged)} with a finding that stands up",
    )
    yield from selection_line(found.selection)
    for annotator in found.annotators:
        for flag in annotator.flags:
            if flag.state != "clear" or clear:
                told = flag.to_dict(annotator.name, found.category_name(flag))
                sentence = told["why"] or f"{annotator.name}: {flag.kind} {told['category'] or ''}"
                yield Text.assemble((f"{flag.state:<13}", _STYLES[flag.state]), Text(str(sentence)))
    kinds = {
        annotator.name: ", ".join(f.kind for f in annotator.flags if f.state == "flagged")
        for annotator in found.annotators
    }
    rows = [annotator.to_dict(found.categories) for annotator in found.annotators]
    if len(rows) > _MOST_ROWS:
        # Those to look at first: with a finding, then by agreement with the others.
        rows.sort(key=lambda row: (not kinds[row["annotator"]], row["agreement_with_peers"] or 0))
        yield Text(f"The {_MOST_ROWS} to look at first; for all of them: --json")
    yield show_annotators(rows[:_MOST_ROWS], kinds)


def show_annotators(
    annotators: Sequence[Mapping[str, Any]], kinds: Mapping[str, str] | None = None
) -> RenderableType:
    """One row per annotator, with the kinds of findings where they are given."""
    names = list(annotators[0]["category_shares"])[:_MOST_SHARES] if annotators else []
    repeated = any(row["self_agreement"] is not None for row in annotators)
    rows = [
        (
            row["annotator"],
            count(row["answers"]),
            count(row["items_shared"]),
            figure(row["agreement_with_peers"]),
            *((figure(row["self_agreement"]),) if repeated else ()),
            figure(row["gold_accuracy"]),
            *(share(row["category_shares"][name]) for name in names),
            *(() if kinds is None else (kinds.get(row["annotator"], ""),)),
        )
        for row in annotators
    ]
    columns = (
        *("annotator", "answers", "shared items", "agrees with peers"),
        *(("agrees with self",) if repeated else ()),
        "right on gold",
    )
    return table((*columns, *names, *(() if kinds is None else ("flags ",))), rows)


def annotator_view(told: Mapping[str, Any]) -> Iterator[RenderableType]:
    """One annotator's page: who, the figures, the findings."""
    yield Text.assemble((told["annotator"], "bold"), f"  {told['kind']} in {told['project']}")
    if told["aliases"]:
        yield Text(f"also known as {', '.join(told['aliases'])}")
    if "answers" not in told:
        yield Text("No answer of theirs enters the figures.")
        return
    yield show_annotators([told])
    for flag in told["flags"]:
        yield Text.assemble((f"{flag['state']:<13}", _STYLES[flag["state"]]), str(flag["why"]))
    if not told["flags"]:
        yield Text("No finding.", style="green")
