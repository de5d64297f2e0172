"""Numbers as places in a drawing."""

from __future__ import annotations

from tracker.web.drawing import TREND_HEIGHT, are_steady, curve


def points(figures: list[tuple[float | None, float | None]]) -> list[list[list[float]]]:
    """The points of each line of a curve."""
    return [[[*map(float, point.split(","))] for point in line.split()] for line in curve(figures)]


def test_a_gap_ends_a_line_and_noise_is_a_flat_one() -> None:
    first, second = points([(0.1, 0.02), (0.5, 0.02), (None, None), (0.9, 0.02)])
    assert [x for x, _ in first + second] == sorted(x for x, _ in first + second)
    heights = [y for _, y in first + second]
    assert heights == sorted(heights, reverse=True)
    assert all(0 < y < TREND_HEIGHT for y in heights)
    (other,) = points([(0.5, 0.02), (0.9, 0.02), (0.1, 0.02)])
    assert [y for _, y in other] == [*heights[1:], heights[0]]
    (beyond,) = points([(0.5, 0.02), (-0.9, 0.02), (0.5, 0.02)])
    assert beyond[1][1] < TREND_HEIGHT
    noise = [(0.4, 0.1), (0.6, 0.1), (0.5, 0.1)]
    assert are_steady(noise)
    assert {y for (line,) in [points(noise)] for _, y in line} == {TREND_HEIGHT / 2}
    assert not are_steady([(0.4, 0.01), (0.6, 0.01)])
    assert curve([(None, None)]) == curve([]) == []
    assert curve([(0.4, 0.01), (0.9, 0.01), (None, None)]) == [], "two points show no course"
