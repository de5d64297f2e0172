"""Two states of agreement compared: what changed, by how much, and what made it."""

from tracker.compare.comparison import compare_states
from tracker.compare.result import StateComparison
from tracker.compare.states import (
    State,
    find_compared_state,
    find_compared_states,
    refuse_incomparable_states,
)

__all__ = [
    "State",
    "StateComparison",
    "compare_states",
    "find_compared_state",
    "find_compared_states",
    "refuse_incomparable_states",
]
