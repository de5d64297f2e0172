"""Labels that lie in Parquet files: which files, what stands in them, and who counts there."""
