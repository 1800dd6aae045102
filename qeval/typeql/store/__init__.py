"""The data: entities, relations and attributes in memory, indexed every way a query may walk."""

from qeval.typeql.store.store import Store
from qeval.typeql.store.things import Attribute, Entity, Object, Relation, Thing

__all__ = ["Attribute", "Entity", "Object", "Relation", "Store", "Thing"]
