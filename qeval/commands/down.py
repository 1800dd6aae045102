"""`qeval down`: stop the engines that `qeval up` left running."""

from collections.abc import Sequence

from qeval.exit_codes import ExitCode


def main(argv: Sequence[str]) -> int:
    """Stop the engines of the named languages, all of them where none is named."""
    from qeval.commands.up import cell_of, parse
    from qeval.engines.warm import running, stop
    from qeval.report.console import output

    options = parse(argv, prog="qeval down", description="Stop warm engines; their data is kept.")
    wanted = {
        cell_of(language, options.overrides).engine_config["name"] for language in options.languages
    }
    console = output()
    servers = [server for server in running() if not wanted or server.engine in wanted]
    for server in servers:
        stop(server)
        console.print(f"stopped {server.engine} {server.version} (pid {server.pid})")
    if not servers:
        console.print("nothing is up")
    return ExitCode.DONE
