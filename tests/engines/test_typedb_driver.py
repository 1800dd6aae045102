"""The adapter for TypeDB servers, as far as it can be tried without one.

What it writes is loaded into the embedded engine, what it decodes are the driver's own values, and
the errors are the texts that a 3.12.3 server was seen to send.
"""

import datetime as dt
import pickle
from collections import Counter
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typedb.common.datetime import Datetime
from typedb.driver import TypeDB, TypeDBDriverException

from qeval.cells import build_cell, build_engine
from qeval.configuration import compose, plain
from qeval.engines.base import Engine, EngineLostError, QueryError
from qeval.engines.typedb import TypedbEngine
from qeval.engines.typedb.engine import address_of, new_enough
from qeval.engines.typedb.failures import raise_for
from qeval.engines.typedb.load import content_queries, expected
from qeval.engines.typedb.writing import literal, write_queries
from qeval.engines.typeql.answers import rows_table
from qeval.engines.typeql.load import filled
from qeval.engines.typeql.mapping import TypeqlMapping
from qeval.errors import EngineUnavailableError
from qeval.suites import load_suite
from qeval.typeql import Database

from .typeql_shop import MAPPING, make_instance

SHOP = make_instance()


@pytest.mark.parametrize("batch", [1, 7, 1000])
def test_the_write_queries_say_what_the_bulk_load_does(batch: int) -> None:
    """Each query keeps all cardinalities, in one transaction after the other."""
    written = Database()
    written.define(SHOP.schema)
    written.load(write_queries(TypeqlMapping(MAPPING, SHOP.dataset()), batch))
    assert written.fingerprint() == filled(SHOP).fingerprint()


def test_the_ecommerce_data_can_be_written() -> None:
    instance = load_suite("ecommerce").instance("typeql", "variant-2")
    written = Database()
    written.define(instance.schema)
    written.load(write_queries(TypeqlMapping(instance.mapping, instance.dataset()), 25))
    assert written.fingerprint() == filled(instance).fingerprint()


def test_the_content_queries_return_all_that_was_made() -> None:
    database = filled(SHOP)
    made = expected(TypeqlMapping(MAPPING, SHOP.dataset()))
    assert made == Counter(user=24, member=6, order=100, purchase=100, friendship=2)
    found = [document for query in content_queries(MAPPING)
             for document in database.query(query).documents]  # fmt: skip
    assert len(found) == made.total()


@given(
    st.one_of(
        st.booleans(),
        st.integers(-(2**63) + 1, 2**63 - 1),
        st.floats(allow_nan=False, allow_infinity=False),
        st.decimals(-(10**15), 10**15, places=2),
        st.text(st.characters(exclude_categories=["Cs"])),
        st.dates(dt.date(1, 1, 1), dt.date(9999, 12, 31)),
        st.datetimes(),
    )
)
def test_literals_mean_the_value(value: Any) -> None:
    answer = Database().query(f"match let $x = {literal(value)};")
    ((found,),) = rows_table(answer.columns, answer.rows).rows
    wanted = value.replace(tzinfo=dt.UTC) if isinstance(value, dt.datetime) else value
    assert found == wanted
    assert type(found) is type(wanted)


def test_the_drivers_values_are_decoded() -> None:
    make = TypeDB.Concept
    moment = Datetime.utcfromstring("2024-05-06T07:08:09.123456000")
    concepts = [
        make.new_boolean(value=True),
        make.new_integer(7),
        make.new_double(0.5),
        make.new_decimal(Decimal("1.50")),
        make.new_string("李"),
        make.new_date(dt.date(2024, 2, 29)),
        make.new_datetime(moment),
        None,
    ]
    table = rows_table([*"abcdefgh"], [concepts])
    assert table.rows == (
        (
            True,
            7,
            0.5,
            Decimal("1.5"),
            "李",
            dt.date(2024, 2, 29),
            dt.datetime(2024, 5, 6, 7, 8, 9, 123456, tzinfo=dt.UTC),
            None,
        ),
    )


@pytest.mark.parametrize(
    ("text", "kind", "code"),
    [
        ("[TQL03] TypeQL Error: expected ';'\nCaused: [TQL0] x\nCaused: [QEX1] y", "syntax_error",
         "TQL03"),
        ("[INF2] Type label 'usr' not found.\nCaused: [QUA1] a\nCaused: [QEX8] b", "schema_error",
         "INF2"),
        ("[REP44] variable must be bound\nCaused: [QEX7] b", "runtime_error", "REP44"),
        ("[EEV4] division by zero\nCaused: [REX5] a\nCaused: [PEX7] b", "runtime_error", "EEV4"),
        ("[TSV9] Write query in a read transaction", "unsafe", "TSV9"),
    ],
)  # fmt: skip
def test_the_first_code_of_a_chain_decides(text: str, kind: str, code: str) -> None:
    with pytest.raises(QueryError) as caught:
        raise_for(TypeDBDriverException(text))
    assert (caught.value.kind, caught.value.code) == (kind, code)


@pytest.mark.parametrize("text", ["[CXN04] Unable to connect", "transport error", "[PDR02] closed"])
def test_a_lost_server_is_no_verdict(text: str) -> None:
    with pytest.raises(EngineLostError):
        raise_for(TypeDBDriverException(text))


@pytest.mark.parametrize(
    ("uri", "host_port", "secure", "login"),
    [
        ("localhost:1729", "localhost:1729", False, None),
        ("typedb://ann:p%40ss@db:1729/", "db:1729", False, ("ann", "p@ss")),
        ("https://cloud.example:443", "cloud.example:443", True, None),
        ("typedb+tls://a:b@h:1", "h:1", True, ("a", "b")),
    ],
)
def test_uris(uri: str, host_port: str, secure: bool, login: tuple[str, str] | None) -> None:  # noqa: FBT001
    address = address_of(uri)
    assert (address.host_port, address.secure, address.login) == (host_port, secure, login)
    assert "p@ss" not in repr(address)


@pytest.mark.parametrize(
    ("version", "accepted"),
    [("3.12.3", True), ("3.13.0-rc1", True), ("4.0", True), ("3.9.1", False), ("2.28.0", False)],
)
def test_versions(version: str, accepted: bool) -> None:  # noqa: FBT001
    assert new_enough(version) is accepted


def configured(monkeypatch: pytest.MonkeyPatch, uri: str, *overrides: str) -> Engine:
    monkeypatch.setenv("QEVAL_TYPEDB_URI", uri)
    words = ["model=gold", "language=typeql", *overrides]
    return build_engine(build_cell(compose(words)).engine_config)


@pytest.mark.parametrize("overrides", [[], ["engine=typedb"]])
def test_the_variable_chooses_the_server(
    monkeypatch: pytest.MonkeyPatch, overrides: list[str]
) -> None:
    engine = configured(monkeypatch, "typedb://ann:s3cret@127.0.0.1:1", *overrides)
    assert isinstance(engine, TypedbEngine)
    with pytest.raises(EngineUnavailableError) as caught:
        engine.start()
    message = str(caught.value)
    assert message.startswith("no TypeDB server answers at 127.0.0.1:1 as user 'ann'")
    assert "unset QEVAL_TYPEDB_URI" in message
    assert "s3cret" not in message + repr(engine)
    engine.stop()
    with pytest.raises(EngineLostError, match="not started"):
        engine.check("match $u isa user;", SHOP)


def test_without_a_uri_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("QEVAL_TYPEDB_URI", raising=False)
    engine = build_engine(plain(compose(["engine=typedb"]))["engine"])
    with pytest.raises(EngineUnavailableError, match="set QEVAL_TYPEDB_URI=host:port"):
        engine.start()
    with pytest.raises(EngineUnavailableError, match="set QEVAL_TYPEDB_URI"):
        pickle.loads(pickle.dumps(engine))  # a copy elsewhere connects by itself
