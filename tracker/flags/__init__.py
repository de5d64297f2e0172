"""Findings that audits recorded: stored, seen again, acted on, listed."""

from tracker.flags.actions import Acted, act_on_flags, flag_changes
from tracker.flags.listing import ALL, FlagPage, RecordedFlag, count_flags, list_flags, show_flag
from tracker.flags.recording import Recorded, record_flags, settled_audits, with_settled

__all__ = [
    "ALL",
    "Acted",
    "FlagPage",
    "Recorded",
    "RecordedFlag",
    "act_on_flags",
    "count_flags",
    "flag_changes",
    "list_flags",
    "record_flags",
    "settled_audits",
    "show_flag",
    "with_settled",
]
