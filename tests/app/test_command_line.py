"""The command line as a user meets it: right results, and errors that help."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from qeval import run
from qeval.errors import InputError
from qeval.suites import load_suite
from tests.conftest import Run


def test_golds_score_one_and_everything_is_written(tmp_path: Path, qeval: Run) -> None:
    done = qeval("model=gold", "lang=sql", "tracking=none")
    assert done.returncode == 0, done.stderr
    assert "execution accuracy 1.000" in " ".join(done.stdout.split())
    (cell,) = tmp_path.glob("runs/gold-sql-*")
    summary = json.loads((cell / "summary.json").read_text(encoding="utf-8"))
    accuracy = summary["metrics"]["overall"]["execution_accuracy"]
    cases = len(load_suite("ecommerce").cases)
    assert (accuracy["numerator"], accuracy["denominator"]) == (cases, cases)
    assert summary["metrics"]["overall"]["robust_accuracy"]["numerator"] == cases
    again = qeval("model=gold", "lang=sql", "tracking=none")
    assert f"0 of {cases} cases to do" in again.stderr


def test_a_grid_is_one_sweep(tmp_path: Path, qeval: Run) -> None:
    done = qeval("-m", "model=gold,mock", "difficulty=easy,hard", "tracking=none")
    assert done.returncode == 0, done.stderr
    assert "4 cells, " in done.stderr
    assert len(list(tmp_path.glob("runs/*/summary.json"))) == 4


def test_hydras_joblib_launcher_runs_a_job_per_cell(tmp_path: Path, qeval: Run) -> None:
    words = ["-m", "model=gold", "difficulty=easy,hard", "tracking=none", "hydra/launcher=joblib"]
    done = qeval(*words, "hydra.launcher.n_jobs=2")
    assert done.returncode == 0, done.stderr
    assert len(list(tmp_path.glob("runs/*/summary.json"))) == 2
    words[1:3] = ["model=replay", "difficulty=easy"]
    failed = qeval(*words)
    assert failed.returncode == 2
    assert "model=replay needs a file of predictions" in failed.stderr


def test_worker_processes_give_the_same_verdicts(tmp_path: Path, qeval: Run) -> None:
    words = ["model=mock", "difficulty=easy", "tracking=none"]
    assert qeval(*words, "runs_dir=threads").returncode == 0
    done = qeval(*words, "runs_dir=processes", "backend=loky", "workers=2")
    assert done.returncode == 0, done.stderr
    found = []
    for folder in ("threads", "processes"):
        (path,) = tmp_path.glob(f"{folder}/*/journal.jsonl")
        records = [json.loads(line) for line in path.read_text("utf-8").splitlines()[1:]]
        found.append({record["case_id"]: record["verdict"] for record in records})
    assert found[0] == found[1]


def test_a_missed_threshold_is_exit_1(qeval: Run) -> None:
    words = ["model=mock", "model.mode=wrong", "difficulty=easy", "tracking=none"]
    done = qeval(*words, "fail_under.execution_accuracy=0.5")
    assert done.returncode == 1
    assert "execution_accuracy is 0.0000, below fail_under" in " ".join(done.stdout.split())


def test_lost_answers_are_exit_3_and_asked_again(qeval: Run) -> None:
    words = ["model=mock", "model.fail_times=-1", "model.fail_rate=1", "tracking=none"]
    words += ["difficulty=easy", "difficulty.limit=5"]
    done = qeval(*words)
    assert done.returncode == 3
    assert "infra_error" in done.stdout
    assert "5 of 5 cases to do" in qeval(*words).stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["modle=gold"], "Did you mean 'model'?"),
        (["model=smolm2"], "Did you mean 'smollm2'?"),
        (["model.nme=x"], "Did you mean 'name'?"),
        (["lang=SQL"], "Did you mean 'sql'?"),
        (["scoring.varints=3"], "Did you mean 'variants'?"),
        (["scoring={varints: 3}"], "'scoring' has no key 'varints'. Did you mean 'variants'?"),
        (["-m", "model=mock,gold", "model.shars=1"], "'model' has no key 'shars'. It has: "),
        (["experiment=smoke"], "write +experiment=…"),
        (["chek"], "Did you mean 'check'?"),
        (["-m", "model=gold", "lang=sql,cobol"], "language has no option 'cobol'"),
        (["repeats=0"], "repeats must be a whole number of at least 1, not 0"),
        (["workers=many"], "workers must be a whole number, not 'many'"),
        (["limits.timeout_s=soon"], "limits.timeout_s must be a number, not 'soon'"),
        (["limits.timeout_s=-1"], "limits.timeout_s must be a number of at least 0"),
        (["backend=lokky"], "Did you mean 'loky'?"),
        (["model=gold,mock"], "are a sweep: qeval -m model=gold,mock"),
        (["fail_under=3"], "fail_under must name a metric"),
        (["fail_under.valid=70"], "fail_under.valid must be a share from 0 to 1, not 70"),
        (["runs_dir=läufe"], "letters beyond a-z, need quotes"),
        (["difficulty.tags=[zz]"], " and "),
        (["-m", "model=gold", "difficulty.limit=1,2", "--cfg", "job"], "--cfg without -m"),
        (["runs_dir=/proc/none"], "Choose a folder of your own with runs_dir="),
        (["+model.nope=1"], "unexpected keyword argument 'nope'"),
        (["a b=3"], "can't read the override"),
        (["model=replay"], "model.file="),
        (["difficulty.ids=[ec-zz]"], "no case has 'ec-zz'"),
        (["prompt_strategy.template=none.jinja"], "no file 'none.jinja'"),
        (["question_language=fr"], "it has: en, zh"),
        (["prompt_strategy.shots=999"], "has only"),
        (["scoring.variants=99"], "scoring.variants=99, but suite 'ecommerce' has 9"),
    ],
)
def test_a_mistake_is_exit_2_with_help_and_no_traceback(
    qeval: Run, words: list[str], told: str
) -> None:
    done = qeval(
        *words, *([] if any(w.startswith(("model", "-m")) for w in words) else ["model=gold"])
    )
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert "Error executing job" not in done.stderr
    assert done.returncode == 2


def test_help_names_commands_groups_and_options(qeval: Run) -> None:
    done = qeval("--help")
    assert done.returncode == 0
    for word in ("check", "mock-server", "model=", "schema_few_shot", "--multirun", "130"):
        assert word in done.stdout


def test_hydras_own_flags_work(qeval: Run) -> None:
    shown = qeval("--cfg", "job", "model=gold", "lang=sql")
    assert shown.returncode == 0
    assert "_target_: qeval.models.gold.GoldModel" in shown.stdout
    info = qeval("--info", "defaults", "model=gold")
    assert info.returncode == 0
    assert "prompt_strategy/schema_few_shot" in info.stdout
    assert qeval("--version").stdout.startswith("qeval 0.")


def test_the_package_can_be_run_as_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "qeval", "model=nobody"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "nobody" in done.stderr


def test_completion_offers_options(qeval: Run) -> None:
    done = qeval("-sc", "query=bash", COMP_LINE="qeval model=smol", COMP_POINT="16")
    assert done.stdout.split() == ["model=smollm2"]


def test_a_folder_of_own_options_is_searched(tmp_path: Path, qeval: Run) -> None:
    own = tmp_path / "own" / "prompt_strategy"
    own.mkdir(parents=True)
    (own / "terse.yaml").write_text(
        "_target_: qeval.prompts.template.TemplateStrategy\n"
        "name: terse\ntemplate: terse.jinja\nshots: 0\n",
        encoding="utf-8",
    )
    (tmp_path / "terse.jinja").write_text(
        '{% extends "_base.jinja" %}{% block system %}Be terse.{% endblock %}', encoding="utf-8"
    )
    for words in (["prompt", "ec-e02", "-cd", "own"], ["--config-dir=own", "prompt", "ec-e02"]):
        assert "Be terse." in qeval(*words, "prompt_strategy=terse").stdout
    lost = qeval("prompt", "ec-e02", "-cd", "elsewhere")
    assert lost.returncode == 2
    assert lost.stderr == "qeval: --config-dir elsewhere: there is no such folder\n"
    words = ["-cd", "own", "prompt_strategy=terse", "model=gold", "difficulty=easy"]
    done = qeval(*words, "tracking=none")
    assert done.returncode == 0, done.stderr
    (prompts,) = tmp_path.glob("runs/gold-sql-terse-easy-*/prompts.jsonl")
    first = json.loads(prompts.read_text(encoding="utf-8").splitlines()[0])
    assert first["messages"][0] == ["system", "Be terse."]
    assert first["messages"][1][1].startswith("Question: ")


def test_a_broken_option_of_ones_own_is_placed(tmp_path: Path, qeval: Run) -> None:
    folder = tmp_path / "conf" / "model"
    folder.mkdir(parents=True)
    (folder / "broken.yaml").write_text("name: [\n", encoding="utf-8")
    (folder / "absent.yaml").write_text("_target_: nope.Nope\nname: a\n", encoding="utf-8")
    broken = qeval("-cd", "conf", "model=broken")
    assert "broken.yaml:2: not YAML: expected the node content" in broken.stderr
    absent = qeval("-cd", "conf", "model=absent")
    assert "No module named 'nope' (_target_ is nope.Nope)" in absent.stderr
    assert "PYTHONPATH=." in absent.stderr
    for done in (broken, absent):
        assert done.returncode == 2
        assert "Traceback" not in done.stderr


def test_a_class_of_ones_own_is_told_what_it_lacks(tmp_path: Path, qeval: Run) -> None:
    (tmp_path / "mine.py").write_text(
        "class Half:\n    name = 'half'\n    close = None\n    def identity(self): return {}\n",
        encoding="utf-8",
    )
    for group, lacking in (
        ("model", "close, generate, preflight; qeval.models.base.Model"),
        ("prompt_strategy", "render; qeval.prompts.base.PromptStrategy"),
        ("judge", "claim_rows, close, counterexamples, decide, max_false_accept, models, "),
    ):
        (tmp_path / "own" / group).mkdir(parents=True)
        option = tmp_path / "own" / group / "half.yaml"
        option.write_text("_target_: mine.Half\n", encoding="utf-8")
        told = qeval("-cd", "own", f"{group}=half", PYTHONPATH=str(tmp_path))
        assert told.returncode == 2
        assert told.stderr.startswith(f"qeval: {group}: mine.Half lacks {lacking}"), told.stderr


def test_commands_without_configuration_take_the_folder_of_options_too(
    tmp_path: Path, qeval: Run
) -> None:
    (tmp_path / "own" / "model").mkdir(parents=True)
    (tmp_path / "own" / "model" / "ours.yaml").write_text(
        "defaults: [mock, _self_]\nname: ours\n", encoding="utf-8"
    )
    for words in (["models", "list"], ["models"]):
        assert "ours" in qeval(*words, "--config-dir", "own").stdout
    status = qeval("status", "-cd", "own", "--format", "json")
    assert (status.returncode, status.stderr) == (0, "")


def test_a_sweep_leaves_nothing_beside_its_cells(tmp_path: Path, qeval: Run) -> None:
    words = ["-m", "model=gold,mock", "difficulty.ids=[ec-e01]"]
    refused = qeval("-m", "model=gold,glod", "tracking.uri=http://me:hidden@localhost:1")
    assert refused.returncode == 2
    assert not list(tmp_path.iterdir())
    done = qeval(*words, "tracking=none")
    assert done.returncode == 0, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]


def test_a_terminal_without_unicode_shows_what_it_can(qeval: Run) -> None:
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    told = qeval("--help", **ascii_only)
    assert told.returncode == 0
    assert "Configuration groups" in told.stdout
    name = "SELECT '陈静' AS name"
    table = qeval("query", "sql", name, **ascii_only)
    assert (table.returncode, "??" in table.stdout) == (0, True)
    data = qeval("query", "sql", name, "--format", "csv", **ascii_only)
    assert data.stdout == "name\n陈静\n"


def test_a_table_in_a_pipe_is_whole(qeval: Run) -> None:
    columns = ", ".join(f"'{'x' * 30}{number}' AS a{number}" for number in range(9))
    done = qeval("query", "sql", f"SELECT {columns}", COLUMNS="")
    assert done.returncode == 0, done.stderr
    assert all(f"{'x' * 30}{number}" in done.stdout for number in range(9))


def test_wrong_use_of_a_command_is_explained(qeval: Run) -> None:
    asked = qeval("query")
    assert "required: language, query\n" in asked.stderr
    for words in (["mock-server", "--port", "80000"], ["rescore", "x", "--set", "y"]):
        done = qeval(*words)
        assert done.returncode == 2
        assert "Traceback" not in done.stderr


def test_a_text_is_no_list_of_overrides() -> None:
    with pytest.raises(InputError, match="expected a list of overrides"):
        run("model=gold")


def test_keys_and_passwords_reach_no_file(tmp_path: Path, qeval: Run) -> None:
    secret = "s3cr3t-value"
    done = qeval(
        "model=gold",
        "difficulty=easy",
        "tracking=none",
        "+model.api_key=" + secret,
        f"language.engine.uri=postgresql://u:{secret}@127.0.0.1:1/x",
        OPENAI_API_KEY=secret,
    )
    assert done.returncode == 2
    assert secret not in done.stdout + done.stderr
    kept = qeval("model=gold", "difficulty=easy", "tracking=none", OPENAI_API_KEY=secret)
    assert kept.returncode == 0
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or secret not in path.read_text(
            encoding="utf-8", errors="replace"
        )


@pytest.mark.parametrize(
    "word",
    [
        "tracking.uri='http://user:pa55word@host/x,y",
        "model.api_key=pa55word,",
        "language.engine.uri=postgresql://user:pa55word@host:nan/x y",
    ],
)
def test_messages_about_overrides_hold_no_secret(qeval: Run, word: str) -> None:
    done = qeval("model=gold", word)
    assert done.returncode == 2
    assert "pa55word" not in done.stdout + done.stderr


def test_a_fault_of_ones_own_model_is_called_that(tmp_path: Path, qeval: Run) -> None:
    (tmp_path / "mine.py").write_text(
        "class Mine:\n"
        "    name = 'mine'\n"
        "    def __init__(self, answer): self.answer = answer\n"
        "    def identity(self): return {'answer': self.answer}\n"
        "    def preflight(self): pass\n"
        "    def close(self): pass\n"
        "    def generate(self, request): return self.answer or 1 / 0\n",
        encoding="utf-8",
    )
    (tmp_path / "own" / "model").mkdir(parents=True)
    option = tmp_path / "own" / "model" / "mine.yaml"
    option.write_text("_target_: mine.Mine\nanswer: ''\n", encoding="utf-8")
    words = ["-cd", "own", "model=mine", "difficulty=easy", "difficulty.limit=1", "tracking=none"]
    for answer, said in (
        ("", "a fault of your own code (mine.py:7): ZeroDivisionError"),
        ("SELECT 1", "the model gave str where qeval.models.base.Generation is wanted"),
    ):
        done = qeval(*words, f"model.answer={answer}", PYTHONPATH=str(tmp_path))
        assert done.returncode == 3
        journals = [path.read_text("utf-8") for path in tmp_path.glob("runs/*/journal.jsonl")]
        assert any(said in journal for journal in journals), done.stderr
