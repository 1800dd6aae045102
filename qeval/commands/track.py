"""`qeval track`: log finished cells to MLflow, again or for the first time."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from qeval.errors import InputError
from qeval.exit_codes import ExitCode, finish
from qeval.journal import JOURNAL


def main(argv: Sequence[str]) -> int:
    """Log cell folders below the same parents as the live sweeps did; twice changes nothing."""
    parser = argparse.ArgumentParser(
        prog="qeval track",
        description="Log finished cells to MLflow from their journals: what was not reached, what"
        " an unreachable server missed, or everything into a new store. A cell that is already"
        " there and has not changed is left alone.",
        epilog="Example: qeval track runs tracking.uri=http://localhost:5000",
    )
    parser.add_argument("words", nargs="*", metavar="FOLDER | KEY=VALUE",
                        help="cell folders or folders of them (default: runs_dir of the "
                        "configuration), and configuration")  # fmt: skip
    options = parser.parse_intermixed_args(argv)
    return track(*folders_and_overrides(options.words))


def folders_and_overrides(words: Sequence[str]) -> tuple[list[Path], list[str]]:
    """Tell folders from configuration: what exists is a folder, also with a `=` in its name."""
    overrides = [word for word in words if "=" in word and not Path(word).exists()]
    return [Path(word) for word in words if word not in overrides], overrides


def track(named: Sequence[Path], overrides: Sequence[str]) -> int:
    """Log the cells in `named` (or in the configured `runs_dir`). Raises `InputError`."""
    from qeval.cells import construct
    from qeval.tracking import MlflowTracker
    from qeval.tracking.sweeps import sweeps_of

    settings = tracking_settings(overrides)
    tracker = construct(settings["tracking"], "tracking")
    if not isinstance(tracker, MlflowTracker):
        raise InputError("tracking=none logs nothing; use tracking=mlflow")
    folders = cell_folders(named or [Path(settings["runs_dir"])])
    tracker.warm_up()
    for sweep in sweeps_of(folders):
        tracker.reopen(sweep)
        for folder in sweep.folders:
            tracker.cell_closed(folder)
        tracker.sweep_done()
    result = tracker.close()
    if result.where:
        counts = f"{result.logged} cell{'' if result.logged == 1 else 's'} logged"
        rest = f", {result.unchanged} were there already" if result.unchanged else ""
        print(f"{counts}{rest}: {result.where}")
    return finish(ExitCode.INCOMPLETE if result.warning else ExitCode.DONE, result.warning)


def tracking_settings(overrides: Sequence[str]) -> dict[str, Any]:
    """`tracking` and `runs_dir` of the configuration, resolved."""
    from omegaconf import OmegaConf

    from qeval.configuration import compose

    config = compose(overrides)
    tracking = OmegaConf.to_container(config.tracking, resolve=True)
    return {"tracking": tracking, "runs_dir": str(config.runs_dir)}


def cell_folders(places: Sequence[Path]) -> list[Path]:
    """The cell folders that `places` are or hold, by name. Raises `InputError` for none."""
    found: list[Path] = []
    for place in places:
        if (place / JOURNAL).is_file():
            found.append(place)
        elif place.is_dir():
            found += sorted(path.parent for path in place.glob(f"*/{JOURNAL}"))
        else:
            raise InputError(f"there is no folder {place}; expected a cell folder or runs_dir")
    if not found:
        looked = ", ".join(map(str, places))
        raise InputError(f"no cell folders (with a {JOURNAL}) in {looked}; run an evaluation first")
    return found
