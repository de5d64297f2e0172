"""Other programs read live: what changed in them since the last time, and what they deleted."""

from tracker.sync.event_run import EventRun
from tracker.sync.events import Event, EventResult, event_of
from tracker.sync.label_studio import LabelStudio
from tracker.sync.mlflow import MLflow
from tracker.sync.remote import Remote
from tracker.sync.run import (
    NothingNew,
    Overtaken,
    SyncResult,
    SyncRun,
    known_of_source,
    pulled_source,
)

__all__ = [
    "Event",
    "EventResult",
    "EventRun",
    "LabelStudio",
    "MLflow",
    "NothingNew",
    "Overtaken",
    "Remote",
    "SyncResult",
    "SyncRun",
    "event_of",
    "known_of_source",
    "pulled_source",
]
