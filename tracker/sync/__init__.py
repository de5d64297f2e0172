"""Other programs read live: what changed in them since the last time, and what they deleted."""
