"""`qeval mock-server`: a scripted OpenAI-compatible server, for trying things out."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from qeval.exit_codes import ExitCode

_EPILOG = """\
Use it with:  qeval model=openai_compatible model.base_url=http://127.0.0.1:8000/v1 model.id=mock
A script (YAML or JSON) has the keys right_share, seed, model, latency_s and rules; a rule has match
(a regular expression on the prompt) and any of: times, answer, reasoning, finish_reason, usage,
status, message, retry_after, latency_s, body, cut, refuse_params. The first matching rule wins;
without one, the gold of the question found in the prompt is the answer.
GET /calls counts the calls, DELETE /calls forgets them.
"""


def main(argv: Sequence[str]) -> int:
    """Serve until interrupted; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="qeval mock-server",
        description="A scripted OpenAI-compatible server for trying things out and for tests.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--port", type=int, default=8000, help="0: any free port (default: 8000)")
    parser.add_argument(
        "--host", default="127.0.0.1", help="address to listen on (default: this machine only)"
    )
    parser.add_argument("--script", type=Path, help="YAML or JSON file of rules")
    parser.add_argument(
        "--suite", default="ecommerce", help="suite whose golds are answers; none for no suite"
    )
    parser.add_argument("--right-share", type=float, help="part of the questions answered right")
    options = parser.parse_args(argv)

    from qeval.models.mock_server import MockServer, Script, read_script

    settings: dict[str, Any] = read_script(options.script) if options.script else {}
    if options.right_share is not None:
        settings["right_share"] = options.right_share
    script = Script(**{"wrong": _wrong(), "golds": _golds(options.suite), **settings})
    server = MockServer(script, options.host, options.port)
    # The one line that programs read: it must be out before the first request is.
    sys.stdout.write(f"listening on {server.url}\n")
    sys.stdout.flush()
    try:
        server.serve()
    except KeyboardInterrupt:
        total = server.calls()["total"]
        sys.stderr.write(f"\n{total} calls answered\n")
    return ExitCode.DONE


def _golds(suite_name: str) -> dict[str, dict[str, str]]:
    if suite_name == "none":
        return {}
    from qeval.cells import compose
    from qeval.configuration import plain
    from qeval.suites import load_suite

    suite = load_suite(plain(compose([f"suite={suite_name}"]))["suite"])
    return {
        question: dict(case.gold) for case in suite.cases for question in case.question.values()
    }


def _wrong() -> dict[str, str]:
    import yaml

    from qeval.paths import shipped

    settings = yaml.safe_load((shipped("conf") / "model" / "mock.yaml").read_text(encoding="utf-8"))
    return dict(settings["wrong"])
