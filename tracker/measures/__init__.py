"""Measures of agreement: pure functions from tallies to coefficients.

`MEASURES` says of each what it is called, what it needs, when it is undefined, where it comes
from and how it is defined. A new measure is one function and one entry.
"""
