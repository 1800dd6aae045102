"""`qeval ui`: the MLflow UI on the store that the configuration logs to."""

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Sequence

from qeval.errors import InputError, QevalError
from qeval.exit_codes import ExitCode

START_S = 60.0
STOP_S = 10.0


def main(argv: Sequence[str]) -> int:
    """Serve the UI on the loopback address until Ctrl-C; the exit status is then 0."""
    parser = argparse.ArgumentParser(
        prog="qeval ui",
        description="Open the MLflow UI on the store that evaluations log to.",
        epilog="Example: qeval ui --port 5000 tracking.directory=/data/mlruns",
    )
    parser.add_argument("overrides", nargs="*", metavar="KEY=VALUE",
                        help="configuration, e.g. tracking.uri=…")  # fmt: skip
    parser.add_argument("--port", type=int, default=0, metavar="N",
                        help="port to listen on (default: any free one)")  # fmt: skip
    parser.add_argument("--open", action="store_true", help="open it in the browser")
    options = parser.parse_intermixed_args(argv)

    from qeval.commands.track import tracking_settings
    from qeval.tracking.store import locate, without_password

    settings = tracking_settings(options.overrides)["tracking"]
    if "directory" not in settings:
        raise InputError("tracking=none has no store to show; use tracking=mlflow")
    location = locate(settings["uri"], settings["directory"])
    if location.uri.startswith(("http://", "https://")):
        print(f"the tracking server has its own UI: {without_password(location.uri)}")
        return ExitCode.DONE
    if location.database is not None and not location.database.is_file():
        raise InputError(
            f"there is no store at {location.database} yet. Run an evaluation in this folder, or "
            "`qeval track`, or name the store: qeval ui tracking.directory=…"
        )
    return _serve(location.uri, settings["experiment"], options.port, browse=options.open)


def _serve(uri: str, experiment: str, port: int, *, browse: bool) -> int:
    port = _free_port(port)
    # It takes seconds, on a busy machine many: silence would look like a hang.
    print("starting the MLflow UI …", file=sys.stderr, flush=True)
    command = [sys.executable, "-m", "mlflow", "server"]
    command += ["--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    signal.signal(signal.SIGTERM, _interrupt)
    server = subprocess.Popen(
        command,
        env=_environment(uri),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        # The server is ended by us, all of its processes at once, not by the terminal's Ctrl-C.
        start_new_session=True,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_until_up(server, address)
        page = _page(address, experiment)
        print(f"MLflow UI: {page}  (Ctrl-C stops it)", flush=True)
        if browse:
            import webbrowser

            webbrowser.open(page)
        server.wait()
        raise QevalError(f"the MLflow server ended by itself (status {server.returncode})")
    except KeyboardInterrupt:
        return ExitCode.DONE
    finally:
        _stop(server)


def _environment(uri: str) -> dict[str, str]:
    return {
        **os.environ,
        # Not as an argument: a password in it would be on show in the list of processes.
        "MLFLOW_BACKEND_STORE_URI": uri,
        # Its job runners take 1 GB and 12 s of CPU at start, and nothing here uses them.
        "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "DO_NOT_TRACK": "true",
    }


def _free_port(wanted: int) -> int:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", wanted))
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or "expected 1 to 65535"
            raise InputError(
                f"can't listen on port {wanted}: {reason}. Leave --port out for a free one"
            ) from None
        return int(probe.getsockname()[1])


def _wait_until_up(server: "subprocess.Popen[bytes]", address: str) -> None:
    end = time.monotonic() + START_S
    while time.monotonic() < end:
        if server.poll() is not None:
            raise QevalError(
                f"the MLflow server ended at once (status {server.returncode}). To see why: "
                "mlflow server --backend-store-uri …"
            )
        try:
            with urllib.request.urlopen(f"{address}/health", timeout=2):  # noqa: S310
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise QevalError(f"the MLflow server did not answer within {START_S:g} s")


def _page(address: str, experiment: str) -> str:
    """The page with the experiment's runs; the first page where there is no such experiment."""
    from qeval.tracking.view import page_of

    name = urllib.parse.quote(experiment)
    asked = f"{address}/api/2.0/mlflow/experiments/get-by-name?experiment_name={name}"
    try:
        with urllib.request.urlopen(asked, timeout=START_S) as reply:  # noqa: S310
            return page_of(address, json.load(reply)["experiment"])
    except urllib.error.HTTPError:
        return address


def _stop(server: "subprocess.Popen[bytes]") -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(server.pid, number)
        except ProcessLookupError:
            break
        try:
            server.wait(timeout=STOP_S)
        except subprocess.TimeoutExpired:
            continue


def _interrupt(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt
