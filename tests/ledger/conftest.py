"""Fixtures that other rooms' tests have, too."""

from tests.flags.conftest import people

__all__ = ["people"]
