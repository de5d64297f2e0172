"""What every room uses: the version, errors, moments, tallies."""
