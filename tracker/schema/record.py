"""What is recorded of the figures: snapshots."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    ForeignKey,
    ForeignKeyConstraint,
    SmallInteger,
    Text,
    UniqueConstraint,
)
from sqlalchemy.orm import Mapped, mapped_column

from tracker.schema.base import Base


class Snapshot(Base):
    """An immutable record of a project's figures and of the tallies they follow from."""

    __tablename__ = "snapshots"
    __table_args__ = (
        UniqueConstraint("project_id", "name"),
        ForeignKeyConstraint(
            ["project_id", "through_change"], ["changes.project_id", "changes.id"]
        ),
        {"info": {"append_only": True}},
    )
    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    name: Mapped[str | None] = mapped_column(Text)
    note: Mapped[str | None] = mapped_column(Text)
    taken_at: Mapped[int] = mapped_column(BigInteger)
    through_change: Mapped[int | None]
    version: Mapped[str] = mapped_column(Text)  # of the program that computed the figures
    scale: Mapped[str] = mapped_column(Text)
    selection: Mapped[str | None] = mapped_column(Text)  # a JSON object; NULL for all answers
    items: Mapped[int]
    items_compared: Mapped[int]
    annotators: Mapped[int]
    answers: Mapped[int]
    labels: Mapped[int]


def _of_snapshot() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(
        ["project_id", "snapshot_id"], ["snapshots.project_id", "snapshots.id"]
    )


class SnapshotMeasure(Base):
    """One coefficient of a snapshot, with its parts, error and interval."""

    __tablename__ = "snapshot_measures"
    __table_args__ = (
        _of_snapshot(),
        CheckConstraint("(value IS NULL) = (undefined IS NOT NULL)", "a_value_or_a_reason"),
        {"info": {"append_only": True}},
    )
    project_id: Mapped[int] = mapped_column(primary_key=True)
    snapshot_id: Mapped[int] = mapped_column(primary_key=True)
    measure: Mapped[str] = mapped_column(Text, primary_key=True)
    position: Mapped[int] = mapped_column(SmallInteger)
    value: Mapped[float | None]
    undefined: Mapped[str | None] = mapped_column(Text)
    observed: Mapped[float | None]
    expected: Mapped[float | None]
    standard_error: Mapped[float | None]
    ci_low: Mapped[float | None]
    ci_high: Mapped[float | None]
    confidence: Mapped[float]
    items: Mapped[int]
    method: Mapped[str | None] = mapped_column(Text)
    details: Mapped[str] = mapped_column(Text)  # a JSON object


class SnapshotCategory(Base):
    """The counts and the agreement rate of one category in a snapshot."""

    __tablename__ = "snapshot_categories"
    __table_args__ = (
        _of_snapshot(),
        ForeignKeyConstraint(
            ["project_id", "category_id"], ["categories.project_id", "categories.id"]
        ),
        CheckConstraint("(rate IS NULL) = (undefined IS NOT NULL)", "a_rate_or_a_reason"),
        CheckConstraint("0 <= agreements AND agreements <= potential_agreements", "agreements"),
        {"info": {"append_only": True}},
    )
    project_id: Mapped[int] = mapped_column(primary_key=True)
    snapshot_id: Mapped[int] = mapped_column(primary_key=True)
    category_id: Mapped[int] = mapped_column(primary_key=True)
    position: Mapped[int] = mapped_column(SmallInteger)
    labels: Mapped[int]
    agreements: Mapped[int] = mapped_column(BigInteger)
    potential_agreements: Mapped[int] = mapped_column(BigInteger)
    rate: Mapped[float | None]
    undefined: Mapped[str | None] = mapped_column(Text)
    standard_error: Mapped[float | None]
    ci_low: Mapped[float | None]
    ci_high: Mapped[float | None]
    specific_agreement: Mapped[float | None]


class SnapshotPattern(Base):
    """One item pattern of a snapshot: how many items had it."""

    __tablename__ = "snapshot_patterns"
    __table_args__ = (
        _of_snapshot(),
        CheckConstraint("items > 0", "items"),
        {"info": {"append_only": True, "clustered": True}},
    )
    project_id: Mapped[int] = mapped_column(primary_key=True)
    snapshot_id: Mapped[int] = mapped_column(primary_key=True)
    pattern: Mapped[str] = mapped_column(Text, primary_key=True)  # JSON, canonical
    items: Mapped[int]
