"""What a snapshot is of, as every face asks for it."""

from __future__ import annotations

from tracker.agreement.asking import Computing
from tracker.counts.choosing import Choosing


class Settings(Computing, Choosing, total=False):
    """How the figures of a snapshot are computed, and of which answers."""
