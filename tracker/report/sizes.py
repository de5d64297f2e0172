"""How wide charts are drawn, without their labels: for a page, and for a telephone."""

from __future__ import annotations

from typing import Final

WIDE: Final = 520
NARROW: Final = 190
ACROSS_WIDE: Final = 4
ACROSS_NARROW: Final = 2

BROAD_CURVE: Final = 930
WIDE_CURVE: Final = 610
NARROW_CURVE: Final = 250
PANEL: Final = 262
"""Curves: on the dashboard, in a report, on a telephone, of one of several questions."""
