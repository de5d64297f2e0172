"""Measures of agreement: pure functions from tallies to coefficients.

`MEASURES` in `registry` says of each what it is called, what it needs, when it is undefined, where
it comes from and how it is defined. A new measure is one function and one entry.

``confidence`` is everywhere the level of the bounds. A function that is given one raises
InvalidOption unless it lies between 0 and 1.
"""
