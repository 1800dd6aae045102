"""The `qeval` command: the Hydra application, and the sub-commands next to it.

`qeval [key=value …]` evaluates one cell, `qeval -m …` a grid; a first word without `=` names a
sub-command of `qeval.commands`. Nothing heavy is imported before it is known what is wanted.
"""

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from qeval.commands import COMMANDS
from qeval.errors import IncompleteError, QevalError
from qeval.exit_codes import ExitCode, explain, finish

if TYPE_CHECKING:
    from hydra.core.utils import JobReturn
    from omegaconf import DictConfig


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status (see `qeval.exit_codes`)."""
    from qeval.interruption import Stop
    from qeval.report.console import never_fail_on_a_character

    Stop.leaves_process = argv is None
    given = sys.argv[1:] if argv is None else argv
    # Without a locale Python takes the bytes of 陈静 apart; what people type is UTF-8 anyway.
    words = [os.fsencode(word).decode("utf-8", "surrogateescape") for word in given]
    never_fail_on_a_character()
    try:
        rest, own = _without_config_dir(words)
        if rest and rest[0] in COMMANDS:
            module = import_module(f"qeval.commands.{rest[0].replace('-', '_')}")
            return int(module.main([*rest[1:], *_own_options(rest[0], own)]))
        if words and words[0] in ("--version", "-V"):
            from qeval import __version__

            print(f"qeval {__version__}")
            return ExitCode.DONE
        if "--help" in words or "-h" in words:
            from qeval.usage import usage

            print(usage(own))
            return ExitCode.DONE
        return (_completion if words and words[0] in COMPLETION else _hydra)(words)
    except BrokenPipeError:
        # The reader of our output (head, less) is gone; a second error at exit would be noise.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.DONE
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001
        return explain(error)


COMPLETION = ("-sc", "--shell-completion")


def _completion(words: list[str]) -> int:
    from qeval.completion import complete

    _, _, shell = words[1].partition("query=") if len(words) > 1 else ("", "", "")
    return complete(words, shell, _hydra) if shell else _hydra(words)


def _without_config_dir(words: Sequence[str]) -> tuple[list[str], str | None]:
    """The words without Hydra's flag for a user's own options, and the folder it names."""
    rest: list[str] = []
    folder = None
    following = iter(words)
    for word in following:
        flag, _, value = word.partition("=")
        if flag in ("--config-dir", "-cd"):
            folder = value or next(following, "")
        else:
            rest.append(word)
    return rest, folder


UNCONFIGURED = frozenset({"cache", "doctor", "explain", "init", "mock-server", "status"})


def _own_options(command: str, folder: str | None) -> list[str]:
    """How a sub-command is told of the folder of a user's own options, where it composes any."""
    if folder is None:
        return []
    searched = _searched(folder)
    if command == "models":
        return [f"--config-dir={folder}"]
    return [] if command in UNCONFIGURED else [searched]


def _searched(folder: str) -> str:
    """What a sub-command's configuration calls the folder of a user's own options."""
    if not Path(folder).is_dir():
        from qeval.errors import InputError

        raise InputError(f"--config-dir {folder}: there is no such folder")
    quoted = str(Path(folder).resolve()).replace("\\", "\\\\").replace("'", "\\'")
    return f"hydra.searchpath=['file://{quoted}']"


DRY_RUN = "--dry-run"
_DRY_VARIABLE = "QEVAL_DRY_RUN"  # how the flag reaches whoever Hydra makes evaluate a cell
_outcome: list[ExitCode] = []
_trouble: list[QevalError] = []


def _hydra(words: list[str]) -> int:
    """Hand the command line to Hydra and return what the evaluation ended with."""
    import hydra

    from qeval.configuration import explained, spell_out
    from qeval.paths import shipped

    if words and not words[0].startswith(("-", "+", "~")) and "=" not in words[0]:
        from qeval.errors import did_you_mean

        near = did_you_mean(words[0], COMMANDS)
        return finish(
            ExitCode.BAD_INPUT,
            f"qeval: no command {words[0]!r}.{near} Commands: {', '.join(COMMANDS)}",
        )
    overrides = spell_out([word for word in words if word != DRY_RUN])
    if DRY_RUN in words:
        os.environ[_DRY_VARIABLE] = "1"
        if not {"-m", "--multirun"}.isdisjoint(overrides):
            overrides.append("hydra/launcher=qeval")  # one table of all cells
    given = sys.argv
    full_error = os.environ.get("HYDRA_FULL_ERROR")
    os.environ["HYDRA_FULL_ERROR"] = "1"  # errors come to us instead of ending the process
    sys.argv = ["qeval", *overrides]
    _outcome.clear()
    _trouble.clear()
    try:
        with explained(overrides):
            hydra.main(config_path=str(shipped("conf")), config_name="config", version_base="1.3")(
                evaluate
            )()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        sys.argv = given
        os.environ.pop(_DRY_VARIABLE, None)
        if full_error is None:
            del os.environ["HYDRA_FULL_ERROR"]
        else:
            os.environ["HYDRA_FULL_ERROR"] = full_error
    if _trouble:
        raise _trouble[0]
    return max(_outcome, default=ExitCode.DONE)


def evaluate(config: "DictConfig") -> float | None:
    """Hydra's task function: one composed configuration is one cell.

    Returns the cell's execution accuracy, which is what an optimising sweeper wants to see.
    """
    from hydra.core.hydra_config import HydraConfig
    from hydra.types import RunMode

    from qeval.sweep import evaluate_cells

    in_sweep = HydraConfig.get().mode == RunMode.MULTIRUN
    try:
        if _DRY_VARIABLE in os.environ:
            _plan([config])
            return None
        result = evaluate_cells([config])
    except QevalError as error:
        # In another launcher's job only an exception reaches the sweep; here Hydra would print
        # a line of its own above our message.
        if in_sweep:
            raise
        _trouble.append(error)
        return None
    _outcome.append(result.exit_code)
    if in_sweep and result.exit_code is not ExitCode.DONE:
        raise IncompleteError(
            f"cell {result.cells[0].name} ended with exit status {int(result.exit_code)}"
        )
    return result.cells[0].headline


def _plan(configs: "Sequence[DictConfig]") -> None:
    from qeval.plan import dry_run

    dry_run(configs)
    _outcome.append(ExitCode.DONE)


def launch_grid(
    grid: list[list[str]], cells: "list[DictConfig]", hydra: "DictConfig", first_job: int
) -> "Sequence[JobReturn]":
    """Evaluate all cells of a multirun together; called by the launcher plugin.

    `grid` holds the overrides of each cell, `cells` what they compose to.
    """
    from hydra.core.utils import JobReturn, JobStatus

    from qeval.sweep import evaluate_cells

    wanted = distinct_cells(grid, cells)
    headlines: list[float | None] = [None] * len(cells)
    if _DRY_VARIABLE in os.environ:
        _plan([cells[place] for place in wanted])
    else:
        result = evaluate_cells([cells[place] for place in wanted])
        _outcome.append(result.exit_code)
        for place, done in zip(wanted, result.cells, strict=True):
            headlines[place] = done.headline
    returns = []
    for number, (overrides, cell, headline) in enumerate(
        zip(grid, cells, headlines, strict=True), start=first_job
    ):
        job = JobReturn(overrides=overrides, cfg=cell, status=JobStatus.COMPLETED)
        job.hydra_cfg = hydra
        job.working_dir = str(Path.cwd())
        job.task_name = f"qeval-{number}"
        job.return_value = headline
        returns.append(job)
    return returns


def distinct_cells(grid: list[list[str]], cells: "list[DictConfig]") -> list[int]:
    """Places of the cells to evaluate: each once, and no translation of a language into itself.

    A recipe's sweep and the command line may both set a key: then the last word counts, and the
    grid has the same cell several times. Raises `InputError` when nothing is left.
    """
    from qeval.configuration import ONLY_INTO_ITSELF, into_itself
    from qeval.errors import InputError

    found: dict[tuple[tuple[str, str], ...], int] = {}
    for place, (overrides, cell) in enumerate(zip(grid, cells, strict=True)):
        if into_itself(cell):
            continue
        words = dict(word.partition("=")[::2] for word in overrides)
        found.setdefault(tuple(sorted(words.items())), place)
    if not found:
        raise InputError(ONLY_INTO_ITSELF)
    return list(found.values())


if __name__ == "__main__":
    # `python -m` made a second copy of this module; the launcher reports to the imported one.
    sys.exit(import_module("qeval.app").main())
