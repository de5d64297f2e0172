"""What the database keeps to itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import CheckConstraint, Integer, Text

from tracker.storage.schema.base import Base, column

if TYPE_CHECKING:
    from sqlalchemy.orm import Mapped


class PseudonymKey(Base):
    """The key that pseudonyms of annotators are made with: one row, made with the tables."""

    __tablename__ = "pseudonym_keys"
    __table_args__ = (CheckConstraint("id = 1", "one"),)
    id: Mapped[int] = column(Integer, primary_key=True, autoincrement=False)
    key: Mapped[str] = column(Text, comment="32 random bytes, hexadecimal")
