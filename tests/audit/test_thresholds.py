"""Thresholds from a file, and what is said of a file that is wrong."""

from __future__ import annotations

from dataclasses import asdict, fields

import pytest

from tracker.audit.thresholds import DEFAULT_FLOORS, Floors, read_floors
from tracker.core.errors import Refused


def test_what_is_named_is_changed_and_all_else_stays():
    text = "# ours\n[audit]\nbias_odds_ratio = 3\ndrift_fall = 0.2\n"
    assert read_floors(text, "audit.toml") == Floors(bias_odds_ratio=3.0, drift_fall=0.2)
    assert read_floors("", "audit.toml") == read_floors("[audit]", "") == DEFAULT_FLOORS


@pytest.mark.parametrize("name", [field.name for field in fields(Floors)])
def test_every_default_is_in_its_own_range_and_has_two_ends(name):
    value = asdict(DEFAULT_FLOORS)[name]
    assert read_floors(f"[audit]\n{name} = {value}", "f") == DEFAULT_FLOORS
    for outside in ("-0.1", "1e7", "nan", "inf", "-inf"):
        with pytest.raises(Refused, match=rf"f:2: {name} is "):
            read_floors(f"[audit]\n{name} = {outside}", "f")


@pytest.mark.parametrize(
    ("text", "message", "mend"),
    [
        ("[audit]\ndrift_fal = 0.2", "f:2: there is no threshold 'drift_fal'", "'drift_fall'?"),
        ("[audit]\n\nzzz = 1", "f:3: there is no threshold 'zzz'", "one of: constant_share, bias"),
        ("[audit]\ncopied_ratio = 0.5", "f:2: copied_ratio is 0.5", "give 1 to 1e+06"),
        ("[audit]\ntime_ratio = 2", "f:2: time_ratio is 2", "give 0 to 1"),
        ("[audit]\nseverity_points = 11", "f:2: severity_points is 11", "give 0 to 10"),
        ("[audit]\ntime_ratio = true", "f:2: time_ratio is True, not a number", None),
        ("[audit]\ntime_ratio = '1'", "f:2: time_ratio is '1', not a number", None),
        ("[audits]\ntime_ratio = 1", "f:1: 'audits' is not the table [audit]", "[audit]"),
        ("[audit]\n[other]", "f:2: 'other' is not the table [audit]", "[audit]"),
        ("audit = 3", "f:1: 'audit' is not the table [audit]", "[audit]"),
        ("time_ratio = 0.2", "f:1: 'time_ratio' is not the table [audit]", "[audit]"),
        ("[audit]\ntime_ratio = = 1\n", "f is not TOML: ", "line 2"),
    ],
)
def test_what_is_wrong_and_where(text, message, mend):
    with pytest.raises(Refused) as caught:
        read_floors(text, "f")
    assert caught.value.message.startswith(message)
    assert mend is None or mend in str(caught.value)
