"""The one registry of tables, and the words and numbers that stand in them."""

from __future__ import annotations

from sqlalchemy import MetaData
from sqlalchemy.orm import DeclarativeBase

__all__ = [
    "ANSWERS",
    "KINDS",
    "NONE_APPLIES",
    "NO_SPAN",
    "OFFSETS",
    "SCALES",
    "SKIPPED",
    "Base",
    "one_of",
]

ANSWERS = ("one", "several", "spans")
SCALES = ("nominal", "ordinal", "interval", "ratio")
OFFSETS = ("characters", "tokens")
KINDS = ("human", "model", "reference")

NONE_APPLIES = 0
"""The reserved category of an answer that holds no label: seen, and nothing applied."""
SKIPPED = -1
"""The reserved category of a skipped answer; it enters no tally."""
NO_SPAN = -1
"""``span_start`` and ``span_end`` of a label that is not a span."""


def one_of(column: str, values: tuple[str, ...]) -> str:
    """A CHECK that a column holds one of some words."""
    return f"{column} IN ({', '.join(repr(value) for value in values)})"


class Base(DeclarativeBase):
    """The one registry; its naming convention names every constraint on every database."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
