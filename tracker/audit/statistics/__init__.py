"""The tests and models that findings rest on. Pure: tallies in, numbers out."""
