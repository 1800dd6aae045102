"""Judging whether differing results are another right reading."""
