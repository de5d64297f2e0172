"""One row per item: its votes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection

from tracker import queries
from tracker.projects.categories import category_names
from tracker.projects.items import item_names
from tracker.projects.project import ProjectInfo
from tracker.queries import EVERYTHING, AnswerFilter, Selection
from tracker.storage.schema import NONE_APPLIES


def by_item(
    connection: Connection, project: ProjectInfo, *, choice: AnswerFilter = EVERYTHING
) -> Iterator[dict[str, Any]]:
    """The votes on each item, as JSON; one dictionary per item that has an answer.

    ``entropy`` is of the votes' shares, in bits; ``vote_score``, in a project of two
    categories, the share of the second; ``gold`` the reference annotator's category.
    """
    selection = queries.select_answers(connection, project, choice)
    categories = category_names(connection, project)
    items = item_names(connection, project)
    truths = _truths(connection, selection, categories)
    rows = queries.votes(connection, selection)
    for item, group in groupby(rows, key=itemgetter(0)):
        votes = {category: number for _, category, number in group if category != NONE_APPLIES}
        total = sum(votes.values())
        yield {
            "item": items[item],
            "votes": {name: votes[c] for c, name in categories.items() if c in votes},
            "vote_score": _vote_score(votes, list(categories)),
            "entropy": _entropy(list(votes.values()), total),
            "gold": truths.get(item),
        }


def _truths(
    connection: Connection, selection: Selection, categories: Mapping[int, str]
) -> dict[int, str]:
    if not selection.references:
        return {}
    truths = Selection(selection.project, only=selection.references, where=selection.where)
    rows = queries.votes(connection, truths)
    found: dict[int, list[str]] = {}
    for item, category, _ in rows:
        if category in categories:
            found.setdefault(item, []).append(categories[category])
    return {item: "|".join(names) for item, names in found.items()}


def _vote_score(votes: Mapping[int, int], categories: Sequence[int]) -> float | None:
    total = sum(votes.values())
    if len(categories) != 2 or not total:
        return None
    return votes.get(categories[1], 0) / total


def _entropy(votes: Sequence[int], total: int) -> float | None:
    if not total:
        return None
    return abs(sum(-vote / total * math.log2(vote / total) for vote in votes))
