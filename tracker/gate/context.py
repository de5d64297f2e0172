"""What checks look at: figures now, findings now, snapshots; each counted when one asks for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sqlalchemy import Connection

from tracker import queries
from tracker.agreement import Assessment, Query, assess
from tracker.audit import Audit, AuditQuery, audit_project
from tracker.core.errors import NotFound
from tracker.flags.states import FlagState, flag_states
from tracker.gate.bind import fitted
from tracker.gate.checks import EVERY, AtLeast, Figure, GateConfig, MaxDrop
from tracker.measures import MEASURES
from tracker.measures.category_rates import CategoryRate
from tracker.measures.coefficient import Coefficient
from tracker.projects.categories import category_names
from tracker.projects.project import ProjectInfo
from tracker.queries import EVERYTHING, AnswerFilter
from tracker.snapshots import SnapshotRecord, find_snapshot, history


@dataclass(frozen=True)
class Standing:
    """One figure as it stands, or stood: a measure's, or the agreement on a category.

    ``read`` is how it was read, where that changes it: weights, scale, distance.
    """

    measure: str | None
    category: str | None
    value: float | None
    low: float | None
    high: float | None
    confidence: float
    undefined: str | None
    read: Mapping[str, Any]


def standings(found: Assessment, figure: Figure) -> list[Standing]:
    """The figures of that name; several for `EVERY` category, none where there is none."""
    if figure.measure is not None:
        return [_measured(one) for one in found.measures if one.measure == figure.measure]
    rated = ((found.categories[rate.category], rate) for rate in found.rates)
    return [_rated(name, rate) for name, rate in rated if figure.category in {EVERY, name}]


def _measured(figure: Coefficient) -> Standing:
    read = {key: figure.details.get(key) for key in ("weights", "scale", "distance")}
    return Standing(
        figure.measure,
        None,
        figure.value,
        figure.ci_low,
        figure.ci_high,
        figure.confidence,
        figure.undefined,
        read,
    )


def _rated(name: str, rate: CategoryRate) -> Standing:
    return Standing(
        None, name, rate.rate, rate.ci_low, rate.ci_high, rate.confidence, rate.undefined, {}
    )


@dataclass(frozen=True, eq=False)
class Present:
    """A project as its gate sees it, on a connection that sees one state.

    Raises Refused where the file does not fit the project, NotFound for a snapshot that it names
    and the project does not have.
    """

    connection: Connection
    project: ProjectInfo
    asked: GateConfig
    choice: AnswerFilter = EVERYTHING

    @cached_property
    def config(self) -> GateConfig:
        """The file's checks, their names found in the project."""
        return fitted(self.asked, self.project, category_names(self.connection, self.project))

    @cached_property
    def selection(self) -> Mapping[str, Any] | None:
        """Which answers are looked at, as JSON; None for all."""
        return queries.select_answers(self.connection, self.project, self.choice).told

    @cached_property
    def assessment(self) -> Assessment:
        """The measures that checks name, every category and the counts."""
        of_figures = (one for one in self.config.checks if isinstance(one, AtLeast | MaxDrop))
        measures = [one.figure.measure for one in of_figures if one.figure.measure is not None]
        query = Query(
            list(dict.fromkeys(measures)) or [self._cheapest()],
            self.config.confidence,
            self.config.metric,
            self.choice,
            self.config.interval,
        )
        return assess(self.connection, self.project, query)

    def _cheapest(self) -> str:
        """A measure to ask for where none is wanted: asking for none would give all."""
        fits = (name for name, one in MEASURES.items() if self.project.answers in one.answers)
        return next(fits)

    @cached_property
    def audit(self) -> Audit:
        """The audit for all kinds of findings, as `tracker audit` makes it."""
        return audit_project(self.connection, self.project, AuditQuery(filter=self.choice))

    @cached_property
    def recorded(self) -> list[FlagState]:
        """Every recorded finding, as it stands."""
        return list(flag_states(self.connection, self.project).values())

    @cached_property
    def snapshots(self) -> Mapping[str | None, SnapshotRecord | None]:
        """By number or name, the snapshots that checks name; by None the `last_snapshot`."""
        drops = (check for check in self.config.checks if isinstance(check, MaxDrop))
        return dict(self._snapshots_of(drops))

    def _snapshots_of(
        self, drops: Iterator[MaxDrop]
    ) -> Iterator[tuple[str | None, SnapshotRecord | None]]:
        for check in drops:
            if check.since is None:
                yield None, self.last_snapshot()
                continue
            try:
                yield check.since, find_snapshot(self.connection, self.project, check.since)
            except NotFound as error:
                where = f"{self.config.source}:{check.place.of('since')}"
                raise NotFound(f"{where}: {error.message}", error.mend) from None

    def last_snapshot(self) -> SnapshotRecord | None:
        """The last snapshot of the same choice of answers: others would not be comparable."""
        alike = (
            snapshot
            for snapshot in reversed(history(self.connection, self.project).snapshots)
            if _of_whom(snapshot.assessment.selection) == _of_whom(self.selection)
        )
        return next(alike, None)


def _of_whom(selection: Mapping[str, Any] | None) -> dict[str, Any]:
    """What was chosen but for the moment, which does not make figures incomparable."""
    return {
        key: value
        for key, value in (selection or {}).items()
        if value and key not in {"as_of", "known_at"}
    }
