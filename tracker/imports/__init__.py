"""From files to labels: a reader for each format, one stream of batches, one bulk loader."""
