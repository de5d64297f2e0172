"""The Python face: `Ledger`, loaded when it is used.

Nothing that counts is imported before it is asked for: `tracker project list` starts as fast as
SQLAlchemy does, and the help of a command without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tracker.ledger.ledger import Ledger
    from tracker.ledger.transactions import ledger_database_url

__all__ = ["Ledger", "ledger_database_url"]


def __getattr__(name: str) -> Any:
    if name == "Ledger":
        from tracker.ledger.ledger import Ledger

        return Ledger
    if name == "ledger_database_url":
        from tracker.ledger.transactions import ledger_database_url

        return ledger_database_url
    raise AttributeError(name)
