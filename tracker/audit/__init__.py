"""A project's audit: evidence counted, findings named, figures of each annotator."""
