"""Suites of one's own: what `qeval init` writes, each way to bring data, and what is wrong told."""

import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from qeval.cells import Cell, build_cell, build_engine, cell_key
from qeval.commands import check
from qeval.configuration import compose
from qeval.data.csv import read_csv_dataset
from qeval.engines.base import Engine, EngineInfo, EngineLostError, QueryError
from qeval.engines.neo4j.scripts import statements_of
from qeval.errors import EngineUnavailableError, InputError
from qeval.exit_codes import ExitCode
from qeval.recorded import recorded_cell
from qeval.suite import Suite
from qeval.suites import load_suite, select_cases
from qeval.suites.check import Bench, GateReport, GateSettings, check_suite
from qeval.suites.documents import read_yaml
from qeval.suites.starter import write_starter
from qeval.typeql.loading import queries_of
from tests.conftest import Run

LANGUAGES = ("sql", "cypher", "typeql")
Starter = Callable[..., Path]


@pytest.fixture(scope="module")
def cells() -> Mapping[str, Cell]:
    return {lang: build_cell(compose(["model=gold", f"language={lang}"])) for lang in LANGUAGES}


@pytest.fixture(scope="module")
def engines(cells: Mapping[str, Cell]) -> Iterator[Mapping[str, Engine]]:
    started = {lang: build_engine(cell.engine_config) for lang, cell in cells.items()}
    for engine in started.values():
        engine.start()
    yield started
    for engine in started.values():
        engine.stop()


@pytest.fixture
def starter(tmp_path: Path) -> Starter:
    def write(data: str = "csv", languages: tuple[str, ...] = LANGUAGES, name: str = "own") -> Path:
        folder = tmp_path / name
        write_starter(folder, languages, data)
        return folder

    return write


def gate(suite: Suite, cells: Mapping[str, Cell], engines: Mapping[str, Engine]) -> GateReport:
    first = next(iter(cells.values()))
    settings = GateSettings(first.limits, first.policy, max_seconds=60.0, workers=2)
    benches = {lang: Bench(cells[lang].language, engines[lang]) for lang in suite.languages}
    return check_suite(suite, benches, suite.instances, settings)


def change(file: Path, old: str, new: str) -> Path:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    return file


@pytest.mark.parametrize("data", ["csv", "scripts", "generator"])
def test_what_init_writes_passes_the_gate_in_all_languages(
    starter: Starter, cells: Mapping[str, Cell], engines: Mapping[str, Engine], data: str
) -> None:
    suite = load_suite(starter(data), fresh=True)
    report = gate(suite, cells, engines)
    assert report.problems == ()
    assert set(report.missing.values()) == {()}
    again = "again" if data == "scripts" else "shuffled"
    assert report.comparisons == {again: 36, "languages": 24}


@pytest.mark.parametrize("languages", [("sql",), ("cypher", "typeql")])
def test_a_suite_may_cover_fewer_languages(
    starter: Starter,
    cells: Mapping[str, Cell],
    engines: Mapping[str, Engine],
    languages: tuple[str, ...],
) -> None:
    folder = starter("csv", languages)
    suite = load_suite(folder, fresh=True)
    assert suite.languages == languages
    assert all(tuple(case.gold) == languages for case in suite.cases)
    assert (folder / "schema.sql").exists() == ("sql" in languages)
    assert gate(suite, cells, engines).problems == ()


def test_init_check_and_run_by_command(qeval: Run, tmp_path: Path) -> None:
    made = qeval("init", "My-Suite", "--languages", "sql,typeql")
    assert made.returncode == ExitCode.DONE, made.stderr
    assert "qeval check suite.path=My-Suite" in made.stdout
    again = qeval("init", "My-Suite")
    assert again.returncode == ExitCode.BAD_INPUT
    assert "exists and is not empty; nothing was written" in again.stderr
    assert qeval("init", "new", "--languages", "sqll").stderr.endswith("Did you mean 'sql'?\n")
    checked = qeval("check", "suite.path=My-Suite", "language=sql,typeql")
    assert checked.returncode == ExitCode.DONE, checked.stdout + checked.stderr
    assert "Every gold keeps its promises" in checked.stdout
    ran = qeval("suite.path=My-Suite", "model=gold", "tracking=none")
    assert ran.returncode == ExitCode.DONE, ran.stdout + ran.stderr
    assert "1.000" in ran.stdout
    (folder,) = tmp_path.glob("runs/*-gold-sql-*")
    found = recorded_cell(folder)[0].suite
    assert found.content_hash == load_suite(tmp_path / "My-Suite").content_hash
    case = load_suite(tmp_path / "My-Suite").cases[0].id
    shown = qeval("prompt", case, "suite.path=My-Suite", "lang=typeql", "model=gold")
    assert "entity person" in shown.stdout
    asked = qeval("query", "typeql", "match $p isa person; reduce $n = count;",
                  "suite.path=My-Suite", "--format", "csv")  # fmt: skip
    assert asked.stdout.split() == ["n", "8"]


def test_a_bad_name_and_a_file_in_the_way_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'2nd' is no name"):
        write_starter(tmp_path / "2nd", LANGUAGES, "csv")
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="nothing was written"):
        write_starter(tmp_path / "file", LANGUAGES, "csv")
    with pytest.raises(InputError, match="language 'sql' is named twice"):
        write_starter(tmp_path / "new", ("sql", "sql"), "csv")
    with pytest.raises(InputError, match="Did you mean 'scripts'"):
        write_starter(tmp_path / "new", LANGUAGES, "script")
    assert not (tmp_path / "new").exists()


def test_filters_work_on_any_suite(starter: Starter) -> None:
    suite = load_suite(starter())
    assert len({case.difficulty for case in select_cases(suite, {"representative": 2})}) == 2
    assert len(select_cases(suite, {"tags": ["every"]})) == 1


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("graph.yaml", "{people: id}, to: {teams: team_id}", "{people: id}, to: {team: team_id}",
         "relationships[0].to: 'team' is not among the nodes. Did you mean 'teams'?"),
        ("graph.yaml", "joined_on: joinedOn", "joind_on: joinedOn",
         "nodes.people.properties.joind_on: table 'people' has no column 'joind_on'. Did you"),
        ("graph.yaml", "type: MEMBER_OF", "typ: MEMBER_OF",
         "relationships[0].typ: unknown key. Did you mean 'type'?"),
        ("mapping.typeql.yaml", "  teams: {type", "  team: {type",
         "entities.team: there is no table 'team'. Did you mean 'teams'?"),
        ("mapping.typeql.yaml", "attributes: {id: id, name: name}}", "attributes: {name: name}}",
         "entities.teams.key: 'id' must be among the mapped columns"),
        ("suite.yaml", "  tables:\n", "  generator: rows.py:generate\n  tables:\n",
         "data: found tables, generator, expected exactly one of tables, generator, scripts"),
        ("suite.yaml", "base: {folder: base}", "base: {floder: base}",
         "instances.base.floder: unknown key. Did you mean 'folder'?"),
        ("suite.yaml", "name: own ", "name: {{ name }} ", "a key must be a word"),
        ("suite.yaml", "name: own ", "name: !!int own ", "not valid YAML: invalid literal"),
    ],
)  # fmt: skip
def test_faults_name_file_line_and_key(
    starter: Starter, file: str, old: str, new: str, message: str
) -> None:
    folder = starter()
    changed = change(folder / file, old, new)
    with pytest.raises(InputError) as caught:
        load_suite(folder, fresh=True)
    assert str(changed) + ":" in str(caught.value)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("8,Twin,3,2021-11-08,24", "the key id=8 is there already, in line 9"),
        ("9,Lost,77,2021-11-08,24", "team_id=77 refers to teams.id, which no row has"),
        ("9,N\0ul,1,2021-11-08,24", "name: 'N\\x00ul' is no string"),
        ("1_0,Ann,1,2021-11-08,24", "id: '1_0' is no int"),
        ("\u0661,Ann,1,2021-11-08,24", "id: '\u0661' is no int"),
        ("9223372036854775808,Ann,1,2021-11-08,24", "id: '9223372036854775808' is no int"),
        (",Ann,1,2021-11-08,24", "id is missing, but it isn't nullable"),
        ("9,Ann,1,2021-11-08", "found 4 cells, expected 5"),
    ],
)
def test_rows_that_no_engine_should_see_are_told_by_file_and_line(
    starter: Starter, row: str, message: str
) -> None:
    folder = starter()
    file = folder / "base" / "people.csv"
    file.write_text(file.read_text(encoding="utf-8") + row + "\n", encoding="utf-8")
    instance = load_suite(folder).instance("typeql", "base")
    with pytest.raises(InputError) as caught:
        instance.dataset()
    assert str(caught.value) == f"{file}:10: {message}"


@pytest.mark.parametrize(
    ("text", "value"),
    [("1.50", Decimal("1.50")), ("-3", Decimal(-3)), ("2.500", Decimal("2.500")),
     ("1.005", None), ("NaN", None), ("Infinity", None), ("1_0.5", None), ("1e-3", None)],
)  # fmt: skip
def test_decimals_are_finite_and_fit_their_scale(
    tmp_path: Path, text: str, value: Decimal | None
) -> None:
    (tmp_path / "prices.csv").write_text(f"price\n{text}\n", encoding="utf-8")
    field = {"name": "price", "type": "decimal", "scale": 2}
    declared = {"tables": [{"name": "prices", "fields": [field]}]}
    if value is None:
        with pytest.raises(InputError, match=r"prices\.csv:2: price: "):
            read_csv_dataset(tmp_path, declared, date(2024, 1, 1))
    else:
        found = read_csv_dataset(tmp_path, declared, date(2024, 1, 1))
        assert found.rows["prices"] == [(value,)]


def test_a_suite_of_ones_own_is_named_in_results(starter: Starter) -> None:
    folder = starter("csv", ("sql",))
    cell = build_cell(compose([f"suite.path={folder}", "model=gold"]))
    assert cell.name.startswith("own-gold-sql")
    assert cell.config["suite"]["name"] == cell.composed["suite"]["name"] == "own"


def test_where_a_suite_lies_is_kept_and_changes_no_key(
    starter: Starter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = starter("csv", ("sql",))
    shutil.copytree(folder, tmp_path / "moved")
    monkeypatch.chdir(folder.parent)
    asked = (folder.name, str(folder), str(tmp_path / "moved"))
    cells = [build_cell(compose([f"suite.path={path}", "model=gold"])) for path in asked]
    kept = [cell.config["suite"]["path"] for cell in cells]
    assert kept == [str(folder), str(folder), str(tmp_path / "moved")]
    assert len({cell_key(cell, EngineInfo("postgres", "18", "embedded")) for cell in cells}) == 1
    for path in ("null", "flights"):
        shipped = build_cell(compose(["suite=flights", f"suite.path={path}", "model=gold"]))
        assert shipped.config["suite"] == {"name": "flights", "path": None}


@pytest.mark.parametrize("parent", ["with space", "ümlaut", "a[b]=c,d", 'q"uote', "it's", "$HOME"])
def test_init_says_commands_that_can_be_typed(qeval: Run, parent: str) -> None:
    made = qeval("init", f"{parent}/shop", "--languages", "sql")
    assert made.returncode == ExitCode.DONE, made.stderr
    line = next(line for line in made.stdout.splitlines() if "qeval check" in line)
    assert compose([shlex.split(line)[-1]]).suite.path == f"{parent}/shop"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--variants", "-1"], "--variants -1: expected 0 or more"),
        (["--workers", "0"], "--workers 0: expected 1 or more"),
        (["--max-seconds", "nan"], "--max-seconds nan: expected 0 or more"),
        (["--least-killed", "98"], "--least-killed 98: expected 0 to 1"),
        (["--only"], "--only leaves the golds' own check out"),
        (["--record"], "--record writes what --mutants or --calibration found"),
        (["--mutants", "--record", "difficulty=easy"], "--record is for the whole suite"),
    ],
)
def test_flags_of_check_that_make_no_sense_are_refused(
    starter: Starter, words: list[str], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        check.main([f"suite.path={starter('csv', ('sql',))}", "language=sql", *words])


def test_what_is_checked_can_be_some_cases_of_a_suite(capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["--mutants", "--rewrites", "--calibration", "--only", "--variants", "1"]
    one = "difficulty.ids=[ec-e01]"
    assert check.main(["language=typeql", one, *flags]) is ExitCode.DONE, capsys.readouterr().out
    # What is declared of other cases is no fault where they are left out.
    words = ["suite=flights", "language=typeql", "difficulty=hard", "--mutants", "--only"]
    assert check.main(words) is ExitCode.DONE, capsys.readouterr().out


@pytest.mark.parametrize(
    ("where", "old", "new", "line"),
    [
        ("sql schema.sql", "hours     integer", "hours     intger", 11),
        ("sql base/load.sql", "(3, 'Red')", "(3, 'Red', 4)", 5),
        ("cypher base/load.cypher", "CREATE (p)-", "CRATE (p)-", 16),
        ("typeql schema.tql", "owns hours,", "owns hours", 18),
        ("typeql base/load.tql", "has hours 40", "has hours four", 7),
    ],
)
def test_what_an_engine_refuses_is_told_by_file_and_line(
    starter: Starter, engines: Mapping[str, Engine], where: str, old: str, new: str, *, line: int
) -> None:
    language, file = where.split()
    folder = starter("scripts", (language,))
    changed = change(folder / file, old, new)
    instance = load_suite(folder).instance(language, "base")
    with pytest.raises(InputError) as caught:
        engines[language].load(instance)
    assert f"{changed}:{line}: " in str(caught.value)


def test_text_files_are_utf_8_with_a_mark_or_without(
    starter: Starter, engines: Mapping[str, Engine]
) -> None:
    folder = starter("scripts", ("sql",))
    for name in ("schema.sql", "base/load.sql"):
        file = folder / name
        file.write_text(file.read_text(encoding="utf-8"), encoding="utf-8-sig")
    engines["sql"].load(load_suite(folder).instance("sql", "base"))
    script = folder / "base" / "load.sql"
    script.write_text("INSERT INTO teams VALUES (9, 'Zürich');", encoding="cp1252")
    with pytest.raises(InputError, match=r"load\.sql: expected UTF-8 text"):
        load_suite(folder).instance("sql", "base")


def test_a_file_says_the_same_when_it_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QEVAL_CACHE", str(tmp_path / "cache"))
    file = tmp_path / "glossary.yaml"
    file.write_text("2024: [this year]\n", encoding="utf-8")
    assert [read_yaml(file), read_yaml(file)] == [{"2024": ["this year"]}] * 2


def test_statements_are_parted_at_semicolons_that_are_no_text() -> None:
    script = "// a; b\nCREATE (:A {t: 'x; y'});\n\n/* ; */ CREATE (`;`:B)\n  // why;\n;RETURN 1"
    assert list(statements_of(script)) == [
        (2, "CREATE (:A {t: 'x; y'})"),
        (4, "CREATE (`;`:B)\n  // why;"),
        (6, "RETURN 1"),
    ]
    assert list(queries_of("# note\n# ---\ninsert $a;\n# ---\n\n  insert $b;")) == [
        (3, "insert $a;"),
        (5, "\n  insert $b;"),
    ]


def test_a_generator_of_the_suite_is_imported_anew_when_it_changes(starter: Starter) -> None:
    folder = starter("generator")
    before = load_suite(folder).instance("sql", "base")
    assert len(before.dataset().rows["people"]) == 12
    change(folder / "rows.py", "range(1, people + 1)", "range(1, people)")
    after = load_suite(folder).instance("sql", "base")
    assert after.key != before.key
    assert len(after.dataset().rows["people"]) == 11
    (folder / "more.py").write_text("NAMES = ['Ida']\n")
    change(folder / "rows.py", "from datetime", "from more import NAMES\nfrom datetime")
    assert load_suite(folder).instance("sql", "base").dataset()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("def generate(people: int", "def generate(persons: int", "refuses these options"),
        ("    gap = 2", "    gap = 1 // 0\n    gap = 2", r"rows\.py:\d+: ZeroDivisionError"),
        ("from datetime", "from datetimes", r"can't be imported: .*datetimes"),
        ("    gap = 2", "    return []\n    gap = 2", "returned a list, expected a qeval"),
        ("date(2024, 12, 31))", "date(2024, 12, 30))", "ends on 2024-12-30"),
        ("TABLES = (", "TABLES = ((", r"rows\.py:\d+: "),
    ],
)
def test_a_generator_that_fails_is_told(starter: Starter, old: str, new: str, message: str) -> None:
    folder = starter("generator")
    change(folder / "rows.py", old, new)
    with pytest.raises(InputError, match=message):
        load_suite(folder).instance("sql", "base").dataset()


def existing(folder: Path, **databases: Mapping[str, Any]) -> Path:
    """Turn a starter into a suite whose data is in databases that exist."""
    import yaml

    head = yaml.safe_load((folder / "suite.yaml").read_text(encoding="utf-8"))
    head["data"] = {"existing": True}
    head["instances"] = {"base": databases}
    head["reference_date"] = str(head["reference_date"])
    (folder / "suite.yaml").write_text(yaml.safe_dump(head), encoding="utf-8")
    return folder


def existing_engine(folder: Path, language: str) -> tuple[Cell, Engine]:
    words = [f"suite.path={folder}", f"language={language}", "model=gold"]
    cell = build_cell(compose(words))
    return cell, build_engine(cell.engine_config)


def test_an_existing_postgres_database_is_only_read(
    starter: Starter, engines: Mapping[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = load_suite(starter(languages=("sql",), name="loaded")).instance("sql", "base")
    engines["sql"].load(loaded)
    server = engines["sql"]._running()
    reader = {**server.reader, "dbname": loaded.key}
    uri = f"postgresql://{reader['user']}@/{loaded.key}?host={reader['host']}&port={reader['port']}"
    folder = existing(starter(languages=("sql",)), sql={"uri": "$OWN_URI"})
    with pytest.raises(InputError, match="OWN_URI, which is not set"):
        existing_engine(folder, "sql")[1].start()
    monkeypatch.setenv("OWN_URI", uri)
    cell, engine = existing_engine(folder, "sql")
    before = engines["sql"].fingerprint(loaded)
    info = engine.start()
    assert (info.name, info.origin, len(info.data)) == ("postgres", "server", 8)
    assert f"data {info.data}" in str(info)
    report = gate(cell.suite, {"sql": cell}, {"sql": engine})
    assert report.problems == ()
    instance = cell.suite.instance("sql", "base")
    assert engine.fingerprint(instance) == before
    with pytest.raises(QueryError):
        engine.execute("DELETE FROM people RETURNING id", instance, cell.limits)
    change(folder / "schema.sql", "hours     integer", "hour      integer")
    other = load_suite(folder).instance("sql", "base")
    with pytest.raises(
        InputError, match=r"schema\.sql: .* no column 'hour'\. Did you mean 'hours'"
    ):
        engine.load(other)
    engine.stop()
    with pytest.raises(EngineLostError, match="the database of instance 'base' is not reached"):
        engine.fingerprint(other)
    monkeypatch.setenv("OWN_URI", uri.replace(reader["user"], server.owner["user"]))
    with pytest.raises(EngineUnavailableError, match="is a superuser"):
        existing_engine(folder, "sql")[1].start()
    assert engines["sql"].fingerprint(loaded) == before


def test_an_existing_neo4j_database_is_only_read(
    starter: Starter, engines: Mapping[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = load_suite(starter(languages=("cypher",), name="loaded")).instance("cypher", "base")
    engines["cypher"].load(loaded)
    port = engines["cypher"]._stores.control.ask("open", loaded.key)
    monkeypatch.setenv("OWN_BOLT", f"bolt://127.0.0.1:{port}")
    folder = existing(starter(languages=("cypher",)), cypher={"uri": "$OWN_BOLT"})
    cell, engine = existing_engine(folder, "cypher")
    info = engine.start()
    assert (info.name, info.origin, len(info.data)) == ("neo4j", "server", 8)
    assert gate(cell.suite, {"cypher": cell}, {"cypher": engine}).problems == ()
    instance = cell.suite.instance("cypher", "base")
    before = engine.fingerprint(instance)
    with pytest.raises(QueryError):
        engine.execute("CREATE (n:Team {id: 9}) RETURN n.id", instance, cell.limits)
    assert engine.fingerprint(instance) == before
    engine.stop()
    with pytest.raises(EngineLostError, match="the database of instance 'base' is not reached"):
        engine.fingerprint(instance)
    with pytest.raises(EngineUnavailableError, match="'base' is no database that the suite names"):
        engine.load(loaded)


@pytest.mark.parametrize(
    ("databases", "message"),
    [
        (
            {"sql": {"uri": "postgresql://me:secret@host/db"}},
            "instances.base.sql.uri: holds a pass",
        ),
        ({"sql": {"uri": "$X", "password": "secret"}}, "instances.base.sql.password: expected $"),
        ({"sqll": {"uri": "$X"}}, "instances.base.sqll: the suite has no language 'sqll'. Did you"),
        ({"sql": {"url": "$X"}}, "instances.base.sql.url: unknown key. Did you mean 'uri'?"),
        ({}, "instances.base: missing 'sql', one of the suite's languages"),
    ],
)
def test_databases_are_declared_for_each_language_and_without_secrets(
    starter: Starter, databases: Mapping[str, Mapping[str, str]], message: str
) -> None:
    folder = existing(starter(languages=("sql",)), **databases)
    with pytest.raises(InputError) as caught:
        load_suite(folder)
    assert message in str(caught.value)
    assert "secret" not in str(caught.value)


def test_engine_and_existing_databases_do_not_mix(starter: Starter) -> None:
    folder = existing(starter(languages=("sql",)), sql={"uri": "$X"})
    with pytest.raises(InputError, match="leave engine=auto"):
        build_cell(compose([f"suite.path={folder}", "model=gold", "engine=postgres"]))
    suite = load_suite(folder)
    with pytest.raises(InputError, match="in the database alone"):
        suite.instance("sql", "base").dataset()
