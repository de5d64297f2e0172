"""A gate in the terminal: how many checks hold, a row each, and why others do not."""

from __future__ import annotations

import io
from collections.abc import Iterator

from rich.console import Console, RenderableType

from tracker.gate import CheckResult, GateResult
from tracker.render.cells import Text, count, figure, table, width_for
from tracker.render.filter import selection_line

_WIDTH = 140  # of a text in a file

_OUTCOMES = {True: "pass", False: "FAIL", None: "cannot tell"}
_STYLES = {True: "green", False: "bold red", None: "yellow"}


def outcome(check: CheckResult) -> str:
    """What became of a check: pass, FAIL or cannot tell."""
    return _OUTCOMES[check.passed]


def summed(found: GateResult) -> str:
    """All checks in a line: "3 of 5 checks pass, 1 fails, 1 cannot be told"."""
    total, failed, unknown = len(found.checks), len(found.failed), len(found.unknown)
    parts = [f"{total - failed - unknown:,} of {total:,} checks pass"]
    parts += [f"{failed:,} fail{'s' if failed == 1 else ''}"] if failed else []
    parts += [f"{unknown:,} cannot be told"] if unknown else []
    return ", ".join(parts)


def gate_view(found: GateResult) -> Iterator[RenderableType]:
    """The parts of the page, in order."""
    yield Text.assemble((found.project, "bold"), f"  {summed(found)}")
    yield from selection_line(found.selection)
    yield table(
        ("", "check ", "threshold", "value"),
        [
            (
                Text(outcome(check), style=_STYLES[check.passed]),
                check.check,
                _number(check, check.threshold),
                _number(check, check.value),
            )
            for check in found.checks
        ],
        left=2,
    )
    for check in (*found.failed, *found.unknown):
        yield Text.assemble(
            (f"{outcome(check):<13}", _STYLES[check.passed]),
            (f"{check.check}  ", "bold"),
            check.why,
        )


def _number(check: CheckResult, value: float | None) -> str:
    if check.kind in {"flags", "items_at_least"}:
        return count(None if value is None else round(value))
    return figure(value)


def gate_text(found: GateResult) -> str:
    """The page as plain text, for a file."""
    file = io.StringIO()
    console = Console(file=file, width=_WIDTH, color_system=None, highlight=False)
    for part in gate_view(found):
        console.width = width_for(part, _WIDTH)
        console.print(part, crop=False)
    return "\n".join(line.rstrip() for line in file.getvalue().split("\n"))
