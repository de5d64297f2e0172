"""The known figures against the computed ones in the terminal, with the versions to cite."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.console import RenderableType

from tracker.conformance.cases import Case, Figure
from tracker.conformance.check import Check, Conformance
from tracker.measures.registry import MEASURES
from tracker.render.cells import Text, count_cell
from tracker.render.tables import table

_TITLES = {"category_rate": "Category rate of", "intraclass": "Intraclass correlation"}
_FIRST = ("value", "rate", "undefined")  # the number that stands for a figure


def conformance_view(conformance: Conformance) -> Iterator[RenderableType]:
    """Yield a row per figure, the numbers that are wrong, the sources, the versions."""
    figures = [
        (case, figure, [check for check in conformance.checks if check.figure is figure])
        for case in _cases(conformance)
        for figure in case.figures
    ]
    yield table(
        ("case", "figure ", "expected", "computed", "difference", "numbers", ""),
        [_row(case, figure, checks) for case, figure, checks in figures],
    )
    for check in conformance.failed:
        yield Text(_wrong(check), style="bold red")
    yield table(
        ("case", "what it is ", "source "),
        [(case.name, case.title, case.source) for case in _cases(conformance)],
    )
    yield Text(
        "Each number is computed by the functions and by the whole program, from a file through "
        "the database; difference: the largest of a figure's numbers.",
        style="dim",
    )
    yield Text.assemble(
        ", ".join(f"{name} {version}" for name, version in conformance.versions.items()) + ": ",
        (
            f"{count_cell(conformance.passed)} of {count_cell(len(conformance.checks))} numbers "
            "are right, "
            f"{len(figures)} figures of {len(_cases(conformance))} cases",
            "bold" if not conformance.failed else "bold red",
        ),
    )


def _cases(conformance: Conformance) -> list[Case]:
    return [case for case, _ in groupby(check.case for check in conformance.checks)]


def _row(case: Case, figure: Figure, checks: Sequence[Check]) -> tuple[str | Text, ...]:
    main = next(check for check in checks if check.number in _FIRST)
    exact = [
        check.difference
        for check in checks
        if check.difference is not None and not isinstance(check.expected, str)
    ]
    right = sum(check.passed for check in checks)
    good = right == len(checks)
    return (
        case.name,
        _title(figure),
        _number(main.expected),
        _number(main.computed),
        f"{max(exact):.0e}" if exact else "-",
        f"{right} of {len(checks)}",
        Text("passed" if good else "FAILED", style="green" if good else "bold red"),
    )


def _title(figure: Figure) -> str:
    known = MEASURES.get(figure.measure)
    title = known.title if known else _TITLES[figure.measure]
    read = [
        f"{word} weights" if name == "weights" else word for name, word in figure.reading.items()
    ]
    return ", ".join([f"{title} {figure.of}" if figure.of else title, *read])


def _number(number: str | float | None) -> str:
    if number is None or isinstance(number, str):
        return number or "undefined"
    return f"{number:.9f}"


def _wrong(check: Check) -> str:
    return (
        f"{check.case.name}: {_title(check.figure)}, {check.number.replace('_', ' ')}, is "
        f"{_number(check.computed)} by the {check.by}, not {_number(check.expected)}"
    )
