"""Two states of agreement compared: what changed, by how much, and what made it."""

from tracker.compare.comparison import compare_states
from tracker.compare.result import StateComparison
from tracker.compare.states import State, find_state, find_states, refuse_unlike

__all__ = [
    "State",
    "StateComparison",
    "compare_states",
    "find_state",
    "find_states",
    "refuse_unlike",
]
