"""Counts that can be made again at any time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import BigInteger, ForeignKey, Integer, LargeBinary, Text

from tracker.storage.schema.base import MOMENT, Base, column, key_column

if TYPE_CHECKING:
    from sqlalchemy.orm import Mapped


class KeptTally(Base, droppable=True):
    """The rows that a statement counted after a change; nothing is lost if they are deleted.

    The change is named by its number and its moment, the statement by a digest of its text and
    values. No seal and no copy has these rows.
    """

    __tablename__ = "kept_tallies"
    project_id: Mapped[int] = key_column(Integer, ForeignKey("projects.id"))
    statement: Mapped[str] = key_column(Text, comment="SHA-256, hexadecimal")
    change_id: Mapped[int] = column(Integer)
    recorded_at: Mapped[int] = column(BigInteger, comment=f"of the change; {MOMENT}")
    kept_at: Mapped[int] = column(BigInteger, comment=MOMENT)
    size: Mapped[int] = column(Integer, comment="bytes")
    digest: Mapped[str] = column(Text, comment="of the content: SHA-256, hexadecimal")
    content: Mapped[bytes] = column(LargeBinary)
