"""Tables of golds kept between sweeps: only where nothing that could change them has changed."""

from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import qeval
from qeval import golds
from qeval.engines.base import EngineInfo, QueryLimits
from qeval.engines.typeql import EmbeddedTypeqlEngine
from qeval.exit_codes import ExitCode
from qeval.golds import GoldTables
from qeval.scoring.table import Table

INFO = EngineInfo("postgres", "18.6", "embedded")
LIMITS = QueryLimits()
TABLE = Table(
    ["a", "b", "b"],
    [(1, None, Decimal("1.50")), (True, "ü", date(2025, 1, 1)), (0.5, (1, 2), datetime.now(UTC))],
)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own."""
    monkeypatch.setenv("QEVAL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def kept(info: EngineInfo = INFO) -> GoldTables:
    tables = GoldTables(info)
    tables.add("SELECT 1", "data", LIMITS, TABLE)
    tables.save()
    return tables


def test_a_kept_table_comes_back_as_it_was() -> None:
    kept()
    found = GoldTables(INFO).find("SELECT 1", "data", LIMITS)
    assert found == TABLE
    assert found is not None
    assert [type(value) for row in found.rows for value in row] == [
        type(value) for row in TABLE.rows for value in row
    ]


@pytest.mark.parametrize(
    ("info", "query", "data", "limits"),
    [
        (replace(INFO, version="18.7"), "SELECT 1", "data", LIMITS),
        (INFO, "SELECT 2", "data", LIMITS),
        (INFO, "SELECT 1", "other data", LIMITS),
        (INFO, "SELECT 1", "data", replace(LIMITS, max_rows=9)),
    ],
)
def test_another_query_engine_or_data_is_another_table(
    info: EngineInfo, query: str, data: str, limits: QueryLimits
) -> None:
    kept()
    assert GoldTables(info).find(query, data, limits) is None


def test_changed_code_forgets_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    kept()
    monkeypatch.setattr(golds, "_code", lambda: (("comparison.py", 1, 2),))
    assert GoldTables(INFO).find("SELECT 1", "data", LIMITS) is None


def test_a_users_own_server_takes_no_part(cache: Path) -> None:
    server = replace(INFO, origin="server")
    assert kept(server).find("SELECT 1", "data", LIMITS) is None
    assert not list(cache.rglob("*.pickle"))


def test_a_cache_that_can_not_be_written_costs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("QEVAL_CACHE", str(tmp_path / "file"))
    assert kept().find("SELECT 1", "data", LIMITS) is None


def test_a_damaged_file_is_as_if_it_were_not_there(cache: Path) -> None:
    kept()
    (file,) = cache.rglob("*.pickle")
    file.write_bytes(file.read_bytes()[:20])
    assert GoldTables(INFO).find("SELECT 1", "data", LIMITS) is None
    kept()
    assert GoldTables(INFO).find("SELECT 1", "data", LIMITS) == TABLE


def test_the_second_sweep_runs_no_gold_and_says_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mock answers some cases with their golds: only predictions are executed then."""
    executed: list[str] = []
    execute = EmbeddedTypeqlEngine.execute

    def counting(self: EmbeddedTypeqlEngine, query: str, *rest: Any) -> Any:
        executed.append(query)
        return execute(self, query, *rest)

    monkeypatch.setattr(EmbeddedTypeqlEngine, "execute", counting)
    verdicts, runs = [], []
    for number, keep in enumerate(("true", "true", "false")):
        executed.clear()
        result = qeval.run(
            [
                "lang=typeql",
                "model=mock",
                "difficulty=easy",
                "difficulty.limit=10",
                "scoring.variants=1",
                "tracking=none",
                f"scoring.keep_golds={keep}",
                f"runs_dir={tmp_path / str(number)}",
            ]
        )
        assert result.exit_code is ExitCode.DONE
        records = sorted(result.cells[0].records, key=lambda record: record.case_id)
        verdicts.append([(record.verdict, record.kind) for record in records])
        runs.append(len(executed))
    assert verdicts[0] == verdicts[1] == verdicts[2]
    assert runs[0] == runs[2] > runs[1] > 0
