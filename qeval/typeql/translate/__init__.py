"""From the syntax tree to the engine's own form of a query."""
