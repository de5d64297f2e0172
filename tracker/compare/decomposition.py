"""A difference shared out among those who answered, or the answers given.

A coefficient is a mean: of the agreement of every answer with the others of its item, corrected
for chance. A group's share of a difference is what its own mean changed, and what it changed to
weigh more or less than a group of another mean (Kitagawa 1955, J. Am. Stat. Assoc. 50, 1168).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise, permutations
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
from sqlalchemy import Connection, select

from tracker.core.tallies import AnnotatorTallies, Answer, IntArray, Pattern, answers_in_pattern
from tracker.core.tally_columns import TallyColumns, tally_columns_of
from tracker.counts.annotator_patterns import select_answering_annotators
from tracker.counts.selection import Selection
from tracker.measures.krippendorff import krippendorff_disagreement
from tracker.measures.sample import Sample
from tracker.projects.annotators import annotator_attributes, project_aliases
from tracker.projects.projects import ProjectInfo
from tracker.storage.schema import Annotator

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Group:
    """A group's part in a figure.

    Attributes:
        weight: its share of all answers that are compared, in [0, 1].
        value: the figure of its answers alone, in the figure's unit.
        answers: how many there are.
    """

    weight: float
    value: float
    answers: int


@dataclass(frozen=True)
class Part:
    """What a group contributed to a difference, and its own figures; None where not there."""

    contribution: float
    before: Group | None
    after: Group | None


def decomposition_contributions(
    before: Mapping[Key, Group], after: Mapping[Key, Group]
) -> dict[Key, Part]:
    """Each group's part in the difference of two figures, the greatest first.

    The parts add up to the second figure less the first, each of which is the sum over its
    groups of weight times value. A group that is new or gone counts by how far its value lies
    from the mean of both figures.
    """
    level = (_mean(before) + _mean(after)) / 2
    parts = {}
    for key in dict.fromkeys([*before, *after]):
        old, new = before.get(key), after.get(key)
        first, second = old or new, new or old
        assert first is not None
        assert second is not None
        weights = (0.0 if old is None else old.weight, 0.0 if new is None else new.weight)
        changed = (second.value - first.value) * sum(weights) / 2
        moved = ((first.value + second.value) / 2 - level) * (weights[1] - weights[0])
        parts[key] = Part(changed + moved, old, new)
    return dict(sorted(parts.items(), key=lambda part: -abs(part[1].contribution)))


def _mean(groups: Mapping[Key, Group]) -> float:
    return sum(group.weight * group.value for group in groups.values())


def decomposition_shares(
    kinds: Sequence[str], value: Callable[[frozenset[str]], float | None]
) -> dict[str, float] | None:
    """Each kind's share of ``value(all kinds) - value(no kind)``.

    Args:
        kinds: what changed; a handful.
        value: the figure where just these kinds of change had happened; None where undefined.

    Returns:
        A number per kind, or None where the figure is undefined on the way of every order.
    """
    known = cache(value)
    contributions: list[dict[str, float]] = []
    for order in permutations(kinds):
        figures = [known(frozenset(order[:place])) for place in range(len(order) + 1)]
        defined = [figure for figure in figures if figure is not None]
        if len(defined) == len(figures):
            steps = (after - before for before, after in pairwise(defined))
            contributions.append(dict(zip(order, steps, strict=True)))
    if not contributions:
        return None
    return {
        kind: math.fsum(contribution[kind] for contribution in contributions) / len(contributions)
        for kind in kinds
    }


DIVISIBLE = ("krippendorff_alpha", "percent_agreement")
"""The measures that are a mean over answers, in the order in which one is chosen."""


def decomposition_groups(
    measure: str,
    of: Sample,
    tallies: AnnotatorTallies,
    name: Callable[[int, Answer], str],
) -> dict[str, Group]:
    """The parts of a figure, by what ``name`` calls an annotator's answer.

    The value of a group is the measure with the group's answers in the place of all: alpha with
    their mean distance from the other answers of their items, agreement with their mean
    agreement. Weighted by their share of the answers these add up to the figure.

    Args:
        measure: one of `DIVISIBLE`.
        of: the item patterns, for which the measure is defined.
        tallies: the same answers, by annotator.
        name: of the group of an annotator's id and own answer.
    """
    scored = _distance_from_others(of) if measure == DIVISIBLE[0] else _agreement_with_others(of)
    chance = krippendorff_disagreement(of).expected if measure == DIVISIBLE[0] else None
    shared = tally_columns_of(tallies).shared
    names, group = _named(shared, name)
    met, place = shared.met
    # Alpha counts every answer alike, agreement every item.
    share = np.array([1 if chance is not None else answers_in_pattern(p) for _, p in met])
    weight = shared.number / share[place]
    scores = np.array([scored(own, pattern) for own, pattern in met])
    weights, sums, answers = (
        np.bincount(group, values, len(names)).tolist()
        for values in (weight, weight * scores[place], shared.number)
    )
    total = sum(weights)

    def value(mean: float) -> float:
        return mean if chance is None else 1 - mean / chance

    rows = zip(names, weights, sums, answers, strict=True)
    return {
        group: Group(weight / total, value(own_sum / weight), int(number))
        for group, weight, own_sum, number in sorted(rows)
    }


def _named(columns: TallyColumns, name: Callable[[int, Answer], str]) -> tuple[list[str], IntArray]:
    """The groups as their answers come, and which one a row is of."""
    width = len(columns.answers)
    cells, first, cell = np.unique(
        columns.owner * width + columns.own, return_index=True, return_inverse=True
    )
    groups: dict[str, int] = {}
    group = np.zeros(len(cells), dtype=np.int64)
    for n in np.argsort(first).tolist():
        owner, own = divmod(int(cells[n]), width)
        called = name(int(columns.annotators[owner]), columns.answers[own])
        group[n] = groups.setdefault(called, len(groups))
    return [*groups], group[cell]


_Scored = Callable[[Answer, Pattern], float]


def _distance_from_others(of: Sample) -> _Scored:
    between = krippendorff_disagreement(of).between
    return _mean_with_others(of, lambda first, second: float(between.between(first, second)), 0.0)


def _agreement_with_others(of: Sample) -> _Scored:
    weighting = of.weighting
    return _mean_with_others(of, lambda first, second: float(weighting.between(first, second)), 1.0)


def _mean_with_others(of: Sample, between: Callable[..., float], with_itself: float) -> _Scored:
    """The mean over the other answers of an item of what two answers are to each other."""
    codes: Mapping[Answer, int] = {answer: code for code, answer in enumerate(of.table.answers)}

    @cache
    def of_two(first: Answer, second: Answer) -> float:
        if first == second:
            return with_itself
        return between(np.array(codes[first]), np.array(codes[second]))

    @cache
    def mean(own: Answer, pattern: Pattern) -> float:
        total = sum(count * of_two(own, answer) for answer, count in pattern) - of_two(own, own)
        return total / (answers_in_pattern(pattern) - 1)

    return mean


# -- Families of models: which versions of a model answer on each side of a comparison ------------


FAMILY: Final = "family"
VERSION: Final = "version"
"""The attributes of an annotator that say which model it is a version of, and which version."""


class ModelVersion(NamedTuple):
    """An annotator that is one version of a model."""

    family: str
    annotator: str
    version: str | None

    def to_dict(self) -> dict[str, str | None]:
        """Return the version as JSON, without its family."""
        return {"annotator": self.annotator, "version": self.version}


@dataclass(frozen=True)
class FamilyChange:
    """A model of which other versions answer on one side than on the other.

    Attributes:
        family: the model.
        before: the versions that answer on the first side, by name.
        after: those of the second.
        contribution: the parts of all its versions in the difference; None if they do not count.
    """

    family: str
    before: tuple[ModelVersion, ...]
    after: tuple[ModelVersion, ...]
    contribution: float | None

    def to_dict(self, *, turned: bool = False) -> dict[str, Any]:
        """Return the change as JSON; if it is ``turned``, the second side is ``a``."""
        sides = (self.after, self.before) if turned else (self.before, self.after)
        return {
            "family": self.family,
            **{
                key: [version.to_dict() for version in side]
                for key, side in zip("ab", sides, strict=True)
            },
            "contribution": self.contribution,
        }


def model_versions(connection: Connection, project: ProjectInfo) -> dict[int, ModelVersion]:
    """Return the models that have a family, by number, as they are known now.

    A number that is an alias by now leads to its annotator: in a past state it may have answered.
    """
    attributes = annotator_attributes(connection, project)
    models = connection.execute(
        select(Annotator.id, Annotator.name).where(
            Annotator.project_id == project.id, Annotator.kind == "model"
        )
    )
    versions = {
        row.id: ModelVersion(values[FAMILY], row.name, values.get(VERSION))
        for row in models
        if FAMILY in (values := attributes.get(row.id, {}))
    }
    aliases = project_aliases(connection, project.id)
    return versions | {
        alias: versions[number] for alias, number in aliases.items() if number in versions
    }


def answering_versions(
    connection: Connection, selection: Selection, models: Mapping[int, ModelVersion]
) -> frozenset[ModelVersion]:
    """Return the versions with an answer among those that a selection is of.

    If it names no annotators, a model's answers are looked at although they do not count.
    """
    chosen = frozenset(models if selection.only is None else selection.only & models.keys())
    selection = replace(selection, only=chosen, left_out=frozenset())
    return frozenset(
        models[annotator] for annotator in select_answering_annotators(connection, selection)
    )


def family_changes(
    before: Set[ModelVersion], after: Set[ModelVersion], parts: Mapping[str, Part]
) -> tuple[FamilyChange, ...]:
    """Return the models of which other versions answer, by name; ``parts`` are annotators'."""
    changes = []
    for family in sorted({version.family for version in before ^ after}):
        first, second = (_of_family(side, family) for side in (before, after))
        names = {version.annotator for version in (*first, *second)}
        counted = [part.contribution for name, part in parts.items() if name in names]
        changes.append(FamilyChange(family, first, second, sum(counted) if counted else None))
    return tuple(changes)


def _of_family(versions: Iterable[ModelVersion], family: str) -> tuple[ModelVersion, ...]:
    return tuple(
        sorted({version for version in versions if version.family == family}, key=lambda v: v[1])
    )
