"""The figures of a project apart by an attribute of its items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from tracker import queries
from tracker.agreement.assessment import Assessment
from tracker.agreement.coefficients import Pairs, check_measures, coefficients, finish
from tracker.agreement.metric import check_metric, sample
from tracker.agreement.overall import assessment_of
from tracker.agreement.query import Query
from tracker.core.errors import InvalidOption
from tracker.core.tallies import Answer
from tracker.measures import MEASURES
from tracker.measures.cohen import cells_of
from tracker.projects.categories import category_names
from tracker.projects.item_attributes import check_attribute
from tracker.projects.project import ProjectInfo
from tracker.queries import GroupAnnotators, Selection


@dataclass(frozen=True)
class GroupedAgreement:
    """The assessment of the items of each value; None stands for items without the attribute."""

    project: str
    attribute: str
    groups: tuple[tuple[str | None, Assessment], ...]
    selection: Mapping[str, Any] | None

    def to_dict(self) -> dict[str, Any]:
        """The contract's JSON of ``tracker agreement --by attribute:NAME``."""
        return {
            "project": self.project,
            "attribute": self.attribute,
            "selection": None if self.selection is None else dict(self.selection),
            "groups": [{"value": value} | found.figures() for value, found in self.groups],
        }


def by_attribute(
    connection: Connection, project: ProjectInfo, attribute: str, query: Query
) -> GroupedAgreement:
    """The figures of the items of each value of an attribute, by value; those without one last.

    Figures that depend on who of many annotators answered what are not among them.

    Raises InvalidOption for an attribute that no item has, or that has too many values.
    """
    if project.answers == "spans":
        raise InvalidOption("a project of spans has no agreement by an attribute of its items")
    names = category_names(connection, project)
    check_metric(project, names, query.metric)
    wanted = _wanted(project, query)
    check_attribute(connection, project, attribute)
    selection = queries.select_answers(connection, project, query.filter)
    patterns = queries.item_patterns_by(connection, selection, attribute)
    annotators = queries.annotators_by(connection, selection, attribute)
    tables = _pairs(connection, selection, attribute, annotators) if "cohen_kappa" in wanted else {}
    groups = []
    for value in sorted(patterns, key=lambda value: (value is None, value or "")):
        number = annotators[value].number
        of = sample(project, names, patterns[value], number, query.metric)
        pair = Pairs([(0, 1)], cells_of([tables.get(value, {})], of.table.answers))
        figures = coefficients(wanted, of, pair, query.confidence, query.interval)
        found = assessment_of(
            project,
            of,
            patterns[value],
            names,
            finish(figures, query.confidence, query.interval),
            query,
        )
        groups.append((value, found))
    return GroupedAgreement(project.name, attribute, tuple(groups), selection.told)


def _wanted(project: ProjectInfo, query: Query) -> list[str]:
    wanted = check_measures(project, query.measures, query.metric, few=False)
    fitting = [name for name in wanted if MEASURES[name].needs in {"patterns", "pair"}]
    if query.measures and fitting != wanted:
        raise InvalidOption(
            f"{next(name for name in wanted if name not in fitting)} is not computed by attribute",
            "choose the items instead: --where attribute=value",
        )
    return fitting


def _pairs(
    connection: Connection,
    selection: Selection,
    attribute: str,
    annotators: Mapping[str | None, GroupAnnotators],
) -> dict[str | None, Mapping[tuple[Answer, Answer], int]]:
    """The cross-table of each group that exactly two annotators answered."""
    pairs = {value: (who.first, who.last) for value, who in annotators.items() if who.number == 2}
    if not pairs:
        return {}
    found = queries.pair_tallies_by(connection, selection, attribute, list(pairs))
    return {
        value: found[value].counts.get(pair, {}) if value in found else {}
        for value, pair in pairs.items()
    }
