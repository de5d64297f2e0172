"""The words of a report's page itself, for every format."""

from __future__ import annotations

from typing import Final

WORDS: Final = {
    "skip": "Skip to the report",
    "contents": "On this page",
    "why": "Why these numbers",
    "why_this": "Why this",
    "rows": "The same as a table",
    "command": "Printed by",
    "nothing": "Nothing to do",
    "todo": "To do",
    "no_text": "This page has no text of the item.",
    "more": "more rows are not shown",
    "sideways": "a table that can be moved sideways",
    "chart_sideways": "a chart that can be moved sideways",
    "report": "Report",
    "opening": "Opens the ledger; the cells below count what stands before them again.",
    "state": "What this page shows",
}
