"""Instances made on the spot: a few rows on which two queries are tried and which are dropped."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

from qeval.data.model import Dataset
from qeval.engines.base import Engine
from qeval.suite import Instance, Suite


def ad_hoc_instance(suite: Suite, language: str, dataset: Dataset) -> Instance:
    """An instance of the suite with these rows; its key names them, the schema and the mapping."""
    like = suite.instance(language, suite.instances[0])
    digest = hashlib.sha256(like.key.encode())
    for table in dataset.tables:
        digest.update(repr((table.name, list(dataset.rows[table.name]))).encode())
    return Instance(
        key=f"ad_hoc_{digest.hexdigest()[:24]}",
        name="ad-hoc",
        schema=like.schema,
        mapping=like.mapping,
        dataset=lambda: dataset,
        ad_hoc=True,
    )


@contextmanager
def lent(engine: Engine, instance: Instance) -> Iterator[Instance]:
    """The instance, loaded until the block ends. Raises `InputError` if its rows are refused."""
    try:
        engine.load(instance)
        yield instance
    finally:
        engine.drop(instance)
