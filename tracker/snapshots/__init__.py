"""Agreement over time: snapshots of a project's figures and tallies, kept and never changed."""

from tracker.snapshots.count import Taking
from tracker.snapshots.history import snapshot_history
from tracker.snapshots.read import find_snapshot, last_snapshot_of_choice, snapshot_number
from tracker.snapshots.snapshot import History, SnapshotRecord
from tracker.snapshots.take import Taken, take_snapshot, take_snapshots

__all__ = [
    "History",
    "SnapshotRecord",
    "Taken",
    "Taking",
    "find_snapshot",
    "last_snapshot_of_choice",
    "snapshot_history",
    "snapshot_number",
    "take_snapshot",
    "take_snapshots",
]
