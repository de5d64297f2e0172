"""Synthetic experiments with a known truth: three from the literature, and planted crowds.

Pure and streamed: rows come one item at a time and nothing is kept but the roster, so any
number of items takes the same memory. The same arguments give the same rows on any machine:
only ``random.Random.random`` is drawn from, the one sequence that Python promises to keep.
"""

from tracker.simulate.crowds import Experiment, simulate_crowd, simulate_experiment
from tracker.simulate.roster import (
    DEFAULT_ROSTER,
    Group,
    Row,
    parse_roster,
    simulation_random,
    write_simulated_rows,
)

__all__ = [
    "DEFAULT_ROSTER",
    "Experiment",
    "Group",
    "Row",
    "simulate_crowd",
    "simulate_experiment",
    "parse_roster",
    "simulation_random",
    "write_simulated_rows",
]
