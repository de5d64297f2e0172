"""A project assessed: tallies → measures → named figures, as a whole or a row each."""
