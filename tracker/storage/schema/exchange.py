"""What passes between the ledger and other programs; no project's record holds any of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import BigInteger, Boolean, CheckConstraint, ForeignKey, Integer, Text

from tracker.storage.schema.base import MOMENT, Base, column, optional

if TYPE_CHECKING:
    from sqlalchemy.orm import Mapped


EVENTS = ("snapshot_taken", "finding_raised", "gate_failed")
"""What a webhook can be told of."""


class KeyedRequest(Base):
    """A request that a program sent with a key, and its answer: the same key gets it again."""

    __tablename__ = "keyed_requests"
    __table_args__ = (
        CheckConstraint("(status IS NULL) = (body IS NULL)", "answered"),
        {"info": {"secret": True}},
    )
    made_by: Mapped[str] = column(Text, primary_key=True, comment="the user's name")
    key: Mapped[str] = column(Text, primary_key=True)
    digest: Mapped[str] = column(Text, comment="of the request, SHA-256")
    made_at: Mapped[int] = column(BigInteger, comment=MOMENT)
    status: Mapped[int | None] = optional(Integer, comment="NULL while it is under way")
    location: Mapped[str | None] = optional(Text)
    body: Mapped[str | None] = optional(Text)


class Webhook(Base):
    """An address that is told of events, of one project or of all."""

    __tablename__ = "webhooks"
    __table_args__ = ({"info": {"secret": True, "never_renumbered": True}},)
    id: Mapped[int] = column(Integer, primary_key=True)
    project_id: Mapped[int | None] = optional(
        Integer, ForeignKey("projects.id"), comment="NULL for all projects"
    )
    url: Mapped[str] = column(Text)
    events: Mapped[str] = column(Text, comment="what it is told of, words with spaces between")
    secret: Mapped[str] = column(Text, comment="what messages are signed with, base64")
    allow_private: Mapped[bool] = column(Boolean, comment="the address may be a private one")
    created_at: Mapped[int] = column(BigInteger, comment=MOMENT)


class Delivery(Base):
    """A message to a webhook, stored with the change that it tells of."""

    __tablename__ = "deliveries"
    __table_args__ = ({"info": {"secret": True, "never_renumbered": True}},)
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
