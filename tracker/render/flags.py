"""Recorded findings in the terminal: the list, one flag's page, what was done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType

from tracker.audit.flag_list import FlagPage, RecordedFlag
from tracker.audit.flags import Recorded
from tracker.render.audit import finding_json_with_sentence
from tracker.render.cells import Text, count_cell, figure_cell, minute_cell
from tracker.render.filter import selection_in_words, selection_view
from tracker.render.nouns import count_noun
from tracker.render.tables import table

_STYLES = {"open": "bold red", "acknowledged": "yellow", "dismissed": "dim", "resolved": "green"}
# Told elsewhere on a flag's page.
_TOLD = {"kind", "category", "with", "state", "severity", "why", "selection"}


def recorded_flags_in_words(recorded: Recorded) -> str:
    """Return what became of an audit's findings: "2 new, 3 seen again, 1 no longer found"."""
    again = f"{recorded.again:,} seen again"
    if recorded.reopened:
        again += f" ({recorded.reopened:,} reopened)"
    return f"{recorded.new:,} new, {again}, {recorded.closed:,} no longer found"


def flag_as_json(flag: RecordedFlag) -> dict[str, Any]:
    """Return a recorded finding as JSON, with its sentence."""
    return {**flag.values, "why": _evidence(flag)["why"]}


def flag_page_as_json(page: FlagPage) -> dict[str, Any]:
    """Return a recorded finding as JSON, with its evidence and all that was seen and done."""
    evidence = _evidence(page.flag)
    return {
        **page.flag.values,
        "why": evidence["why"],
        "evidence": evidence,
        "changes": page.changes,
        "sightings": page.sightings,
    }


def _evidence(flag: RecordedFlag) -> Mapping[str, Any]:
    """Return the figures when it was last seen, with a sentence; an older row has its own."""
    if "why" in flag.evidence:
        return flag.evidence
    if flag.values["annotator"] is None:
        from tracker.render.messages.definitions import definitions_sentence

        return {**flag.evidence, "why": definitions_sentence(flag.evidence, flag.project)}
    return finding_json_with_sentence(flag.evidence, flag.values["annotator"], flag.values["with"])


def flags_view(rows: Sequence[Mapping[str, Any]]) -> Iterator[RenderableType]:
    """Yield one row per flag, with the question if the project asks several."""
    yield table(
        (
            "flag",
            "state ",
            *_question_title(rows),
            "about ",
            "kind ",
            "category ",
            "severity ",
            "observed",
            "seen",
            "last seen",
        ),
        [
            (
                str(row["flag"]),
                Text(_state(row), style=_STYLES[row["state"]]),
                *_question_cell(row),
                flag_subject_text(row),
                row["kind"],
                row["category"] or "",
                row["severity"],
                _course(row["first_observed"], row["last_observed"]),
                count_cell(row["times_seen"]),
                row["last_seen_at"][:10],
            )
            for row in rows
        ],
    )


def _question_title(rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    return ("question ",) if rows and "question" in rows[0] else ()


def _question_cell(row: Mapping[str, Any]) -> tuple[str, ...]:
    return (row["question"],) if "question" in row else ()


def _course(first: float | None, last: float | None) -> str:
    """Return how the figure went from the first sighting to the last: "0.900 → 0.720"."""
    went, goes = figure_cell(first), figure_cell(last)
    return goes if went == goes else f"{went} → {goes}"


def flag_subject_text(row: Mapping[str, Any]) -> str:
    """Return what a flag is about: the annotator or the pair, the slice of the items, or nobody."""
    if row["annotator"] is None:
        return row["subject"] or ""
    return row["annotator"] if row["with"] is None else f"{row['annotator']}, {row['with']}"


def flag_view(told: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Yield one flag's page: what, the figures when last seen, what was done, each sighting."""
    category = None if told["category"] is None else f'"{told["category"]}"'
    about = ", ".join(filter(None, (flag_subject_text(told), category))) or "the design"
    where = (told["project"], *_question_cell(told))
    yield Text.assemble(
        (f"flag {told['flag']}", "bold"),
        "  ",
        (_state(told), _STYLES[told["state"]]),
        f"  {told['severity']} {told['kind']} in {', '.join(where)}: {about}",
    )
    yield Text(told["why"] or "")
    yield from selection_view(told["evidence"]["selection"])
    figures = [row for row in _figures(told["evidence"]) if row[0] not in _TOLD]
    yield table(
        ("when last seen ", ""),
        [(name.replace("_", " "), _number(value)) for name, value in figures],
    )
    yield from flag_changes_view(told["changes"], alone=True)
    yield Text(f"Seen by {count_noun(told['times_seen'], 'recorded audit')}:")
    yield table(
        ("seen ", "severity ", "informative", "observed", "expected", "only answers "),
        [
            (
                minute_cell(seen["seen_at"]),
                seen["severity"],
                count_cell(seen["informative"]),
                figure_cell(seen["observed"]),
                figure_cell(seen["expected"]),
                "" if seen["selection"] is None else selection_in_words(seen["selection"]),
            )
            for seen in told["sightings"]
        ],
    )


def flag_changes_view(
    rows: Sequence[Mapping[str, Any]], *, alone: bool = False
) -> Iterator[RenderableType]:
    """Yield one row per change, the first made first; of one flag ``alone``, or of many."""
    about = () if alone else ("flag", *_question_title(rows), "about ", "kind ")
    yield table(
        ("at", *about, "what was done ", "by ", "informative", "note "),
        [
            (
                minute_cell(row["at"]),
                *(() if alone else _about(row)),
                row["action"],
                row["by"] or "",
                count_cell(row["informative"]),
                row["note"] or "",
            )
            for row in rows
        ],
    )


def _about(row: Mapping[str, Any]) -> tuple[str, ...]:
    return (str(row["flag"]), *_question_cell(row), flag_subject_text(row), row["kind"])


_OUTCOMES = {None: "appealed", "upheld": "appeal upheld", "rejected": "appeal rejected"}


def _state(row: Mapping[str, Any]) -> str:
    appeal = row["appeal"]
    word = None if appeal is None else _OUTCOMES.get(appeal["outcome"])
    return row["state"] if word is None else f"{row['state']}, {word}"


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
            words = [str(one) for one in value if not isinstance(one, Mapping)]
            if words:
                yield f"{under}{name}", ", ".join(words)
        elif value is not None:
            yield f"{under}{name}", value


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
