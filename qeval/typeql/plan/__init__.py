"""The order in which a pattern is evaluated: estimates from the store's counts, greedy choice."""
