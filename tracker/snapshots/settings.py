"""The settings of a snapshot's figures, with numbers in place of names, which may change."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tracker.agreement import Metric, Query
from tracker.measures.confidence_bounds import INTERVALS
from tracker.projects.project import ProjectInfo
from tracker.queries import Selection


def settings_text(query: Query, selection: Selection) -> str:
    """Return the settings as canonical JSON: equal for equal queries of the same answers.

    The moment is not among them: snapshots of several moments are points of one curve.
    """
    metric = query.metric
    return _canonical(
        {
            "scale": metric.scale,
            "weights": metric.weights,
            "distance": metric.distance,
            "confidence": query.confidence,
            "interval": query.interval,
            "left_out": sorted(selection.left_out),
            "only": None if selection.only is None else sorted(selection.only),
            "since": selection.since,
            "until": selection.until,
            "where": selection.where,
        }
    )


def _canonical(settings: Mapping[str, Any]) -> str:
    return json.dumps(settings, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def alike(settings: str) -> list[str]:
    """Return the settings that give the same values, whatever the method of their intervals.

    Those of one curve; the first text is the same for all of them.
    """
    values = json.loads(settings)
    values.pop("interval", None)  # as snapshots had none when there was but one way
    return [_canonical(values), *(_canonical(values | {"interval": name}) for name in INTERVALS)]


def recorded_query(settings: str) -> Query:
    """Return the query of recorded settings; their selection says which answers are counted."""
    values = json.loads(settings)
    return Query(
        confidence=values["confidence"],
        metric=Metric(values["weights"], values["scale"], values["distance"]),
        interval=interval_of(values),
    )


def interval_of(settings: Mapping[str, Any]) -> str:
    """Return how the intervals of a snapshot of these settings are made."""
    name: str = settings.get("interval", "t")
    return name


def selection_of(project: ProjectInfo, settings: str) -> Selection:
    """Return the answers that settings are about."""
    told = json.loads(settings)
    return Selection(
        project,
        left_out=frozenset(told["left_out"]),
        only=None if told["only"] is None else frozenset(told["only"]),
        since=told["since"],
        until=told["until"],
        where=tuple((name, tuple(values)) for name, values in told["where"]),
    )


def is_usual(settings: str) -> bool:
    """Return whether nothing was asked but the figures.

    As they are read by themselves, of everybody.
    """
    values = json.loads(settings)
    chosen = (values["only"], values["since"], values["until"]) != (None, None, None) or values[
        "where"
    ]
    return not chosen and replace(recorded_query(settings), interval=Query.interval) == Query()


def chosen_by_attributes(settings: str) -> bool:
    """Return whether items were chosen by their attributes, of which no past state is kept."""
    return bool(json.loads(settings)["where"])


def touches_items_alone(settings: str) -> bool:
    """Return whether an item's part in the figures changes only with the answers to it.

    Times that limit what counts and attributes of items change by themselves; those are known
    only as they are now.
    """
    values: Mapping[str, Any] = json.loads(settings)
    return not values["where"] and values["since"] is None and values["until"] is None
