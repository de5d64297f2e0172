"""A snapshot taken: counted, its figures computed, everything stored and chained."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any, TypedDict, Unpack, cast

from sqlalchemy import Connection, Table, func, insert, select

from tracker import clock, counting
from tracker.assess import Assessment, Question, assess, study
from tracker.catalogue.annotators import annotator_names
from tracker.catalogue.changes import lock_project
from tracker.catalogue.flag_states import settling_changes
from tracker.catalogue.names import check_name
from tracker.catalogue.projects import ProjectInfo
from tracker.counting import Selection
from tracker.errors import CheckFailed, InvalidOption
from tracker.history.digest import digest_of, seal_of
from tracker.history.incremental import (
    Base,
    can_be_based,
    count_touched,
    find_base,
    is_cheaper,
    whole_tallies,
)
from tracker.history.parts import (
    Parts,
    figure_rows,
    flag_rows,
    number_patterns,
    pair_rows,
    pattern_texts,
    store_parts,
    tally_rows,
)
from tracker.history.read import find_snapshot, record_of
from tracker.history.record import SnapshotRecord
from tracker.history.settings import settings_text
from tracker.history.tallied import Tallied, count_all, recorded_assessment
from tracker.past import as_it_was, last_change, moment_of
from tracker.schema import STANDING, Change, Snapshot

__all__ = ["Taken", "Taking", "take_snapshot"]

_snapshots = cast("Table", Snapshot.__table__)
_LINKS = 30  # snapshots from one frame to the next


@dataclass(frozen=True)
class Taken:
    """What became of the wish for a snapshot.

    Attributes:
        snapshot: the one taken, or the last one where nothing had changed.
        fresh: whether it was taken now.
        read: the items whose labels were read; None for all.
    """

    snapshot: SnapshotRecord
    fresh: bool
    read: int | None


class Taking(TypedDict, total=False):
    """How a snapshot is taken.

    Attributes:
        name: to find the snapshot by.
        note: why it is taken.
        pairs: store the pairs' cross-tables, too.
        full: read all items.
        check: count both ways, and raise CheckFailed where they differ; nothing is stored then.
        if_changed: take none where the last one of these settings says the same.
    """

    name: str | None
    note: str | None
    pairs: bool
    full: bool
    check: bool
    if_changed: bool


def take_snapshot(
    connection: Connection,
    project: ProjectInfo,
    question: Question | None = None,
    **how: Unpack[Taking],
) -> Taken:
    """Compute the project's figures and record them with the tallies they follow from.

    Only the items touched since the last snapshot of the same settings are read, where that
    takes less than to read all: the figures are exactly the same.

    Raises InvalidOption where a snapshot of that name exists or the question does not fit the
    project, and CheckFailed as `Taking` says.
    """
    question = question or Question()
    lock_project(connection, project.id)
    name = how.get("name")
    if name is not None:
        name = _free_name(connection, project, name)
    moment = moment_of(connection, project.id, question.choice.as_of, question.choice.known_at)
    with as_it_was(connection, project.id, moment):
        counted = _count(connection, project, question, how)
        pair_tallies = None
        if how.get("pairs") and project.answers != "spans":
            pair_tallies = counting.pair_tallies(connection, counted.selection)
        standing = _standing(connection, project)
    base = counted.base
    asked = how.get("if_changed", False)
    if asked and base is not None and counted.says_the_same and base.standing == standing:
        return Taken(find_snapshot(connection, project, base.header.id), False, counted.read)
    through = last_change(connection, project.id) if moment.through is None else moment.through
    parts = figure_rows(counted.assessment) | flag_rows(standing)
    if pair_tallies is not None:
        parts |= pair_rows(pair_tallies)
    number = _next_number(connection, project)
    frame = None
    if counted.tallied is not None:
        frame, kept, changed = _framed(connection, project, number, counted.tallied, base)
        parts |= tally_rows(kept, _numbers(connection, project, kept), changed)
    header = {
        "project_id": project.id,
        "id": number,
        "name": name,
        "note": how.get("note"),
        "taken_at": _moment(connection, project),
        "as_of": question.choice.as_of,
        "through_change": through,
        "version": version("tracker"),
        "scale": counted.assessment.scale,
        "settings": counted.settings,
        "selection": _told(counted.assessment, annotator_names(connection, project)),
        "frame_id": frame,
        **counted.assessment.counts.to_dict(),
    }
    stored = _store(connection, project, header, parts)
    return Taken(record_of(stored, counted.assessment), True, counted.read)


def _free_name(connection: Connection, project: ProjectInfo, name: str) -> str:
    name = check_name(name, "snapshot")
    taken = select(Snapshot.id).where(Snapshot.project_id == project.id, Snapshot.name == name)
    if connection.scalar(taken) is not None:
        raise InvalidOption(
            f"{project.name!r} has a snapshot named {name!r}", "a record is never replaced"
        )
    return name


def _told(assessment: Assessment, names: Mapping[int, str]) -> str | None:
    """What was chosen as JSON, annotators by number: names may change, and may have to go."""
    if assessment.selection is None:
        return None
    numbers = {name: number for number, name in names.items()}
    told = dict(assessment.selection)
    for who in ("annotators", "excluded"):
        told[who] = [numbers[name] for name in told[who]]
    return json.dumps(told, ensure_ascii=False)


def _standing(connection: Connection, project: ProjectInfo) -> list[tuple[int, str]]:
    """The flags that stand, by number."""
    settled = settling_changes(project.id)
    rows = connection.execute(
        select(settled.c.flag_id, settled.c.state)
        .where(settled.c.state.in_(STANDING))
        .order_by(settled.c.flag_id)
    )
    return [(row.flag_id, row.state) for row in rows]


# -- counting ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Counted:
    """What a snapshot will say; ``tallied`` is None for spans, which have no tallies."""

    selection: Selection
    settings: str
    assessment: Assessment
    tallied: Tallied | None
    base: Base | None
    says_the_same: bool

    @property
    def read(self) -> int | None:
        return None if self.tallied is None else self.tallied.read


def _count(
    connection: Connection, project: ProjectInfo, question: Question, how: Taking
) -> _Counted:
    selection = counting.select_answers(connection, project, question.choice)
    settings = settings_text(question, selection)
    base = find_base(connection, project, settings)
    if project.answers == "spans":
        found = assess(connection, project, question)
        same = base is not None and _figures_of(connection, project, base) == found.figures()
        return _Counted(selection, settings, found, None, base, same)
    tallied = _tally(connection, project, selection, settings, base, how)
    same = base is not None and _same(connection, project, base, tallied)
    counted = study(
        connection, project, question, (selection, tallied.annotators, tallied.patterns)
    )
    found = recorded_assessment(counted)
    return _Counted(
        selection, settings, replace(found, selection=selection.told), tallied, base, same
    )


def _figures_of(connection: Connection, project: ProjectInfo, base: Base) -> dict[str, Any]:
    return find_snapshot(connection, project, base.header.id).assessment.figures()


def _tally(
    connection: Connection,
    project: ProjectInfo,
    selection: Selection,
    settings: str,
    base: Base | None,
    how: Taking,
) -> Tallied:
    full, check = how.get("full", False), how.get("check", False)
    if base is None or not can_be_based(settings):
        return count_all(connection, selection)
    if not check and (full or not is_cheaper(connection, project, base)):
        return count_all(connection, selection)
    found = count_touched(connection, project, selection, base)
    if not check:
        return found
    whole = count_all(connection, selection)
    before, tallies = whole_tallies(connection, project, base.header), None
    if before is not None and found.tallies is not None:
        tallies = before + found.tallies
    _compare(project, replace(found, tallies=tallies), whole, base)
    return whole if full else found


def _compare(project: ProjectInfo, found: Tallied, whole: Tallied, base: Base) -> None:
    """Raise CheckFailed where what was counted from a base is not what was counted in full."""
    differs = [
        what
        for what, one, other in (
            ("item patterns", found.patterns.counts, whole.patterns.counts),
            ("answers of annotators", found.answers, whole.answers),
            (
                "tallies of annotators",
                found.tallies and found.tallies.counts,
                whole.tallies and whole.tallies.counts,
            ),
        )
        if one is not None and other is not None and one != other
    ]
    if differs:
        raise CheckFailed(
            f"counted from snapshot {base.header.id}, {' and '.join(differs)} of "
            f"{project.name!r} are not those of all labels",
            "nothing was stored; take it with --full, and see: tracker database check",
        )


def _same(connection: Connection, project: ProjectInfo, base: Base, tallied: Tallied) -> bool:
    """Whether a base has the same tallies."""
    if (base.patterns.counts, base.answers) != (tallied.patterns.counts, tallied.answers):
        return False
    if tallied.tallies is None:
        return True
    if tallied.read is not None:
        return not tallied.tallies.counts
    before = whole_tallies(connection, project, base.header)
    return before is not None and before.counts == tallied.tallies.counts


# -- storing -----------------------------------------------------------------------------------


def _framed(
    connection: Connection, project: ProjectInfo, number: int, tallied: Tallied, base: Base | None
) -> tuple[int | None, Tallied, set[int]]:
    """The frame of a snapshot, its tallies as they are stored, and whose answers to store.

    A difference is stored as one, until there are so many that a whole one is due.
    """
    if tallied.tallies is None:
        return None, tallied, set(tallied.answers)
    if tallied.read is None or base is None or base.header.frame_id is None:
        return number, tallied, set(tallied.answers)
    if base.links < _LINKS:
        before, now = base.answers, tallied.answers
        changed = {who for who in before.keys() | now.keys() if before.get(who) != now.get(who)}
        return base.header.frame_id, tallied, changed
    whole = whole_tallies(connection, project, base.header)
    if whole is None:
        return None, replace(tallied, tallies=None), set(tallied.answers)
    return number, replace(tallied, tallies=whole + tallied.tallies), set(tallied.answers)


def _numbers(connection: Connection, project: ProjectInfo, tallied: Tallied) -> dict[Any, int]:
    """The numbers of all patterns of some tallies."""
    met = {} if tallied.tallies is None else tallied.tallies.counts
    patterns = {pattern for counts in met.values() for _, pattern in counts}
    return number_patterns(connection, project.id, patterns | tallied.patterns.counts.keys())


def _next_number(connection: Connection, project: ProjectInfo) -> int:
    highest = select(func.max(Snapshot.id)).where(Snapshot.project_id == project.id)
    return (connection.scalar(highest) or 0) + 1


def _moment(connection: Connection, project: ProjectInfo) -> int:
    """When the snapshot is taken: after the last change and the snapshot before it.

    Whatever the machine's clock says, which may have run backwards.
    """
    changed = select(func.max(Change.recorded_at)).where(Change.project_id == project.id)
    taken = select(func.max(Snapshot.taken_at)).where(Snapshot.project_id == project.id)
    earliest = max(connection.scalar(changed) or 0, (connection.scalar(taken) or 0) + 1)
    return max(clock.now(), earliest)


def _store(
    connection: Connection, project: ProjectInfo, header: Mapping[str, Any], parts: Parts
) -> dict[str, Any]:
    """Store a snapshot with its digest and seal, which begin with those of the one before it.

    Returns its row.
    """
    last = connection.execute(
        select(_snapshots.c.digest, _snapshots.c.seal)
        .where(_snapshots.c.project_id == project.id)
        .order_by(_snapshots.c.id.desc())
        .limit(1)
    ).one_or_none()
    digest, seal = ("", "") if last is None else (last.digest, last.seal)
    texts = pattern_texts(connection, project.id)
    row = dict(header)
    row["digest"] = digest_of(digest, row, parts, texts)
    row["seal"] = seal_of(seal, row, parts)
    connection.execute(insert(_snapshots).values(row))
    store_parts(connection, project.id, row["id"], parts)
    return row
