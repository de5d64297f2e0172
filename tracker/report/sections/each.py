"""What several sections share: the same of each question, the first of them open."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tracker.report.document import Block, Group
from tracker.report.gather import Gathered, OfQuestion


def each_question(
    found: Gathered, of: Callable[[Gathered, OfQuestion], Iterator[Block]]
) -> list[Block]:
    """Return the parts of the only question, or a group for each, the weakest open."""
    if not found.several:
        return [*of(found, found.questions[0])]
    return [
        Group(one.name, [*of(found, one)], place > 0) for place, one in enumerate(found.questions)
    ]
