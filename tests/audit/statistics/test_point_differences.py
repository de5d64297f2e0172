"""Answers beside those of the others to the same items: Bland and Altman (1986)."""

from __future__ import annotations

from statistics import mean, stdev

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.profiles import both
from tracker.audit.statistics.point_differences import point_differences
from tracker.core.tallies import AnnotatorTallies
from tracker.core.tally_columns import tally_columns_of
from tracker.ledger import Ledger

ITEMS = st.lists(st.dictionaries(st.integers(1, 4), st.integers(1, 5), max_size=4), max_size=12)


@given(ITEMS)
def test_it_is_the_mean_over_items_of_answer_less_the_others_mean(
    items: list[dict[int, int]],
) -> None:
    points = {1: 1.0, 2: 2.0, 3: 3.5, 4: 4.0, 5: -7.0}
    plain: dict[int, list[float]] = {}
    counts: dict[int, dict[tuple[tuple[int, ...], tuple[tuple[tuple[int, ...], int], ...]], int]]
    counts = {}
    for item in items:
        values = list(item.values())
        pattern = tuple(((value,), values.count(value)) for value in sorted({*values}))
        for annotator, value in item.items():
            of_annotator = counts.setdefault(annotator, {})
            of_annotator[(value,), pattern] = of_annotator.get(((value,), pattern), 0) + 1
            others = [points[other] for who, other in item.items() if who != annotator]
            if others:
                plain.setdefault(annotator, []).append(points[value] - mean(others))
    shared = tally_columns_of(AnnotatorTallies(counts)).shared
    differences = point_differences(shared, points)
    assert {*differences} == {*plain}
    for annotator, expected in plain.items():
        assert differences[annotator].mean == pytest.approx(mean(expected))
        spread = stdev(expected) if len(expected) > 1 else None
        assert differences[annotator].spread == (
            None if spread is None else pytest.approx(spread, abs=1e-6)
        )


@both
def test_who_answers_higher_is_told_on_a_scale_of_numbers_alone(ledger: Ledger) -> None:
    rows = [
        (f"i{n}", who, n % 5 + (who == "high")) for n in range(20) for who in ("a", "b", "high")
    ]
    frame = pd.DataFrame(rows, columns=["item", "annotator", "category"])
    ledger.import_frame(frame.astype({"category": str}), "p")

    def figures() -> dict[str, tuple[float | None, float | None]]:
        rows = ledger.audit("p").to_dict()["annotators"]
        return {row["annotator"]: (row["mean_difference"], row["spread_of_difference"])
                for row in rows}  # fmt: skip

    assert figures()["high"] == (None, None)
    ledger.projects.set("p", scale="interval")
    for name, difference in (("a", -0.5), ("b", -0.5), ("high", 1.0)):
        assert figures()[name] == pytest.approx((difference, 0.0))
    rows = ledger.by_annotator("p")
    assert [row["mean_difference"] for row in rows] == pytest.approx([-0.5, -0.5, 1.0])
