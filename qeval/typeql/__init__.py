"""An embedded TypeQL 3 engine with the semantics of TypeDB 3.12; needs nothing else of qeval.

::

    db = Database()
    db.define(schema_text)
    db.load(insert_texts)
    answer = db.query("match $p isa person, has name $n;", timeout_s=10.0)
"""

from qeval.typeql.answers import Answer
from qeval.typeql.concepts import Attribute, Concept, Entity, Relation, TypeConcept, Value
from qeval.typeql.database import Database
from qeval.typeql.errors import TypeQLError

__all__ = [
    "Answer",
    "Attribute",
    "Concept",
    "Database",
    "Entity",
    "Relation",
    "TypeConcept",
    "TypeQLError",
    "Value",
]
