"""Each annotator's figures as JSON, from the evidence of an audit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection

from tracker import queries
from tracker.audit.annotator_figures import annotator_figures
from tracker.audit.evidence import Evidence
from tracker.core import clock
from tracker.queries import Selection


def figure_rows(
    connection: Connection,
    selection: Selection,
    evidence: Evidence,
    categories: Mapping[int, str],
    *,
    timed: bool,
) -> dict[int, dict[str, Any]]:
    """One row per annotator with an answer, by id.

    ``answers``; ``items_shared`` with others; ``agreement_with_peers`` with its interval and the
    peers' own, ``agreement_of_peers``; ``kappa_with_majority`` of the others; ``self_agreement``
    over ``repeats``; ``gold_accuracy`` over ``gold_answers``; ``median_seconds``; ``days_active``
    between ``first_answer`` and ``last_answer``; ``category_shares``, and ``peer_shares`` of the
    others on the same items. None where there is no such figure; days are looked up of answers
    that are ``timed``.
    """
    active = queries.days_active(connection, selection) if timed else {}
    rows = {}
    for annotator, figures in annotator_figures(evidence).items():
        days, first, last = active.get(annotator, (None, None, None))
        right, judged = _same((evidence.gold or {}).get(annotator, {}))
        again, repeats = _same((evidence.repeats or {}).get(annotator, {}))
        time = (evidence.times or {}).get(annotator)
        low, high = figures.agreement_interval or (None, None)
        rows[annotator] = {
            "answers": figures.answers,
            "items_shared": figures.items_shared,
            "agreement_with_peers": figures.agreement_with_peers,
            "agreement_low": low,
            "agreement_high": high,
            "agreement_of_peers": figures.agreement_of_peers,
            "kappa_with_majority": figures.kappa_with_majority,
            "self_agreement": again / repeats if repeats else None,
            "repeats": repeats,
            "gold_accuracy": right / judged if judged else None,
            "gold_answers": judged,
            "median_seconds": time.median if time else None,
            "days_active": days,
            "first_answer": None if first is None else clock.iso(first),
            "last_answer": None if last is None else clock.iso(last),
            "category_shares": _by_name(figures.category_shares, categories),
            "peer_shares": _by_name(figures.peer_shares, categories)
            if figures.items_shared
            else {},
        }
    return rows


def _same(counts: Mapping[Any, int]) -> tuple[int, int]:
    """How many of the times the first two parts of a key are the same, and all times."""
    same = sum(items for (one, other, _), items in counts.items() if one == other)
    return same, sum(counts.values())


def _by_name(shares: Mapping[int, float], categories: Mapping[int, str]) -> dict[str, float]:
    return {name: shares.get(category, 0.0) for category, name in categories.items()}
