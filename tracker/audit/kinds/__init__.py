"""The kinds of findings, one file each. Pure: tallies in, test results out."""
