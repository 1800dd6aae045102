"""Models and what stands between them and the pipeline: cache, retries, accounting."""
