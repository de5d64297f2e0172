"""Numbers as places in a drawing."""

from __future__ import annotations

from tracker.web.drawing import TREND_HEIGHT, WIDTH, across, are_steady, curve, scale_from


def test_a_scale_begins_at_nought_or_below_and_its_ends_lie_inside_the_drawing() -> None:
    for begin in (0.0, -0.5):
        assert 0 < across(begin, begin) < across(0.25, begin) < across(1.0, begin) < WIDTH
        assert across(begin - 1, begin) == across(begin, begin)
        assert across(2.0, begin) == across(1.0, begin)
    assert across(0.5) == WIDTH / 2
    assert scale_from([0.2, None]) == scale_from([]) == 0.0
    assert scale_from([0.2, -0.3, None]) == -0.3


def points(figures: list[tuple[float | None, float | None]]) -> list[list[tuple[float, float]]]:
    """The points of each line of a curve."""
    return [
        [(float(x), float(y)) for x, y in (point.split(",") for point in line.split())]
        for line in curve(figures)
    ]


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
