"""Who may sign in to `tracker serve`, and as what; no project's record holds any of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import BigInteger, Boolean, CheckConstraint, ForeignKey, Integer, Text

from tracker.storage.schema.base import (
    MOMENT,
    Base,
    column,
    key_column,
    one_of,
    optional,
    reference,
)

if TYPE_CHECKING:
    from sqlalchemy.orm import Mapped


ROLES = ("annotator", "viewer", "manager", "admin")
"""What a user may be; each may do all that those before it may."""


class User(Base, secret=True, never_renumbered=True):
    """Somebody who signs in; of the whole database, not of a project."""

    __tablename__ = "users"
    __table_args__ = (
        CheckConstraint(one_of("role", ROLES), "role"),
        CheckConstraint("name <> ''", "name"),
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


class UserAnnotator(Base, secret=True):
    """An annotator whose own report a user may see. Erasing the annotator deletes the row."""

    __tablename__ = "user_annotators"
    __table_args__ = (reference("annotators", "annotator_id"),)
    user_id: Mapped[int] = key_column(Integer, ForeignKey("users.id"))
    project_id: Mapped[int] = key_column(Integer)
    annotator_id: Mapped[int] = key_column(Integer)


class Token(Base, secret=True, never_renumbered=True):
    """What a program shows in place of a user's password; it may do no more than they may."""

    __tablename__ = "tokens"
    __table_args__ = (
        CheckConstraint(one_of("role", ROLES), "role"),
        CheckConstraint("name <> ''", "name"),
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


class AccessChange(Base, secret=True, never_renumbered=True):
    """Something that was done to a user, a token or a webhook; no secret is in it."""

    __tablename__ = "access_changes"
    id: Mapped[int] = column(Integer, primary_key=True)
    made_at: Mapped[int] = column(BigInteger, comment=MOMENT)
    made_by: Mapped[str | None] = optional(Text, comment="the user's name; NULL: by a command")
    kind: Mapped[str] = column(Text)
    detail: Mapped[str] = column(Text, comment="a JSON object: of whom or what")


class SigningKey(Base, secret=True):
    """The key that sessions are signed with: one row, made when it is first needed."""

    __tablename__ = "signing_keys"
    __table_args__ = (CheckConstraint("id = 1", "one"),)
    id: Mapped[int] = key_column(Integer)
    key: Mapped[str] = column(Text, comment="32 random bytes, hexadecimal")


# -- What passes between the ledger and other programs; no project's record holds any of it -------


EVENTS = (
    "snapshot_taken", "finding_raised", "gate_failed", "goal_reached", "annotator_paused",
    "assignments_late", "round_done",
)  # fmt: skip
"""What a webhook can be told of."""


class KeyedRequest(Base, secret=True):
    """A request that a program sent with a key, and its answer: the same key gets it again."""

    __tablename__ = "keyed_requests"
    __table_args__ = (CheckConstraint("(status IS NULL) = (body IS NULL)", "answered"),)
    made_by: Mapped[str] = key_column(Text, comment="the user's name")
    key: Mapped[str] = key_column(Text)
    digest: Mapped[str] = column(Text, comment="of the request, SHA-256")
    made_at: Mapped[int] = column(BigInteger, comment=MOMENT)
    status: Mapped[int | None] = optional(Integer, comment="NULL while it is under way")
    location: Mapped[str | None] = optional(Text)
    body: Mapped[str | None] = optional(Text)


class Webhook(Base, secret=True, never_renumbered=True):
    """An address that is told of events, of one project or of all."""

    __tablename__ = "webhooks"
    id: Mapped[int] = column(Integer, primary_key=True)
    project_id: Mapped[int | None] = optional(
        Integer, ForeignKey("projects.id"), comment="NULL for all projects"
    )
    url: Mapped[str] = column(Text)
    events: Mapped[str] = column(Text, comment="what it is told of, words with spaces between")
    secret: Mapped[str] = column(Text, comment="what messages are signed with, base64")
    allow_private: Mapped[bool] = column(Boolean, comment="the address may be a private one")
    created_at: Mapped[int] = column(BigInteger, comment=MOMENT)


class Delivery(Base, secret=True, never_renumbered=True):
    """A message to a webhook, stored with the change that it tells of."""

    __tablename__ = "deliveries"
    id: Mapped[int] = column(Integer, primary_key=True)
    webhook_id: Mapped[int] = column(Integer, ForeignKey("webhooks.id"))
    project_id: Mapped[int] = column(Integer, ForeignKey("projects.id"))
    event: Mapped[str] = column(Text)
    body: Mapped[str] = column(Text, comment="the JSON that is sent")
    made_at: Mapped[int] = column(BigInteger, comment=MOMENT)
    attempts: Mapped[int] = column(Integer)
    next_at: Mapped[int | None] = optional(
        BigInteger, comment=f"{MOMENT}; NULL: delivered, or given up"
    )
    delivered_at: Mapped[int | None] = optional(BigInteger, comment=MOMENT)
    fault: Mapped[str | None] = optional(Text, comment="why the last attempt failed")
