"""Agreement between annotators, audits and their history, kept in a database."""
