"""Fixtures that other rooms' tests have, too."""

from tests.audit.flags.conftest import people

__all__ = ["people"]
