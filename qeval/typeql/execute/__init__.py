"""Running a plan: steps become generators over rows, rows are tuples with a slot a variable."""
