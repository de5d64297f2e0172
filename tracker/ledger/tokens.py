"""`ledger.tokens`: what programs show in place of a user's password."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

from tracker.core.errors import DatabaseUnusable
from tracker.core.operations import Option, operation
from tracker.ledger.namespace import Namespace
from tracker.ledger.users import ROLES
from tracker.render.blocks import Column

if TYPE_CHECKING:
    from tracker.projects.tokens import NewToken, TokenInfo, TokenUse

Name = Annotated[str, Option("The token's name.")]
COLUMNS = (
    Column("token", kind="name"), Column("user"), Column("role"),
    Column("created_at", "made", "day"), Column("expires_at", "expires", "minute", none="never"),
    Column("last_used", none="never"),
)  # fmt: skip


class Tokens(Namespace):
    """The tokens by which programs ask for users."""

    @operation("token add", None, "addToken")
    def add(
        self,
        name: Name,
        role: Annotated[
            str,
            Option(
                "What it allows: no more than the user may do.", metavar=ROLES, word=False,
            ),
        ],
        user: Annotated[str, Option("The user it acts for.", metavar="NAME", word=False)],
        *,
        expires: Annotated[
            str | None,
            Option("When it ends: 90d, 12h, 4w or a date (else never).", metavar="TIME"),
        ] = None,
    ) -> NewToken:  # fmt: skip
        """Make a token and print it, this once: only a digest of it is stored.

        Raises NotFound for an unknown user, InvalidOption for a role above theirs, or a name
        that is taken.

        Examples:
        - `tracker token add nightly --role viewer --user ada`
        - `tracker token add ci --role manager --user ada --expires 90d`

        Next: `tracker token list`
        """
        from tracker.projects.tokens import add_token

        with self._ledger.database.write() as connection:
            return add_token(connection, name, role, user, expires)

    @operation(
        "token list",
        None,
        "listTokens",
        listing="tokens",
        columns=COLUMNS,
    )
    def list(self) -> Sequence[TokenInfo]:
        """List the tokens with their users, roles, ends, and the day of their last use.

        Example:
        - `tracker token list`

        Next: `tracker token revoke nightly`
        """
        from tracker.projects.tokens import list_tokens

        if self._ledger.is_missing:
            return []
        with self._ledger.database.read() as connection:
            return list_tokens(connection)

    @operation(
        "token revoke", None, "revokeToken",
        view=lambda token, _: [f"revoked {token.name} of {token.user}"],
    )  # fmt: skip
    def revoke(self, name: Name) -> TokenInfo:
        """Revoke a token: from now on it is worth nothing.

        Example:
        - `tracker token revoke nightly`

        Next: `tracker token list`
        """
        from tracker.projects.tokens import revoke_token

        with self._ledger.database.write() as connection:
            return revoke_token(connection, name)

    def use(self, secret: str) -> TokenUse | None:
        """Return whose token a secret is, its use noted once a day; None for none that holds."""
        from tracker.projects.tokens import note_token_use, used_token

        if self._ledger.is_missing:
            return None
        with self._ledger.database.read() as connection:
            token_use = used_token(connection, secret)
        if token_use is not None and token_use.is_first_of_day:
            # Whoever may not write now, or at all, may still read.
            with suppress(DatabaseUnusable), self._ledger.database.write(wait=0.0) as connection:
                note_token_use(connection, token_use.token)
        return token_use
