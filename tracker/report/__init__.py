"""A page about a project, made to be sent: one document, in several formats."""
