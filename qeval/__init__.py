"""qeval: how well do language models write SQL, Cypher and TypeQL? Every query is executed."""

__version__ = "0.1.0"
