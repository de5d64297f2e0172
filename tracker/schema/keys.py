"""What the database keeps to itself."""

from __future__ import annotations

from sqlalchemy import CheckConstraint, Text
from sqlalchemy.orm import Mapped, mapped_column

from tracker.schema.base import Base


class PseudonymKey(Base):
    """The key that pseudonyms of annotators are made with: one row, made with the tables."""

    __tablename__ = "pseudonym_keys"
    __table_args__ = (CheckConstraint("id = 1", "one"),)
    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    key: Mapped[str] = mapped_column(Text)  # 32 random bytes, hexadecimal
