"""The figures of a case by the whole program: written to a file, imported, counted, assessed."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tracker.conformance.cases import Case, Figure, Number
from tracker.ledger import Ledger
from tracker.projects.project import ProjectOptions


class Program:
    """A ledger with one case imported.

    Args:
        ledger: where to import it; nothing else is changed there.
        folder: where to write the file that is imported.
        case: the case.
    """

    def __init__(self, ledger: Ledger, folder: Path, case: Case) -> None:
        self.ledger, self.case = ledger, case
        self._told: dict[tuple[tuple[str, str], ...], dict[str, Any]] = {}
        path = folder / f"{case.name}.csv"
        rows = list(case.rows())
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        options = ProjectOptions(case.answers, case.scale, categories=case.categories)
        if case.documents:
            options = replace(options, offsets="tokens")
        ledger.import_file(path, case.name, options=options)

    def numbers(self, figure: Figure) -> Mapping[str, Number]:
        """The numbers of one figure, named as in the command's JSON."""
        told = self._agreement(figure.reading)
        if figure.measure == "category_rate":
            return _row(told["categories"], "category", figure.of)
        if figure.measure == "intraclass":
            return _row(told["intraclass"], "form", figure.of)
        return _row(told["measures"], "measure", figure.measure)

    def _agreement(self, reading: Mapping[str, str]) -> dict[str, Any]:
        key = tuple(sorted(reading.items()))
        if key not in self._told:
            found = self.ledger.agreement(
                self.case.name,
                interval="t",  # as the published ones are
                weights=reading.get("weights"),
                scale=reading.get("scale"),
                distance=reading.get("distance"),
            )
            self._told[key] = found.to_dict()
        return self._told[key]


def _row(rows: list[dict[str, Number]], column: str, wanted: str | None) -> Mapping[str, Number]:
    return next(row for row in rows if row[column] == wanted)
