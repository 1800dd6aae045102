"""The engine's own form of a query: variables, constraints, patterns and stages.

``translate`` builds it from the syntax tree, ``check`` proves it sound, ``plan`` orders it and
``execute`` runs it. Everything a short form hides is spelled out here: ``T (role: $p)`` has become
an anonymous relation variable, an ``isa`` and a ``links``.
"""
