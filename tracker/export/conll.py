"""The consensus on spans as CoNLL: a token a line with its tag in IOB2."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Connection

from tracker.core.errors import InvalidOption
from tracker.export.consensus_items import ConsensusItem, consensus_by_item
from tracker.export.documents import Document
from tracker.projects.question import QuestionInfo
from tracker.queries import AnswerFilter

_TOKEN = re.compile(r"\w+|[^\w\s]")


def conll_document(
    connection: Connection, question: QuestionInfo, method: str, choice: AnswerFilter
) -> Document:
    """Return the tokens of each item with the tags of the spans that most annotators marked.

    Of spans that overlap the one with more votes is kept. A span of characters is widened to the
    edges of its tokens. Raises InvalidOption for a question that is not of spans.
    """
    if question.answers != "spans":
        raise InvalidOption(f"{question.told}, has no spans", "write rows, or --for label-studio")
    document = Document("sentence")
    left_out = document.left_out
    items = consensus_by_item(connection, question, method, choice)
    in_tokens = question.offsets == "tokens"

    def sentences() -> Iterator[str]:
        for item in items:
            tokens = _tokens(item, in_tokens)
            if tokens is None:
                left_out["an item whose tokens are not known"] += 1
                continue
            spans = [row for row in item.rows if row["category"] is not None]
            tags = _tags(tokens, spans, left_out)
            lines = (f"{token}\t{tag}" for (token, _, _), tag in zip(tokens, tags, strict=True))
            yield "\n".join([f"# sent_id = {' '.join(item.name.split())}", *lines, "\n"])

    document.parts = document.counted(sentences())
    return document


Token = tuple[str, int, int]
"""Its text, and where it begins and ends."""


def _tokens(item: ConsensusItem, in_tokens: bool) -> list[Token] | None:
    """Return the tokens of an item, in the unit of its spans; None if they are not known."""
    if not in_tokens:
        found = _TOKEN.finditer(item.text or "")
        return [(one[0], one.start(), one.end()) for one in found] or None
    words = (item.text or "").split()
    length = item.known.get("n_tokens") or len(words)
    if not length:
        return None
    if len(words) != length:
        words = ["_"] * length
    return [(word, n, n + 1) for n, word in enumerate(words)]


def _tags(
    tokens: Sequence[Token], spans: list[dict[str, Any]], left_out: Counter[str]
) -> list[str]:
    tags = ["O"] * len(tokens)
    for span in sorted(spans, key=lambda one: (-one["confidence"], one["start"], -one["end"])):
        start, end, category = span["start"], span["end"], span["category"]
        inside = [n for n, (_, first, last) in enumerate(tokens) if first < end and last > start]
        if not inside:
            left_out["a span without a token"] += 1
        elif any(tags[n] != "O" for n in inside):
            left_out["a span that overlaps another"] += 1
        else:
            if tokens[inside[0]][1] != start or tokens[inside[-1]][2] != end:
                left_out["an edge of a span within a token: it was widened"] += 1
            tags[inside[0]] = f"B-{category}"
            for n in inside[1:]:
                tags[n] = f"I-{category}"
    return tags
