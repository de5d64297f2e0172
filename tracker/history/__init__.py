"""Agreement over time: the record of a project's figures and tallies, kept and never changed."""

from tracker.history.read import find_snapshot, history, snapshot_number
from tracker.history.record import History, SnapshotRecord
from tracker.history.take import Taken, Taking, take_snapshot

__all__ = [
    "History",
    "SnapshotRecord",
    "Taken",
    "Taking",
    "find_snapshot",
    "history",
    "snapshot_number",
    "take_snapshot",
]
