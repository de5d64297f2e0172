"""Import a table and see what stands, or that it was refused and nothing stored."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import func, select

from tests.formats.reading import table_text
from tests.helpers import standing
from tracker.core.errors import Refused
from tracker.ledger import Ledger
from tracker.storage.schema import Base

_ROWS = select(
    *(
        select(func.count()).select_from(table).scalar_subquery()
        for table in Base.metadata.sorted_tables
    )
)
"""How many rows each table has."""
HEADER = "item,annotator,category\n"


def stands(ledger: Ledger, project: str = "p", columns: str = "item annotator category") -> str:
    return table_text(standing(ledger, project, *columns.split()))


def refuse(
    ledger: Ledger, source: Any, *signs: str, project: str = "p", error: Any = Refused, **how: Any
) -> str:
    """Return the refusal of an import, which has these signs, and after which nothing changed."""
    before = count_rows(ledger)
    with pytest.raises(error) as caught:
        ledger.import_file(source, project, **how)
    message = str(caught.value)
    for sign in signs:
        assert sign in message
    assert len(message.splitlines()) <= 2
    assert len(message) < 1500
    assert count_rows(ledger) == before
    return message


def count_rows(ledger: Ledger) -> tuple[int, ...]:
    with ledger.database.read() as connection:
        return tuple(connection.execute(_ROWS).one())
