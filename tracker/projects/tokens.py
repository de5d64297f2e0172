"""Tokens, by which a program asks for a user: shown once, kept as a digest."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Annotated, NamedTuple

from sqlalchemy import Connection, delete, insert, select, update

from tracker.core import clock
from tracker.core.errors import InvalidOption, NotFound
from tracker.core.results import Json, OptionalTime, Record, Spread, Time
from tracker.projects.names import check_entered_name, near_names
from tracker.projects.users import UserInfo, check_role, find_user, record_access_change, user_where
from tracker.storage.schema import ROLES, Token, User

PREFIX = "trk_"
"""How each token begins, so that programs that look for leaked secrets know one."""
_DAY = 24 * 60 * 60 * 1_000_000
_SPAN = re.compile(r"([0-9]{1,5})([hdw])", re.ASCII)
_HOURS = {"h": 1, "d": 24, "w": 168}


def _day(moment: int) -> str:
    return clock.iso(moment)[:10]


@dataclass(frozen=True)
class TokenInfo(Record):
    """A token without its secret; moments in microseconds, None for never."""

    name: Annotated[str, Json("token")]
    user: str
    role: str
    created_at: Time
    expires_at: OptionalTime
    used_at: Annotated[int | None, Json("last_used", write=_day, kind=str | None)]


@dataclass(frozen=True)
class NewToken(Record):
    """A token that was just made; ``secret`` is nowhere else."""

    info: Annotated[TokenInfo, Spread]
    secret: str

    def view(self) -> Iterator[str]:
        """Yield the secret alone: a script may take it from there."""
        yield self.secret

    def hints(self) -> Iterator[str]:
        yield "keep it now: it is not shown again. Send it as: Authorization: Bearer TOKEN"


class TokenUse(NamedTuple):
    """Whose token was shown, and as what they may act."""

    token: int
    user: UserInfo
    role: str
    is_first_of_day: bool


def expiry_moment(text: str, now: int) -> int:
    """Return the moment that ``90d``, ``12h``, ``4w`` or a date (its end) means.

    Raises InvalidOption for another text, and for a moment that is over.
    """
    span = _SPAN.fullmatch(text.strip())
    try:
        moment = (
            now + int(span[1]) * _HOURS[span[2]] * (_DAY // 24)
            if span
            else clock.moment_of_datetime(date.fromisoformat(text.strip()), end_of_day=True)
        )
    except ValueError:
        raise InvalidOption(
            f"--expires {text!r} is no time", "write 90d, 12h, 4w or a date: 2030-01-31"
        ) from None
    if moment <= now:
        raise InvalidOption(f"--expires {text!r} is over", "name a later time")
    return moment


def add_token(
    connection: Connection, name: str, role: str, user: str, expires: str | None
) -> NewToken:
    """Make a token for a user; raises NotFound, and InvalidOption for what cannot be one."""
    name, now = check_entered_name(name, "token"), clock.now()
    owner = find_user(connection, user)
    if ROLES.index(check_role(role)) > ROLES.index(owner.role):
        raise InvalidOption(
            f"{user!r} is {owner.role}: a token may do no more", f"take --role {owner.role}"
        )
    if connection.scalar(select(Token.id).where(Token.name == name)) is not None:
        raise InvalidOption(f"the token {name!r} exists", "choose another name, or revoke it")
    until = None if expires is None else expiry_moment(expires, now)
    secret = PREFIX + secrets.token_urlsafe(32)
    row = {"name": name, "role": role, "user_id": owner.id, "created_at": now, "expires_at": until}
    connection.execute(insert(Token).values(digest=_digest(secret), **row))
    record_access_change(connection, "add token", token=name, user=owner.name, role=role)
    return NewToken(TokenInfo(name, owner.name, role, now, until, None), secret)


def list_tokens(connection: Connection) -> list[TokenInfo]:
    """Return all tokens by name, expired ones too."""
    columns = (Token.name, User.name.label("user"), Token.role, Token.created_at)
    statement = select(*columns, Token.expires_at, Token.used_at).join_from(
        Token, User, User.id == Token.user_id
    )
    rows = connection.execute(statement.order_by(Token.name))
    return [TokenInfo(*row) for row in rows]


def revoke_token(connection: Connection, name: str) -> TokenInfo:
    """Delete a token, and return what it was; raises NotFound."""
    tokens = {token.name: token for token in list_tokens(connection)}
    if name not in tokens:
        advice = near_names(name, tokens) or "see: tracker token list"
        raise NotFound(f"there is no token {name!r}", advice)
    connection.execute(delete(Token).where(Token.name == name))
    record_access_change(connection, "revoke token", token=name, user=tokens[name].user)
    return tokens[name]


def used_token(connection: Connection, secret: str) -> TokenUse | None:
    """Return whose token a secret is; None for an unknown or expired one."""
    now = clock.now()
    row = connection.execute(
        select(Token.id, Token.user_id, Token.role, Token.expires_at, Token.used_at).where(
            Token.digest == _digest(secret)
        )
    ).one_or_none()
    if row is None or (row.expires_at is not None and row.expires_at <= now):
        return None
    user = user_where(connection, User.id == row.user_id)
    if user is None:
        return None
    role = min(row.role, user.role, key=ROLES.index)
    return TokenUse(row.id, user, role, row.used_at is None or row.used_at // _DAY < now // _DAY)


def note_token_use(connection: Connection, token: int) -> None:
    connection.execute(update(Token).where(Token.id == token).values(used_at=clock.now()))


def _digest(secret: str) -> str:
    """Return what is stored of a secret, which is too long to be guessed: one pass will do."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
