"""What somebody did to users, tokens and webhooks, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tracker.projects.users import AccessAct

_SENTENCES: Final = {
    "add user": "added the user {user}: {role}",
    "set role": "made {user} {role}, until then {was}",
    "set annotators": "set whose reports {user} may see",
    "set password": "gave {user} another password",
    "remove user": "removed the user {user}",
    "add token": "made the token {token} of {user}: {role}",
    "revoke token": "revoked the token {token} of {user}",
    "add webhook": "added webhook {webhook} at {host}",
    "remove webhook": "removed webhook {webhook} at {host}",
}


def access_sentence(act: AccessAct) -> str:
    """Return what somebody did, as it stands behind their name: "removed the user ada"."""
    return _SENTENCES[act.kind].format_map(act.detail)
