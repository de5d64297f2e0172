"""Thresholds from a file, and what is said of a file that is wrong."""

import pytest

from tracker.audit.evidence import read_audit_thresholds
from tracker.audit.query import all_thresholds, audit_query
from tracker.core.errors import InvalidOption, Refused

THRESHOLDS = {threshold.name: threshold for threshold in all_thresholds()}


def read(text):
    return read_audit_thresholds(text, "f", THRESHOLDS.values())


def test_thresholds_that_are_named_are_changed():
    text = "# ours\n[audit]\nbias_odds_ratio = 3\ndrift_fall = 0.2\n"
    assert read(text) == {"bias_odds_ratio": 3.0, "drift_fall": 0.2}
    assert read("") == read("[audit]") == {}
    assert audit_query(floors={"drift_fall": 0.2}).floors == {"drift_fall": 0.2}
    with pytest.raises(InvalidOption, match="there is no threshold 'drift_fal'"):
        audit_query(floors={"drift_fal": 0.2})


@pytest.mark.parametrize("name", THRESHOLDS)
def test_a_default_is_in_its_range_which_has_two_ends(name):
    assert read(f"[audit]\n{name} = {THRESHOLDS[name].default}") == {}
    for outside in ("-0.1", "1e7", "nan", "inf", "-inf"):
        with pytest.raises(Refused, match=rf"f:2: {name} is "):
            read(f"[audit]\n{name} = {outside}")


@pytest.mark.parametrize(
    ("text", "message", "mend"),
    [
        ("[audit]\ndrift_fal = 0.2", "f:2: there is no threshold 'drift_fal'", "'drift_fall'?"),
        ("[audit]\n\nzzz = 1", "f:3: there is no threshold 'zzz'", "one of: constant_share, info"),
        ("[audit]\ncopied_ratio = 0.5", "f:2: copied_ratio is 0.5", "give 1 to 1e+06"),
        ("[audit]\nseverity_points = 11", "f:2: severity_points is 11", "give 0 to 10"),
        ("[audit]\ntime_ratio = true", "f:2: time_ratio is True, not a number", ""),
        ("[audits]\ntime_ratio = 1", "f:1: 'audits' is not the table [audit]", "[audit]"),
        ("[audit]\n[other]", "f:2: 'other' is not the table [audit]", "[audit]"),
        ("time_ratio = 0.2", "f:1: 'time_ratio' is not the table [audit]", "[audit]"),
        ("[audit]\ntime_ratio = = 1\n", "f is not TOML: ", "line 2"),
    ],
)
def test_a_mistake_is_told_with_its_line(text, message, mend):
    with pytest.raises(Refused) as caught:
        read(text)
    assert caught.value.message.startswith(message)
    assert mend in str(caught.value)
