"""The outcomes of an imported row."""

from __future__ import annotations

INSERTED, CHANGED, UNCHANGED, OLDER = range(4)
FATES = ("inserted", "changed", "unchanged", "older")
"""What became of a row, by its number in the column ``fate`` of the staged rows."""
