"""Every word of a result has a meaning that a reader can look up."""

import json
from pathlib import Path
from typing import Any

import pytest

from qeval.commands import explain
from qeval.report.glossary import LAYERS, VERDICTS, meaning
from qeval.scoring.verdict import Verdict

SCHEMA: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "schemas" / "summary.schema.json").read_text(encoding="utf-8")
)["$defs"]


def test_every_metric_verdict_and_layer_of_a_summary_is_explained() -> None:
    measured = SCHEMA["cell_metrics"]["properties"]
    names = SCHEMA["metrics"]["propertyNames"]["enum"] + [
        *measured["behaviour"]["propertyNames"]["enum"], "exact_agreement", "verdict_agreement",
        "pass_at_1", "pass_at_10",
    ]  # fmt: skip
    assert [name for name in names if not meaning(name)] == []
    assert meaning("nonsense") == ""
    assert set(VERDICTS) == set(Verdict)
    assert set(LAYERS) == set(measured["layers"]["propertyNames"]["enum"])


def test_explain_tells_what_results_mean_and_asks_for_a_case(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert explain.main([]) == 0
    shown = capsys.readouterr().out
    for word in ("semantic_equivalence", "refuted_share", "…_uncalibrated", "review"):
        assert word in shown
    with pytest.raises(SystemExit):
        explain.main(["runs/a-cell"])
    assert "qeval explain runs/a-cell CASE" in capsys.readouterr().err
