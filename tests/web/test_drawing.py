"""Numbers as places in a drawing."""

from __future__ import annotations

from tracker.web.drawing import HEIGHT, WIDTH, across, curve, scale_from


def test_the_ends_of_a_scale_lie_inside_the_drawing() -> None:
    for begin in (0.0, -0.5):
        assert 0 < across(begin, begin) < across(0.25, begin) < across(1.0, begin) < WIDTH
        assert across(begin - 1, begin) == across(begin, begin)
        assert across(2.0, begin) == across(1.0, begin)
    assert across(0.5) == WIDTH / 2


def test_a_scale_begins_at_nought_or_below_what_it_shows() -> None:
    assert scale_from([0.2, None]) == scale_from([]) == 0.0
    assert scale_from([0.2, -0.3, None]) == -0.3


def test_a_gap_ends_a_line_and_the_greatest_lies_on_top() -> None:
    first, second = (
        [tuple(map(float, point.split(","))) for point in line.split()]
        for line in curve([0.1, 0.5, None, 0.9])
    )
    assert [x for x, _ in first + second] == sorted(x for x, _ in first + second)
    heights = [y for _, y in first + second]
    assert heights == sorted(heights, reverse=True)
    assert all(0 < y < HEIGHT for y in heights)


def test_values_that_are_all_alike_are_a_line_in_the_middle() -> None:
    assert {point.split(",")[1] for point in curve([0.4, 0.4])[0].split()} == {f"{HEIGHT / 2:.1f}"}
    assert curve([None]) == curve([]) == []
