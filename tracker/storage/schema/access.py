"""Who may sign in to `tracker serve`, and as what; no project's record holds any of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    ForeignKey,
    ForeignKeyConstraint,
    Integer,
    Text,
)

from tracker.storage.schema.base import MOMENT, Base, column, one_of, optional

if TYPE_CHECKING:
    from sqlalchemy.orm import Mapped


ROLES = ("annotator", "viewer", "manager", "admin")
"""What a user may be; each may do all that those before it may."""


class User(Base):
    """Somebody who signs in; of the whole database, not of a project."""

    __tablename__ = "users"
    __table_args__ = (
        CheckConstraint(one_of("role", ROLES), "role"),
        CheckConstraint("name <> ''", "name"),
        {"info": {"secret": True, "never_renumbered": True}},
    )
    id: Mapped[int] = column(Integer, primary_key=True)
    name: Mapped[str] = column(Text, unique=True)
    role: Mapped[str] = column(Text)
    password: Mapped[str | None] = optional(
        Text, comment="an Argon2 hash; NULL: signs in elsewhere only"
    )
    session: Mapped[int] = column(
        Integer, comment="raised to end all sessions: each holds the number it began with"
    )
    subject: Mapped[str | None] = optional(
        Text, unique=True, comment="who it is for the service at which they sign in"
    )
    created_at: Mapped[int] = column(BigInteger, comment=MOMENT)


class UserAnnotator(Base):
    """An annotator whose own report a user may see. Erasing the annotator deletes the row."""

    __tablename__ = "user_annotators"
    __table_args__ = (
        ForeignKeyConstraint(
            ["project_id", "annotator_id"], ["annotators.project_id", "annotators.id"]
        ),
        {"info": {"secret": True}},
    )
    user_id: Mapped[int] = column(Integer, ForeignKey("users.id"), primary_key=True)
    project_id: Mapped[int] = column(Integer, primary_key=True, autoincrement=False)
    annotator_id: Mapped[int] = column(Integer, primary_key=True, autoincrement=False)


class Token(Base):
    """What a program shows in place of a user's password; it may do no more than they may."""

    __tablename__ = "tokens"
    __table_args__ = (
        CheckConstraint(one_of("role", ROLES), "role"),
        CheckConstraint("name <> ''", "name"),
        {"info": {"secret": True, "never_renumbered": True}},
    )
    id: Mapped[int] = column(Integer, primary_key=True)
    user_id: Mapped[int] = column(Integer, ForeignKey("users.id"))
    name: Mapped[str] = column(Text, unique=True)
    role: Mapped[str] = column(Text)
    digest: Mapped[str] = column(Text, unique=True, comment="SHA-256, hexadecimal")
    created_at: Mapped[int] = column(BigInteger, comment=MOMENT)
    expires_at: Mapped[int | None] = optional(BigInteger, comment=MOMENT)
    used_at: Mapped[int | None] = optional(
        BigInteger, comment=f"{MOMENT}; the first use of the last day on which it was used"
    )


class AccessChange(Base):
    """Something that was done to a user, a token or a webhook; no secret is in it."""

    __tablename__ = "access_changes"
    __table_args__ = ({"info": {"secret": True, "never_renumbered": True}},)
    id: Mapped[int] = column(Integer, primary_key=True)
    made_at: Mapped[int] = column(BigInteger, comment=MOMENT)
    made_by: Mapped[str | None] = optional(Text, comment="the user's name; NULL: by a command")
    kind: Mapped[str] = column(Text)
    detail: Mapped[str] = column(Text, comment="a JSON object: of whom or what")


class SigningKey(Base):
    """The key that sessions are signed with: one row, made when it is first needed."""

    __tablename__ = "signing_keys"
    __table_args__ = (CheckConstraint("id = 1", "one"), {"info": {"secret": True}})
    id: Mapped[int] = column(Integer, primary_key=True, autoincrement=False)
    key: Mapped[str] = column(Text, comment="32 random bytes, hexadecimal")
