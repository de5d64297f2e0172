"""What is recorded over time: snapshots of the figures, seals of the ledger, notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Double,
    ForeignKey,
    Integer,
    SmallInteger,
    Text,
    UniqueConstraint,
)

from tracker.storage.schema.base import (
    MOMENT,
    Base,
    column,
    key_column,
    one_of,
    optional,
    reference,
    reference_in_question,
)

if TYPE_CHECKING:
    from sqlalchemy.orm import Mapped


# -- Findings about annotators that audits recorded: what, each time it was seen, each change -----


FLAG_STATES = ("open", "acknowledged", "dismissed", "resolved")
STANDING = ("open", "acknowledged")
"""The states of a flag that somebody still has to do something about."""

_BY_THE_PROGRAM = ("found", "reopened", "no longer found")
_BY_PEOPLE = ("acknowledged", "dismissed", "resolved", "appealed", "upheld", "rejected")
KEEPING = ("appealed", "rejected")
"""The acts that leave a flag in its state."""


class FlagRow(Base, append_only=True):
    """A finding, once however often it is seen; one about a pair stands with the lower id first.

    One about a definition, some of the items or the design names no annotator.
    """

    __tablename__ = "flags"
    __table_args__ = (
        reference("annotators", "annotator_id"),
        reference("annotators", "other_id"),
        reference_in_question("categories", "category_id"),
        UniqueConstraint(
            "project_id", "question_id", "annotator_id", "other_id", "kind", "category_id"
        ),
        CheckConstraint("annotator_id <= other_id", "a_pair_stands_once"),
        CheckConstraint("(annotator_id IS NULL) = (other_id IS NULL)", "one_or_two_or_nobody"),
    )
    project_id: Mapped[int] = key_column(Integer, ForeignKey("projects.id"))
    id: Mapped[int] = key_column(Integer)
    question_id: Mapped[int] = column(SmallInteger)
    annotator_id: Mapped[int | None] = optional(Integer, comment="NULL if it is about nobody")
    other_id: Mapped[int | None] = optional(
        Integer, comment="annotator_id if it is not about a pair"
    )
    kind: Mapped[str] = column(Text)
    category_id: Mapped[int] = column(Integer, comment="0 if it is about none")
    found_at: Mapped[int] = column(BigInteger, comment=MOMENT)
    subject: Mapped[str | None] = optional(Text, comment="attribute=value of a slice of the items")


class FlagSighting(Base, append_only=True):
    """A recorded audit that found the flag, with its figures then; numbered within the flag."""

    __tablename__ = "flag_sightings"
    __table_args__ = (
        reference("flags", "flag_id"),
        CheckConstraint("number > 0", "number"),
        CheckConstraint("informative >= 0", "informative"),
    )
    project_id: Mapped[int] = key_column(Integer)
    flag_id: Mapped[int] = key_column(Integer)
    number: Mapped[int] = key_column(Integer)
    seen_at: Mapped[int] = column(BigInteger, comment=MOMENT)
    severity: Mapped[str] = column(Text)
    informative: Mapped[int] = column(Integer, comment="how much evidence there was")
    evidence: Mapped[str] = column(Text, comment="a JSON object: the finding's figures")


class FlagChange(Base, append_only=True, erasable=("made_by", "note")):
    """What was done about a flag, by whom and why; numbered within the flag."""

    __tablename__ = "flag_changes"
    __table_args__ = (
        reference("flags", "flag_id"),
        CheckConstraint("number > 0", "number"),
        CheckConstraint("informative >= 0", "informative"),
        CheckConstraint(one_of("state", FLAG_STATES), "state"),
        CheckConstraint(one_of("action", _BY_THE_PROGRAM + _BY_PEOPLE), "action"),
        CheckConstraint("(number = 1) = (action = 'found')", "found_first"),
        CheckConstraint(
            f"made_by IS NOT NULL OR {one_of('action', _BY_THE_PROGRAM)}", "people_have_names"
        ),
        CheckConstraint("action <> 'appealed' OR note IS NOT NULL", "appeals_say_why"),
    )
    project_id: Mapped[int] = key_column(Integer)
    flag_id: Mapped[int] = key_column(Integer)
    number: Mapped[int] = key_column(Integer)
    state: Mapped[str] = column(Text, comment="from then on; an appeal and its rejection keep it")
    action: Mapped[str] = column(Text)
    made_at: Mapped[int] = column(BigInteger, comment=MOMENT)
    made_by: Mapped[str | None] = optional(Text, comment="NULL for the program itself")
    note: Mapped[str | None] = optional(Text)
    informative: Mapped[int] = column(Integer, comment="how much evidence there was then")


class Snapshot(Base, append_only=True):
    """An immutable record of a question's figures and of the tallies they follow from.

    A snapshot of a project has a row for each of its questions, all with the same number. The row
    stays for ever; what hangs on it may be thinned out, which leaves a tombstone.
    ``base_snapshot_id`` is the snapshot of the same settings whose annotators' tallies are whole:
    those of this one are differences to the snapshot before it with the same base.
    """

    __tablename__ = "snapshots"
    __table_args__ = (
        UniqueConstraint("project_id", "question_id", "name"),
        reference("questions", "question_id"),
        reference("changes", "last_change_id"),
        reference_in_question("snapshots", "base_snapshot_id"),
    )
    project_id: Mapped[int] = key_column(Integer)
    question_id: Mapped[int] = key_column(SmallInteger)
    id: Mapped[int] = key_column(Integer)
    name: Mapped[str | None] = optional(Text)
    note: Mapped[str | None] = optional(Text)
    taken_at: Mapped[int] = column(BigInteger, comment=MOMENT)
    as_of: Mapped[int | None] = optional(BigInteger, comment=f"{MOMENT}; NULL: all that was known")
    last_change_id: Mapped[int] = column(Integer)
    version: Mapped[str] = column(Text, comment="of the program that computed the figures")
    scale: Mapped[str] = column(Text)
    settings: Mapped[str] = column(Text, comment="a JSON object, of numbers where names may change")
    selection: Mapped[str | None] = optional(
        Text, comment="the same in words; NULL for all answers"
    )
    base_snapshot_id: Mapped[int | None] = optional(
        Integer, comment="NULL where annotators have no tallies"
    )
    items: Mapped[int] = column(Integer)
    items_compared: Mapped[int] = column(Integer)
    annotators: Mapped[int] = column(Integer)
    answers: Mapped[int] = column(Integer)
    labels: Mapped[int] = column(Integer)
    digest: Mapped[str] = column(Text, comment="of what was counted, chained")
    seal: Mapped[str] = column(Text, comment="of all that is stored, chained")


class SnapshotMeasure(Base, append_only=True, thinned=True):
    """One coefficient of a snapshot, with its parts, error and interval."""

    __tablename__ = "snapshot_measures"
    __table_args__ = (
        reference_in_question("snapshots", "snapshot_id"),
        CheckConstraint("(value IS NULL) = (undefined IS NOT NULL)", "a_value_or_a_reason"),
    )
    project_id: Mapped[int] = key_column(Integer)
    question_id: Mapped[int] = key_column(SmallInteger)
    snapshot_id: Mapped[int] = key_column(Integer)
    measure: Mapped[str] = key_column(Text)
    position: Mapped[int] = column(SmallInteger)
    value: Mapped[float | None] = optional(Double)
    undefined: Mapped[str | None] = optional(Text)
    observed: Mapped[float | None] = optional(Double)
    expected: Mapped[float | None] = optional(Double)
    standard_error: Mapped[float | None] = optional(Double)
    ci_low: Mapped[float | None] = optional(Double)
    ci_high: Mapped[float | None] = optional(Double)
    confidence: Mapped[float] = column(Double)
    items: Mapped[int] = column(Integer)
    method: Mapped[str | None] = optional(Text)
    details: Mapped[str] = column(Text, comment="a JSON object")


class SnapshotCategory(Base, append_only=True, thinned=True):
    """The counts and the agreement rate of one category in a snapshot."""

    __tablename__ = "snapshot_categories"
    __table_args__ = (
        reference_in_question("snapshots", "snapshot_id"),
        reference_in_question("categories", "category_id"),
        CheckConstraint("(rate IS NULL) = (undefined IS NOT NULL)", "a_rate_or_a_reason"),
        CheckConstraint("0 <= agreements AND agreements <= potential_agreements", "agreements"),
    )
    project_id: Mapped[int] = key_column(Integer)
    question_id: Mapped[int] = key_column(SmallInteger)
    snapshot_id: Mapped[int] = key_column(Integer)
    category_id: Mapped[int] = key_column(Integer)
    position: Mapped[int] = column(SmallInteger)
    labels: Mapped[int] = column(Integer)
    agreements: Mapped[int] = column(BigInteger)
    potential_agreements: Mapped[int] = column(BigInteger)
    rate: Mapped[float | None] = optional(Double)
    undefined: Mapped[str | None] = optional(Text)
    standard_error: Mapped[float | None] = optional(Double)
    ci_low: Mapped[float | None] = optional(Double)
    ci_high: Mapped[float | None] = optional(Double)
    specific_agreement: Mapped[float | None] = optional(Double)


class KnownPattern(Base, append_only=True):
    """A pattern of answers to a question, numbered once for all snapshots."""

    __tablename__ = "patterns"
    __table_args__ = (
        UniqueConstraint("project_id", "question_id", "pattern"),
        reference("questions", "question_id"),
    )
    project_id: Mapped[int] = key_column(Integer)
    question_id: Mapped[int] = key_column(SmallInteger)
    id: Mapped[int] = key_column(Integer)
    pattern: Mapped[str] = column(Text, comment="JSON, canonical")


class SnapshotPattern(Base, append_only=True, thinned=True, clustered=True):
    """One item pattern of a snapshot: how many items had it."""

    __tablename__ = "snapshot_patterns"
    __table_args__ = (
        reference_in_question("snapshots", "snapshot_id"),
        reference_in_question("patterns", "pattern_id"),
        CheckConstraint("items > 0", "items"),
    )
    project_id: Mapped[int] = key_column(Integer)
    question_id: Mapped[int] = key_column(SmallInteger)
    snapshot_id: Mapped[int] = key_column(Integer)
    pattern_id: Mapped[int] = key_column(Integer)
    items: Mapped[int] = column(Integer)


class SnapshotAnnotator(Base, append_only=True, thinned=True, clustered=True):
    """An annotator's tallies: whole in a frame, else the difference to the snapshot before.

    ``answers`` is whole in either. ``tallies`` is a JSON list of [own answer, number of a
    pattern, items]; NULL where patterns were too many to keep.
    """

    __tablename__ = "snapshot_annotators"
    __table_args__ = (
        reference_in_question("snapshots", "snapshot_id"),
        reference("annotators", "annotator_id"),
        CheckConstraint("answers >= 0", "answers"),
    )
    project_id: Mapped[int] = key_column(Integer)
    question_id: Mapped[int] = key_column(SmallInteger)
    snapshot_id: Mapped[int] = key_column(Integer)
    annotator_id: Mapped[int] = key_column(Integer)
    answers: Mapped[int] = column(Integer)
    tallies: Mapped[str | None] = optional(Text)


class SnapshotPair(Base, append_only=True, thinned=True, clustered=True):
    """The cross-table of a pair of annotators; only old records have one."""

    __tablename__ = "snapshot_pairs"
    __table_args__ = (
        reference_in_question("snapshots", "snapshot_id"),
        reference("annotators", "first_id"),
        reference("annotators", "second_id"),
        CheckConstraint("first_id < second_id", "order"),
    )
    project_id: Mapped[int] = key_column(Integer)
    question_id: Mapped[int] = key_column(SmallInteger)
    snapshot_id: Mapped[int] = key_column(Integer)
    first_id: Mapped[int] = key_column(Integer)
    second_id: Mapped[int] = key_column(Integer)
    cells: Mapped[str] = column(Text, comment="a JSON list of [answer, answer, items]")


class SnapshotFlag(Base, append_only=True, thinned=True):
    """A flag that was open or acknowledged when the snapshot was taken."""

    __tablename__ = "snapshot_flags"
    __table_args__ = (
        reference_in_question("snapshots", "snapshot_id"),
        reference("flags", "flag_id"),
        CheckConstraint(one_of("state", STANDING), "state"),
    )
    project_id: Mapped[int] = key_column(Integer)
    question_id: Mapped[int] = key_column(SmallInteger)
    snapshot_id: Mapped[int] = key_column(Integer)
    flag_id: Mapped[int] = key_column(Integer)
    state: Mapped[str] = column(Text)


class Tombstone(Base, append_only=True):
    """A snapshot of which only its row is left: its figures and tallies were thinned out.

    ``parts`` is the digest of what went, on which the seal of the row still rests.
    """

    __tablename__ = "tombstones"
    __table_args__ = (reference_in_question("snapshots", "snapshot_id"),)
    project_id: Mapped[int] = key_column(Integer)
    question_id: Mapped[int] = key_column(SmallInteger)
    snapshot_id: Mapped[int] = key_column(Integer)
    thinned_at: Mapped[int] = column(BigInteger, comment=MOMENT)
    parts: Mapped[str] = column(Text)


class Seal(Base, append_only=True):
    """What the ledger held after a transaction that changed a project, as digests; chained.

    ``found`` are the parts that were not as the seal before left them; see `storage.seals`.
    """

    __tablename__ = "seals"
    __table_args__ = (reference("changes", "last_change_id"),)
    project_id: Mapped[int] = key_column(Integer, ForeignKey("projects.id"))
    id: Mapped[int] = key_column(Integer)
    last_change_id: Mapped[int] = column(Integer)
    sealed_at: Mapped[int] = column(BigInteger, comment=MOMENT)
    found: Mapped[str] = column(Text, comment="a JSON object")
    added: Mapped[str] = column(Text, comment="a JSON object: what came since the seal before")
    state: Mapped[str] = column(Text, comment="a JSON object: what there is, part by part")
    digest: Mapped[str] = column(Text, comment="of all of it and of the digest before")


class Note(Base):
    """Something that happened to the project at a moment, such as a new guideline."""

    __tablename__ = "notes"
    __table_args__ = (
        reference("changes", "change_id"),
        reference("changes", "removed_by"),
        CheckConstraint("text <> ''", "text"),
    )
    project_id: Mapped[int] = key_column(Integer)
    id: Mapped[int] = key_column(Integer)
    at: Mapped[int] = column(BigInteger, comment=MOMENT)
    text: Mapped[str] = column(Text)
    change_id: Mapped[int] = column(Integer)
    removed_by: Mapped[int | None] = optional(Integer)
    guideline: Mapped[str | None] = optional(
        Text, comment="the version of the guideline that holds from then on"
    )
