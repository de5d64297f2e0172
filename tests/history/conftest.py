"""A ledger that all tests of a module use; what they change they take back."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from tests import postgres
from tracker.ledger import Ledger


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def module_ledger(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, worker: str
) -> Iterator[Ledger]:
    """A ledger of the module's own, on each backend in turn."""
    if request.param == "sqlite":
        folder = tmp_path_factory.mktemp("module")
        file = shutil.copy(request.getfixturevalue("sqlite_template"), folder / "ledger.db")
        yield Ledger(f"sqlite:///{file}")
    else:
        admin_url = request.getfixturevalue("admin_url")
        template = request.getfixturevalue("postgres_template")
        name = f"{request.module.__name__} {worker}"[-60:]
        yield Ledger(postgres.create_database(admin_url, name, template=template))
        postgres.drop_database(admin_url, name)
