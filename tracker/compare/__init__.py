"""Two states of agreement compared: what changed, by how much, and what made it."""
