"""How wide charts are drawn: for a page, and for a telephone."""

from __future__ import annotations

from typing import Final

WIDE: Final = 520
NARROW: Final = 190
ACROSS_WIDE: Final = 4
ACROSS_NARROW: Final = 2
