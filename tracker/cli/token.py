"""``tracker token``: what programs show in place of a user's password."""

from __future__ import annotations

from tracker.cli.operations import operation_group
from tracker.ledger.tokens import Tokens

tokens, register = operation_group(
    "token", "List, add and revoke the tokens of users' programs.", Tokens
)
