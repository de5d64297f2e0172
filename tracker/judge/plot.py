"""Models as judges in the order in which they are drawn and listed: versions one after another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tracker.judge.compare import VERSION, natural
from tracker.judge.words import main_measure, verdict_title


def in_order(judges: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the JSON of judges question by question: versions of a family in order, then names.

    The version and the family are attributes of the annotator; v2 comes before v10.
    """
    listed = list(judges)
    questions = {name: n for n, name in enumerate(dict.fromkeys(row["question"] for row in listed))}

    def place(judge: Mapping[str, Any]) -> tuple[Any, ...]:
        known = judge.get("attributes", {})
        version = known.get(VERSION)
        return (
            questions[judge["question"]], version is None, natural(known.get("family", "")),
            natural(version or ""), natural(judge["model"]),
        )  # fmt: skip

    return sorted(listed, key=place)


def judge_rows(judges: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return a row for each judge's JSON, in order, as `draw_judges` takes them."""
    return [_row(place, judge) for place, judge in enumerate(in_order(judges))]


def _row(place: int, judge: Mapping[str, Any]) -> dict[str, Any]:
    main, known = main_measure(judge), judge.get("attributes", {})
    own = main["model_with_humans"]
    return {
        "place": place, "question": judge["question"], "model": judge["model"],
        "family": known.get("family"), "version": known.get(VERSION),
        "measure": judge["measure"], "verdict": verdict_title(judge),
        "value": own["value"], "low": own["ci_low"], "high": own["ci_high"],
        "people": main["humans_with_humans"]["value"], "bar": judge["bar"],
        "items": judge["items"],
    }  # fmt: skip
