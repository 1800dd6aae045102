"""Proof that a query makes sense, with the error codes of the server where it does not."""
