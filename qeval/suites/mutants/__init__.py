"""Mutation strength: how well data and comparison tell a gold from a near miss.

`mutants(language, gold, schema, mapping)` makes near misses of a gold; `measure` runs them on the
instances of a suite and counts by operator how many the comparison refutes. A language takes part
with one module of its name here, which holds `mutants(query, schema, mapping)`; its further modules
have an underscore in their names.
"""

from qeval.suites.mutants.base import OPERATORS, Mutant, mutants, mutated_languages
from qeval.suites.mutants.declared import Equivalent, read_equivalents
from qeval.suites.mutants.strength import Outcome, Strength, measure
from qeval.suites.mutants.summary import golds_digest, read_summary, summary_of, write_summary

__all__ = [
    "OPERATORS",
    "Equivalent",
    "Mutant",
    "Outcome",
    "Strength",
    "golds_digest",
    "measure",
    "mutants",
    "mutated_languages",
    "read_equivalents",
    "read_summary",
    "summary_of",
    "write_summary",
]
