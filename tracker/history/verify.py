"""Verification of the record: both chains, the figures from the stored tallies and the ledger."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from shlex import quote
from typing import Any, Final

from sqlalchemy import Connection, select

from tracker.agreement.coefficients import study
from tracker.agreement.result import Assessment
from tracker.agreement.run import assess
from tracker.core.errors import InvalidOption
from tracker.core.results import Message
from tracker.core.tallies import AnnotatorTallies
from tracker.history.snapshot import (
    is_snapshot_by_attributes,
    query_of_snapshot,
    selection_of_snapshot,
)
from tracker.history.stored import (
    Parts,
    Tallied,
    annotator_tallies_in_snapshot,
    count_snapshot_tallies,
    item_patterns_in_snapshot,
    snapshot_assessment,
    snapshot_digest,
    snapshot_figure_rows,
    snapshot_parts_digest,
    snapshot_pattern_texts,
    snapshot_seal,
    snapshots_with_parts,
)
from tracker.lake.recorded import FilesChanged
from tracker.projects.questions import QuestionInfo
from tracker.projects.settings import question_settings_then
from tracker.storage.as_of import Moment, as_it_was, ledger_of, stored_erasure_since
from tracker.storage.schema import Snapshot, Tombstone
from tracker.storage.schema.labels import of_question
from tracker.storage.seals.verify import verify_seals

# -- What verifying snapshots finds wrong, and why some cannot be counted again -------------------


_FAULTS: Final = {
    "seal of a thinned one": "its seal does not fit its row, its tombstone and the snapshot before "
    "it",
    "digest": "its digest does not fit what is stored and the snapshot before it",
    "seal": "its seal does not fit what is stored and the snapshot before it",
    "pattern": "it has a pattern that is not stored",
    "unreadable": "what is stored of it cannot be read",
    "item patterns": "its item patterns are not those of the ledger as it was",
    "tallies": "its annotators' tallies are not those of the ledger as it was",
    "counts": "its counts are not those of the ledger as it was",
    "figures": "its figures are others than those of the ledger as it was",
    "measure": "its {about} does not follow from the ledger as it was",
    "category_id": "its rate of category {about} does not follow from the ledger as it was",
    "erased": "answers that it counted were erased by change {about}",
    "attributes": "items were chosen by attributes, which are kept only as they are now",
    "files": "files of labels that it counted are no longer as they were",
}


def fault_sentence(fault: str, about: str | int = "") -> str:
    """Return what is wrong with a snapshot; ``about`` is the measure, category or change."""
    return _FAULTS[fault].format(about=about)


def lost_digest_sentence(digest: str) -> str:
    """Return that a digest that was known is not there."""
    return f"nothing has the digest {digest}: what it stood for was changed or removed"


_snapshots = Snapshot.__table__
_AT_ONCE = 100  # snapshots of which only the chain is verified
_DIGEST = re.compile("[0-9a-f]{64}")
_TOLERANCE = 1e-9  # other machines and versions of libraries round sums otherwise

Progress = Callable[[int, int], None]
"""Told the snapshots that are done and those there are."""


@dataclass(frozen=True)
class Fault:
    """A fault of a snapshot, with its sentence; with the question if there are several."""

    snapshot: int
    reason: Message
    question: str | None = None

    @property
    def why(self) -> str:
        """The sentence."""
        return str(self.reason)

    def to_dict(self) -> dict[str, Any]:
        """Return the fault as JSON."""
        about = {} if self.question is None else {"question": self.question}
        return {"snapshot": self.snapshot, **about, "why": self.why}


@dataclass(frozen=True)
class Verified:
    """The result: how much was checked, in which ways, and the faults in order.

    Attributes:
        project: its name.
        snapshots: the number of snapshots, whatever the number of questions.
        thinned: those of which only the row is left.
        recomputed: those recounted from the ledger, for every question.
        faults: what is wrong with snapshots; the first is the first bad link.
        seals: how often the ledger was sealed; see `storage.seals`.
        digest: of the last seal, which stands for everything; None before there is one.
        ledger: what is wrong with the ledger by its seals, a sentence each.
        notes: why some snapshots could not be counted again.
    """

    project: str
    snapshots: int
    thinned: int
    recomputed: int
    faults: tuple[Fault, ...]
    seals: int = 0
    digest: str | None = None
    ledger: tuple[str, ...] = ()
    notes: tuple[Fault, ...] = field(default=())

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong."""
        return not self.faults and not self.ledger

    def warnings(self) -> Iterator[str]:
        """Yield where the record goes wrong."""
        if self.faults:
            first = self.faults[0].snapshot
            words = f"tracker snapshots show {quote(self.project)} {first}"
            yield f"the first bad snapshot is {first}; see: {words}"

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON."""
        return {
            "project": self.project,
            "passed": self.passed,
            "snapshots": self.snapshots,
            "thinned": self.thinned,
            "recomputed": self.recomputed,
            "seals": self.seals,
            "digest": self.digest,
            "ledger": list(self.ledger),
            "faults": [fault.to_dict() for fault in self.faults],
            "notes": [note.to_dict() for note in self.notes],
        }


Opened = Callable[[], AbstractContextManager[tuple[Connection, Sequence[QuestionInfo]]]]
"""A way to a connection in a transaction, and the questions of the project."""


def verify_snapshots(connection: Connection, question: QuestionInfo, **how: Any) -> Verified:
    """Verify a project of one question as `verify_snapshots_in_turn`, all in one transaction."""
    return verify_snapshots_in_turn(lambda: nullcontext((connection, [question])), **how)


def verify_snapshots_in_turn(
    opened: Opened,
    *,
    chain_only: bool = False,
    expect: str | None = None,
    progress: Progress | None = None,
) -> Verified:
    """Verify the ledger of a project by its seals, and all snapshots of its questions.

    The digest and the seal of each snapshot are made again from what is stored and those before.
    Then, unless ``chain_only``, the tallies are recounted from the ledger as it was known, and
    the figures made from them: the same, or the record does not tell what was. Each snapshot has
    a transaction of its own, so that nobody who writes has to wait for long.

    ``expect`` is the digest that the ledger, or a snapshot, once had: without it, it is not what
    it was. Raises InvalidOption if that is not a digest.
    """
    if expect is not None and not _DIGEST.fullmatch(expect):
        raise InvalidOption(f"{expect!r} is not a digest", "it has 64 letters and digits: 0-9, a-f")
    with opened() as (connection, questions):
        project = questions[0].project
        sealed = verify_seals(ledger_of(connection), project.id, chain_only=chain_only)
        chains = [
            _Verifying(connection, question, chain_only=chain_only, several=len(questions) > 1)
            for question in questions
        ]
    ledger = list(sealed.faults)
    rows = [row for chain in chains for row in chain.headers]
    digests = {row[name] for row in rows for name in ("digest", "seal")} | {*sealed.digests}
    if expect is not None and expect not in digests:
        ledger.insert(0, lost_digest_sentence(digest=expect))
    done = 0
    for chain in chains:
        for some in chain.steps():
            with opened() as (connection, questions):
                (question,) = (
                    candidate for candidate in questions if candidate.id == chain.question
                )
                chain.check(connection, question, some)
            done += len(some)
            if progress is not None:
                progress(done, len(rows))
    numbers = {row["id"] for row in rows}
    thinned = {number for chain in chains for number in chain.thinned}
    unread = {number for chain in chains for number in chain.unread}
    faults = sorted((fault for chain in chains for fault in chain.faults), key=_by_snapshot)
    notes = sorted((note for chain in chains for note in chain.notes), key=_by_snapshot)
    return Verified(
        project.name,
        len(numbers),
        len(thinned),
        len(numbers - unread),
        tuple(faults),
        len(sealed.digests),
        sealed.digest,
        tuple(ledger),
        tuple(notes),
    )


def _by_snapshot(fault: Fault) -> int:
    return fault.snapshot


class _Verifying:
    """The snapshots of a question verified in their order, several at a time.

    Attributes:
        question: its number.
        headers: their rows.
        faults: what is wrong with them.
        notes: why some could not be counted again.
        thinned: those of which only the row is left.
        unread: those that were not counted again.
    """

    def __init__(
        self, connection: Connection, question: QuestionInfo, *, chain_only: bool, several: bool
    ) -> None:
        ours = of_question(_snapshots, question.key)
        statement = select(_snapshots).where(ours).order_by(_snapshots.c.id)
        self.headers = [row._asdict() for row in connection.execute(statement)]
        self.question = question.id
        self.faults: list[Fault] = []
        self.notes: list[Fault] = []
        self.thinned: set[int] = set()
        self.unread = {row["id"] for row in self.headers}
        self._name = question.name if several else None
        self._texts = snapshot_pattern_texts(connection, question.key)
        self._chain_only = chain_only
        self._sums = _Sums()
        self._before = ("", "")

    def steps(self) -> Iterator[list[dict[str, Any]]]:
        """Yield the rows that are verified in one transaction."""
        at_once = _AT_ONCE if self._chain_only else 1
        for start in range(0, len(self.headers), at_once):
            yield self.headers[start : start + at_once]

    def check(
        self, connection: Connection, question: QuestionInfo, headers: Sequence[Mapping[str, Any]]
    ) -> None:
        """Verify the next snapshots, by their rows."""
        numbers = [header["id"] for header in headers]
        statement = select(Tombstone.snapshot_id, Tombstone.parts).where(
            of_question(Tombstone, question.key), Tombstone.snapshot_id.in_(numbers)
        )
        thinned = {row.snapshot_id: row.parts for row in connection.execute(statement)}
        self.thinned |= thinned.keys()
        every = snapshots_with_parts(connection, question.key, numbers)
        for header, (number, parts) in zip(headers, every, strict=True):
            wrong = list(_chain(header, parts, self._texts, self._before, thinned))
            self._before = (header["digest"], header["seal"])
            try:
                tallies = self._sums.add(header, annotator_tallies_in_snapshot(parts, self._texts))
                if number not in thinned and not self._chain_only:
                    try:
                        faults, note = _recount(
                            connection, question, header, parts, self._texts, tallies
                        )
                    except FilesChanged:
                        faults, note = [], _fault("files")
                    wrong += faults
                    if note is None:
                        self.unread.discard(number)
                    else:
                        self.notes.append(Fault(number, note, self._name))
            except (KeyError, ValueError):
                wrong.append(_fault("unreadable"))
            self.faults += [Fault(number, why, self._name) for why in wrong]


class _Sums:
    """The annotators' tallies of each base snapshot, added up snapshot by snapshot."""

    def __init__(self) -> None:
        self._by_base: dict[int, AnnotatorTallies] = {}

    def add(self, header: Mapping[str, Any], stored: AnnotatorTallies) -> AnnotatorTallies | None:
        """Return the whole tallies of the snapshot; None if they are not kept."""
        base = header["base_snapshot_id"]
        if base is None:
            return None
        tallies = self._by_base.get(base, AnnotatorTallies()) + stored
        self._by_base[base] = tallies
        return tallies


def _chain(
    header: Mapping[str, Any],
    parts: Parts,
    texts: Mapping[int, str],
    before: tuple[str, str],
    thinned: Mapping[int, str],
) -> Iterator[Message]:
    """Yield the faults of a snapshot's digest and seal.

    Of one that was thinned out what was counted is gone; the seal of its row can be made again.
    """
    digest, seal = before
    try:
        if header["id"] in thinned:
            if snapshot_seal(seal, header, thinned[header["id"]]) != header["seal"]:
                yield _fault("seal of a thinned one")
        elif snapshot_digest(digest, header, parts, texts) != header["digest"]:
            yield _fault("digest")
        elif snapshot_seal(seal, header, snapshot_parts_digest(parts)) != header["seal"]:
            yield _fault("seal")
    except KeyError:
        yield _fault("pattern")


def _recount(
    connection: Connection,
    question: QuestionInfo,
    header: Mapping[str, Any],
    parts: Parts,
    texts: Mapping[int, str],
    tallies: AnnotatorTallies | None,
) -> tuple[list[Message], Message | None]:
    """Return the faults of a snapshot's tallies and figures, or why they cannot be checked."""
    query = query_of_snapshot(header["settings"])
    question = question_settings_then(connection, question, header["last_change_id"])
    moment = Moment(header["as_of"], header["last_change_id"], None)
    with as_it_was(connection, question.project_id, moment):
        selection = selection_of_snapshot(question, header["settings"])
        if question.answers == "spans":
            assessment = assess(connection, question, query, selection=selection)
            wrong = _differing(parts, assessment)
            why = _why_not(connection, question, header) if wrong else None
            return ([], why) if why else (wrong, None)
        tallied = count_snapshot_tallies(connection, selection)
        counted = study(
            connection, question, query, (selection, tallied.annotators, tallied.patterns)
        )
        assessment = snapshot_assessment(counted)
    wrong = _tallies_differ(parts, texts, tallies, tallied)
    why = _why_not(connection, question, header) if wrong else None
    if why:
        return [], why
    if any(header[name] != number for name, number in assessment.counts.to_dict().items()):
        wrong.append(_fault("counts"))
    return wrong or _differing(parts, assessment), None


def _why_not(
    connection: Connection, question: QuestionInfo, header: Mapping[str, Any]
) -> Message | None:
    """Return why the snapshot's labels cannot be counted again; None if they can."""
    erased = stored_erasure_since(connection, question.project_id, header["last_change_id"])
    if erased is not None:
        return _fault("erased", erased)
    if is_snapshot_by_attributes(header["settings"]):
        return _fault("attributes")
    return None


def _tallies_differ(
    parts: Parts, texts: Mapping[int, str], tallies: AnnotatorTallies | None, tallied: Tallied
) -> list[Message]:
    wrong = []
    if item_patterns_in_snapshot(parts, texts).counts != tallied.patterns.counts:
        wrong.append(_fault("item patterns"))
    kept, counted = tallies or tallied.tallies, tallied.tallies or tallies
    if kept is not None and counted is not None and kept.counts != counted.counts:
        wrong.append(_fault("tallies"))
    return wrong


def _differing(parts: Parts, assessment: Assessment) -> list[Message]:
    """Return which stored figures are not those that follow from the tallies.

    Categories that were learned since have none, and the order is that of names, which change.
    """
    differs = []
    for table, rows in snapshot_figure_rows(assessment).items():
        stored = {_named(row): row for row in parts.get(table, [])}
        expected = {
            _named(row): row for row in rows if _named(row) in stored or row.get("labels", 1)
        }
        if expected.keys() != stored.keys():
            differs.append(_fault("figures"))
            continue
        for name, row in expected.items():
            if not all(_alike(row[key], stored[name][key]) for key in row if key != "position"):
                differs.append(_fault(*name))
    return differs


def _named(row: Mapping[str, Any]) -> tuple[str, str | int]:
    """Return what a figure is of: a measure or a category."""
    name = "measure" if "measure" in row else "category_id"
    return name, row[name]


def _fault(fault: str, about: str | int = "") -> Message:
    return Message(fault_sentence, fault=fault, about=about)


def _alike(first: Any, second: Any) -> bool:
    if isinstance(first, float) and isinstance(second, float):
        return math.isclose(first, second, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)
    return bool(first == second)
