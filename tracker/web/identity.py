"""Who asks, what their role lets them do, and the one word by which a route says whom it admits."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from fastapi import Depends, HTTPException, Request


class Role(IntEnum):
    """What a user may do; each role may do all that those before it may."""

    EVERYONE = 0
    """Whoever asks, signed in or not."""
    ANNOTATOR = 1
    """See their own page."""
    VIEWER = 2
    """See everything of the projects."""
    MANAGER = 3
    """Import, take snapshots, work on findings, change settings."""
    ADMIN = 4
    """Manage users, tokens and webhooks; delete projects."""


@dataclass(frozen=True)
class Identity:
    """Who asks.

    Attributes:
        name: the user's name, which stands in the change log.
        role: the user's role.
    """

    name: str
    role: Role


LOCAL = Identity("local", Role.ADMIN)
"""Who asks of a server without users: somebody at this machine."""


class Needs:
    """A route's condition: the role that it needs. Each route has exactly one."""

    def __init__(self, role: Role) -> None:
        self.role = role

    def __call__(self, request: Request) -> None:
        """Raise 401 for somebody unknown, 403 for one whose role is too low."""
        who: Identity | None = request.state.identity
        if self.role is Role.EVERYONE:
            return
        if who is None:
            raise HTTPException(401, "sign in first")
        if who.role < self.role:
            raise HTTPException(403, f"this needs the role {self.role.name.lower()}")


def needs(role: Role) -> Any:
    """Return the condition for a route's ``dependencies``."""
    return Depends(Needs(role))
