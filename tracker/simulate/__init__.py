"""Synthetic experiments with a known truth: three from the literature, and planted crowds.

Pure and streamed: rows come one item at a time and nothing is kept but the roster, so any
number of items takes the same memory. The same arguments give the same rows on any machine:
only ``random.Random.random`` is drawn from, the one sequence that Python promises to keep.
"""
