"""From the text of a read query to something that runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from qeval.typeql.answers import Answer
from qeval.typeql.check.annotate import Known, annotate_stages
from qeval.typeql.check.fetches import annotate_fetch, sure_keys
from qeval.typeql.check.functions import annotate_functions, find_recursion
from qeval.typeql.concepts import concept_of
from qeval.typeql.execute.fetching import FetchCompiler
from qeval.typeql.execute.functions import FunctionTables
from qeval.typeql.execute.stages import StageCompiler
from qeval.typeql.faults import Fault, within
from qeval.typeql.syntax import ast
from qeval.typeql.translate.fetches import translate_pipeline
from qeval.typeql.translate.functions import translate_functions
from qeval.typeql.translate.scope import Scope
from qeval.typeql.translate.stages import MAX_STAGES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from qeval.typeql.budget import Budget
    from qeval.typeql.concepts import Concept
    from qeval.typeql.ir.functions import Signature
    from qeval.typeql.ir.pipelines import Pipeline
    from qeval.typeql.schema import Schema
    from qeval.typeql.store import Store

_T = TypeVar("_T")
_WRITES = (ast.Insert, ast.Put, ast.Update, ast.Delete)


def compile_functions(schema: Schema) -> dict[str, Signature]:
    """Translate and check the functions of a schema.

    Raises FRP… / DEX30 for a fault inside one, FUN9 and FIN… (ending in SCT5, SRV18, TSV6) for
    bad recursion and types, as the server does when a schema is committed.
    """
    with within("DEX30"):
        functions = translate_functions(schema.functions.values(), {})
    own = [function for function in functions.values() if function.body is not None]
    with within("SCT5", "SRV18", "TSV6"):
        find_recursion(own)
        annotate_functions(schema, own, abstract=True)
    return functions


def check_readable(query: ast.Query) -> ast.Pipeline:
    """Return the pipeline of a read query; raises TSV8, TSV9, QEX18 or QEX21 for others."""
    pipeline = query.body
    if not isinstance(pipeline, ast.Pipeline):
        raise Fault("TSV8", "a read transaction cannot change the schema", query.span)
    if any(isinstance(stage, _WRITES) for stage in pipeline.stages):
        raise Fault("TSV9", "a read transaction cannot write", query.span)
    if len(pipeline.stages) > MAX_STAGES:
        raise Fault("QEX18", f"a query has at most {MAX_STAGES} stages", query.span)
    if pipeline.given is not None:
        raise Fault("QEX21", "the query expects rows to be given", pipeline.given.span)
    return pipeline


def compile_query(schema: Schema, functions: Mapping[str, Signature], query: ast.Query) -> Pipeline:
    """Translate and check a read query; raises `TypeQLError` with the server's chain of codes."""
    source = check_readable(query)
    with within("QEX7"):
        known = translate_functions(source.functions, functions)
        pipeline = translate_pipeline(Scope(known), source)
    local = [known[name] for name in dict.fromkeys(f.name for f in source.functions)]
    with within("QEX5"):
        find_recursion(local, first=len(functions))
    with within("QUA2", "QEX8"):
        annotate_functions(schema, local)
    known_types = Known()
    with within("QEX8"):
        annotate_stages(schema, pipeline.registry, pipeline.stages, known_types)
        if pipeline.fetch is not None:
            annotate_fetch(schema, pipeline.fetch, known_types)
    return pipeline


def run_query(
    schema: Schema, store: Store, pipeline: Pipeline, budget: Budget, *, cut: bool = False
) -> Answer:
    """Run a checked query; ``cut`` ends a long answer at the limit of rows instead of failing.

    Raises EEV… (an expression without a value), FEX… (what cannot be fetched) and LIM….
    """
    tables = FunctionTables(schema, store, budget)
    compiler = StageCompiler((), Known(), pipeline.registry, tables.runtime, as_set=True)
    transform = compiler.compile(pipeline.stages)
    with within("REX5", "PEX7", only="EEV"):
        if pipeline.fetch is not None:
            fetcher = FetchCompiler(compiler.columns, compiler.known, tables)
            build = fetcher.compile(pipeline.fetch)
            documents, truncated = _collected(map(build, transform([()])), budget, cut=cut)
            keys = sure_keys(schema, pipeline.fetch, compiler.known)
            return Answer("documents", keys, documents=documents, truncated=truncated)
        slots = compiler.slots()
        order = [slots[var] for var in pipeline.outputs]

        def wrap(row: tuple[Any, ...]) -> tuple[Concept | None, ...]:
            budget.hold(len(order) + 1)
            return tuple([concept_of(row[slot]) for slot in order])

        rows, truncated = _collected(map(wrap, transform([()])), budget, cut=cut)
        columns = tuple(var.name or "" for var in pipeline.outputs)
        return Answer("rows", columns, rows, truncated=truncated)


def _collected(answers: Iterable[_T], budget: Budget, *, cut: bool) -> tuple[list[_T], bool]:
    """All answers, or those within the limit of rows and whether there are more."""
    collected: list[_T] = []
    for answer in answers:
        if cut and len(collected) == budget.limits.max_rows:
            return collected, True
        collected.append(answer)
        budget.check_rows(len(collected))
    return collected, False
