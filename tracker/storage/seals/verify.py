"""Verification of seals: each against the one before, the last against the ledger now."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from sqlalchemy import Connection, select

from tracker.storage.schema import Seal
from tracker.storage.seals.digests import (
    Sums,
    add_sums,
    digest_for_seal,
    seal_sums_of_details,
    seal_sums_of_labels,
    sealed_item_digest,
    sealed_item_names,
    sealed_rows,
    sealed_state,
)
from tracker.storage.seals.seal import seal_digest

_seals = Seal.__table__

_BY_CHANGE = {
    "changes": "the change log",
    "imports": "the counts of imports",
    "sources": "the files of imports",
    "touched": "the record of touched items",
}
_OF_ITEMS = {"attributes": "attributes", "item_aliases": "other keys"}


@dataclass(frozen=True)
class SealsVerified:
    """The faults of a project's ledger by its seals, a sentence each.

    ``digests`` are those of all seals, oldest first.
    """

    digests: tuple[str, ...]
    faults: tuple[str, ...]

    @property
    def digest(self) -> str | None:
        """The digest that stands for the whole ledger; None if nothing was sealed yet."""
        return self.digests[-1] if self.digests else None


def verify_seals(
    connection: Connection, project_id: int, *, chain_only: bool = False
) -> SealsVerified:
    """Verify the seals of a project; with ``chain_only`` no label is read."""
    statement = select(_seals).where(_seals.c.project_id == project_id).order_by(_seals.c.id)
    seals = [row._asdict() for row in connection.execute(statement)]
    if not seals:
        return SealsVerified((), ())
    faults = list(_chain(seals))
    try:
        for seal in seals:
            seal |= {name: json.loads(seal[name]) for name in ("found", "added", "state")}
        faults += _found(seals)
        faults += _added(connection, project_id, seals)
        faults += _now(connection, project_id, seals[-1])
        faults += _of_items(connection, project_id, seals)
        if not chain_only:
            faults += _sums("labels", seals, seal_sums_of_labels(connection, project_id))
            faults += _sums("details", seals, seal_sums_of_details(connection, project_id))
    except (KeyError, TypeError, ValueError):
        faults.append("a seal cannot be read")
    return SealsVerified(tuple(seal["digest"] for seal in seals), tuple(faults))


def _chain(seals: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield gaps in the numbers of seals, and digests that do not fit."""
    before = ""
    for number, seal in enumerate(seals, 1):
        if seal["id"] != number:
            yield f"seal {number} is missing"
            return
        if seal_digest(before, seal) != seal["digest"]:
            yield f"seal {number} does not fit what it says and the seal before it"
        before = seal["digest"]


def _found(seals: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the faults that transactions found when they began."""
    for before, seal in pairwise(seals):
        for part in seal["found"]:
            yield (
                f"{part}: changed by something else than this program between change "
                f"{before['last_change_id']} and the next one"
            )


def _added(
    connection: Connection, project_id: int, seals: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    """Yield the rows of each seal that differ now, and those that no seal covers."""
    upto = [seal["last_change_id"] for seal in seals]
    for part, title in _BY_CHANGE.items():
        rows = sealed_rows(connection, part, project_id, 0)
        of_seal: list[list[Any]] = [[] for _ in (*seals, "no seal")]
        for row in rows:
            of_seal[bisect_left(upto, row[0])].append(row)
        for seal, sealed, first in zip(seals, of_seal, [0, *upto], strict=False):
            if seal["added"].get(part, digest_for_seal([])) != digest_for_seal(sealed):
                yield _where(title, first, seal["last_change_id"])
        if part == "changes" and [row[0] for row in rows] != [*range(1, upto[-1] + 1)]:
            yield f"{title} does not go from change 1 to change {upto[-1]}, the last one sealed"
    items = [0, *(seal["added"]["items"] for seal in seals)]
    for seal, first, digest in zip(
        seals, [0, *upto], sealed_item_names(connection, project_id, items), strict=False
    ):
        if "names" in seal["added"] and seal["added"]["names"] != digest:
            yield _where("names of items", first, seal["last_change_id"])


def _where(subject: str, first: int, last: int) -> str:
    which = f"change {last}" if first + 1 >= last else f"changes {first + 1} to {last}"
    return f"{subject}: not as sealed with {which}"


def _now(connection: Connection, project_id: int, last: Mapping[str, Any]) -> Iterator[str]:
    """Yield the parts that differ from the state that the last seal left."""
    state: dict[str, str] = last["state"]
    now = sealed_state(connection, project_id)
    for part, digest in state.items():
        if now.get(part) != digest:
            yield (
                f"{part}: changed by something else than this program since change "
                f"{last['last_change_id']}"
            )


def _of_items(
    connection: Connection, project_id: int, seals: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    for part, title in _OF_ITEMS.items():
        digests = [seal["added"][part] for seal in seals if part in seal["added"]]
        if sealed_item_digest(connection, part, project_id) != [f"{0:032x}", *digests][-1]:
            yield f"{title} of items: not as they were sealed"


def _sums(part: str, seals: Sequence[Mapping[str, Any]], now: Sums) -> Iterator[str]:
    """Yield the changes whose labels or details differ from those recorded."""
    subject = "details of answers" if part == "details" else part
    sealed: Sums = {}
    for seal in seals:
        for change, sums in seal["added"].get(part, {}).items():
            add_sums(sealed, {int(change): sums})
    for change in sorted(sealed.keys() | now.keys()):
        was, present = sealed.get(change, (0, 0)), now.get(change, (0, 0))
        if was[0] != present[0]:
            yield f"{subject} of change {change}: {present[0]:,} where {was[0]:,} were recorded"
        elif was != present:
            yield f"{subject} of change {change}: not what was recorded"
