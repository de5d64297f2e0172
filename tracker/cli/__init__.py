"""The commands, one noun a file; the only reader of the environment."""
