"""What is computed against what is known, number by number."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tracker.conformance.cases import Case, Figure, Number, by_functions, known_cases
from tracker.core.version import VERSION
from tracker.ledger import Ledger
from tracker.projects.questions import QuestionOptions


@dataclass(frozen=True)
class Check:
    """One number of one figure, computed in one way.

    Attributes:
        case: the case.
        figure: the figure.
        number: value, observed, standard_error, …: as in the command's JSON.
        by: "functions", or "program" for the whole way from a file.
        expected: what it must be; a text as its source prints it, or the reason for no value.
        computed: what it is.
        difference: how far the two are apart; None where one is no number.
        tolerance: how far they may be; of what a source prints, half a unit of its last digit.
        passed: whether that is near enough.
    """

    case: Case
    figure: Figure
    number: str
    by: str
    expected: Number
    computed: Number
    difference: float | None
    tolerance: float
    passed: bool

    def to_dict(self) -> dict[str, Any]:
        return {
            "case": self.case.name,
            "source": self.case.source,
            "measure": self.figure.measure,
            "of": self.figure.of,
            **{name: self.figure.reading.get(name) for name in ("weights", "scale", "distance")},
            "number": self.number,
            "by": self.by,
            "expected": self.expected,
            "computed": self.computed,
            "difference": self.difference,
            "tolerance": self.tolerance,
            "passed": self.passed,
            "agree": list(self.figure.agree),
        }


@dataclass(frozen=True)
class Conformance:
    """All checks of an installation, and what it consists of, versions by name."""

    checks: tuple[Check, ...]
    versions: Mapping[str, str]

    @property
    def passed(self) -> int:
        return sum(check.passed for check in self.checks)

    @property
    def failed(self) -> list[Check]:
        return [check for check in self.checks if not check.passed]

    def to_dict(self) -> dict[str, Any]:
        return {
            "versions": dict(self.versions),
            "checks": [check.to_dict() for check in self.checks],
            "passed": self.passed,
            "failed": len(self.failed),
        }


def check_installation(
    ledger: Ledger, folder: Path, cases: Sequence[Case] | None = None
) -> Conformance:
    """Compute every figure of every case in both ways.

    Args:
        ledger: an empty one, into which the cases are imported.
        folder: where files may be written.
        cases: those that are shipped where None are given.
    """
    checks = tuple(
        check
        for case in (known_cases() if cases is None else cases)
        for check in _checks(case, Program(ledger, folder, case))
    )
    with ledger.database.read() as connection:
        number = connection.dialect.server_version_info or ()
        database = {connection.dialect.name: ".".join(map(str, number))}
    return Conformance(checks, _versions() | database)


def _checks(case: Case, program: Program) -> Iterator[Check]:
    ways: dict[str, Callable[[Figure], Mapping[str, Number]]] = {
        "functions": lambda figure: by_functions(case, figure),
        "program": program.numbers,
    }
    for figure in case.figures:
        for by, compute in ways.items():
            computed = compute(figure)
            for number, expected in (*figure.numbers.items(), *figure.printed.items()):
                yield _check(case, figure, number, by, expected, computed.get(number))


def _check(
    case: Case, figure: Figure, number: str, by: str, expected: Number, computed: Number
) -> Check:
    known, tolerance = _held_to(case, number, expected)
    difference = None
    passed = known is None and computed == expected
    if known is not None and isinstance(computed, int | float):
        difference = abs(computed - known)
        passed = difference <= tolerance
    return Check(case, figure, number, by, expected, computed, difference, tolerance, passed)


def _held_to(case: Case, number: str, expected: Number) -> tuple[float | None, float]:
    """Return the number that is expected, None if it is no number, and the tolerance."""
    if isinstance(expected, int | float):
        return expected, case.tolerance * max(1.0, abs(expected))
    if expected is None or number == "undefined":
        return None, 0.0
    places = len(expected.partition(".")[2])
    return float(expected), 0.5 * 10**-places + case.tolerance


def _versions() -> dict[str, str]:
    """Return those of the program, its interpreter and the libraries that figures go through."""
    import platform
    from importlib.metadata import version

    libraries = ("SQLAlchemy", "numpy", "scipy")
    return {
        "tracker": VERSION,
        "Python": platform.python_version(),
        **{name: version(name) for name in libraries},
    }


class Program:
    """A ledger with one case imported.

    Args:
        ledger: where to import it; nothing else is changed there.
        folder: where to write the file that is imported.
        case: the case.
    """

    def __init__(self, ledger: Ledger, folder: Path, case: Case) -> None:
        self.ledger, self.case = ledger, case
        self._agreements: dict[tuple[tuple[str, str], ...], dict[str, Any]] = {}
        path = folder / f"{case.name}.csv"
        rows = list(case.rows())
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        options = QuestionOptions(case.answers, case.scale, categories=case.categories)
        if case.documents:
            options = replace(options, offsets="tokens")
        ledger.import_file(path, case.name, options=options)

    def numbers(self, figure: Figure) -> Mapping[str, Number]:
        """Return the numbers of one figure, named as in the command's JSON."""
        agreement = self._agreement(figure.reading)
        rows, column, name = "measures", "measure", figure.of or figure.measure
        if figure.measure == "category_rate":
            rows, column = "categories", "category"
        elif figure.measure == "intraclass":
            rows, column = "intraclass", "form"
        return next(row for row in agreement[rows] if row[column] == name)

    def _agreement(self, reading: Mapping[str, str]) -> dict[str, Any]:
        key = tuple(sorted(reading.items()))
        if key not in self._agreements:
            assessment = self.ledger.agreement(
                self.case.name,
                interval="t",  # as the published ones are
                weights=reading.get("weights"),
                scale=reading.get("scale"),
                distance=reading.get("distance"),
            )
            self._agreements[key] = assessment.to_dict()
        return self._agreements[key]
