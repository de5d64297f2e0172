"""Hypothesis without deadlines: the first interval of a process also imports scipy."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("measures", deadline=None)
settings.load_profile("measures")
