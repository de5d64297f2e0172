"""From files to labels: a reader per format, one stream of batches, one bulk loader."""
