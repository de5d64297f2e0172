"""Curves in the terminal: thinned to its width, their last point always drawn, notes marked."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from tracker.projects.notes import NoteInfo
from tracker.render.history import Plot


def drawn(plot: Plot, width: int = 140) -> list[str]:
    file = io.StringIO()
    Console(file=file, width=width, color_system=None).print(plot)
    return [line.rstrip() for line in file.getvalue().splitlines()]


def curve_of(line: str) -> str:
    return "".join(character for character in line if "▁" <= character <= "█")


@pytest.mark.parametrize(
    ("points", "width", "columns"),
    [(2, 140, 2), (10_000, 60, 20), (10_000, 100, 60), (10_000, 400, 120), (30, 140, 30)],
)
def test_a_curve_fits_the_terminal(points: int, width: int, columns: int) -> None:
    values = [n / points for n in range(points)]
    (line,) = drawn(Plot(range(points), {"a": values}, ()), width)
    assert len(curve_of(line)) == columns
    assert curve_of(line)[-1] == "█", "the last point is on it"
    assert curve_of(line) == "".join(sorted(curve_of(line)))
    assert f"0.000 → {values[-1]:.3f} (from 0.000 to {values[-1]:.3f})" in line


def test_numbers_are_of_all_points_not_of_those_drawn() -> None:
    values = [0.5] * 999 + [0.9] + [0.5] * 1001
    (line,) = drawn(Plot(range(2001), {"a": values}, ()), 80)
    assert "(from 0.500 to 0.900)" in line


def test_what_is_undefined_is_a_gap() -> None:
    lines = drawn(Plot(range(3), {"a": [0.1, None, 0.2], "bc": [None, None, 0.3]}, ()))
    assert lines == ["a  ▁ █  0.100 → 0.200 (from 0.100 to 0.200)"], "no curve of one point"
    assert drawn(Plot((), {"a": ()}, ())) == []


def test_a_note_is_marked_under_the_first_point_after_it() -> None:
    moments = [10, 20, 30, 40]
    notes = [NoteInfo(n, at, f"at\n{at}") for n, at in enumerate((0, 10, 20, 21, 41))]
    lines = drawn(Plot(moments, {"a": [0.1, 0.2, 0.3, 0.4], "b": [0.4, 0.3, 0.2, 0.1]}, notes))
    assert lines[2] == "   ▲▲▲ ▲"
    assert lines[3:] == [f"   1970-01-01 ▲ at {at}" for at in (0, 10, 20, 21, 41)]


def test_marks_keep_their_place_in_a_thinned_curve() -> None:
    values = [0.1] * 500 + [0.9] * 500
    lines = drawn(Plot(range(1000), {"a": values}, [NoteInfo(1, 500, "x")]), 60)
    assert lines[0].index("█") == lines[1].index("▲")


def test_of_many_notes_the_last_are_told() -> None:
    notes = [NoteInfo(n, n, f"note {n}") for n in range(30)]
    lines = drawn(Plot(range(40), {"a": [n / 40 for n in range(40)]}, notes))
    assert lines[2].strip() == "20 notes before these:"
    assert [line.split("▲ ")[1] for line in lines[3:]] == [f"note {n}" for n in range(20, 30)]
