"""Whether this installation gives the figures that are known, by its functions and as a whole.

A case is a small published data set with the figures that it must give (`cases.json`). Each figure
is computed twice: by the functions of `tracker.measures` on tallies made in Python, and by the
whole program, from a file through the database to the assessment.
"""
