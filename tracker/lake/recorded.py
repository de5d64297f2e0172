"""What the ledger knows of labels that lie in files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from tracker.core.errors import Refused
from tracker.lake.files import Address, FoundFile
from tracker.projects.projects import ProjectInfo
from tracker.render.nouns import count_noun
from tracker.storage.schema import Lake, LakeFile, LakeName

PART = 10_000_000
"""Labels that are counted at once, at least; more statements would each take their own time."""


class LabelFile(NamedTuple):
    """A file of labels as it was read; see `LakeFile`. A changed file has another number."""

    number: int
    path: str
    size: int
    modified_at: int
    identity: str | None
    digest: str
    labels: int
    part: int
    from_change: int
    source: int

    @property
    def found(self) -> FoundFile:
        return FoundFile(self.path, self.size, self.modified_at, self.identity)


class FilesChanged(Refused):
    """Labels are asked for as they were in files that are no longer as they were."""


@dataclass(frozen=True)
class LakeInfo:
    """Where a project's labels are, and the files that the last reading found, by number.

    ``roles`` are the column of each role, ``names`` what a text of a column stands for, by role.
    """

    project: ProjectInfo
    address: Address
    roles: Mapping[str, str]
    engine: str
    files: Sequence[LabelFile]
    names: Mapping[str, Mapping[str, int]]

    @cached_property
    def parts(self) -> list[list[LabelFile]]:
        """The files by part: no item has answers in two parts."""
        parts: dict[int, list[LabelFile]] = {}
        for file in sorted(self.files, key=lambda file: file.part):
            parts.setdefault(file.part, []).append(file)
        return [*parts.values()]

    @cached_property
    def groups(self) -> list[list[list[LabelFile]]]:
        """Parts that are counted at once: small ones, next to each other, to `PART` labels."""
        groups: list[list[list[LabelFile]]] = []
        labels = PART
        for part in self.parts:
            if labels >= PART:
                groups.append([])
                labels = 0
            groups[-1].append(part)
            labels += sum(file.labels for file in part)
        return groups

    def digest(self, files: Sequence[LabelFile]) -> str:
        """Return a digest of some files and of how they are read."""
        parts = (manifest_digest(files), self.address.text, sorted(self.roles.items()))
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    @property
    def manifest(self) -> str:
        """The digest of all files."""
        return manifest_digest(self.files)


def manifest_digest(files: Iterable[LabelFile]) -> str:
    """Return a digest of files by path, size and digest, in whatever order they come."""
    rows = sorted(f"{file.digest} {file.size} {file.path}" for file in files)
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()


def lake_after(connection: Connection, lake: LakeInfo, change: int) -> LakeInfo:
    """Return the files as a change left them; raises Refused if there were none.

    FilesChanged if one has changed since.
    """
    changed = select(func.count()).where(
        LakeFile.project_id == lake.project.id,
        LakeFile.from_change <= change,
        LakeFile.to_change > change,
    )
    if number := connection.scalar(changed):
        raise FilesChanged(
            f"{count_noun(number, 'file')} of then changed since, or went: "
            "what was counted then cannot be counted again"
        )
    files = [file for file in lake.files if file.from_change <= change]
    if not files:
        raise Refused("no file with labels was read by then", "name a later moment")
    return replace(lake, files=files)


def find_lake(connection: Connection, project: ProjectInfo) -> LakeInfo | None:
    """Return where a project's labels are; None if they are in the ledger."""
    own = select(Lake.address, Lake.roles, Lake.engine).where(Lake.project_id == project.id)
    row = connection.execute(own).one_or_none()
    if row is None:
        return None
    columns = [getattr(LakeFile, name) for name in LabelFile._fields]
    files = connection.execute(
        select(*columns)
        .where(LakeFile.project_id == project.id, LakeFile.to_change.is_(None))
        .order_by(LakeFile.number)
    )
    names: dict[str, dict[str, int]] = {}
    stands_for = select(LakeName.role, LakeName.text, LakeName.number)
    for role, text, number in connection.execute(
        stands_for.where(LakeName.project_id == project.id).order_by(LakeName.text)
    ):
        names.setdefault(role, {})[text] = number
    return LakeInfo(
        project,
        Address(row.address),
        json.loads(row.roles),
        row.engine,
        [LabelFile(*file) for file in files],
        names,
    )
