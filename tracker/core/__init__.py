"""What every room speaks of: the version, errors, moments, tallies."""
