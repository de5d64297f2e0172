"""Whether labels can be trusted: the lower end of an interval against two thresholds."""

from __future__ import annotations

from typing import Any

import pytest

from tracker.agreement.readiness import THRESHOLDS, readiness_of
from tracker.agreement.sentences import main_figure_sentence


def figure(value: float | None, low: float | None = None, **more: Any) -> dict[str, Any]:
    """Return an alpha as JSON has it."""
    readings = {} if value is None else {"readings": {}}
    return {"measure": "krippendorff_alpha", "value": value, "ci_low": low, "ci_high": low,
            "confidence": 0.95, "undefined": None, **readings, **more}  # fmt: skip


@pytest.mark.parametrize(
    ("value", "low", "state", "needs", "words"),
    [
        (0.51, 0.48, "not_yet", 0.667, "too low to rely on (needs 0.667)"),
        (0.7, 0.65, "not_yet", 0.667, "not certain enough to rely on (the lower end needs 0.667)"),
        (0.75, 0.667, "tentative", 0.8,
         "enough for tentative conclusions only (to rely on it, needs 0.800)"),
        (0.9, 0.79, "tentative", 0.8,
         "enough for tentative conclusions only (to rely on it, the lower end needs 0.800)"),
        (0.9, 0.8, "good_enough", None, "good enough to rely on"),
        (0.9, None, "good_enough", None, "good enough to rely on"),
        (0.5, None, "not_yet", 0.667, "too low to rely on (needs 0.667)"),
    ],
)  # fmt: skip
def test_krippendorff_2004_thresholds_on_the_lower_end(value, low, state, needs, words):
    readiness = readiness_of(figure(value, low), THRESHOLDS)
    assert (readiness.state, readiness.needs, readiness.words) == (state, needs, words)
    assert readiness.bound == (value if low is None else low)
    assert main_figure_sentence(figure(value, low), THRESHOLDS).endswith(f": {words}.")


def test_what_has_no_figure_or_no_threshold_is_not_judged():
    assert readiness_of(figure(None), THRESHOLDS).title == "No figure yet"
    exact = figure(0.9, 0.85, measure="span_f1_exact")
    del exact["readings"]
    assert readiness_of(exact, THRESHOLDS).title == "No threshold"
    assert readiness_of(exact, THRESHOLDS).words == ""
    assert main_figure_sentence(exact, THRESHOLDS).endswith("0.850).")
