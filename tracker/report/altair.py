"""Altair without its checks: each part of a chart would be held against a schema of 2 MB."""

from __future__ import annotations

import altair as alt
from altair.utils.schemapi import disable_debug_mode

__all__ = ["alt"]

disable_debug_mode()
