"""The sentences with which a page, a status or a gate begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tracker.render.messages.agreement import of_question
from tracker.render.messages.definitions import first_clause
from tracker.render.messages.findings import finding_in_short
from tracker.render.messages.report import capitalized, could_be_missed, plainly


def verdict_sentence(
    subject: str,
    names: Sequence[str],
    finding: Mapping[str, Any],
    explained: float | None = None,
    question: str | None = None,
) -> str:
    """Return what is wrong in a sentence, how much that explains, and what would mend it."""
    text = str(finding["why"])
    if subject == "pair":
        text = plainly(finding)
    elif subject == "category" and "more" in finding:
        text = first_clause(text)
    elif subject in {"annotator", "import"} and "details" in finding:
        text = finding_in_short(finding, names[0], explained)
    if question is not None:
        return of_question(question) + text
    return text if text.startswith(tuple(names)) else capitalized(text)


def nothing(annotators: int, gap: float | None) -> str:
    """Return that nothing stands out, and how large a thing could have been missed.

    Nothing if nobody can be compared with anybody.
    """
    if annotators < 2:
        return ""
    return (
        f"Nothing stands out: no period, slice of the items, definition or file, and none of "
        f"{annotators:,} annotators. {could_be_missed(gap)}"
    )
