"""Database engines: locate, start, load, execute, stop."""
