"""A ledger that the tests of a module use; what they change they take back."""

from tests.history.conftest import module_ledger

__all__ = ["module_ledger"]
