"""Files that are migrated, where the migrations are what is tested."""

from __future__ import annotations

import pytest

from tracker.storage.database import Database

UPGRADE = Database.upgrade


@pytest.fixture
def migrated_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Database, "upgrade", UPGRADE)
