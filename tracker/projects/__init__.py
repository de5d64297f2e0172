"""Projects, annotators, categories and items by name; no change without a row in the log."""
