"""Telling two queries apart by data: small counterexamples that a person can read."""

from qeval.equivalence.counterexample import Counterexample, counterexample_key
from qeval.equivalence.shrinking import Shrunk, shrink

__all__ = ["Counterexample", "Shrunk", "counterexample_key", "shrink"]
