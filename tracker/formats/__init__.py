"""The files that people bring: a reader for each format, and the batches of rows it yields."""
