"""What annotators find beside a question on their own page, and what it asks for besides."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlalchemy import Connection

from tracker.core.errors import InvalidOption
from tracker.projects.names import check_entered_text
from tracker.projects.projects import record_change
from tracker.projects.questions import QuestionInfo, update_question

CONFIDENCE, COMMENT = "confidence", "comment"
ALSO = (CONFIDENCE, COMMENT)
"""What a question may ask for besides an answer."""


def set_own_page(
    connection: Connection,
    question: QuestionInfo,
    instructions: str | None,
    also_asks: str | None,
) -> QuestionInfo:
    """Set what annotators are told, and asked for besides; "" is nothing, None leaves it.

    Raises InvalidOption for a text that is none, and for what a page cannot ask for.
    """
    columns: dict[str, Any] = {}
    if instructions is not None:
        text = instructions.strip()
        columns["instructions"] = check_entered_text(text, "instructions") if text else None
    if also_asks is not None:
        words = also_asks.replace(",", " ").split()
        for word in words:
            if word not in ALSO:
                raise InvalidOption(f"--also-asks {word!r} is none of {', '.join(ALSO)}")
        columns["also_asks"] = " ".join(word for word in ALSO if word in words) or None
    changed = replace(question, **columns)
    if changed != question:
        # Without the text, which can be erased: the log is never changed.
        record_change(connection, question.project_id, "set own page", {"question": question.id})
        update_question(connection, question.key, columns)
    return changed
