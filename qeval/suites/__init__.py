"""Suites on disk: find, load, validate, select cases, check the golds."""

from qeval.suites.loader import available, load_suite
from qeval.suites.selection import select_cases

__all__ = ["available", "load_suite", "select_cases"]
