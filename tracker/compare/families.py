"""Families of models: which versions of a model answer on each side of a comparison."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, select

from tracker.compare.decomposition import Part
from tracker.projects.annotator_attributes import annotator_attributes
from tracker.projects.annotators import project_aliases
from tracker.projects.project import ProjectInfo
from tracker.queries import Selection, select_answering_annotators
from tracker.storage.schema import Annotator

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
            **{key: [one.to_dict() for one in side] for key, side in zip("ab", sides, strict=True)},
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
    found = {
        row.id: ModelVersion(told[FAMILY], row.name, told.get(VERSION))
        for row in models
        if FAMILY in (told := attributes.get(row.id, {}))
    }
    aliases = project_aliases(connection, project.id)
    return found | {alias: found[one] for alias, one in aliases.items() if one in found}


def answering_versions(
    connection: Connection, selection: Selection, models: Mapping[int, ModelVersion]
) -> frozenset[ModelVersion]:
    """Return the versions with an answer among those that a selection is of.

    If it names no annotators, a model's answers are looked at although they do not count.
    """
    chosen = frozenset(models) if selection.only is None else selection.only & models.keys()
    selection = replace(selection, only=chosen, left_out=frozenset())
    return frozenset(models[one] for one in select_answering_annotators(connection, selection))


def family_changes(
    before: Set[ModelVersion], after: Set[ModelVersion], parts: Mapping[str, Part]
) -> tuple[FamilyChange, ...]:
    """Return the models of which other versions answer, by name; ``parts`` are annotators'."""
    changes = []
    for family in sorted({one.family for one in before ^ after}):
        first, second = (_of_family(side, family) for side in (before, after))
        names = {one.annotator for one in (*first, *second)}
        counted = [part.contribution for name, part in parts.items() if name in names]
        changes.append(FamilyChange(family, first, second, sum(counted) if counted else None))
    return tuple(changes)


def _of_family(versions: Iterable[ModelVersion], family: str) -> tuple[ModelVersion, ...]:
    return tuple(sorted({one for one in versions if one.family == family}, key=lambda v: v[1]))
