"""How a server finds out who asks: what it was started with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracker.core.errors import InvalidOption
from tracker.ledger import Ledger
from tracker.web.identity import is_this_machine

if TYPE_CHECKING:
    from tracker.web.oidc import Oidc

_SHORTEST_KEY = 32


@dataclass(frozen=True)
class Access:
    """Whom a server lets in.

    Attributes:
        at_this_machine: whether it can be reached from this machine only, so that without users
            whoever asks may do everything.
        secret_key: what sessions are signed with; None: the key in the database.
        oidc: a service at which users sign in, too.
    """

    at_this_machine: bool = True
    secret_key: str | None = None
    oidc: Oidc | None = None


HERE_ONLY = Access()
"""A server that only this machine can reach."""


def checked_access(
    ledger: Ledger, host: str, *, secret_key: str | None, oidc: Oidc | None = None
) -> Access:
    """Return whom a server at an address lets in.

    Raises InvalidOption if everybody could come and there are no users, and for a short key.
    """
    here = is_this_machine(host)
    if not here and not ledger.users.any():
        raise InvalidOption(
            f"{host} can be reached from elsewhere, and there are no users to sign in",
            "add one: tracker user add NAME --role admin",
        )
    if secret_key is not None and len(secret_key) < _SHORTEST_KEY:
        raise InvalidOption(
            f"TRACKER_SECRET_KEY has {len(secret_key)} characters",
            f"make one of {_SHORTEST_KEY} or more, such as by: openssl rand -hex 32",
        )
    return Access(at_this_machine=here, secret_key=secret_key, oidc=oidc)
