"""Whether this installation gives the figures that are known, by its functions and as a whole.

A case is a small published data set with the figures that it must give (`cases.json`). Each figure
is computed twice: by the functions of `tracker.measures` on tallies made in Python, and by the
whole program, from a file through the database to the assessment.
"""

from __future__ import annotations

from tracker.conformance.cases import Case, Figure, known_cases
from tracker.conformance.check import Check, Conformance, check_installation

__all__ = ["Case", "Check", "Conformance", "Figure", "check_installation", "known_cases"]
