"""The grammar of TypeQL 3.12 as recursive descent, one function per rule.

TypeDB's grammar is a PEG: choices are ordered and never revisited once taken. Nearly all of them
can be told by the next token or two; where they can't, `Scanner.attempt` tries one and goes back.
Attempts are placed so that none can hold another of its own kind, which keeps the time linear.

Three things are narrower than in TypeDB, each with a clear error: blocks and brackets nest at most
`scanner.MAX_DEPTH` deep, an expression has at most `expressions.MAX_OPERATORS` operators, and names
may hold the characters that the running Python's Unicode version knows.
"""
