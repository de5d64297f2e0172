"""Agreement on numeric scales: correlations, differences, and parts of the variance."""
