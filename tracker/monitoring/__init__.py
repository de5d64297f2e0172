"""Statistics of a series of figures over time: its slope, its changes, alarms.

The points of a series share no answer, so that each tells something of its own: the figure of a
whole ledger at one time after another would carry every change on, damped, for ever.

`slope` asks whether the figure rises or falls on the whole. `change_points` looks back and
divides all of it into levels. `watch` looks at each point as it comes in, and says how often it
is wrong.
"""

from __future__ import annotations

from tracker.monitoring.autocorrelation import FEW_PERIODS, Autocorrelation
from tracker.monitoring.change_points import (
    SHORTEST,
    Change,
    ChangePoints,
    Level,
    change_points,
)
from tracker.monitoring.cusum import DIRECTIONS, ENOUGH_FOR_ALARMS, Alarm, Watch, watch
from tracker.monitoring.noise import are_within_noise
from tracker.monitoring.series import Point
from tracker.monitoring.slope import Slope, slope
